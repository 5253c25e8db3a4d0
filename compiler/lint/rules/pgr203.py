"""PGR203: `.tolist()` of a batched value."""

from __future__ import annotations

from ..external import Call
from ..rule import Facts, ValueLeaves


class ToList(ValueLeaves):
    """`.tolist()`, `.tobytes()` and their like of a batched value.

    What it does: finds conversions of a batched array into Python's lists or bytes.
    Why it is bad: there is one list for each sample. Arrays can be iterated and indexed as they are.
    """

    code = "PGR203"
    name = "tolist"
    what = "asks for Python values"
    bad = """
import numpy as np
from pergrad import vmap

def f(x):
    return sum(v * v for v in x.tolist())

F = vmap(f)
"""
    good = """
import numpy as np
from pergrad import vmap

def f(x):
    return sum(v * v for v in x)

F = vmap(f)
"""

    def help(self, call: Call, facts: Facts) -> str:
        return f"iterate over `{facts.text(call.owner_node)}` itself" if call.owner_node is not None else ""
