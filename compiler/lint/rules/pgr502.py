"""PGR502: the same random numbers for every sample, unsaid."""

from __future__ import annotations

from collections.abc import Iterator

from ..external import Draw
from ..rule import Facts, Finding, Rule


class SharedRandomness(Rule):
    """Host random numbers under jax or torch, or one jax key for every sample.

    What it does: finds NumPy's and Python's generators inside mapped jax or torch functions, and jax keys that are not mapped.
    Why it is bad: the draw happens once, so every sample gets the same numbers, and nothing says that this is meant.
    """

    code = "PGR502"
    name = "shared-randomness"
    bad = """
import jax
import jax.numpy as jnp
import numpy as np

def f(x):
    return x + np.random.rand(3)

out = jax.vmap(f)(jnp.ones((4, 3)))
"""
    good = """
import jax
import jax.numpy as jnp

def f(key, x):
    return x + jax.random.normal(key, x.shape)

x = jnp.ones((4, 3))
out = jax.vmap(f)(jax.random.split(jax.random.PRNGKey(0), 4), x)
"""

    def visit_draw(self, draw: Draw, facts: Facts) -> Iterator[Finding]:
        machine = facts.machine
        level = machine.levels[-1]
        if draw.kind == "host" and facts.library in ("jax", "torch"):
            if all(x.randomness == "same" for x in machine.levels):
                return
            message = f"`{draw.name}` draws once: every sample gets the same random numbers"
            help = (
                "jax.random with a key for each sample"
                if facts.library == "jax"
                else "torch's own random functions, with vmap(..., randomness=...)"
            )
            yield self.finding(draw.node, message, sure=draw.sure and level.randomness != "different", help=help)
        elif draw.kind == "key" and draw.key is not None and facts.library == "jax":
            if facts.holds(draw.key).any or not level.bit:
                return
            root = next((c.root for _, c in machine.cells(draw.key)), None)
            shared = root is not None and root.how == "argument"
            message = f"`{draw.name}` draws with one key for every sample" + (
                f": {root.name} is not mapped" if root is not None and root.name and shared else ""
            )
            help = "map a key for each sample: jax.random.split(key, n) with in_axes 0"
            node, module = (level.site, level.module) if shared else (draw.node, None)
            yield self.finding(node, message, sure=False, help=help, module=module)
