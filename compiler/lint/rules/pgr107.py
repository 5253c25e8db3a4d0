"""PGR107: a loop bound that is batched."""

from __future__ import annotations

from collections.abc import Iterator

from ..external import Call
from ..rule import Facts, Finding, Rule
from ..values import Batch


class DataDependentRange(Rule):
    """`range` of a batched value.

    What it does: finds loops whose number of rounds differs between samples.
    Why it is bad: Python runs one loop for the whole batch.
    """

    code = "PGR107"
    name = "data-dependent-range"
    bad = """
import numpy as np
from pergrad import vmap

def f(x, n):
    t = 0.0
    for i in range(n):
        t = t + x[i]
    return t

F = vmap(f)
"""
    good = """
import numpy as np
from pergrad import vmap

def f(x, n):
    return np.where(np.arange(x.shape[0]) < n, x, 0.0).sum()

F = vmap(f)
"""

    def visit_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        if call.name not in ("builtins.range", "itertools.repeat", "itertools.islice"):
            return
        values = call.args.positional if call.name == "builtins.range" else call.args.positional[1:]
        batch = Batch(0, 0)
        for v in values:
            batch = batch | facts.holds(v)
        if batch.any:
            message = f"data-dependent control flow: the bound of `{facts.text(call.node)}` differs between samples"
            last = next((facts.text(n) for n in call.args.nodes[-1:] if n is not None), "n")
            yield self.finding(
                call.node,
                message,
                batch,
                help=f"loop to a known bound k and mask: {facts.where}.where({facts.where}.arange(k) < {last}, value, 0.0)",
            )
