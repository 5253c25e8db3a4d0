"""PGR401: a function whose result's shape depends on the values."""

from __future__ import annotations

from ..external import Call
from ..rule import Facts, ValueLeaves


class ShapeFromValues(ValueLeaves):
    """nonzero, argwhere, one-argument where, unique and the set operations on a batched value.

    What it does: finds functions whose result has as many elements as the values say.
    Why it is bad: each sample would have a result of another size, and they could not be stacked. jax takes `size=`.
    """

    code = "PGR401"
    name = "shape-from-values"
    what = "has a shape that depends on values"
    bad = """
import numpy as np
from pergrad import vmap

def f(x):
    return x[np.nonzero(x)].sum()

F = vmap(f)
"""
    good = """
import numpy as np
from pergrad import vmap

def f(x):
    return np.where(x != 0, x, 0.0).sum()

F = vmap(f)
"""

    def help(self, call: Call, facts: Facts) -> str:
        if call.fact is not None and call.fact.hint and facts.library == "numpy":
            return call.fact.hint
        extra = ", or give size=" if facts.library == "jax" else ""
        return f"keep the shape: {facts.where}.where(condition, value, 0.0){extra}"
