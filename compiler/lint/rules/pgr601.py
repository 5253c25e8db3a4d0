"""PGR601: a global or nonlocal name assigned inside a map."""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Facts, Finding, Rule
from ..writes import Write


class OuterName(Rule):
    """A global or nonlocal name of an outer function assigned inside a mapped function.

    What it does: finds assignments to names that outlive the mapped call. A nonlocal of a function that is itself inside the map is fine.
    Why it is bad: a loop would assign it for every sample, the mapped program once; and a batched value leaves the map.
    """

    code = "PGR601"
    name = "outer-name"
    bad = """
import numpy as np
from pergrad import vmap

count = 0

def f(x):
    global count
    count += 1
    return x.sum()

F = vmap(f)
"""
    good = """
import numpy as np
from pergrad import vmap

def f(x):
    return x.sum(), 1

F = vmap(f)
"""

    def visit_write(self, write: Write, facts: Facts) -> Iterator[Finding]:
        if write.verdict == "scope":
            message = f"`{write.name}` lives outside of the mapped function and is assigned in it"
            # torch and jax let a setting be assigned once more; what differs between samples or adds up goes wrong there too.
            sure = facts.library == "numpy" or write.batched or write.repeats
            yield self.finding(
                write.node,
                message,
                sure=sure,
                about=(write.node, write.source),
                help=f"return {write.name} instead (has_aux=True for grad)",
            )
