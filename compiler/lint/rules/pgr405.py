"""PGR405: batched repeat counts."""

from __future__ import annotations

from ..external import Call
from ..rule import Facts, ValueLeaves


class RepeatCounts(ValueLeaves):
    """Counts of `repeat` or `tile` that are batched.

    What it does: finds repetitions whose number differs between samples.
    Why it is bad: each sample would have a result of another size. jax takes `total_repeat_length=`.
    """

    code = "PGR405"
    name = "repeat-counts"
    bad = """
import numpy as np
from pergrad import vmap

def f(x, counts):
    return np.repeat(x, counts).sum()

F = vmap(f)
"""
    good = """
import numpy as np
from pergrad import vmap

def f(x, counts):
    return (x * counts).sum() + np.repeat(x, 2).sum()

F = vmap(f)
"""

    def help(self, call: Call, facts: Facts) -> str:
        extra = " or total_repeat_length=" if facts.library == "jax" else ""
        return f"repeat a known number of times and mask with {facts.where}.where({facts.where}.arange(k) < count, value, 0.0){extra}"
