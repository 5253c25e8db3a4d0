"""Methods of ufuncs: np.add.reduce, np.multiply.accumulate, np.subtract.outer, np.add.at. The first argument is the ufunc."""

from __future__ import annotations

from typing import Any

from .families import along, axis_of, expand, refuse, static, value
from .table import op

_REDUCE = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}
_ACCUMULATE = {"add": "cumsum", "multiply": "cumprod"}
_UNROLLED = 64  # a ufunc without a reduction of its own is applied once for each element, up to this many


def _name(ufunc: Any) -> str:
    return str(getattr(ufunc, "__name__", ufunc)).removeprefix("numpy.")


def _elements(ufunc: Any, array: Any, axis: int, method: str) -> list[Any]:
    n = array.shape[axis]
    if not isinstance(n, int) or not 0 < n <= _UNROLLED:
        refuse(
            f"numpy.{_name(ufunc)}.{method}",
            f"{n} elements and array",
            f"np.{_name(ufunc)}.{method} is written out for 1 to {_UNROLLED} elements",
        )
    return [along(array, axis, slice(k, k + 1)) for k in range(n)]


def reduce(
    ufunc: Any,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    from ..core.builder import call

    name, array = _name(ufunc), value(array)
    where = None if where is True else where
    if name in _REDUCE:
        _refuse_options(f"numpy.{name}.reduce", out=out)
        if dtype is not None and name in ("maximum", "minimum", "logical_and", "logical_or"):
            array = call("numpy.astype", array, dtype)
            dtype = None
        options = {} if dtype is None else {"dtype": dtype}
        return call(f"numpy.{_REDUCE[name]}", array, axis=axis, keepdims=keepdims, initial=initial, where=where, **options)
    _refuse_options(f"numpy.{name}.reduce", out=out, initial=initial, where=where)
    if axis is None or isinstance(axis, (tuple, list)):
        refuse(f"numpy.{name}.reduce", "axis=None or several, axis", "reduce one axis at a time")
    if dtype is not None:
        array = call("numpy.astype", array, dtype)
    k = axis_of(axis, array)
    y, *others = _elements(ufunc, array, k, "reduce")
    for x in others:
        y = call(f"numpy.{name}", y, x)
    return y if keepdims else call("numpy.squeeze", y, k)


def accumulate(ufunc: Any, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
    from ..core.builder import call

    name, array = _name(ufunc), value(array)
    _refuse_options(f"numpy.{name}.accumulate", out=out)
    k = axis_of(axis, array)
    if name in _ACCUMULATE:
        return call(f"numpy.{_ACCUMULATE[name]}", array, k, dtype)
    if dtype is not None:
        array = call("numpy.astype", array, dtype)
    y, *others = _elements(ufunc, array, k, "accumulate")
    ys = [y]
    for x in others:
        ys.append(call(f"numpy.{name}", ys[-1], x))
    return call("numpy.concatenate", ys, k)


def outer(ufunc: Any, A: Any, B: Any, **options: Any) -> Any:
    from ..core.builder import call

    A, B = value(A), value(B)
    return call(f"numpy.{_name(ufunc)}", expand(A, range(A.ndim, A.ndim + B.ndim)), B, **options)


def at(ufunc: Any, a: Any, indices: Any, b: Any = None) -> Any:
    """The new value of ``a``; what stands at an index twice is applied twice, which is known for sums and differences only."""
    from ..core.builder import recorded as np
    from .indexing import normalize, put

    name, a = _name(ufunc), value(a)
    if name not in ("add", "subtract"):
        refuse(f"numpy.{name}.at", "a", "a[index] = np.%s(a[index], b) where every index occurs once" % name)  # noqa: UP031
    index, arrays = normalize(a, indices)
    b = value(b)
    return put(a, b if name == "add" else np.negative(b), index, arrays, add=True)


def reduceat(ufunc: Any, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
    """Known bounds: one reduction for each stretch."""
    from ..core.builder import call

    _refuse_options(f"numpy.{_name(ufunc)}.reduceat", out=out)
    array = value(array)
    k = axis_of(axis, array)
    bounds = [int(i) for i in static(indices, "indices")]
    parts = []
    for start, stop in zip(bounds, [*bounds[1:], array.shape[k]]):
        stretch = along(array, k, slice(start, stop if stop > start else start + 1))
        parts.append(reduce(ufunc, stretch, k, dtype, keepdims=True))
    return call("numpy.concatenate", parts, k)


def _refuse_options(name: str, **options: Any) -> None:
    for parameter, given in options.items():
        if given is not None:
            refuse(name, parameter)


for _method, _lower, _signature in (
    ("reduce", reduce, "ufunc, array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=True"),
    ("accumulate", accumulate, "ufunc, array, axis=0, dtype=None, out=None"),
    ("outer", outer, "ufunc, A, B"),
    ("reduceat", reduceat, "ufunc, array, indices, axis=0, dtype=None, out=None"),
):
    op(
        f"numpy.ufunc.{_method}",
        signature=_signature,
        operands=("A", "B") if _method == "outer" else ("array",),
        family="ufunc method",
        lower=_lower,
        writes=("out",) if "out" in _signature else (),
        static={"indices": "PGR403"} if _method == "reduceat" else {},
        samples=f"ufunc {_method}",
    )

op(
    "numpy.ufunc.at",
    signature="ufunc, a, indices, b=None",
    operands=("a", "b"),
    family="ufunc method",
    lower=at,
    writes=("a",),
    returns="none",
    samples="ufunc at",
)
