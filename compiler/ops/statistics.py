"""Statistics over axes, most of them written in NumPy itself on sums, means and extrema."""

from __future__ import annotations

from typing import Any

from .counts import extent
from .families import Derivative, cast, common_dtype, compose, expand, no_derivative, refuse, value
from .reductions import kept, prepare, reduction, summed_dtype, with_initial, with_where


def count(x: Any, axis: Any) -> Any:
    """How many elements a reduction over the axes takes together."""
    from ..core.types import normal_axes

    return extent(x, normal_axes(axis, x.ndim))


def left_free(n: Any, ddof: Any) -> Any:
    """The degrees of freedom of n numbers: NumPy's are never negative."""
    from ..core.builder import Value, operated

    return operated("numpy.maximum", n - ddof, 0) if isinstance(n, Value) else max(n - ddof, 0)


@compose("numpy.count_nonzero", family="reduction", samples="integers with axis")
def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    from ..core.builder import recorded as np

    return np.sum(a != 0, axis=axis, keepdims=keepdims)


@compose("numpy.var", methods=("var",), samples="arrays with axis")
def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: bool = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    """The mean of squared distances from the mean."""
    from ..core.builder import recorded as np

    a = a if dtype is None else np.astype(a, dtype)
    ddof = ddof if correction is None else correction
    d = a - (np.mean(a, axis=axis, keepdims=True) if mean is None else mean)
    d = np.abs(d) if d.dtype.kind == "c" else d
    if not ddof:
        return np.mean(np.square(d), axis=axis, keepdims=keepdims)
    return np.sum(np.square(d), axis=axis, keepdims=keepdims) / left_free(count(d, axis), ddof)


@compose("numpy.std", methods=("std",), samples="arrays with axis")
def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: bool = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    from ..core.builder import recorded as np

    return np.sqrt(var(a, axis, dtype, None, ddof, keepdims, mean=mean, correction=correction))


@compose("numpy.ptp", samples="distinct with axis")
def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    from ..core.builder import recorded as np

    return np.max(a, axis=axis, keepdims=keepdims) - np.min(a, axis=axis, keepdims=keepdims)


@compose("numpy.average", "a", "weights", samples="average")
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    """The weighted mean; weights of one dimension belong to the axis."""
    from ..core.builder import recorded as np
    from ..core.types import normal_axes

    if weights is None:
        y = np.mean(a, axis=axis, keepdims=keepdims)
        return (y, np.full(y.shape, count(a, axis), dtype=y.dtype)) if returned else y
    if weights.shape != a.shape:
        if axis is None:
            raise TypeError("axis must be specified when shapes of a and weights differ")
        axes = [k % a.ndim for k in ([axis] if isinstance(axis, int) else axis)]
        if weights.shape != tuple(a.shape[k] for k in axes):
            raise ValueError("shape of weights must be consistent with shape of a along specified axis")
        weights = np.transpose(weights, tuple(sorted(range(len(axes)), key=axes.__getitem__)))
        weights = expand(weights, [k for k in range(a.ndim) if k not in axes])
    dtype = _averaged_dtype(a, weights)
    weights = np.astype(weights, dtype) if weights.dtype != dtype else weights
    reduced = normal_axes(axis, a.ndim)
    total = np.sum(weights if weights.shape == a.shape else np.broadcast_to(weights, a.shape), axis=reduced, keepdims=keepdims)
    y = np.sum(a * weights, axis=reduced, keepdims=keepdims) / total
    return (y, total) if returned else y


def _averaged_dtype(a: Any, weights: Any) -> Any:
    import numpy as np

    return np.result_type(a.dtype, weights.dtype, "f8") if a.dtype.kind in "iub" else np.result_type(a.dtype, weights.dtype)


# places of the extrema


def _prepare_place(name: str) -> Any:
    def prepare(a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> tuple[list[Any], dict[str, Any]]:
        from ..core.builder import call
        from ..core.types import normal_axis

        if out is not None:
            refuse(name, "out")
        if axis is None and keepdims:
            refuse(name, "axis=None, keepdims")
        if axis is None and a.ndim != 1:
            a, axis = call("numpy.ravel", a), -1
        axis = -1 if axis is None else normal_axis(axis, a.ndim)
        return [a], {"axis": (axis,), "keepdims": bool(keepdims)}

    return prepare


def _place_dtype(dtype: Any) -> Any:
    import numpy as np

    return np.dtype(np.intp)


for _name in ("argmax", "argmin"):
    reduction(
        _name,
        **no_derivative(),
        kind=_place_dtype,
        prepare=_prepare_place(f"numpy.{_name}"),
        signature="a, axis=None, out=None, keepdims=False",
        samples="distinct with axis",
    )


# products


def _last(x: Any, axes: tuple[int, ...]) -> Any:
    """The reduced axes as one last axis."""
    from ..core.builder import recorded as np
    from ..core.types import product

    others = [k for k in range(-x.ndim, 0) if k not in axes]
    y = np.transpose(x, (*others, *axes)) if x.ndim else x
    return np.reshape(y, (*(x.shape[k] for k in others), product(x.shape[k] for k in axes)))


def _others_product(d: Derivative) -> Any:
    """For each element the product of all others, right also where elements are 0: those before times those after."""
    from ..core.builder import recorded as np
    from ..core.types import local

    x, axes = d.x[0], d.params["axis"]
    flat = _last(x, axes)
    if local(flat.shape[-1]):
        return _transposed_back(_others_shifted(flat), x, axes)
    one = np.ones((*flat.shape[:-1], 1), x.dtype)
    before = np.cumprod(np.concatenate([one, flat[..., :-1]], -1), -1)
    after = np.flip(np.cumprod(np.flip(np.concatenate([flat[..., 1:], one], -1), -1), -1), -1)
    return _transposed_back(before * after, x, axes)


def _others_shifted(flat: Any) -> Any:
    """The same for a number of elements that only the values know: there are no slices of it."""
    from ..core.builder import recorded as np

    places = np.arange(flat.shape[-1])
    before = np.cumprod(np.where(places == 0, 1.0, np.roll(flat, 1, -1)), -1)
    after = np.cumprod(np.where(places == 0, 1.0, np.roll(np.flip(flat, -1), 1, -1)), -1)
    return before * np.flip(after, -1)


def _transposed_back(y: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """What was computed along one last axis, in the axes of x."""
    from ..core.builder import recorded as np

    others = [k for k in range(-x.ndim, 0) if k not in axes]
    y = np.reshape(y, tuple(x.shape[k] for k in (*others, *axes)))
    order = [*others, *axes]
    return np.transpose(y, tuple(order.index(k) for k in range(-x.ndim, 0))) if x.ndim else y


def _prod_jvp(d: Derivative) -> Any:
    from ..core.builder import recorded as np

    return np.sum(d.dx[0] * _others_product(d), axis=d.params["axis"], keepdims=d.params["keepdims"])


reduction(
    "prod",
    lambda d, i: kept(d.ct, d) * _others_product(d),
    jvp=_prod_jvp,
    analytic=True,
    kind=summed_dtype,
    prepare=with_initial("prod", "numpy.multiply", with_where(1, prepare)),
    samples="arrays with axis and zeros",
)


# without NaN


def _nan_free(a: Any, fill: Any) -> Any:
    from ..core.builder import recorded as np

    return np.where(np.isnan(a), fill, a) if a.dtype.kind == "f" else a


def _present(a: Any, axis: Any, keepdims: bool) -> Any:
    from ..core.builder import recorded as np

    return np.sum(np.logical_not(np.isnan(a)), axis=axis, keepdims=keepdims)


@compose("numpy.nansum", samples="with nan")
def nansum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Any:
    from ..core.builder import recorded as np

    return np.sum(_nan_free(a, 0.0), axis=axis, dtype=dtype, keepdims=keepdims)


@compose("numpy.nanprod", samples="with nan")
def nanprod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Any:
    from ..core.builder import recorded as np

    return np.prod(_nan_free(a, 1.0), axis=axis, dtype=dtype, keepdims=keepdims)


@compose("numpy.nanmean", samples="with nan")
def nanmean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    from ..core.builder import recorded as np

    a = a if dtype is None else np.astype(a, dtype)
    if a.dtype.kind != "f":
        return np.mean(a, axis=axis, keepdims=keepdims)
    total = np.sum(_nan_free(a, 0.0), axis=axis, keepdims=keepdims)
    return total / np.astype(_present(a, axis, keepdims), total.dtype)


@compose("numpy.nanvar", samples="with nan")
def nanvar(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: int = 0, keepdims: bool = False, *, where: Any = True
) -> Any:
    from ..core.builder import recorded as np

    a = a if dtype is None else np.astype(a, dtype)
    if a.dtype.kind != "f":
        return np.var(a, axis=axis, ddof=ddof, keepdims=keepdims)
    d = np.where(np.isnan(a), 0.0, a - nanmean(a, axis, keepdims=True))
    total = np.sum(np.square(d), axis=axis, keepdims=keepdims)
    n = _present(a, axis, keepdims)
    return total / np.astype(n - ddof if ddof else n, total.dtype)


@compose("numpy.nanstd", samples="with nan")
def nanstd(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: int = 0, keepdims: bool = False, *, where: Any = True
) -> Any:
    from ..core.builder import recorded as np

    return np.sqrt(nanvar(a, axis, dtype, None, ddof, keepdims))


def _nan_extremum(name: str, fill: float) -> Any:
    def extremum(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Any:
        """Where all are NaN the result is NaN, as NumPy's."""
        from ..core.builder import recorded as np

        best = getattr(np, name)(_nan_free(a, fill), axis=axis, keepdims=keepdims)
        if a.dtype.kind != "f":
            return best
        empty = np.all(np.isnan(a), axis=axis, keepdims=keepdims)
        return _like(best, np.where(empty, float("nan"), best))

    return extremum


def _like(x: Any, y: Any) -> Any:
    """y as a NumPy scalar where x is one: np.where makes 0-d arrays."""
    return y[()] if value(x).type.scalar and not value(y).type.scalar else y


for _name, _fill in (("max", -float("inf")), ("min", float("inf"))):
    compose(f"numpy.nan{_name}", samples="with nan")(_nan_extremum(_name, _fill))


def _nan_place(name: str, fill: float) -> Any:
    def place(a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
        from ..core.builder import recorded as np

        return getattr(np, name)(_nan_free(a, fill), axis=axis, keepdims=keepdims)

    return place


for _name, _fill in (("argmax", -float("inf")), ("argmin", float("inf"))):
    compose(f"numpy.nan{_name}", samples="with nan")(_nan_place(_name, _fill))


@compose("numpy.cov", "m", "y", samples="cov")
def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    """Rows are variables. Weights have no rule."""
    import numpy

    from ..core.builder import recorded as np
    from ..core.sizes import same

    if fweights is not None or aweights is not None:
        refuse("numpy.cov", "fweights or aweights")
    # NumPy computes in float64 at least unless told otherwise
    dtype = dtype or common_dtype(m, *([] if y is None else [y]), numpy.float64(0.0))
    x = np.atleast_2d(cast(m, dtype))
    x = x if rowvar or m.ndim == 1 else np.transpose(x)
    if same(x.shape[0], 0):
        return np.zeros((0, 0))
    if y is not None:
        y = np.atleast_2d(cast(y, dtype))
        x = np.concatenate([x, y if rowvar or same(y.shape[0], 1) else np.transpose(y)], 0)
    d = x - np.mean(x, axis=1, keepdims=True)
    n = left_free(x.shape[1], (0 if bias else 1) if ddof is None else ddof)
    y = np.matmul(d, np.conjugate(np.transpose(d))) / n
    return np.reshape(y, ()) if same(x.shape[0], 1) else y


@compose("numpy.corrcoef", "x", "y", samples="cov")
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    from ..core.builder import recorded as np

    c = cov(x, y, rowvar, dtype=dtype)
    if not c.shape:
        return c / c
    scale = np.sqrt(np.diagonal(c))
    return np.clip(c / scale[:, None] / scale, -1, 1)
