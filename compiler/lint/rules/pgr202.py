"""PGR202: a batched value turned into one Python number."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ..external import Call
from ..rule import Facts, Finding, ValueLeaves
from ..values import Batch, Static, Tuple

# A conversion that needs a number, in `%` and in `str.format`; `%s` and `{}` take whatever it is.
PERCENT = re.compile(r"%[-+ 0#]*[\d*]*(?:\.[\d*]+)?[diouxXeEfFgGc]")
BRACES = re.compile(r"\{[^{}:]*:[^{}]+\}")
NAMES = ("float", "int", "bool", "complex", "hex", "oct", "bin", "chr")


class PythonNumber(ValueLeaves):
    """`float()`, `int()`, `bool()`, `complex()` of a batched value, or one used as the index of a list.

    What it does: finds conversions of a batch into one Python number.
    Why it is bad: each sample has a number of its own. Arrays convert with `astype`, and are indexed by arrays.
    """

    code = "PGR202"
    name = "python-number"
    what = "asks for one Python value"
    bad = """
import numpy as np
from pergrad import vmap

def f(x):
    return x * float(x[0])

F = vmap(f)
"""
    good = """
import numpy as np
from pergrad import vmap

def f(x):
    return x * x[0].astype(float)

F = vmap(f)
"""

    def visit_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        short = call.name.rpartition(".")[2]
        if (call.name == f"builtins.{short}" and short in NAMES) or call.name == "operator.index":
            batch = Batch(0, 0)
            for v in call.args.positional[:1]:
                batch = batch | (facts.batched(v) if short == "bool" else facts.holds(v))
            if batch.any:
                text = facts.text(call.args.nodes[0]) if call.args.nodes and call.args.nodes[0] is not None else "the value"
                cast = {"int": "int", "float": "float", "bool": "bool", "complex": "complex"}.get(short)
                help = f"use `{text}` itself"
                if cast is not None:
                    help = f"{text}.to(torch.{cast})" if facts.library == "torch" else f"{text}.astype({cast})"
                yield self.finding(
                    call.node,
                    f"data-dependent: `{facts.text(call.node)}` asks for one Python number, which differs between samples",
                    batch,
                    help=help,
                )
            return
        if call.name in ("builtins.str.format", "builtins.format"):
            batch = facts.machine.deep_all(call.args)
            text = call.owner.const if isinstance(call.owner, Static) else ""
            if batch.any and (BRACES.search(text) if call.owner is not None else len(call.args.positional) > 1):
                yield self.formatted(call.node, call.args.node(0) or call.node, batch, facts)
        yield from super().visit_call(call, facts)

    def visit_Subscript(self, node: ast.Subscript, facts: Facts) -> Iterator[Finding]:
        base = facts.value(node.value)
        cell = facts.machine.cell(base) if base is not None else None
        if not isinstance(base, Tuple) and (cell is None or cell.kind not in ("list", "dict")) and not isinstance(base, Static):
            return
        batch = facts.batched(node.slice)
        if batch.any:
            kind = "a tuple" if isinstance(base, Tuple) else f"a {cell.kind}" if cell is not None else "a sequence"
            message = (
                f"data-dependent: `{facts.text(node.slice)}` indexes {kind}, so it must be one Python value; it differs between samples"
            )
            yield self.finding(
                node, message, batch, help=f"{facts.where}.stack({facts.text(node.value)})[{facts.text(node.slice)}]", about=(node.slice,)
            )

    def visit_FormattedValue(self, node: ast.FormattedValue, facts: Facts) -> Iterator[Finding]:
        batch = facts.batched(node.value)
        if batch.any and node.format_spec is not None and node.conversion == -1:
            yield self.formatted(node.value, node.value, batch, facts)

    def visit_BinOp(self, node: ast.BinOp, facts: Facts) -> Iterator[Finding]:
        left = facts.value(node.left)
        if isinstance(node.op, ast.Mod) and isinstance(left, Static) and isinstance(left.const, str):
            batch = facts.holds(node.right)
            if batch.any and PERCENT.search(left.const):
                yield self.formatted(node, node.right, batch, facts)

    def formatted(self, node: ast.AST, value: ast.AST, batch: Batch, facts: Facts) -> Finding:
        message = f"data-dependent: the format of `{facts.text(value)}` asks for one Python value, which differs between samples"
        return self.finding(node, message, batch, help="format the result outside of the mapped function")

    def help(self, call: Call, facts: Facts) -> str:
        return f"compute with `{facts.text(call.owner_node)}` itself" if call.owner_node is not None else ""

    def parameter_message(self, call: Call, node: ast.AST | None, facts: Facts) -> str:
        value = f"`{facts.text(node)}`" if node is not None else "an argument"
        return f"data-dependent: {value} in `{facts.text(call.node)}` must be one Python value; it differs between samples"
