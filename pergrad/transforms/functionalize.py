"""functionalize: the same function without mutation inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..arguments import check_function, check_remove
from .compile import Compiled


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Functionalized:
    """An equivalent function in which nothing is written in place and nothing aliases, until what it writes into its own arguments is
    written back at the end.

    ``remove`` is "mutations" or "mutations_and_views"; both give a program of values alone.

    >>> import numpy as np, pergrad as pg
    >>> def f(x):
    ...     x[0] = 5.0
    ...     return x.sum()
    >>> pg.functionalize(f)(np.zeros(2))
    np.float64(5.0)
    """
    check_function(func, "functionalize")
    check_remove(remove)
    return Functionalized(func, remove=remove)


class Functionalized(Compiled):
    """A function without mutation."""

    kind = "functionalized"


__all__ = ["Functionalized", "functionalize"]
