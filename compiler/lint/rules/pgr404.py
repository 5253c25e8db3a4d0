"""PGR404: a batched size."""

from __future__ import annotations

from ..external import Call
from ..rule import Facts, ValueLeaves


class BatchedSize(ValueLeaves):
    """A size or shape argument that is batched: `arange(n)`, `zeros(n)`, `reshape(n, -1)`.

    What it does: finds sizes that differ between samples.
    Why it is bad: samples of different shapes cannot be stacked. A known size and a mask say the same.
    """

    code = "PGR404"
    name = "batched-size"
    bad = """
import numpy as np
from pergrad import vmap

def f(n, b):
    return np.ones(n) * b

F = vmap(f)
"""
    good = """
import numpy as np
from pergrad import vmap

def f(n, b):
    return np.where(np.arange(8) < n, b, 0.0)

F = vmap(f)
"""

    def help(self, call: Call, facts: Facts) -> str:
        return f"a known size k and a mask: {facts.where}.where({facts.where}.arange(k) < n, value, 0.0)"
