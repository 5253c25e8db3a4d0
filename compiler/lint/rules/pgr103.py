"""PGR103: an assertion about a batched value."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..external import Call
from ..rule import Facts, Finding, Rule


class DataDependentAssert(Rule):
    """An `assert`, or a check of NumPy's or torch's `testing`, on a batched value.

    What it does: finds assertions whose condition differs between samples.
    Why it is bad: an assertion asks one truth value of a batch; and one bad sample would stop all of them.
    """

    code = "PGR103"
    name = "data-dependent-assert"
    bad = """
import numpy as np
from pergrad import vmap

def f(x):
    assert np.all(np.isfinite(x))
    return x.sum()

F = vmap(f)
"""
    good = """
import numpy as np
from pergrad import vmap

def f(x):
    assert x.ndim == 1
    return x.sum()

F = vmap(f)
"""

    def visit_Assert(self, node: ast.Assert, facts: Facts) -> Iterator[Finding]:
        batch = facts.batched(node.test)
        if batch.any and not facts.seen(node.test):
            message = f"data-dependent control flow: `assert {facts.text(node.test)}` differs between samples"
            yield self.finding(node.test, message, batch, help="check the values before they are mapped, or return the condition")

    def visit_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        if call.name.startswith(("numpy.testing.assert", "torch.testing.assert")):
            batch = facts.machine.deep_all(call.args)
            if batch.any:
                message = f"data-dependent control flow: `{facts.text(call.node)}` compares values that differ between samples"
                yield self.finding(call.node, message, batch, help="check the result outside of the mapped function")
