"""PGR104: and, or, not, chained comparisons and `in` on batched values."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..rule import Facts, Finding, Rule
from ..values import Static


class HiddenTruthValue(Rule):
    """`and`, `or`, `not`, a chained comparison or `in`, on a batched value.

    What it does: finds operators that ask a value for its truth without looking like a branch. One comparison alone does not.
    Why it is bad: a batch has no one truth value. `&`, `|`, `~` and the `logical_` functions work on every sample.
    """

    code = "PGR104"
    name = "hidden-truth-value"
    bad = """
import numpy as np
from pergrad import vmap

def f(x):
    return x * (0 < x[0] < 1)

F = vmap(f)
"""
    good = """
import numpy as np
from pergrad import vmap

def f(x):
    return x * ((0 < x[0]) & (x[0] < 1))

F = vmap(f)
"""

    def visit_operand(self, subject: tuple[ast.expr, ast.BoolOp], facts: Facts) -> Iterator[Finding]:
        operand, node = subject
        batch = facts.batched(operand)
        if batch.any and not facts.seen(operand):
            word, function, sign = ("and", "logical_and", "&") if isinstance(node.op, ast.And) else ("or", "logical_or", "|")
            message = f"data-dependent control flow: `{word}` asks for the truth of `{facts.text(operand)}`, which differs between samples"
            texts = [ast.unparse(v) for v in node.values]
            boolean = all(facts.boolean(v) for v in node.values if facts.value(v) is not None)
            if boolean and len(texts) == 2:
                help = f" {sign} ".join(f"({t})" if isinstance(v, ast.Compare) else t for t, v in zip(texts, node.values))
            elif len(texts) == 2 and not isinstance(node.op, ast.And):
                help = f"{facts.where}.where({texts[0]} != 0, {texts[0]}, {texts[1]})"
            else:
                help = f"{facts.where}.{function}({', '.join(texts[:2])})"
            yield self.finding(operand, message, batch, help=help)

    def visit_Not(self, node: ast.UnaryOp, facts: Facts) -> Iterator[Finding]:
        batch = facts.batched(node.operand)
        if batch.any and not facts.seen(node.operand):
            message = (
                f"data-dependent control flow: `not` asks for the truth of `{facts.text(node.operand)}`, which differs between samples"
            )
            yield self.finding(node, message, batch, help=f"{facts.where}.logical_not({facts.text(node.operand)})", about=(node.operand,))

    def visit_Compare(self, node: ast.Compare, facts: Facts) -> Iterator[Finding]:
        operands = [node.left, *node.comparators]
        if len(node.ops) > 1:
            for i in range(len(node.ops) - 1):
                batch = facts.batched(operands[i]) | facts.batched(operands[i + 1])
                if batch.any and not isinstance(node.ops[i], (ast.Is, ast.IsNot)):
                    parts = [f"({ast.unparse(ast.Compare(a, [op], [b]))})" for a, op, b in zip(operands, node.ops, operands[1:])]
                    message = (
                        f"data-dependent control flow: the chained `{facts.text(node)}` asks for a truth value that differs between samples"
                    )
                    yield self.finding(node, message, batch, help=" & ".join(parts))
                    return
            return
        if isinstance(node.ops[0], (ast.In, ast.NotIn)):
            left, right = operands
            value = facts.value(left)
            text = isinstance(value, Static) and isinstance(value.const, (str, bytes))
            batch = facts.batched(left)
            if not text and not batch.any:
                found = facts.value(right)
                sure = found is not None and facts.machine.is_sure_array(found)
                numeric = isinstance(value, Static) and isinstance(value.const, (int, float))
                if sure or numeric:
                    batch = facts.batched(right)
            if batch.any and not text:
                message = (
                    f"data-dependent control flow: `{facts.text(node)}` asks for the truth of a comparison that differs between samples"
                )
                yield self.finding(node, message, batch, help=f"{facts.where}.any({facts.text(left)} == {facts.where}.array([...]))")
