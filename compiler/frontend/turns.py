"""What a ``for`` runs over: numbers, the rows of arrays, and zip, enumerate and reversed of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..core.builder import Value, current
from ..core.program import Atom, Const, Var
from ..core.sizes import Dim, range_length, same, seen, unseen
from ..core.types import Type
from ..errors import Unsupported
from .cells import Array, Cell, Scalar, wrap


class Span:
    """A range whose length is known only at run time."""

    def __init__(self, *bounds: Any) -> None:
        self.start, stop, self.step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
        self.length = unseen(range_length(self.start, stop, self.step))

    def __iter__(self) -> Iterator[int]:
        turns = self.length if isinstance(self.length, int) else 0
        if turns != self.length and self.length:
            raise Unsupported("Python needs each turn of a loop whose length varies")
        return iter([self.start + k * self.step for k in range(turns)])

    def __getitem__(self, k: int) -> Any:
        assert k == -1
        return seen(self.start + (self.length - 1) * self.step)


class Combined:
    """What zip, enumerate or reversed make of ``parts``: Python's own iterator once it is asked, which a loop may look into before."""

    def __init__(self, function: Callable[..., Any], parts: Sequence[Any], options: dict[str, Any], iterate: Callable[[Any], Any]) -> None:
        if function is enumerate and len(parts) == 2:
            parts, options = parts[:1], {"start": parts[1]}
        self.function = function
        self.parts = parts
        self.options = options
        self._iterate = iterate
        self._items: Iterator[Any] | None = None

    @property
    def begun(self) -> bool:
        return self._items is not None

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._items is None:
            each = (list(self._iterate(p)) if self.function is reversed and isinstance(p, Value) else self._iterate(p) for p in self.parts)
            self._items = self.function(*each, **self.options)
        return next(self._items)


class Turns:
    """The turns of a kept loop: over numbers, over the rows of an array, or over several of these at once (``sources``)."""

    def __init__(self, source: Any, length: Dim) -> None:
        self.source = source
        self.length = length
        self.params: list[Var] = []
        self.rows: list[tuple[Array, Array]] = []  # each array, and what stands for its row in the body
        self.arrays: list[Any] = []

    @classmethod
    def of(cls, iterable: Any) -> Turns | None:
        """The turns of what a loop runs over; None for what is Python's alone."""
        source = _source(iterable)
        if source is None:
            return None
        length = _length(source)
        return None if length is None else cls(_cut(source, length), length)

    @property
    def known(self) -> bool:
        """Whether each turn has arrays or numbers of arrays that are known: Python may need them."""
        arrays = [s for s in _leaves(self.source) if isinstance(s, Array)]
        return bool(arrays) and all(isinstance(a.atom, Const) for a in arrays)

    def enter(self) -> Any:
        """The loop variable of one turn."""
        index = Var(Type(np.dtype(np.int64), (), weak=True, scalar=True), "i")
        self.params, self.rows, self.arrays = [index], [], []
        return self._item(self.source, index)

    def _item(self, source: Any, index: Var) -> Any:
        if isinstance(source, tuple):
            return tuple(self._item(s, index) for s in source)
        if isinstance(source, (range, Span)):
            i: Any = Scalar(index)
            i = i if source.step == 1 else i * source.step
            return i if source.start == 0 else i + source.start
        shape = source.type.shape[1:]
        row = Var(Type(source.type.dtype, shape, scalar=not shape))
        self.params.append(row)
        self.arrays.append(source)
        if not shape:
            return Scalar(row)
        standing = Array(Cell(row, current()))
        self.rows.append((source, standing))
        return standing

    def written(self) -> bool:
        """Whether the body writes into a row, which is a view of its array."""
        return any(row.cell.version > 0 for _, row in self.rows)

    def xs(self) -> list[Atom]:
        return [a.atom for a in self.arrays]

    def last(self) -> Any:
        """What the loop variable is after the loop."""
        return _last(self.source)


def _source(x: Any) -> Any:
    """Numbers, an array or a tuple of sources; None for anything else."""
    if isinstance(x, (range, Span)):
        return x
    if isinstance(x, np.ndarray):
        x = wrap(Const(x))
    if isinstance(x, Array):
        return x if x.ndim > 0 else None
    if not isinstance(x, Combined) or x.begun:
        return None
    parts = [_source(p) for p in x.parts]
    if any(p is None for p in parts):
        return None
    if x.function is reversed:
        (part,) = parts
        return part[::-1] if isinstance(part, (range, Array)) else None
    if x.function is enumerate:
        length, start = _length(parts[0]), x.options.get("start", 0)
        if length is None or not isinstance(start, int):
            return None
        return range(start, start + length) if isinstance(length, int) else Span(start, length + start), parts[0]
    return tuple(parts) if not x.options.get("strict") or _together([_length(p) for p in parts]) else None


def _length(source: Any) -> Dim | None:
    """How many turns there are; None where sizes that vary are not surely the same."""
    if isinstance(source, tuple):
        lengths = [_length(s) for s in source]
        if _together(lengths):
            return lengths[0]
        known = [n for n in lengths if isinstance(n, int)]
        return min(known) if known and len(known) == len(lengths) else None
    if isinstance(source, range):
        return len(source)
    length: Dim = source.length if isinstance(source, Span) else unseen(source.shape[0])
    return length


def _together(lengths: Sequence[Dim | None]) -> bool:
    """Whether sources end at the same turn."""
    return bool(lengths) and all(n is not None and lengths[0] is not None and same(n, lengths[0]) for n in lengths)


def _cut(source: Any, length: Dim) -> Any:
    if isinstance(source, tuple):
        return tuple(_cut(s, length) for s in source)
    return source if isinstance(source, Span) or _length(source) == length else source[:length]


def _leaves(source: Any) -> list[Any]:
    return [leaf for s in source for leaf in _leaves(s)] if isinstance(source, tuple) else [source]


def _last(source: Any) -> Any:
    return tuple(map(_last, source)) if isinstance(source, tuple) else source[-1]
