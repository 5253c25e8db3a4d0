"""Which sizes of a call's arguments are names in its program: those of mapped axes, and those that were seen to change between calls."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .core.sizes import Decisions, Size

Axes = tuple[int, ...]  # the axes of one argument whose sizes may vary


def size_groups(leaves: Sequence[Any], axes: Sequence[Axes]) -> dict[int, int]:
    """The different sizes on axes that may vary, numbered in order: equal ones are one size."""
    groups: dict[int, int] = {}
    for leaf, own in zip(leaves, axes, strict=False):
        for axis in own:
            groups.setdefault(leaf.shape[axis], len(groups))
    return groups


def vague(leaf: Any, axes: Axes, groups: Mapping[int, int]) -> Any:
    """What an array with sizes that may vary contributes to the key."""
    shape = tuple((groups[d],) if n in axes else d for n, d in enumerate(leaf.shape))
    return leaf.dtype, "varying", shape


class Named:
    """The named sizes of one call: ``B`` for the first, ``B2``, … for others, and what its compilation decides by them."""

    def __init__(self, leaves: Sequence[Any], axes: Sequence[Axes]) -> None:
        self._axes = axes
        self._groups = size_groups(leaves, axes)
        self.places: dict[str, tuple[int, int]] = {}  # leaf and axis
        self.decisions = Decisions({_name(k): size for size, k in self._groups.items()})

    def shape(self, k: int, shape: Sequence[Any]) -> tuple[Any, ...]:
        """The shape of a leaf with names for what may vary."""
        out: list[Any] = list(shape)
        for axis in self._axes[k] if k < len(self._axes) else ():
            name = _name(self._groups[shape[axis]])
            self.places.setdefault(name, (k, axis))
            out[axis] = Size.named(name)
        return tuple(out)

    def guard(self) -> Guard | None:
        """The test that other calls of the same key must pass."""
        test = self.decisions.test()
        return None if test is None else Guard(test, [self.places[name] for name in self.decisions.numbers])


class Guard:
    """What a compilation has decided by sizes."""

    __slots__ = ("_places", "_test")

    def __init__(self, test: Any, places: Sequence[tuple[int, int]]) -> None:
        self._test = test
        self._places = places

    def holds(self, leaves: Sequence[Any]) -> bool:
        return bool(self._test(*[leaves[k].shape[axis] for k, axis in self._places]))


def _name(group: int) -> str:
    return f"B{group + 1}" if group else "B"


class Changes:
    """The sizes that changed between the calls of one function."""

    def __init__(self) -> None:
        self._seen: dict[Any, tuple[list[Any], list[set[int]]]] = {}
        self._refused: set[Any] = set()
        self._lock = threading.Lock()

    def axes(self, full: Any, leaves: Sequence[Any]) -> list[Axes]:
        """For each leaf the axes whose sizes have changed since the first call of this structure; none where numbers are needed."""
        shapes = [x.shape if type(x) is np.ndarray else None for x in leaves]
        structure = _structure(full, leaves)
        with self._lock:
            first, varied = self._seen.setdefault(structure, (shapes, [set() for _ in leaves]))
            for old, new, axes in zip(first, shapes, varied, strict=True):
                if old is not None and new is not None:
                    axes.update(n for n, (a, b) in enumerate(zip(old, new, strict=True)) if a != b)
            found = [tuple(sorted(v)) for v in varied]
            return [()] * len(found) if (structure, tuple(found)) in self._refused else found

    def refuse(self, full: Any, leaves: Sequence[Any], axes: Sequence[Axes]) -> None:
        """Sizes on these axes are needed as numbers."""
        with self._lock:
            self._refused.add((_structure(full, leaves), tuple(axes)))

    def clear(self) -> None:
        with self._lock:
            self._seen.clear()
            self._refused.clear()


def _structure(full: Any, leaves: Sequence[Any]) -> Any:
    return (full[0], *[(x.dtype, x.ndim) if type(x) is np.ndarray else part for x, part in zip(leaves, full[1:], strict=True)])


__all__ = ["Changes", "Guard", "Named", "size_groups", "vague"]
