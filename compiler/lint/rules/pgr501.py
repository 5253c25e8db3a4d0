"""PGR501: random numbers inside a map that does not say whether samples share them."""

from __future__ import annotations

from collections.abc import Iterator

from ..external import Draw
from ..rule import Facts, Finding, Rule


class UnsaidRandomness(Rule):
    """A draw of random numbers under `randomness="error"`, the default.

    What it does: finds calls of random functions, generators' methods and dropout inside functions that `vmap`, `jacfwd` or `hessian` runs.
    Why it is bad: the program does not say whether every sample gets numbers of its own or all get the same.
    """

    code = "PGR501"
    name = "unsaid-randomness"
    bad = """
import numpy as np
from pergrad import vmap

def f(x):
    return x + np.random.normal(size=3)

F = vmap(f)
"""
    good = """
import numpy as np
from pergrad import vmap

def f(x):
    return x + np.random.normal(size=3)

F = vmap(f, randomness="different")
"""

    def visit_draw(self, draw: Draw, facts: Facts) -> Iterator[Finding]:
        if draw.kind != "library" or facts.library == "jax":
            return
        levels = facts.machine.levels[draw.from_level :]
        refused = [x for x in levels if x.randomness == "error"]
        unknown = [x for x in levels if x.randomness == "unknown"]
        if refused or unknown:
            kind = (refused or unknown)[-1].kind
            called = {"map": "vmap"}.get(kind, kind)
            message = f"random numbers drawn by `{draw.name}` inside {called}: it does not say whether samples share them"
            help = f"{called}(..., randomness='different') for numbers of each sample's own, randomness='same' for one draw"
            yield self.finding(draw.node, message, sure=bool(refused) and draw.sure, help=help)
