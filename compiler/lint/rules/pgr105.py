"""PGR105: a comprehension that keeps what a batched value says."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..rule import Facts, Finding, Rule
from ..values import Value


class DataDependentFilter(Rule):
    """A comprehension's `if`, or `filter`, decided by a batched value.

    What it does: finds filters whose condition differs between samples.
    Why it is bad: each sample would keep another number of elements, and the batch asks for one truth value.
    """

    code = "PGR105"
    name = "data-dependent-filter"
    bad = """
import numpy as np
from pergrad import vmap

def f(x):
    return sum(v for v in x if v > 0)

F = vmap(f)
"""
    good = """
import numpy as np
from pergrad import vmap

def f(x):
    return np.where(x > 0, x, 0.0).sum()

F = vmap(f)
"""

    def visit_filter(self, subject: tuple[ast.expr, ast.expr], facts: Facts) -> Iterator[Finding]:
        test, node = subject
        batch = facts.batched(test)
        if batch.any and not facts.seen(test):
            kept = getattr(node, "elt", None)
            text = ast.unparse(kept) if kept is not None else "value"
            message = f"data-dependent control flow: the filter `if {facts.text(test)}` differs between samples"
            yield self.finding(test, message, batch, help=f"keep every element: {facts.where}.where({ast.unparse(test)}, {text}, 0.0)")

    def visit_predicate(self, subject: tuple[ast.AST, Value], facts: Facts) -> Iterator[Finding]:
        node, value = subject
        batch = facts.batched(value)
        if batch.any:
            message = f"data-dependent control flow: what `{facts.text(node)}` keeps differs between samples"
            yield self.finding(node, message, batch, help=f"keep every element: {facts.where}.where(condition, value, 0.0)")
