"""compile: NumPy code and transforms together as one program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..arguments import check_function
from ..compiler.specialize import Context
from ..transformed import Inner, Transformed, stage


def compile(func: Callable[..., Any]) -> Compiled:
    """The function itself, compiled: transforms called inside it and the NumPy code around them become one optimised program.

    Takes and returns what ``func`` does; the caller's arrays are written as ``func`` writes them.

    >>> import numpy as np, pergrad as pg
    >>> pg.compile(lambda x: np.sum(pg.vmap(np.sin)(x)))(np.zeros(3))
    np.float64(0.0)
    """
    check_function(func, "compile")
    return Compiled(func)


class Compiled(Transformed):
    """A compiled function."""

    kind = "compiled"
    adaptive = True

    def record(self, args: tuple[Any, ...], kwargs: dict[str, Any], context: Context | None = None) -> Any:
        inner = Inner(self._func, args, kwargs)
        results = inner.inline(stage("traced", inner.program))
        inner.write_back(results)
        return inner.traced.outputs(results)


__all__ = ["Compiled", "compile"]
