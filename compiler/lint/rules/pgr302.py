"""PGR302: a batched result written through `out=`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..rule import Facts, Finding, Rule
from ..writes import Write


class OutArgument(Rule):
    """`out=` with an unbatched array, for a batched result.

    What it does: finds `out=`, and `out` given by position, where the result differs between samples and the buffer does not. In a map of
    torch's no buffer will do.
    Why it is bad: the buffer has room for one sample.
    """

    code = "PGR302"
    name = "out-argument"
    bad = """
import numpy as np
from pergrad import vmap

def f(x, buf):
    np.add(x, 1.0, out=buf)
    return buf * 2

F = vmap(f, in_dims=(0, None))
"""
    good = """
import numpy as np
from pergrad import vmap

def f(x, buf):
    buf = np.add(x, 1.0)
    return buf * 2

F = vmap(f, in_dims=(0, None))
"""

    def visit_write(self, write: Write, facts: Facts) -> Iterator[Finding]:
        if write.verdict not in ("unbatched", "refused") or write.how != "out":
            return
        message = f"out={write.name}: the result differs between samples, but the buffer is unbatched (not mapped by in_dims)"
        if write.verdict == "refused":
            message = f"out={write.name}: torch has no `out=` for values that differ between samples, inside vmap"
        help = f"{write.name} = {without_out(write.node, write.target)}" if isinstance(write.node, ast.Call) else ""
        yield self.finding(write.node, message, sure=write.sure, about=(write.node, write.source), help=help)


def without_out(node: ast.Call, target: ast.expr | None) -> str:
    """The call without its buffer."""
    args = [a for a in node.args if a is not target]
    return ast.unparse(ast.Call(node.func, args, [k for k in node.keywords if k.arg != "out"]))
