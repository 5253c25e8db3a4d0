"""Taking and choosing elements by arrays of places or of conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .families import (
    Batching,
    Derivative,
    Scatter,
    axis_of,
    cast,
    common_dtype,
    compose,
    expand,
    linear_jvp,
    refuse,
    value,
)
from .table import op

if TYPE_CHECKING:
    from ..core.types import Type


def wrapped(indices: Any, size: Any, mode: str, name: str) -> Any:
    """Indices as NumPy's mode has them: "raise" leaves them to the indexing itself."""
    from ..core.builder import recorded as np

    if mode == "raise":
        return indices
    if mode == "wrap":
        return indices % size
    if mode == "clip":
        return np.clip(indices, 0, size - 1)
    return refuse(name, f"mode={mode!r}, mode")


@compose("numpy.take", "a", "indices", methods=("take",), samples="take")
def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    """Reading at an array of places along one axis, of the flattened array unless one is given."""
    from ..core.builder import recorded as np

    if axis is None:
        a, axis = np.ravel(a), 0
    axis = axis_of(axis, a)
    indices = wrapped(indices, a.shape[axis], mode, "numpy.take")
    return a[(*[slice(None)] * (len(a.shape) + axis), indices)]


@compose("numpy.compress", "condition", "a", static={"condition": "PGR401"}, samples="compress")
def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    from ..core.builder import recorded as np

    return np.take(a, np.flatnonzero(condition), axis)


@compose("numpy.extract", "condition", "arr", static={"condition": "PGR401"}, samples="extract")
def extract(condition: Any, arr: Any) -> Any:
    from ..core.builder import recorded as np

    return np.take(np.ravel(arr), np.flatnonzero(condition))


# along one axis, with places for every line


def grid(indices: Any, axis: int) -> tuple[tuple[Any, ...], list[Any]]:
    """The whole index that stands behind places along one axis: counting arrays for all other axes."""
    from ..core.builder import recorded as np
    from .indexing import Slot

    ndim = len(indices.shape)
    arrays = []
    for k in range(-ndim, 0):
        own = np.reshape(np.arange(indices.shape[k]), (-1,) + (1,) * (-k - 1)) if k != axis else indices
        arrays.append(own)
    return tuple(Slot(k) for k in range(ndim)), arrays


def _prepare_along(arr: Any, indices: Any, axis: Any = -1) -> tuple[list[Any], dict[str, Any]]:
    from ..core.builder import call

    arr, indices = value(arr), value(indices)
    if axis is None:
        arr, axis = call("numpy.ravel", arr), 0
    if arr.ndim != indices.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    if indices.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    return [arr, indices], {"axis": axis_of(axis, arr)}


def _along_type(types: list[Type], params: dict[str, Any]) -> Type:
    from ..core.types import broadcast

    axis = params["axis"]
    (a, b), k = [list(t.shape) for t in types], types[1].shape[axis]
    a[axis] = b[axis] = 1
    shape = list(broadcast(a, b))
    shape[axis] = k
    return types[0].with_shape(shape)


def _along_vjp(d: Derivative, i: int) -> Any:
    from ..core.builder import recorded as np

    if i:
        return None
    x, indices = d.x
    axis = d.params["axis"]
    ct = d.ct
    if tuple(indices.shape) != tuple(ct.shape):
        indices = np.broadcast_to(indices, ct.shape)
    if any(n != m for k, (n, m) in enumerate(zip(x.shape, ct.shape)) if k != axis % x.ndim):
        # x itself was stretched: add up its copies by an index of 0 on those axes
        index, arrays = grid(indices, axis)
        arrays = [a if m != 1 or k == axis % x.ndim else np.zeros((1,) * x.ndim, int) for k, (a, m) in enumerate(zip(arrays, x.shape))]
        return Scatter(ct, index, tuple(arrays))
    index, arrays = grid(indices, axis)
    return Scatter(ct, index, tuple(arrays))


def _along_batch(b: Batching) -> Any:
    rank = b.types[0].ndim
    return b.bind([b.x[k] if b.mapped[k] else expand(b.x[k], [0]) for k in range(2)]) if rank else b.bind(b.x)


op(
    "numpy.take_along_axis",
    signature="arr, indices, axis=-1",
    operands=("arr", "indices"),
    family="indexing",
    prepare=_prepare_along,
    infer=_along_type,
    vjp=_along_vjp,
    jvp=linear_jvp,
    batch=_along_batch,
    emit=lambda types, params, out: f"np.take_along_axis(_0, _1, axis={params['axis']})",
    linear=True,
    samples="take_along_axis",
)


# writes: a composition whose entry says returns="none" gives the new value of what it writes


@compose("numpy.put_along_axis", "arr", "indices", "values", writes=("arr",), returns="none", samples="put_along_axis")
def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> Any:
    from ..core.builder import recorded as np
    from .indexing import put as write

    if axis is None:
        return np.reshape(put_along_axis(np.ravel(arr), indices, values, 0), arr.shape)
    index, arrays = grid(indices, axis_of(axis, arr))
    return write(arr, values, index, arrays)


@compose("numpy.put", "a", "ind", "v", writes=("a",), returns="none", samples="put")
def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> Any:
    """Writes at places of the flattened array; values repeat as needed."""
    from ..core.builder import recorded as np
    from .indexing import Slot
    from .indexing import put as write

    flat, ind = np.ravel(a), np.ravel(ind)
    if not ind.shape[0]:
        return a
    v = np.resize(v, ind.shape[0]) if v.ndim and v.shape != ind.shape else v
    return np.reshape(write(flat, v, (Slot(0),), [wrapped(ind, flat.shape[0], mode, "numpy.put")]), a.shape)


@compose("numpy.copyto", "dst", "src", "where", writes=("dst",), returns="none", samples="copyto")
def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = None) -> Any:
    from ..core.builder import recorded as np

    new = np.broadcast_to(np.astype(src, dst.dtype) if src.dtype != dst.dtype else src, dst.shape)
    return new if where is None else np.where(where, new, dst)


@compose("numpy.putmask", "a", "mask", "values", writes=("a",), returns="none", samples="putmask")
def putmask(a: Any, mask: Any, values: Any) -> Any:
    from ..core.builder import recorded as np

    if values.ndim and values.shape != a.shape:
        values = np.resize(values, a.shape)
    return np.where(mask, np.astype(values, a.dtype), a)


# choosing


@compose("numpy.choose", "a", "*choices", methods=("choose",), samples="choose")
def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    from ..core.builder import recorded as np
    from ..core.types import broadcast

    shape = broadcast(a.shape, *(c.shape for c in choices))
    dtype = common_dtype(*choices)
    stacked = np.stack([np.broadcast_to(cast(c, dtype), shape) for c in choices])
    places = np.broadcast_to(wrapped(a, len(choices), mode, "numpy.choose"), shape)
    return np.take_along_axis(stacked, np.expand_dims(places, 0), 0)[0]


@compose("numpy.select", "*condlist", "*choicelist", samples="select")
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """The first choice whose condition holds: nested np.where, the last innermost."""
    from ..core.builder import recorded as np

    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not condlist:
        raise ValueError("select with an empty condition list is not possible")
    if any(c.dtype.kind != "b" for c in condlist):
        raise TypeError("invalid entry in condlist: should be boolean ndarray")
    dtype = common_dtype(*choicelist, default)
    y = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist)):
        y = np.where(condition, choice, y)
    return cast(y, dtype)


@compose("numpy.piecewise", "x", "*condlist", samples="piecewise")
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """Each function is called on the whole array, its values are kept where its condition holds; the last condition that holds wins."""
    from ..core.builder import recorded as np

    funclist = list(funclist)
    n = len(condlist)
    if len(funclist) == n + 1:
        otherwise = funclist.pop()
    elif len(funclist) == n:
        otherwise = 0
    else:
        raise ValueError(f"with {n} condition(s), either {n} or {n + 1} functions are expected")

    def evaluate(f: Any) -> Any:
        y = value(f(x, *args, **kw) if callable(f) else f)
        return np.astype(y, x.dtype) if y.dtype != x.dtype else y

    y = np.broadcast_to(evaluate(otherwise), x.shape)
    for condition, f in zip(condlist, funclist):
        y = np.where(condition, evaluate(f), y)
    return y
