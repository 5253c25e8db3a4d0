"""PGR702: a function without a rule."""

from __future__ import annotations

from collections.abc import Iterator

from ..external import Call
from ..rule import Facts, Finding, Rule


class FunctionWithoutRule(Rule):
    """A library function that pergrad has neither source nor a rule for, called with mapped values.

    What it does: finds, in functions that pergrad maps, calls of other array libraries and of SciPy.
    Why it is bad: the compiler cannot see into them. NumPy functions and functions written in Python are fine.
    """

    code = "PGR702"
    name = "function-without-rule"
    bad = """
import numpy as np
import torch
from pergrad import vmap

def f(x):
    return torch.sigmoid(x)

F = vmap(f)
"""
    good = """
import numpy as np
from pergrad import vmap

def f(x):
    return 1.0 / (1.0 + np.exp(-x))

F = vmap(f)
"""

    def visit_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        if facts.library != "numpy":
            return
        foreign = call.host or call.name.partition(".")[0] in ("scipy", "pandas", "sklearn", "tensorflow", "autograd", "cupy")
        if foreign and call.owner is None:
            batch = facts.machine.deep_all(call.args)
            if batch.any:
                message = f"`{call.name}` has no rule: pergrad cannot see into it"
                yield self.finding(
                    call.node,
                    message,
                    batch,
                    sure=bool(batch.yes) and call.host,
                    help="write it in NumPy, or define it in a file of your own",
                )
