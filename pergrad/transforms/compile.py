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

    Sizes that were seen to differ between calls, such as the batch's, stay names in the program, which then serves all of them:
    ``x.shape[0]`` and ``len(x)`` may be calculated with, slice, shape and loop. Where a size decides something, there is one program for
    each outcome: ``if len(x) > 1``, or ``x[:2]`` of fewer than two rows. It is compiled again for every size only where Python needs the
    number itself: as a key or text, in ``int(0.5 * len(x))`` as a bound, in a comprehension over rows, in a ``while`` that counts to it, in
    a mask like ``x[np.arange(len(x)) > 2]``.

    >>> import numpy as np, pergrad as pg
    >>> pg.compile(lambda x: np.sum(pg.vmap(np.sin)(x)))(np.zeros(3))
    np.float64(0.0)
    >>> centered = pg.compile(lambda x: (x - x.mean(0)) / (len(x) - 1))
    >>> [centered(np.ones((n, 2))).shape for n in (4, 5, 6, 7)], centered.cache_info().misses
    ([(4, 2), (5, 2), (6, 2), (7, 2)], 2)
    """
    check_function(func, "compile")
    return Compiled(func)


class Compiled(Transformed):
    """A compiled function."""

    kind = "compiled"
    spoken = "compile"
    adaptive = True

    def record(self, args: tuple[Any, ...], kwargs: dict[str, Any], context: Context | None = None) -> Any:
        inner = Inner(self._func, args, kwargs)
        results = inner.inline(stage("traced", inner.program))
        inner.write_back(results)
        return inner.traced.outputs(results)


__all__ = ["Compiled", "compile"]
