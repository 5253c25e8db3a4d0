"""PGR204: a host function on a batched value."""

from __future__ import annotations

from collections.abc import Iterator

from ..external import Call
from ..rule import Facts, Finding, Rule

SAME_NAME = frozenset(
    """sqrt exp log log2 log10 log1p expm1 sin cos tan sinh cosh tanh floor ceil trunc fabs hypot isnan isfinite isinf degrees
    radians""".split()
)
OTHER_NAME = {
    "pow": "power",
    "atan2": "arctan2",
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "fsum": "sum",
    "prod": "prod",
    "dist": "linalg.norm",
    "gamma": "special.gamma",
}
MODULES = ("math.", "cmath.", "statistics.", "decimal.", "fractions.", "struct.", "json.", "pickle.")


class HostCall(Rule):
    """A function of Python's `math` and its like on a batched value.

    What it does: finds calls of scalar functions of the standard library with values that differ between samples.
    Why it is bad: they take one Python number. The array library has the same function for arrays.
    """

    code = "PGR204"
    name = "host-call"
    bad = """
import math
import numpy as np
from pergrad import vmap

def f(x):
    return math.sqrt(x[0])

F = vmap(f)
"""
    good = """
import math
import numpy as np
from pergrad import vmap

def f(x):
    return np.sqrt(x[0]) * math.pi

F = vmap(f)
"""

    def visit_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        if not call.name.startswith(MODULES):
            return
        batch = facts.machine.deep_all(call.args)
        if batch.any:
            short = call.name.rpartition(".")[2]
            function = short if short in SAME_NAME else OTHER_NAME.get(short)
            texts = ", ".join(facts.text(n) for n in call.args.nodes if n is not None)
            help = f"{facts.where}.{function}({texts})" if function else "compute it outside of the mapped function"
            message = f"data-dependent: `{facts.text(call.node)}` asks for one Python number, which differs between samples"
            yield self.finding(call.node, message, batch, help=help)
