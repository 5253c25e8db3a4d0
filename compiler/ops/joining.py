"""Joining and splitting arrays, and raising them to a number of dimensions: all in terms of concatenate, stack and slices."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from .families import along, axis_of, compose, expand, static, value


def _at_least(ndim: int) -> Any:
    def at_least(*arys: Any) -> Any:
        from ..core.builder import recorded as np

        def raised(x: Any) -> Any:
            x = value(x)
            if x.ndim >= ndim:
                return x
            if x.type.scalar or x.ndim == 0:
                return np.reshape(x, (1,) * ndim)
            # NumPy puts a vector in the middle of three dimensions
            places = {1: {2: [0], 3: [0, 2]}, 2: {3: [2]}}[x.ndim][ndim]
            return expand(x, places)

        outs = tuple(raised(x) for x in arys)
        return outs[0] if len(outs) == 1 else outs

    return at_least


for _n in (1, 2, 3):
    compose(f"numpy.atleast_{_n}d", "*arys", samples="any rank")(_at_least(_n))


def _raised(arrays: Any, ndim: int) -> list[Any]:
    from ..core.builder import recorded as np

    return [getattr(np, f"atleast_{ndim}d")(a) for a in arrays]


def _cast(arrays: Any, dtype: Any) -> Any:
    from ..core.builder import recorded as np

    return arrays if dtype is None else [np.astype(a, dtype) for a in arrays]


@compose("numpy.vstack", "*tup", aliases=("numpy.row_stack",), samples="rows")
def vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    from ..core.builder import recorded as np

    tup = _cast(tup, dtype)
    if tup and tup[0].ndim == 1 and all(a.shape == tup[0].shape for a in tup):
        return np.stack(tup)
    return np.concatenate(_raised(tup, 2), 0)


@compose("numpy.hstack", "*tup", samples="rows")
def hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    from ..core.builder import recorded as np

    arrays = _raised(_cast(tup, dtype), 1)
    return np.concatenate(arrays, 0 if arrays and arrays[0].ndim == 1 else 1)


@compose("numpy.dstack", "*tup", samples="same shape")
def dstack(tup: Any) -> Any:
    from ..core.builder import recorded as np

    return np.concatenate(_raised(tup, 3), 2)


@compose("numpy.column_stack", "*tup", samples="columns")
def column_stack(tup: Any) -> Any:
    from ..core.builder import recorded as np

    arrays = [np.reshape(a, (-1, 1)) if a.ndim < 2 else a for a in tup]
    if arrays and all(a.ndim == 1 for a in tup):
        return np.stack(tup, 1)
    return np.concatenate(arrays, 1)


@compose("numpy.block", "arrays", raw=True, samples="block")
def block(arrays: Any) -> Any:
    """Innermost lists join along the last axis, the next along the one before it."""
    from ..core.builder import recorded as np

    depth = _depth(arrays)
    ndim = max(depth, *(value(a).ndim for a in _leaves(arrays)))

    def join(x: Any, level: int) -> Any:
        if not isinstance(x, list):
            x = value(x)
            return expand(x, range(ndim - x.ndim))
        return np.concatenate([join(v, level + 1) for v in x], level - depth)

    return join(arrays, 0) if isinstance(arrays, list) else np.copy(value(arrays))


def _depth(x: Any) -> int:
    if not isinstance(x, list):
        return 0
    if not x:
        raise ValueError("List depths are mismatched. Empty lists are not allowed")
    depths = {_depth(v) for v in x}
    if len(depths) > 1:
        raise ValueError("List depths are mismatched.")
    return 1 + depths.pop()


def _leaves(x: Any) -> list[Any]:
    return [leaf for v in x for leaf in _leaves(v)] if isinstance(x, list) else [x]


@compose("numpy.append", "arr", "values", samples="append")
def append(arr: Any, values: Any, axis: Any = None) -> Any:
    from ..core.builder import recorded as np

    if axis is None:
        arr, values, axis = np.ravel(arr), np.ravel(values), 0
    return np.concatenate([arr, values], axis)


def _places(obj: Any, n: int, name: str) -> Any:
    """Known places of insert and delete as an array or a slice's numbers."""
    import numpy

    if isinstance(obj, slice):
        return numpy.arange(*obj.indices(n))
    places = numpy.asarray(static(obj, f"the index of np.{name}"))
    return numpy.flatnonzero(places) if places.dtype == bool else places


@compose("numpy.insert", "arr", "values", static={"obj": "PGR401"}, samples="insert")
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """The index must be known while compiling: then it is a read of both arrays joined."""
    import numpy

    from ..core.builder import recorded as np

    if axis is None:
        arr, axis = np.ravel(arr), 0
    axis = axis_of(axis, arr)
    n = arr.shape[axis]
    places = _places(obj, n, "insert")
    single = places.ndim == 0
    if single:
        values = np.moveaxis(np.expand_dims(values, tuple(range(arr.ndim - values.ndim))), 0, axis) if values.ndim < arr.ndim else values
        if values.ndim == arr.ndim and value(values).shape[axis] not in (1,) and not _scalar_index_fits(arr, values, axis):
            values = np.moveaxis(values, 0, axis)
        count = values.shape[axis]
        at = numpy.repeat(places, count)
    else:
        at, count = places.ravel(), places.size
    at = numpy.where(at < 0, at + n, at)
    if (at < 0).any() or (at > n).any():
        raise IndexError(f"index {int(at.ravel()[0])} is out of bounds for axis {axis} with size {n}")
    shape = [*arr.shape]
    shape[axis] = count
    values = np.broadcast_to(np.astype(values, arr.dtype) if values.dtype != arr.dtype else values, tuple(shape))
    # places in the joined array: each inserted value stands before the old element of its place, in the given order
    order = numpy.argsort(numpy.concatenate([numpy.arange(n) * 2 + 1, at * 2]), kind="stable")
    return np.take(np.concatenate([arr, values], axis), order, axis)


def _scalar_index_fits(arr: Any, values: Any, axis: int) -> bool:
    """NumPy puts the first axis of the values at the place of a single index."""
    return axis == -arr.ndim


@compose("numpy.delete", "arr", static={"obj": "PGR401"}, samples="delete")
def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    import numpy

    from ..core.builder import recorded as np

    if axis is None:
        arr, axis = np.ravel(arr), 0
    axis = axis_of(axis, arr)
    n = arr.shape[axis]
    places = numpy.atleast_1d(_places(obj, n, "delete"))
    if not places.size:
        return np.copy(arr)
    if places.size and (places.min() < -n or places.max() >= n):
        raise IndexError(f"index {int(places.ravel()[0])} is out of bounds for axis {axis} with size {n}")
    return np.take(arr, numpy.delete(numpy.arange(n), places), axis)


# splitting


@compose("numpy.array_split", "ary", static={"indices_or_sections": "PGR404"}, samples="split")
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    axis = axis_of(axis, ary)
    n = ary.shape[axis]
    sections = static(indices_or_sections, "indices_or_sections")
    if hasattr(sections, "__len__"):
        bounds = [0, *(int(i) for i in sections), n]
    else:
        sections = int(sections)
        if sections <= 0:
            raise ValueError("number sections must be larger than 0.")
        each, extra = divmod(n, sections)
        bounds = [0]
        for k in range(sections):
            bounds.append(bounds[-1] + each + (k < extra))
    return [along(ary, axis, slice(a, b)) for a, b in pairwise(bounds)]


@compose("numpy.split", "ary", static={"indices_or_sections": "PGR404"}, samples="split evenly")
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    sections = static(indices_or_sections, "indices_or_sections")
    if not hasattr(sections, "__len__") and ary.shape[axis] % int(sections):
        raise ValueError("array split does not result in an equal division")
    return array_split(ary, sections, axis)


@compose("numpy.hsplit", "ary", static={"indices_or_sections": "PGR404"}, samples="split cubes")
def hsplit(ary: Any, indices_or_sections: Any) -> Any:
    if not ary.ndim:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(ary, indices_or_sections, min(1, ary.ndim - 1))


@compose("numpy.vsplit", "ary", static={"indices_or_sections": "PGR404"}, samples="split cubes")
def vsplit(ary: Any, indices_or_sections: Any) -> Any:
    if ary.ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(ary, indices_or_sections, 0)


@compose("numpy.dsplit", "ary", static={"indices_or_sections": "PGR404"}, samples="split cubes")
def dsplit(ary: Any, indices_or_sections: Any) -> Any:
    if ary.ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)


@compose("numpy.unstack", samples="same shape alone")
def unstack(x: Any, *, axis: int = 0) -> Any:
    if not x.ndim:
        raise ValueError("Input array must be at least 1-d.")
    axis = axis_of(axis, x)
    return tuple(along(x, axis, k) for k in range(x.shape[axis]))


@compose("numpy.rollaxis", samples="rollaxis")
def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    from ..core.builder import recorded as np

    n = a.ndim
    axis, start = axis_of(axis, a) % n, start + n if start < 0 else start
    return np.moveaxis(a, axis, start - 1 if axis < start else start)


@compose("numpy.broadcast_arrays", "*args", samples="broadcast_arrays")
def broadcast_arrays(*args: Any, subok: bool = False) -> Any:
    from ..core.builder import recorded as np
    from ..core.types import broadcast

    arrays = [value(a) for a in args]
    shape = broadcast(*(a.shape for a in arrays))
    return tuple(a if a.shape == shape else np.broadcast_to(a, shape) for a in arrays)
