"""PGR602: a container or object from outside changed inside a map."""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Facts, Finding, Rule
from ..writes import Write
from .pgr603 import is_statistics


class OuterObject(Rule):
    """A container or object that existed before the mapped call, changed inside it.

    What it does: finds appends, item and attribute assignments on captured lists, dicts and objects, and writes that a loop would
    repeat into
    an array from outside (a warning). What the call itself made may be changed freely.
    Why it is bad: a loop would do it once for every sample, the mapped program does it once; and a batched value leaves the map.
    """

    code = "PGR602"
    name = "outer-object"
    bad = """
import numpy as np
from pergrad import vmap

seen = []

def f(x):
    h = np.tanh(x)
    seen.append(h)
    return h.sum()

F = vmap(f)
"""
    good = """
import numpy as np
from pergrad import vmap

def f(x):
    parts = []
    parts.append(np.tanh(x))
    return parts[0].sum(), parts[0]

F = vmap(f)
"""

    def visit_write(self, write: Write, facts: Facts) -> Iterator[Finding]:
        if write.verdict not in ("object", "argument", "array") or is_statistics(write):
            return
        name = write.name
        if write.verdict == "array":
            message = f"`{name}` comes from outside (captured, or not mapped by in_dims): a loop would write it once per sample"
            yield self.finding(
                write.node,
                message,
                sure=False,
                about=(write.node, write.source),
                help=f"write into a copy: own = {name.partition('[')[0]}.copy()",
            )
            return
        where = "came as an argument" if write.verdict == "argument" else "lives outside of the mapped function"
        # torch and jax let a setting be assigned once more; what differs between samples or adds up goes wrong there too.
        sure = write.sure and (facts.library == "numpy" or write.batched or write.repeats)
        message = f"`{name}` {where} and is changed in it"
        yield self.finding(
            write.node, message, sure=sure, about=(write.node, write.source), help="return the value instead (has_aux=True for grad)"
        )
