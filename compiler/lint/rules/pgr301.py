"""PGR301: a batched value written into an array that is not batched."""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Facts, Finding, Rule
from ..writes import Write


class UnbatchedWrite(Rule):
    """A batched value written in place into an unbatched array.

    What it does: finds item assignments, `+=` and in-place methods that write a value of each sample into an array shared by all samples.
    For torch that includes buffers made inside; pergrad gives a buffer made inside the batch axis it needs.
    Why it is bad: the array has room for one sample. A loop would leave the last sample's value in it.
    """

    code = "PGR301"
    name = "unbatched-write"
    bad = """
import numpy as np
from pergrad import vmap

def f(x, table):
    table[0] = x[0]
    return table.sum()

F = vmap(f, in_dims=(0, None))
"""
    good = """
import numpy as np
from pergrad import vmap

def f(x, table):
    own = np.zeros(3)
    own[0] = x[0]
    return (table + own).sum()

F = vmap(f, in_dims=(0, None))
"""

    def visit_write(self, write: Write, facts: Facts) -> Iterator[Finding]:
        if write.verdict != "unbatched" or write.how == "out":
            return
        where = (
            "captured from outside"
            if write.root.how == "captured" or not write.root.name
            else f"an argument that in_dims does not map ({write.root.name})"
        )
        if write.root.how == "fresh":
            where = "made inside and unbatched"
        message = f"write of a batched value into `{write.name}`, which is unbatched: {where}"
        name = write.name.partition("[")[0]
        if facts.library == "torch":
            help = f"make it batched: {name} = x.new_zeros(...), or write {name} = {name} + value"
        else:
            help = f"write into a copy: own = {name}.copy(), or map it in in_dims"
        yield self.finding(write.node, message, sure=write.sure, about=(write.node, write.source), help=help)
