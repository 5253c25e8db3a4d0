"""PGR301: a batched value written into an array that is not batched."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..rule import Facts, Finding, Rule
from ..writes import Write


class UnbatchedWrite(Rule):
    """A batched value written in place into an unbatched array.

    What it does: finds item assignments, `+=` and in-place methods that write a value of each sample into an array shared by all samples.
    For torch that includes buffers made inside; pergrad gives a buffer made inside the batch axis it needs. jax's arrays take no
    item assignment at all.
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
        if write.verdict == "refused" and write.how != "out":
            text = ast.unparse(write.target) if write.target is not None else write.name
            message = f"write into an entry of `{text}`: jax's arrays cannot be written to"
            yield self.finding(write.node, message, sure=write.sure, help=functional(write.node, text))
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


AT = {ast.Add: "add", ast.Mult: "multiply", ast.Div: "divide", ast.Pow: "power"}


def functional(node: ast.AST, name: str) -> str:
    """``x[i] = v`` as jax says it: ``x = x.at[i].set(v)``."""
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target if isinstance(node, ast.AugAssign) else node
    if not isinstance(target, ast.Subscript) or not isinstance(node, (ast.Assign, ast.AugAssign)):
        return f"{name} = {name}.at[index].set(value)"
    place, value = f"{name}.at[{ast.unparse(target.slice)}]", ast.unparse(node.value)
    if isinstance(node, ast.Assign):
        return f"{name} = {place}.set({value})"
    if isinstance(node.op, ast.Sub):
        return f"{name} = {place}.add(-({value}))"
    method = AT.get(type(node.op))
    return f"{name} = {place}.{method}({value})" if method else f"{name} = {place}.set(...)"
