"""Arguments that share memory with one that is written: a function is compiled for arrays apart, so such a call cannot be right.

A function that is traced has parameters of its own; what they stand for outside is followed to the arguments of the call.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core.builder import current
from ..core.program import Atom
from ..core.types import known
from ..errors import ArgumentError, Refused, Span
from .cells import Array, Cell, step

_WORK = 1000  # how hard NumPy tries to find out whether arrays overlap


@dataclass(eq=False)
class Sharing:
    """Where parameters were written. ``leaves`` are the arguments of the call: cell to number; ``written`` those that some function wrote,
    ``pairs`` those with others that the same function takes: number and number to the place of the write."""

    leaves: dict[Cell, int] = field(default_factory=dict)
    origins: dict[Cell, Array] = field(default_factory=dict)  # of a parameter's cell: what it stands for outside
    places: dict[Cell, Span | None] = field(default_factory=dict)
    written: dict[int, Span | None] = field(default_factory=dict)
    pairs: dict[tuple[int, int], Span | None] = field(default_factory=dict)

    def write(self, cell: Cell) -> None:
        """Note a write into a parameter."""
        self.places.setdefault(cell, current().span)

    def root(self, x: Array) -> Cell:
        """The cell that an array is a view of at the outermost level."""
        while x.cell in self.origins:
            x = self.origins[x.cell]
        return x.cell

    def end(self, parameters: Sequence[tuple[Cell, Array]], written: Sequence[Cell], read: Collection[Atom]) -> None:
        """At the end of a trace: what its parameters stand for, which it wrote, and what it read from around it."""
        around = [Array(c) for c in (*self.leaves, *self.origins) if c.atom in read]
        for cell, outer in parameters:
            if cell not in written:
                continue
            span, place = self.places.get(cell), self.leaves.get(self.root(outer))
            if place is not None:
                self.written.setdefault(place, span)
            beside = [(other.name, x) for other, x in parameters if other is not cell] + [(x.cell.name, x) for x in around]
            for name, x in beside:
                if overlap(outer, x) or outer.cell.atom in read:
                    raise Refused(
                        f"`{cell.name}` and `{name}` are one memory, and `{cell.name}` is written: the transformed function takes them "
                        "as arrays apart",
                        code="PGR701",
                        span=span,
                        hint=f"pass a copy for `{cell.name}`",
                    )
                second = self.leaves.get(self.root(x))
                if place is not None and second is not None and place != second:
                    self.pairs.setdefault((place, second), span)


def overlap(x: Array, y: Array) -> bool:
    """Whether two views have elements in common: asked of NumPy itself, with arrays that have strides and no memory."""
    if x.cell is not y.cell:
        return False
    base = x.cell.atom.type
    if not known(base.shape) or any(place for view in (x, y) for *_, place in view.path):
        return True
    strides = [base.dtype.itemsize] * base.ndim
    for k in range(base.ndim - 2, -1, -1):
        strides[k] = strides[k + 1] * max(int(base.shape[k + 1]), 1)  # type: ignore[arg-type]
    whole = np.lib.stride_tricks.as_strided(np.empty(1, base.dtype), base.shape, strides)  # type: ignore[arg-type]
    views = []
    for view in (x, y):
        part: Any = whole
        for entry, params, _ in view.path:
            part = step(part, entry, params)
        views.append(part)
    return _share(*views)


def _share(x: Any, y: Any) -> bool:
    try:
        return np.shares_memory(x, y, max_work=_WORK)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


@dataclass(eq=False)
class Apart:
    """The arrays of a call that must not share memory: pairs of arguments, and written arguments with captured arrays."""

    written: Mapping[int, Span | None]
    pairs: Mapping[tuple[int, int], Span | None]

    def check(self, leaves: Sequence[Any], names: Sequence[str], captured: Mapping[str, Any]) -> None:
        """Raises ArgumentError where a written argument shares memory."""
        for (i, j), span in self.pairs.items():
            if isinstance(leaves[i], np.ndarray) and isinstance(leaves[j], np.ndarray) and _share(leaves[i], leaves[j]):
                raise ArgumentError(
                    f"arguments `{names[i]}` and `{names[j]}` share memory, and the function writes into `{names[i]}`",
                    code="PGR701",
                    span=span,
                    hint=f"pass {names[j]}.copy()",
                )
        for i, span in self.written.items():
            for name, x in captured.items():
                if isinstance(leaves[i], np.ndarray) and isinstance(x, np.ndarray) and _share(leaves[i], x):
                    raise ArgumentError(
                        f"argument `{names[i]}` shares memory with the captured `{name}`, and the function writes into `{names[i]}`",
                        code="PGR701",
                        span=span,
                        hint=f"pass {names[i]}.copy()",
                    )


__all__ = ["Apart", "Sharing", "overlap"]
