"""PGR201: `.item()` of a batched value."""

from __future__ import annotations

from ..external import Call
from ..rule import Facts, ValueLeaves


class Item(ValueLeaves):
    """`.item()` of a batched value.

    What it does: finds `.item()` where each sample has a value of its own.
    Why it is bad: `.item()` gives one Python number; a batch has one for each sample. Without it the array itself can be used.
    """

    code = "PGR201"
    name = "item"
    what = "asks for one Python number"
    bad = """
import numpy as np
from pergrad import vmap

def f(x):
    return x[np.argmax(x).item()]

F = vmap(f)
"""
    good = """
import numpy as np
from pergrad import vmap

def f(x):
    return x[np.argmax(x)]

F = vmap(f)
"""

    def help(self, call: Call, facts: Facts) -> str:
        text = facts.text(call.owner_node) if call.owner_node is not None else "the array"
        return f"use `{text}` itself, without .item()"
