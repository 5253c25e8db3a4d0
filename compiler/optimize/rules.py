"""The rules of local algebra by the op, or the family of ops, that they are offered."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.program import Const

if TYPE_CHECKING:
    from .algebra import Match

Rule = Callable[["Match"], Any]
RULES: dict[str, list[Rule]] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Offer the function every op of these qualified names or families; it returns what replaces the op, or None."""

    def add(function: Rule) -> Rule:
        for name in names:
            RULES.setdefault(name, []).append(function)
        return function

    return add


def uniform(c: Const) -> Any:
    """The one number that a constant is everywhere, as Python's; None if there is no such number."""
    if isinstance(c.value, (bool, int, float, complex)) and not isinstance(c.value, np.generic):
        return c.value
    array = np.asarray(c.value)
    if array.size == 0 or array.dtype.kind not in "biufc":
        return None
    flat = array.reshape(-1)[:1] if not any(array.strides) else array
    first = flat.flat[0]
    same = bool((flat == first).all()) and (array.dtype.kind != "f" or bool((np.signbit(flat) == np.signbit(first)).all()))
    return first.item() if same or flat.size == 1 else None
