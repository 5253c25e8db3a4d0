"""PGR205: host NumPy on a torch or jax value."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..external import Call
from ..rule import Facts, Finding, ValueLeaves
from ..writes import Write


class HostNumpy(ValueLeaves):
    """NumPy on a batched torch or jax value, or `.numpy()` of one.

    What it does: finds functions of another array library called with mapped values, and conversions into its arrays.
    Why it is bad: inside the map there is no one array to hand over; the library's own function works on every sample.
    """

    code = "PGR205"
    name = "host-numpy"
    what = "asks for one NumPy array"
    bad = """
import jax
import jax.numpy as jnp
import numpy as np

def f(x):
    return np.sin(x)

out = jax.vmap(f)(jnp.ones((4, 3)))
"""
    good = """
import jax
import jax.numpy as jnp
import numpy as np

def f(x):
    return jnp.sin(x) * np.prod(x.shape)

out = jax.vmap(f)(jnp.ones((4, 3)))
"""

    def visit_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        if call.host and facts.library in ("torch", "jax") and not (call.fact is not None and call.fact.returns == "static"):
            if call.name.startswith("numpy.testing."):
                return
            batch = facts.machine.deep_all(call.args)
            if batch.any:
                own = "jnp" if facts.library == "jax" else "torch"
                short = call.name.partition(".")[2]
                texts = ", ".join(facts.text(n) for n in call.args.nodes if n is not None)
                message = f"data-dependent: `{facts.text(call.node)}` hands a mapped {facts.library} value to {call.library}"
                yield self.finding(call.node, message, batch, help=f"{own}.{short}({texts})")
            return
        yield from super().visit_call(call, facts)

    def visit_Subscript(self, node: ast.Subscript, facts: Facts) -> Iterator[Finding]:
        value = facts.value(node.value)
        cell = facts.machine.cell(value) if value is not None else None
        if facts.library not in ("torch", "jax") or cell is None or cell.kind != "array" or cell.library != "numpy":
            return
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        batch = facts.holds(node.slice)
        if batch.any and not any(isinstance(p, ast.Slice) for p in parts):
            own = f"{facts.where}.asarray({facts.text(node.value)})[{facts.text(node.slice)}]"
            message = f"data-dependent: `{facts.text(node)}` indexes a NumPy array with a mapped {facts.library} value"
            yield self.finding(node, message, batch, about=(node.slice,), help=own)

    def visit_write(self, write: Write, facts: Facts) -> Iterator[Finding]:
        if write.verdict == "host":
            message = f"data-dependent: `{write.name}` is a NumPy array and cannot hold a mapped {facts.library} value"
            yield self.finding(
                write.node,
                message,
                sure=write.sure,
                about=(write.node, write.source),
                help=f"collect the values and stack them with {facts.where}.stack",
            )

    def help(self, call: Call, facts: Facts) -> str:
        return f"stay with `{facts.text(call.owner_node)}` itself" if call.owner_node is not None else ""
