"""NumPy functions that write into an array they are given."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.builder import Value, atom_of, call, current
from ..errors import Unsupported
from .cells import assign, cast


def _copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    if isinstance(where, Value):
        dst.write(cast(call("numpy.where", where, src, Value(dst.atom)), dst.type))
        return
    assign(dst, Ellipsis, src)


def _fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    n = min(a.shape)
    rows = call("numpy.arange", n)
    assign(a, (rows,) * len(a.shape), val)


def _put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    flat = a.reshape(-1)
    assign(flat, ind, v)


def _putmask(a: Any, mask: Any, values: Any) -> None:
    _copyto(a, values, where=mask)


def _put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    n = len(arr.shape)
    axis = axis % n
    index = []
    for k in range(n):
        if k == axis:
            index.append(indices)
        else:
            shape = [1] * n
            shape[k] = indices.shape[k]
            index.append(call("numpy.reshape", call("numpy.arange", indices.shape[k]), shape))
    assign(arr, tuple(index), values)


def ufunc_at(ufunc: np.ufunc, a: Any, indices: Any, b: Any = None) -> None:
    if ufunc is np.add:
        assign(a, indices, b, add=True)
    elif ufunc is np.subtract:
        assign(a, indices, -b, add=True)
    else:
        _one_by_one(ufunc, a, indices if isinstance(indices, tuple) else (indices,), b)


_ONE_BY_ONE = 256  # more single updates than this are not written out


def _one_by_one(ufunc: np.ufunc, a: Any, indices: tuple[Any, ...], b: Any) -> None:
    """``ufunc.at``: every place is updated as often as it is named, in order."""
    arrays = [call("numpy.asarray", i) for i in indices if not isinstance(i, slice) and i is not None and i is not Ellipsis]
    arrays = [i if isinstance(i, Value) else Value(atom_of(i)) for i in arrays]
    shape = np.broadcast_shapes(*(i.shape for i in arrays)) if arrays else ()
    count = math.prod(shape)
    if len(arrays) != len(indices) or any(i.dtype.kind not in "iu" for i in arrays) or count > _ONE_BY_ONE:
        raise Unsupported(
            f"np.{ufunc.__name__}.at has a rule for at most {_ONE_BY_ONE} integer indices",
            code="PGR702",
            span=current().span,
            hint="np.add.at and np.subtract.at have one for any",
        )
    flat = [call("numpy.reshape", call("numpy.broadcast_to", i, shape), -1) for i in arrays]
    values = None
    if b is not None:
        rest = a.shape[len(arrays) :]
        values = call("numpy.reshape", call("numpy.broadcast_to", b, (*shape, *rest)), (count, *rest))
    for k in range(count):
        place = tuple(i[k] for i in flat)
        more = () if values is None else (values[k],)
        assign(a, place, call(f"numpy.{ufunc.__name__}", a[place], *more))


WRITERS: dict[str, Callable[..., None]] = {
    "copyto": _copyto,
    "fill_diagonal": _fill_diagonal,
    "put": _put,
    "putmask": _putmask,
    "put_along_axis": _put_along_axis,
}
