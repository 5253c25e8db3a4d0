"""Random generators: one that existed before the walk is a hidden parameter, one made inside with a seed is Python's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.program import Var
from ..core.types import Type
from .cells import Scalar

KINDS = (np.random.Generator, np.random.RandomState)
TYPE = Type(np.dtype(object), (), scalar=True)


class Generator(Scalar):
    """A generator that is drawn from at run time."""

    __slots__ = ("kind",)

    def __init__(self, var: Var, kind: type) -> None:
        super().__init__(var)
        self.kind = kind

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__") or not hasattr(self.kind, name):
            raise AttributeError(f"'{self.kind.__name__}' object has no attribute {name!r}")

        def method(*args: Any, **kwargs: Any) -> Any:
            from ..ops.random import draw

            return draw(name, self, args, kwargs)

        method.__name__ = name
        return method


__all__ = ["KINDS", "TYPE", "Generator"]
