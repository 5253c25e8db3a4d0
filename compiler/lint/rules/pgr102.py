"""PGR102: a loop that runs until a batched value says so."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..rule import Facts, Finding, Rule


class DataDependentWhile(Rule):
    """A `while` whose test is batched.

    What it does: finds `while` loops that each sample would leave after a number of rounds of its own.
    Why it is bad: Python runs one loop for the whole batch and cannot ask a batch for one truth value.
    """

    code = "PGR102"
    name = "data-dependent-while"
    bad = """
import numpy as np
from pergrad import vmap

def f(x):
    while np.abs(x).max() > 1:
        x = x / 2
    return x

F = vmap(f)
"""
    good = """
import numpy as np
from pergrad import vmap

def f(x):
    for _ in range(20):
        x = np.where(np.abs(x).max() > 1, x / 2, x)
    return x

F = vmap(f)
"""

    def visit_While(self, node: ast.While, facts: Facts) -> Iterator[Finding]:
        batch = facts.batched(node.test)
        if batch.any and not facts.seen(node.test):
            other = (
                "jax.lax.while_loop(...)"
                if facts.library == "jax"
                else f"a fixed number of rounds with {facts.where}.where({facts.text(node.test)}, new, old)"
            )
            message = f"data-dependent control flow: `while {facts.text(node.test)}` differs between samples"
            yield self.finding(node.test, message, batch, help=other)
