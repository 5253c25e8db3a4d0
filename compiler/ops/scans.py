"""Running sums and products, differences, and integrals over samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .families import Derivative, along, axis_of, compose, linear, refuse, same_batch, value
from .reductions import summed_dtype
from .table import op

if TYPE_CHECKING:
    from ..core.types import Type


def _prepare_scan(name: str) -> Any:
    def prepare(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> tuple[list[Any], dict[str, Any]]:
        from ..core.builder import call

        if out is not None:
            refuse(name, "out")
        a = value(a)
        if dtype is not None:
            a = call("numpy.astype", a, dtype)
        if axis is None:
            a, axis = (a if a.ndim == 1 else call("numpy.ravel", a)), -1
        return [a], {"axis": axis_of(axis, a)}

    return prepare


def _scan_type(types: list[Type], params: dict[str, Any]) -> Type:
    from ..core.types import Type

    return Type(summed_dtype(types[0].dtype), types[0].shape)


def _scan_text(name: str) -> Any:
    return lambda types, params, out: f"np.{name}(_0)" if types[0].ndim == 1 else f"np.{name}(_0, axis={params['axis']})"


def _cumsum_back(d: Derivative) -> Any:
    """Sums from the other end."""
    from ..core.builder import recorded as np

    axis = d.params["axis"]
    return np.flip(np.cumsum(np.flip(d.ct, axis), axis), axis)


op(
    "numpy.cumsum",
    linear(_cumsum_back),
    signature="a, axis=None, dtype=None, out=None",
    operands=("a",),
    family="scan",
    methods=("cumsum",),
    prepare=_prepare_scan("numpy.cumsum"),
    infer=_scan_type,
    batch=same_batch,
    emit=_scan_text("cumsum"),
    writes=("out",),
    samples="arrays with axis",
)


def _runs(d: Derivative) -> tuple[Any, Any, int]:
    """With the axis last: the products before each element, and for i <= j the products of the elements between i and j, else 0.

    Quotients of cumulative products would be shorter and wrong at zeros.
    """
    from ..core.builder import recorded as np
    from ..core.types import local

    axis = d.params["axis"]
    x = np.moveaxis(d.x[0], axis, -1)
    n = x.shape[-1]
    if not local(n):
        one = np.ones((*x.shape[:-1], 1), x.dtype)
        before = np.concatenate([one, np.cumprod(x, -1)[..., :-1]], -1)
        later, same = np.tri(n, k=-1, dtype=bool).T, np.tri(n, dtype=bool).T
    else:
        # there are no slices of what only the values know the length of
        places = np.arange(n)
        before = np.where(places == 0, 1.0, np.roll(np.cumprod(x, -1), 1, -1))
        later, same = places[:, None] < places, places[:, None] <= places
    between = np.cumprod(np.where(later, x[..., None, :], 1.0), -1)
    return before, np.where(same, between, 0.0), axis


def _cumprod_vjp(d: Derivative, i: int) -> Any:
    from ..core.builder import recorded as np

    before, between, axis = _runs(d)
    ct = np.moveaxis(d.ct, axis, -1)
    return np.moveaxis(before * np.sum(between * ct[..., None, :], -1), -1, axis)


def _cumprod_jvp(d: Derivative) -> Any:
    from ..core.builder import recorded as np

    before, between, axis = _runs(d)
    t = np.moveaxis(d.dx[0], axis, -1)
    return np.moveaxis(np.sum((before * t)[..., None] * between, -2), -1, axis)


op(
    "numpy.cumprod",
    signature="a, axis=None, dtype=None, out=None",
    operands=("a",),
    family="scan",
    methods=("cumprod",),
    prepare=_prepare_scan("numpy.cumprod"),
    infer=_scan_type,
    vjp=_cumprod_vjp,
    analytic=True,
    jvp=_cumprod_jvp,
    batch=same_batch,
    emit=_scan_text("cumprod"),
    writes=("out",),
    samples="arrays with axis and zeros",
)


def _cumulative(name: str, start: int) -> Any:
    def cumulative(x: Any, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False) -> Any:
        from ..core.builder import recorded as np

        if axis is None and x.ndim > 1:
            raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
        y = getattr(np, name)(x, axis, dtype)
        if not include_initial:
            return y
        k = axis_of(-1 if axis is None else axis, y)
        shape = [*y.shape]
        shape[k] = 1
        return np.concatenate([np.full(tuple(shape), start, y.dtype), y], k)

    return cumulative


compose("numpy.cumulative_sum", samples="vectors")(_cumulative("cumsum", 0))
compose("numpy.cumulative_prod", samples="vectors")(_cumulative("cumprod", 1))


def _nan_scan(name: str, fill: float) -> Any:
    def scan(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        from ..core.builder import recorded as np

        return getattr(np, name)(np.where(np.isnan(a), fill, a) if a.dtype.kind == "f" else a, axis, dtype)

    return scan


compose("numpy.nancumsum", samples="with nan")(_nan_scan("cumsum", 0.0))
compose("numpy.nancumprod", samples="with nan")(_nan_scan("cumprod", 1.0))


# differences


def _end(x: Any, axis: int, end: Any) -> Any:
    """prepend= or append= of a difference as an array that joins x; a number is broadcast."""
    from ..core.builder import recorded as np

    end = value(end)
    if end.ndim:
        return end
    shape = [*x.shape]
    shape[axis] = 1
    return np.broadcast_to(end, tuple(shape))


@compose("numpy.diff", "a", samples="diff")
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    from ..core.builder import recorded as np

    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    if not a.ndim:
        raise ValueError("diff requires input that is at least one dimensional")
    axis = axis_of(axis, a)
    parts = [_end(a, axis, e) if e is not a else a for e in (prepend, a, append) if e is not None]
    a = np.concatenate(parts, axis) if len(parts) > 1 else a
    for _ in range(n):
        later, earlier = along(a, axis, slice(1, None)), along(a, axis, slice(None, -1))
        a = later != earlier if a.dtype.kind == "b" else later - earlier
    return a


@compose("numpy.ediff1d", "ary", samples="diff vectors")
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    from ..core.builder import recorded as np

    flat = np.ravel(ary)
    y = flat[1:] - flat[:-1]
    parts = [p if p is y else np.ravel(np.astype(value(p), y.dtype)) for p in (to_begin, y, to_end) if p is not None]
    return np.concatenate(parts) if len(parts) > 1 else y


@compose("numpy.gradient", "f", samples="gradient")
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Second differences inside, one-sided ones at the ends; spacing is a number or the coordinates of each axis."""
    axes = range(f.ndim) if axis is None else [axis_of(k, f) for k in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    spacings = [1.0] * len(axes) if not varargs else [varargs[0]] * len(axes) if len(varargs) == 1 else list(varargs)
    if len(spacings) != len(axes):
        raise TypeError("invalid number of arguments")
    if edge_order not in (1, 2):
        raise ValueError("'edge_order' greater than 2 not supported")
    outs = [_slope(f, h, axis_of(k, f), edge_order) for k, h in zip(axes, spacings)]
    return outs[0] if len(outs) == 1 else tuple(outs)


def _slope(f: Any, h: Any, axis: int, edge_order: int) -> Any:
    from ..core.builder import recorded as np

    n = f.shape[axis]
    if n < edge_order + 1:
        raise ValueError("Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are required.")
    f = np.astype(f, float) if f.dtype.kind in "iub" else f

    def at(*bounds: Any) -> Any:
        return along(f, axis, slice(*bounds))

    h = value(h) if not isinstance(h, (int, float)) else h
    if not getattr(h, "ndim", 0):
        middle = (at(2, None) - at(None, -2)) / (2.0 * h)
        if edge_order == 1:
            first, last = (at(1, 2) - at(0, 1)) / h, (at(-1, None) - at(-2, -1)) / h
        else:
            first = (-1.5 * at(0, 1) + 2.0 * at(1, 2) - 0.5 * at(2, 3)) / h
            last = (0.5 * at(-3, -2) - 2.0 * at(-2, -1) + 1.5 * at(-1, None)) / h
        return np.concatenate([first, middle, last], axis)
    if h.shape != (n,):
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    step = np.reshape(h[1:] - h[:-1], (-1,) + (1,) * (-axis - 1))

    def steps(*bounds: Any) -> Any:
        return along(step, axis, slice(*bounds))

    left, right = steps(None, -1), steps(1, None)
    middle = (-right / (left * (left + right))) * at(None, -2) + ((right - left) / (left * right)) * at(1, -1)
    middle = middle + (left / (right * (left + right))) * at(2, None)
    if edge_order == 1:
        first, last = (at(1, 2) - at(0, 1)) / steps(None, 1), (at(-1, None) - at(-2, -1)) / steps(-1, None)
    else:
        a, b = steps(0, 1), steps(1, 2)
        first = -(2.0 * a + b) / (a * (a + b)) * at(0, 1) + (a + b) / (a * b) * at(1, 2) - a / (b * (a + b)) * at(2, 3)
        a, b = steps(-2, -1), steps(-1, None)
        last = b / (a * (a + b)) * at(-3, -2) - (b + a) / (a * b) * at(-2, -1) + (2.0 * b + a) / (b * (a + b)) * at(-1, None)
    y = np.concatenate([first, middle, last], axis)
    return y if y.dtype == f.dtype else np.astype(y, f.dtype)


@compose("numpy.trapezoid", "y", "x", aliases=("numpy.trapz",), samples="trapezoid")
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    from ..core.builder import recorded as np

    axis = axis_of(axis, y)
    if x is None:
        step = dx
    elif x.ndim == 1:
        step = np.reshape(x[1:] - x[:-1], (-1,) + (1,) * (-axis - 1))
    else:
        step = np.diff(x, axis=axis)
    return np.sum(step * (along(y, axis, slice(1, None)) + along(y, axis, slice(None, -1))) / 2.0, axis)
