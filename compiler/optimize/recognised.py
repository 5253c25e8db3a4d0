"""Formulas that have a shorter derivative as a whole than op by op. They print as they were written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.builder import call
from .rules import rule

if TYPE_CHECKING:
    from .algebra import Match


@rule("numpy.divide")
def logistic(m: Match) -> Any:
    """1 / (1 + exp(-x)), of which nothing else reads the parts."""
    one, below = m.x
    total = m.made(below, "numpy.add") if m.number(one) == 1 and m.read_once(below) else None
    if m.derived or total is None:
        return None
    for first, second in (total.x, total.x[::-1]):
        power = m.made(second, "numpy.exp") if m.number(first) == 1 and m.read_once(second) else None
        if power is not None:
            (x,) = power.x
            minus = m.made(x, "numpy.negative") if m.read_once(x) else None
            return call("pergrad.logistic", minus.x[0] if minus else x, minus=minus is not None)
    return None
