"""PGR101: a branch decided by a batched value."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..rule import Facts, Finding, Rule, as_where


class DataDependentBranch(Rule):
    """An `if`, a conditional expression or a `match` decided by a batched value.

    What it does: finds branches whose test differs between samples.
    Why it is bad: Python takes one branch, for the whole batch; the samples that should take the other one would get wrong values, so every
    library refuses.
    """

    code = "PGR101"
    name = "data-dependent-branch"
    bad = """
import numpy as np
from pergrad import vmap

def f(x):
    if x.sum() > 0:
        return x
    return -x

F = vmap(f)
"""
    good = """
import numpy as np
from pergrad import vmap

def f(x):
    return np.where(x.sum() > 0, x, -x)

F = vmap(f)
"""

    def visit_If(self, node: ast.If, facts: Facts) -> Iterator[Finding]:
        batch = facts.batched(node.test)
        if batch.any and not facts.seen(node.test):
            message = f"data-dependent control flow: `if {facts.text(node.test)}` differs between samples"
            yield self.finding(node.test, message, batch, help=rewrite(node, facts))

    def visit_IfExp(self, node: ast.IfExp, facts: Facts) -> Iterator[Finding]:
        batch = facts.batched(node.test)
        if batch.any and not facts.seen(node.test):
            message = f"data-dependent control flow: the condition `{facts.text(node.test)}` differs between samples"
            yield self.finding(node.test, message, batch, help=as_where(node.test, node.body, node.orelse, facts.where))

    def visit_Match(self, node: ast.Match, facts: Facts) -> Iterator[Finding]:
        for case in node.cases:
            for part, batch in compared(case.pattern, node.subject, facts):
                if batch.any:
                    message = (
                        f"data-dependent control flow: `match {facts.text(node.subject)}` compares a value that differs between samples"
                    )
                    yield self.finding(part, message, batch, about=(node.subject,), help=f"{facts.where}.where(condition, a, b)")
                    return

    def visit_guard(self, test: ast.expr, facts: Facts) -> Iterator[Finding]:
        batch = facts.batched(test)
        if batch.any and not facts.seen(test):
            message = f"data-dependent control flow: the guard `if {facts.text(test)}` differs between samples"
            yield self.finding(test, message, batch, help=f"{facts.where}.where({facts.text(test)}, a, b)")


def compared(pattern: ast.pattern, subject: ast.expr, facts: Facts):  # type: ignore[no-untyped-def]
    """The nodes where a pattern compares a part of the subject with a value, with that part's batchedness."""
    if isinstance(pattern, (ast.MatchValue, ast.MatchSingleton)):
        value = getattr(pattern.value, "value", pattern.value)
        if value is not None and not isinstance(value, str):
            yield subject, facts.batched(subject)
    elif isinstance(pattern, ast.MatchOr):
        for p in pattern.patterns:
            yield from compared(p, subject, facts)
    elif isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
        yield from compared(pattern.pattern, subject, facts)
    elif isinstance(pattern, (ast.MatchSequence, ast.MatchMapping, ast.MatchClass)):
        values = [p for p in ast.walk(pattern) if isinstance(p, ast.MatchValue)]
        if any(not isinstance(getattr(p.value, "value", None), str) for p in values):
            if isinstance(subject, ast.Tuple) and isinstance(pattern, ast.MatchSequence) and len(subject.elts) == len(pattern.patterns):
                for p, part in zip(pattern.patterns, subject.elts):
                    yield from compared(p, part, facts)
            else:
                yield subject, facts.holds(subject)


def rewrite(node: ast.If, facts: Facts) -> str:
    """The line that says the same without a branch, for the shapes of `if` that have one."""
    body, other = node.body, node.orelse
    if len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value is not None:
        if len(other) == 1 and isinstance(other[0], ast.Return) and other[0].value is not None:
            return "return " + as_where(node.test, body[0].value, other[0].value, facts.where)
        return f"{facts.where}.where({ast.unparse(node.test)}, {ast.unparse(body[0].value)}, ...)"
    if len(body) == 1 and isinstance(body[0], ast.Assign) and len(body[0].targets) == 1 and isinstance(body[0].targets[0], ast.Name):
        name = body[0].targets[0]
        if not other:
            return f"{name.id} = " + as_where(node.test, body[0].value, ast.Name(name.id, ast.Load()), facts.where)
        if len(other) == 1 and isinstance(other[0], ast.Assign) and ast.unparse(other[0].targets[0]) == name.id:
            return f"{name.id} = " + as_where(node.test, body[0].value, other[0].value, facts.where)
    if len(body) == 1 and isinstance(body[0], ast.AugAssign) and isinstance(body[0].target, ast.Name) and not other:
        name = body[0].target
        new = ast.BinOp(ast.Name(name.id, ast.Load()), body[0].op, body[0].value)
        return f"{name.id} = " + as_where(node.test, new, ast.Name(name.id, ast.Load()), facts.where)
    if any(isinstance(s, ast.Raise) for s in body):
        return "check the values outside of the mapped function"
    return f"{facts.where}.where({ast.unparse(node.test)}, a, b)"
