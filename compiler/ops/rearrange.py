"""Moving elements about: flips, rolls, rotations, repetition, padding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .families import Derivative, axis_of, compose, constant_of, linear, refuse, same_batch, static, tuple_text, value, whole
from .table import amend, op

if TYPE_CHECKING:
    from ..core.types import Type


def _same_type(types: list[Type], params: dict[str, Any]) -> Type:
    return types[0].with_shape(types[0].shape)


def _axes_text(axis: tuple[int, ...], ndim: int, default: bool = False) -> str:
    return "" if ndim == 1 or (default and len(axis) == ndim) else f", axis={tuple_text(axis)}"


def _prepare_flip(m: Any, axis: Any = None) -> tuple[list[Any], dict[str, Any]]:
    from ..core.types import normal_axes

    return [m], {"axis": normal_axes(axis, value(m).ndim)}


def _flip(d: Derivative) -> Any:
    from ..core.builder import recorded as np

    return np.flip(d.ct, d.params["axis"])


def _flip_view(base: Any, new: Any, params: Any) -> Any:
    from ..core.builder import recorded as np

    return np.flip(new, params["axis"])


op(
    "numpy.flip",
    linear(_flip),
    signature="m, axis=None",
    operands=("m",),
    family="shape",
    prepare=_prepare_flip,
    infer=_same_type,
    batch=same_batch,
    emit=lambda types, params, out: "_0[::-1]" if types[0].ndim == 1 else f"np.flip(_0{_axes_text(params['axis'], types[0].ndim, True)})",
    view=_flip_view,
    samples="arrays with axis",
)


@compose("numpy.fliplr", samples="matrices alone")
def fliplr(m: Any) -> Any:
    from ..core.builder import recorded as np

    if m.ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return np.flip(m, 1)


@compose("numpy.flipud", samples="matrices alone")
def flipud(m: Any) -> Any:
    from ..core.builder import recorded as np

    if m.ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return np.flip(m, 0)


def _prepare_roll(a: Any, shift: Any, axis: Any = None) -> tuple[list[Any], dict[str, Any]]:
    import numpy as np

    a = value(a)
    shift = static(shift, "shift")
    shifts, axes = np.broadcast_arrays(shift, axis if axis is not None else 0)
    return [a], {"shift": tuple(int(s) for s in shifts.ravel()), "axis": tuple(axis_of(int(k), a) for k in axes.ravel())}


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """Rolled over the flattened array unless an axis is given."""
    from ..core.builder import current, recorded
    from .table import find

    a = value(a)
    if axis is None and a.ndim != 1:
        return recorded.reshape(roll(recorded.ravel(a), shift, 0), a.shape)
    operands, params = _prepare_roll(a, shift, axis)
    return current().apply(find("numpy.roll"), operands, params)  # type: ignore[arg-type]


def _roll_back(d: Derivative) -> Any:
    from ..core.builder import recorded as np

    return np.roll(d.ct, tuple(-s for s in d.params["shift"]), d.params["axis"])


op(
    "numpy.roll",
    linear(_roll_back),
    signature="a, shift, axis=None",
    operands=("a",),
    family="shape",
    lower=roll,
    infer=_same_type,
    batch=same_batch,
    emit=lambda types, params, out: f"np.roll(_0, {tuple_text(params['shift'])}{_axes_text(params['axis'], types[0].ndim)})",
    static={"shift": "PGR404"},
    samples="roll",
)


@compose("numpy.rot90", samples="rot90")
def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    from ..core.builder import recorded as np

    first, second = (axis_of(a, m) for a in axes)
    if len(set(axes)) != 2 or first == second:
        raise ValueError("Axes must be different.")
    k %= 4
    if k == 0:
        return np.copy(m)
    if k == 2:
        return np.flip(m, (first, second))
    return np.flip(np.swapaxes(m, first, second), first) if k == 1 else np.swapaxes(np.flip(m, first), first, second)


# repetition


@compose("numpy.tile", "A", static={"reps": "PGR405"}, samples="tile")
def tile(A: Any, reps: Any) -> Any:
    """A broadcast over new axes, merged with the old ones."""
    from ..core.builder import recorded as np

    reps = static(reps, "reps")
    reps = tuple(whole(r) for r in reps) if hasattr(reps, "__len__") else (whole(reps),)
    shape = (1,) * (len(reps) - A.ndim) + A.shape
    reps = (1,) * (len(shape) - len(reps)) + reps
    if all(r == 1 for r in reps):
        return np.copy(np.reshape(A, shape) if shape != A.shape else A)
    apart = np.reshape(A, tuple(n for d in shape for n in (1, d)))
    return np.reshape(
        np.broadcast_to(apart, tuple(n for r, d in zip(reps, shape) for n in (r, d))), tuple(r * d for r, d in zip(reps, shape))
    )


@compose("numpy.repeat", methods=("repeat",), static={"repeats": "PGR405"}, samples="repeat")
def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    """With one count a broadcast over a new axis; with a count for each element a read at known places."""
    import numpy

    from ..core.builder import current
    from ..core.builder import recorded as np
    from .table import find

    repeats = static(repeats, "repeats")
    counts = numpy.asarray(repeats)
    if axis is None:
        a, axis = np.ravel(a), 0
    axis = axis_of(axis, a)
    if counts.size == 1:
        count = whole(repeats if not counts.ndim else counts.ravel()[0])
        return current().apply(find("numpy.repeat"), [a], {"repeats": count, "axis": axis})  # type: ignore[arg-type]
    return np.take(a, numpy.repeat(numpy.arange(a.shape[axis]), counts), axis)


def _repeat_type(types: list[Type], params: dict[str, Any]) -> Type:
    shape = list(types[0].shape)
    shape[params["axis"]] = shape[params["axis"]] * params["repeats"]
    return types[0].with_shape(shape)


def _repeat_back(d: Derivative) -> Any:
    from ..core.builder import recorded as np

    axis, shape = d.params["axis"], d.x[0].shape
    cut = len(shape) + axis + 1
    return np.sum(np.reshape(d.ct, (*shape[:cut], d.params["repeats"], *shape[cut:])), cut)


amend(
    "numpy.repeat",
    **linear(_repeat_back, family="shape"),
    infer=_repeat_type,
    batch=same_batch,
    emit=lambda types, params, out: f"np.repeat(_0, {params['repeats']}{_axes_text((params['axis'],), types[0].ndim)})",
)


def _pad_width(width: Any, ndim: int) -> tuple[tuple[int, int], ...]:
    import numpy as np

    width = static(width, "pad_width")
    if isinstance(width, dict):
        full = [(0, 0)] * ndim
        for axis, w in width.items():
            full[axis] = (w, w) if isinstance(w, int) else tuple(w)
        width = full
    pairs = np.broadcast_to(np.asarray(width), (ndim, 2)).tolist()
    if any(w < 0 for pair in pairs for w in pair):
        raise ValueError("index can't contain negative values")
    return tuple((whole(a), whole(b)) for a, b in pairs)


_MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


@compose("numpy.pad", "array", static={"pad_width": "PGR404"}, samples="pad")
def pad(array: Any, pad_width: Any, mode: Any = "constant", **options: Any) -> Any:
    """Constant padding is linear; the other modes read at places that NumPy itself computes while compiling."""
    import numpy

    from ..core.builder import current
    from ..core.builder import recorded as np
    from .table import find

    if mode not in _MODES:
        refuse("numpy.pad", f"mode={mode!r}, pad", f"use one of the modes {', '.join(_MODES)}")
    width = _pad_width(pad_width, array.ndim)
    values = options.pop("constant_values", 0)
    if options.get("reflect_type", "even") != "even":
        refuse("numpy.pad", "reflect_type")
    options.pop("reflect_type", None)
    if options:
        raise ValueError(f"unsupported keyword arguments for mode {mode!r}: {set(options)}")
    if mode != "constant":
        for k, pair in enumerate(width):
            if pair != (0, 0):
                array = np.take(array, numpy.pad(numpy.arange(array.shape[k]), pair, mode=mode), k)
        return array
    fill = constant_of(values)
    padded = current().apply(find("numpy.pad"), [array], {"pad_width": width})  # type: ignore[arg-type]
    if fill is not None and numpy.ndim(fill) == 0 and fill == 0:
        return padded
    if numpy.ndim(fill if fill is not None else values):
        refuse("numpy.pad", "constant_values of several numbers, pad", "pad with one number, or join with np.concatenate")
    inside = numpy.pad(numpy.ones(array.shape, bool), width)
    return np.where(inside, padded, np.astype(values, array.dtype))


def _pad_type(types: list[Type], params: dict[str, Any]) -> Type:
    widths = params["pad_width"]
    return types[0].with_shape(d + a + b for d, (a, b) in zip(types[0].shape, widths))


def _pad_back(d: Derivative) -> Any:
    nothing = lambda n: isinstance(n, int) and n == 0  # noqa: E731
    index = tuple(slice(None if nothing(a) else a, None if nothing(b) else -b) for a, b in d.params["pad_width"])
    return d.ct[index]


def _pad_text(types: list[Type], params: dict[str, Any], out: Any) -> str:
    width = params["pad_width"]
    shown = width[0] if len(width) == 1 else width
    return f"np.pad(_0, {shown[0] if len(width) == 1 and shown[0] == shown[1] else shown})"


amend(
    "numpy.pad",
    **linear(_pad_back, family="shape"),
    infer=_pad_type,
    batch=lambda b: b.bind(b.x, {"pad_width": ((0, 0), *b.params["pad_width"])}),
    emit=_pad_text,
)


@compose("numpy.resize", static={"new_shape": "PGR404"}, samples="resize")
def resize(a: Any, new_shape: Any) -> Any:
    """As many whole copies as are needed, cut to size."""
    from ..core.builder import recorded as np

    shape = tuple(new_shape) if isinstance(new_shape, (tuple, list)) else (new_shape,)
    size, flat = 1, np.ravel(a)
    for d in shape:
        size *= d
    if size == 0 or flat.shape[0] == 0:
        return np.zeros(shape, a.dtype)
    copies = -(-size // flat.shape[0])
    return np.reshape(np.tile(flat, copies)[:size] if copies > 1 else np.copy(flat[:size]), shape)


@compose("numpy.ndarray.flatten", methods=("flatten",), samples="arrays")
def flatten(a: Any, order: str = "C") -> Any:
    from ..core.builder import recorded as np

    return np.ravel(a, order)
