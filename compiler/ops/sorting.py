"""Sorting, order statistics and tables. Places are integers and have no derivative; values are read at them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .families import (
    Batching,
    Derivative,
    Scatter,
    along,
    axis_of,
    cast,
    compose,
    constant_of,
    no_derivative,
    real_only,
    refuse,
    same_batch,
    static,
    value,
)
from .table import amend, find, op

if TYPE_CHECKING:
    from ..core.types import Type


def _line(a: Any, axis: Any) -> tuple[Any, int]:
    """The array and the axis that a function works along; None means the flattened array."""
    from ..core.builder import call

    a = value(a)
    if axis is None:
        return (a if a.ndim == 1 else call("numpy.ravel", a)), -1
    return a, axis_of(axis, a)


def _prepare_sort(name: str) -> Any:
    def prepare(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> tuple[list[Any], dict[str, Any]]:
        if order is not None:
            refuse(name, "order")
        if axis is None or value(a).ndim:
            a, axis = _line(a, axis)
        else:
            raise ValueError("axis -1 is out of bounds for array of dimension 0")
        stable = stable or kind in ("stable", "mergesort")
        return [a], {"axis": axis, **({"stable": True} if stable else {})}

    return prepare


def _axis_text(name: str) -> Any:
    def emit(types: list[Type], params: dict[str, Any], out: Any) -> str:
        axis = "" if params["axis"] == -1 else f", axis={params['axis']}"
        return f"np.{name}(_0{axis}{', stable=True' if params.get('stable') else ''})"

    return emit


def _sort_vjp(d: Derivative, i: int) -> Any:
    """The order of the order: where each element went."""
    from ..core.builder import recorded as np

    axis = d.params["axis"]
    return np.take_along_axis(d.ct, np.argsort(_order(d), axis=axis), axis)


def _sort_jvp(d: Derivative) -> Any:
    from ..core.builder import recorded as np

    return np.take_along_axis(d.dx[0], _order(d), d.params["axis"])


def _order(d: Derivative) -> Any:
    from ..core.builder import recorded as np

    return np.argsort(d.x[0], axis=d.params["axis"], **({"stable": True} if d.params.get("stable") else {}))


_SORT = "a, axis=-1, kind=None, order=None, stable=None"
op(
    "numpy.sort",
    signature=_SORT,
    operands=("a",),
    family="sorting",
    prepare=_prepare_sort("numpy.sort"),
    infer=lambda types, params: types[0].with_shape(types[0].shape),
    vjp=_sort_vjp,
    jvp=_sort_jvp,
    batch=same_batch,
    emit=_axis_text("sort"),
    samples="distinct with axis",
)


def _place_type(types: list[Type], params: dict[str, Any]) -> Type:
    import numpy as np

    from ..core.types import Type

    return Type(np.dtype(np.intp), types[0].shape)


op(
    "numpy.argsort",
    no_derivative(),
    signature=_SORT,
    operands=("a",),
    family="sorting",
    methods=("argsort",),
    prepare=_prepare_sort("numpy.argsort"),
    infer=_place_type,
    batch=same_batch,
    emit=_axis_text("argsort"),
    samples="distinct with axis",
)


@compose("numpy.partition", samples="partition")
def partition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None) -> Any:
    """Sorted: one of the orders that a partition may have."""
    from ..core.builder import recorded as np

    if order is not None:
        refuse("numpy.partition", "order")
    a, axis = _line(a, axis)
    _check_kth(kth, a.shape[axis])
    return np.sort(a, axis)


@compose("numpy.argpartition", methods=("argpartition",), samples="partition")
def argpartition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None) -> Any:
    from ..core.builder import recorded as np

    if order is not None:
        refuse("numpy.argpartition", "order")
    a, axis = _line(a, axis)
    _check_kth(kth, a.shape[axis])
    return np.argsort(a, axis)


def _check_kth(kth: Any, n: Any) -> None:
    import numpy as np

    for k in np.ravel(static(kth, "kth")):
        if not -n <= k < n:
            raise ValueError(f"kth(={int(k)}) out of bounds ({n})")


@compose("numpy.lexsort", "*keys", samples="lexsort")
def lexsort(keys: Any, axis: int = -1) -> Any:
    """Stable sorts from the first key to the last, which decides most."""
    from ..core.builder import recorded as np

    if not keys:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    axis = axis_of(axis, keys[0])
    order = np.argsort(keys[0], axis=axis, stable=True)
    for key in keys[1:]:
        order = np.take_along_axis(order, np.argsort(np.take_along_axis(key, order, axis), axis=axis, stable=True), axis)
    return order


# order statistics: linear in two neighbours of the sorted array


@compose("numpy.quantile", samples="quantile")
def quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
    interpolation: Any = None,
) -> Any:
    """Where q is known while compiling; several quantiles are a stack of single ones."""
    import numpy

    from ..core.builder import recorded as np

    if weights is not None or interpolation is not None:
        refuse("numpy.quantile", "weights" if weights is not None else "interpolation")
    known = numpy.asarray(static(q, "q of np.quantile"))
    if ((known < 0) | (known > 1)).any():
        raise ValueError("Quantiles must be in the range [0, 1]")
    if known.ndim == 0:
        if type(static(q, "q")) not in (int, float) and a.dtype.kind == "f":
            a = cast(a, numpy.result_type(a.dtype, known.dtype))
        return _quantile(a, float(known), axis, method, keepdims, "quantile")
    a = cast(a, numpy.result_type(a.dtype, "f8"))
    parts = [_quantile(a, float(v), axis, method, keepdims, "quantile") for v in known.ravel()]
    y = np.stack(parts)
    return y if known.ndim == 1 else np.reshape(y, (*known.shape, *parts[0].shape))


@compose("numpy.percentile", samples="percentile")
def percentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
    interpolation: Any = None,
) -> Any:
    import numpy

    known = static(q, "q of np.percentile")
    share = known / 100 if type(known) in (int, float) else numpy.true_divide(known, 100)
    return quantile(a, share, axis, None, False, method, keepdims, weights=weights, interpolation=interpolation)


@compose("numpy.median", samples="median")
def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    return _quantile(a, 0.5, axis, "linear", keepdims, "median")


def _quantile(a: Any, q: float, axis: Any, method: str, keepdims: bool, name: str) -> Any:
    from ..core.builder import current
    from ..core.builder import recorded as np
    from ..core.types import normal_axes

    axes = normal_axes(axis, a.ndim)
    if len(axes) > 1 or not axes:
        others = [k for k in range(-a.ndim, 0) if k not in axes]
        flat = np.transpose(a, (*others, *axes)) if others else a
        flat = np.reshape(flat, (*(a.shape[k] for k in others), -1))
    else:
        flat = a
    params = {"axis": axes[0] if len(axes) == 1 else -1, "method": method, **({} if name == "median" else {"q": q})}
    y = current().apply(find(f"numpy.{name}"), [flat], params)  # type: ignore[arg-type]
    return np.expand_dims(y, axes) if keepdims and axes else y


def _statistic_type(types: list[Type], params: dict[str, Any]) -> Type:
    import numpy as np

    from ..core.types import Type

    shape = list(types[0].shape)
    del shape[params["axis"]]
    return Type(types[0].dtype if types[0].dtype.kind == "f" else np.dtype(float), tuple(shape), scalar=not shape)


def _statistic_text(name: str) -> Any:
    def emit(types: list[Type], params: dict[str, Any], out: Any) -> str:
        q = f", {params['q']!r}" if "q" in params else ""
        axis = "" if types[0].ndim == 1 else f", axis={params['axis']}"
        method = "" if params["method"] == "linear" else f", method={params['method']!r}"
        return f"np.{name}(_0{q}{axis}{method})"

    return emit


def _neighbours(d: Derivative) -> tuple[Any, list[Any]]:
    """The places of the two elements that the statistic lies between, along the axis, and their weights."""
    import numpy

    from ..core.builder import recorded as np
    from ..core.types import Size, local

    axis = d.params["axis"]
    n = d.x[0].shape[axis]
    if local(n) or isinstance(n, Size):
        return _counted_neighbours(d)
    # what NumPy gives for 0, 1, 2, … is the place itself
    place = float(numpy.quantile(numpy.arange(float(n)), d.params.get("q", 0.5), method=d.params["method"]))
    low = int(place)
    share = place - low
    order = np.argsort(d.x[0], axis=axis)
    places = along(order, axis, slice(low, low + 1 if share == 0 else low + 2))
    return places, [1.0] if share == 0 else [1.0 - share, share]


def _counted_neighbours(d: Derivative) -> tuple[Any, list[Any]]:
    """The same for a number of elements that only the values know."""
    from ..core.builder import recorded as np
    from .counts import extent

    if d.params["method"] != "linear":
        refuse("numpy.quantile", "method")
    axis = d.params["axis"]
    n = extent(d.x[0], (axis,))
    place = d.params.get("q", 0.5) * (n - 1)
    low = np.astype(np.floor(place), int)
    high = np.minimum(low + 1, n - 1)
    return along(np.argsort(d.x[0], axis=axis), axis, np.stack([low, high])), [1.0 - (place - low), place - low]


def _weights(weights: list[Any], axis: int, dtype: Any) -> Any:
    import numpy

    if any(not isinstance(w, float) for w in weights):
        from ..core.builder import recorded as np

        return np.reshape(np.astype(np.stack(weights), dtype), (-1,) + (1,) * (-axis - 1))
    return numpy.asarray(weights, dtype).reshape((-1,) + (1,) * (-axis - 1))


def _statistic_vjp(d: Derivative, i: int) -> Any:
    from ..core.builder import recorded as np
    from .take import grid

    axis = d.params["axis"]
    places, weights = _neighbours(d)
    ct = np.expand_dims(d.ct, axis)
    if len(weights) > 1:
        ct = ct * _weights(weights, axis, d.ct.dtype)
    index, arrays = grid(places, axis)
    return Scatter(ct, index, tuple(arrays))


def _statistic_jvp(d: Derivative) -> Any:
    from ..core.builder import recorded as np

    axis = d.params["axis"]
    places, weights = _neighbours(d)
    t = np.take_along_axis(d.dx[0], places, axis)
    return np.sum(t * _weights(weights, axis, t.dtype), axis) if len(weights) > 1 else np.squeeze(t, axis)


for _name in ("quantile", "median"):
    amend(
        f"numpy.{_name}",
        infer=_statistic_type,
        vjp=_statistic_vjp,
        jvp=_statistic_jvp,
        batch=same_batch,
        emit=_statistic_text(_name),
    )


# tables


@compose("numpy.searchsorted", "a", "v", methods=("searchsorted",), samples="searchsorted")
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    from ..core.builder import current
    from ..core.builder import recorded as np

    if a.ndim != 1:
        raise ValueError("object too deep for desired array")
    if side not in ("left", "right"):
        raise ValueError(f"side must be 'left' or 'right' (got {side!r})")
    if sorter is not None:
        a = np.take(a, sorter)
    return current().apply(find("numpy.searchsorted"), [a, v], {"side": side})  # type: ignore[arg-type]


def _search_type(types: list[Type], params: dict[str, Any]) -> Type:
    import numpy as np

    from ..core.types import Type

    return Type(np.dtype(np.intp), types[1].shape, scalar=not types[1].shape)


def _search_batch(b: Batching) -> Any:
    """A table for each sample: the place is the number of elements before."""
    from ..core.builder import recorded as np

    if not b.mapped[0]:
        return b.bind(b.x)
    a = b.x[0][(slice(None), *[None] * b.types[1].ndim, slice(None))]
    v = b.x[1][..., None]
    return np.sum(a < v if b.params["side"] == "left" else a <= v, -1)


amend(
    "numpy.searchsorted",
    **no_derivative(),
    infer=_search_type,
    batch=_search_batch,
    emit=lambda types, params, out: f"np.searchsorted(_0, _1{'' if params['side'] == 'left' else ', side=' + repr(params['side'])})",
)


@compose("numpy.digitize", "x", "bins", samples="digitize")
def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """Whether the bins rise or fall is known with them, and else found out at run time."""
    import numpy

    from ..core.builder import recorded as np

    real_only("numpy.digitize", x, bins)
    rising = np.searchsorted(bins, x, side="left" if right else "right")
    known = constant_of(bins)
    if known is not None:
        step = numpy.diff(known)
        if (step >= 0).all():
            return rising
        if not (step <= 0).all():
            raise ValueError("bins must be monotonically increasing or decreasing")
    falling = bins.shape[0] - np.searchsorted(np.flip(bins), x, side="right" if right else "left")
    return falling if known is not None else np.where(bins[0] <= bins[-1], rising, falling)


@compose("numpy.interp", "x", "xp", "fp", samples="interp")
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """Between the table's points a line, outside of it constant."""
    import numpy

    from ..core.builder import recorded as np
    from ..core.sizes import same

    if period is not None:
        refuse("numpy.interp", "period")
    real_only("numpy.interp", x, xp, fp)
    x, xp, fp = (cast(v, numpy.dtype(float)) for v in (x, xp, fp))
    if xp.ndim != 1 or xp.shape != fp.shape:
        raise ValueError("fp and xp are not of the same length.")
    n = xp.shape[0]
    low, high = (fp[0] if left is None else value(left)), (fp[-1] if right is None else value(right))
    if same(n, 1):
        inside = fp[0]
    else:
        k = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, n - 2)
        x0, f0 = xp[k], fp[k]
        inside = f0 + (fp[k + 1] - f0) * ((x - x0) / (xp[k + 1] - x0))
    y = np.where(x < xp[0], low, np.where(x > xp[-1], high, inside))
    return y[()] if x.type.scalar or not x.ndim else y
