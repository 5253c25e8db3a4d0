"""Rules of indexing: reads of what was just written or joined, writes that cover everything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..core.builder import Value, atom_of
from ..core.builder import recorded as np
from ..core.program import Const
from ..core.types import Dim
from ..ops.indexing import put
from .arithmetic import is_zero, same
from .rules import rule

if TYPE_CHECKING:
    from .algebra import Match

FULL = slice(None)
FEW = 4  # numbers that are written out as an array
_FAR = 64  # how many writes back a read looks: unrolled loops would make it quadratic


@rule("pergrad.getitem")
def read(m: Match) -> Any:
    x, *arrays = m.x
    index = m.params["index"]
    if all(i == FULL for i in index):
        return x
    if inner := m.made(x, "numpy.stack"):
        return read_of_stack(inner, index)
    if inner := m.made(x, "numpy.concatenate"):
        return read_of_concatenation(inner, index)
    if m.made(x, "pergrad.setitem"):
        return read_of_write(m, x, index, arrays)
    if (inner := m.made(x, "pergrad.getitem")) and not arrays and len(inner.x) == 1:
        return read_of_read(m, inner)
    return None


def read_of_read(m: Match, inner: Match) -> Any:
    """One read of static places for two."""
    (x,), outer = inner.x, iter(m.params["index"])
    index: list[int | slice] = []
    for n, i in zip(x.shape, inner.params["index"], strict=False):
        if isinstance(i, slice):
            j = next(outer, None)
            if not isinstance(j, (int, slice)) or not (FULL in (i, j) or isinstance(n, int)):
                return None
            i = j if i == FULL else i if j == FULL else _place(range(n)[i][j], n)
        elif not isinstance(i, int):
            return None
        index.append(i)
    return m.bind(x, index=tuple(index)) if len(index) == x.ndim and next(outer, None) is None else None


def _place(places: range | int, n: int) -> int | slice:
    """Places of an axis of n as an index."""
    if isinstance(places, int):
        return places
    if not places:
        return slice(0, 0)
    start, stop = places.start, places.stop
    if places.step == 1:
        return slice(start or None, stop if stop < n else None)
    return slice(start, stop if stop >= 0 else None, places.step)


def read_of_stack(stack: Match, index: tuple[Any, ...]) -> Any:
    """One element, by a static index along the stacked axis."""
    axis = stack.params["axis"] % stack.type.ndim
    if len(index) != stack.type.ndim or any(i != FULL for k, i in enumerate(index) if k != axis) or not isinstance(index[axis], int):
        return None
    return stack.x[index[axis]]


def read_of_concatenation(joined: Match, index: tuple[Any, ...]) -> Any:
    """One whole part."""
    axis = joined.params["axis"] % joined.type.ndim
    size = joined.type.shape[axis]
    if len(index) != joined.type.ndim or any(i != FULL for k, i in enumerate(index) if k != axis):
        return None
    if not isinstance(index[axis], slice) or not isinstance(size, int):
        return None
    wanted = index[axis].indices(size)
    start = 0
    for part in joined.x:
        stop = start + part.shape[axis]
        if wanted == (start, stop, 1):
            return part
        start = stop
    return None


def read_of_write(m: Match, x: Any, index: tuple[Any, ...], arrays: Sequence[Any]) -> Any:
    """What was written at the same place, or the base where another place was written."""
    source = x
    for _ in range(_FAR):
        write = m.made(source, "pergrad.setitem")
        if write is None:
            break
        base, value, *places = write.x
        at = write.params["index"]
        if at == index and len(places) == len(arrays) and all(same(p, a) and p.ndim == 0 for p, a in zip(places, arrays)):
            return value
        if places or arrays or not disjoint(at, index, base.shape):
            break
        source = base
    return None if source is x else m.bind(source, *arrays)


def untouched(m: Match, base: Any, index: Sequence[Any]) -> bool:
    """Whether an array is still zero at a static index."""
    for _ in range(_FAR):
        if m.number(base) == 0 or ((made := m.made(base, "numpy.full")) and made.params["value"] == 0):
            return True
        write = m.made(base, "pergrad.setitem")
        if write is None or write.x[2:] or not disjoint(write.params["index"], index, base.shape):
            return False
        base = write.x[0]
    return False


def disjoint(a: Sequence[Any], b: Sequence[Any], shape: Sequence[Dim]) -> bool:
    """Whether two static indices surely touch different elements."""
    if len(a) != len(shape) or len(b) != len(shape):
        return False
    return any(isinstance(n, int) and not set(_places(i, n)) & set(_places(j, n)) for i, j, n in zip(a, b, shape) if None not in (i, j))


def _places(i: Any, n: int) -> range:
    return range(n)[i] if isinstance(i, slice) else range(i % n, i % n + 1)


@rule("numpy.add")
def onto(m: Match) -> Any:
    """An array plus something that stands at an index of zeros: added in place, 0 + v being v."""
    for x, scattered in (m.x, m.x[::-1]):
        made = m.made(scattered, "pergrad.additem")
        if made and m.number(made.x[0]) == 0 and x.shape == scattered.shape and x.dtype == scattered.dtype == m.type.dtype:
            if not m.made(x, "pergrad.additem"):
                _, value, *arrays = made.x
                return put(x, value, made.params["index"], arrays, add=True)
    return None


@rule("pergrad.setitem", "pergrad.additem")
def entries(m: Match) -> Any:
    """A few numbers that differentiation writes one by one into zeros, as an array of them."""
    base, value, *arrays = m.x
    index = m.params["index"]
    if not m.derived or arrays or len(index) != 1 or not isinstance(index[0], int) or base.shape[0] not in range(2, FEW + 1):
        return None
    if value.ndim or value.dtype != base.dtype or base.dtype.kind != "f":
        return None
    if is_zero(m, base):
        items = [Value(Const(base.dtype.type(0))) for _ in range(base.shape[0])]
    else:
        items = numbers_of(m, base)
    if not items:
        return None
    k = index[0] % len(items)
    items[k] = items[k] + value if m.node.op == "pergrad.additem" else value
    return np.stack(items)


@rule("numpy.stack")
def columns(m: Match) -> Any:
    """An array of numbers that is put together by columns, by rows."""
    if not m.derived or m.type.ndim != 2 or m.params["axis"] != -1:
        return None
    inner = [numbers_of(m, x) for x in m.x]
    return np.stack([np.stack(row) for row in zip(*inner, strict=True)]) if all(inner) else None


def numbers_of(m: Match, x: Any) -> list[Any]:
    """The few numbers that an array is made of, where they are known one by one."""
    if stack := m.made(x, "numpy.stack"):
        return list(stack.x) if x.ndim == 1 else []
    constant = atom_of(x)
    return [Value(Const(n)) for n in constant.value] if isinstance(constant, Const) and x.ndim == 1 and len(constant.value) <= FEW else []


@rule("pergrad.setitem", "pergrad.additem")
def write(m: Match) -> Any:
    base, value, *arrays = m.x
    index = m.params["index"]
    adding = m.node.op == "pergrad.additem"
    if arrays:
        return None
    if all(i == FULL for i in index) and value.dtype == base.dtype:
        if value.ndim > base.ndim:
            return None
        if adding and m.number(base) != 0:
            return base + value
        return value if value.shape == base.shape else np.broadcast_to(value, base.shape)
    if adding and m.derived and is_zero(m, value):
        return base
    if adding:
        return put(base, value, index, ()) if base.dtype == value.dtype and untouched(m, base, index) else None
    if (earlier := m.made(base, "pergrad.setitem")) and earlier.params["index"] == index and not earlier.x[2:]:
        return m.bind(earlier.x[0], value)
    return None
