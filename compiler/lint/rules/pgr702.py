"""PGR702: a function without a rule."""

from __future__ import annotations

from collections.abc import Iterator

from ..external import Call
from ..libraries.numpy import UNRULED_METHODS, has_rule
from ..rule import Facts, Finding, Rule


class FunctionWithoutRule(Rule):
    """A library function that pergrad has neither source nor a rule for, called with mapped values.

    What it does: finds, in functions that pergrad maps, calls of other array libraries and of SciPy, and of the few functions of NumPy that
    pergrad has no rule for (docs/ops.md lists those that it has).
    Why it is bad: the compiler cannot see into them. Functions written in Python are fine.
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
        if call.library == "numpy" and not call.host:
            yield from self.numpy_call(call, facts)
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

    def numpy_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """A function of NumPy that the op table does not hold. At most a warning: of a constant it is computed while compiling."""
        if call.owner is None and not has_rule(call.name):
            name = call.name.replace("numpy.", "np.", 1)
            arrays = any(facts.machine.cells_of_arrays(v) for v in call.args.values())
        elif call.owner is not None and call.name in UNRULED_METHODS:
            name = f".{call.name}()"
            arrays = bool(facts.batched(call.owner).any)
        else:
            return
        if arrays or facts.machine.deep_all(call.args).any:
            help = "write it with functions that have a rule, or outside of the mapped function"
            yield self.finding(call.node, f"`{name}` has no rule: pergrad cannot compile it", sure=False, help=help)
