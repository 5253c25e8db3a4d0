"""Reading and writing by index. A write is functional: the base with new values at the index.

A static index is a tuple as long as NumPy makes it, the Ellipsis expanded; ``Slot(k)`` stands where operand array k is. A mask known only
at run time is an operand too; the number of elements that it selects is a size that only the values know.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .families import Batching, Derivative, Scatter, expand
from .table import op

if TYPE_CHECKING:
    from ..core.types import Dim, Shape, Type
    from ..errors import VmapViolation


_WINDOW = "index with places: x[start + np.arange(k)]"


@dataclass(frozen=True)
class Slot:
    """The place of an index that is an operand. A mask stands for as many axes as it has, and selects ``count`` elements."""

    k: int
    count: Dim | None = None
    axes: int = 1

    def __repr__(self) -> str:
        return f"Slot({self.k})" if self.count is None else f"Slot({self.k}, {self.count})"


def normalize(x: Any, index: Any) -> tuple[tuple[Any, ...], list[Any]]:
    """Split an index into its static part and the arrays in it; IndexError as NumPy."""
    import numpy as np

    from ..core.builder import Value, atom_of, call, current
    from ..core.program import Const
    from ..core.sizes import Size
    from ..core.types import counted_size
    from ..errors import Unsupported

    items = list(index) if isinstance(index, tuple) else [index]
    known: list[Any] = []
    for place, item in enumerate(items):
        item = current().wrap(atom_of(item)) if isinstance(item, Size) else item
        value = item.atom.value if isinstance(item, Value) and isinstance(item.atom, Const) else item
        if isinstance(value, list):
            value = (
                call("numpy.array", value)
                if any(isinstance(v, Value) for v in value)
                else np.asarray(value, dtype=None if value else np.intp)
            )
        if isinstance(value, (np.bool_, bool)) or (isinstance(value, np.ndarray) and value.dtype == bool):
            if np.ndim(value):
                _check_mask(x, items, place, np.asarray(value))
                known.extend(np.asarray(value).nonzero())
            elif value and not any(isinstance(i, (list, np.ndarray, Value)) for i in items):
                known.append(None)
            else:
                raise Unsupported("a number of bool as an index has no rule here", code="PGR702", span=current().span, hint="np.where")
        elif isinstance(value, Value) and value.dtype == bool and value.ndim:
            _check_mask(x, items, place, value)
            known.append(first_made(value))
        elif isinstance(value, Value) and value.dtype == bool:
            raise Unsupported("a number of bool as an index has no rule here", code="PGR702", span=current().span, hint="np.where")
        elif isinstance(value, slice):
            known.append(slice(*(None if s is None else _int(s, "slice bound") for s in (value.start, value.stop, value.step))))
        elif isinstance(value, np.ndarray) and value.ndim == 0:
            known.append(int(value))
        elif isinstance(value, np.integer):
            known.append(int(value))
        elif value is None or value is Ellipsis or isinstance(value, (int, np.ndarray, Value)):
            known.append(value)
        else:
            raise IndexError(
                "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid indices"
            )
    shape = x.shape
    used = sum(_axes(i) for i in known)
    if used > len(shape):
        raise IndexError(f"too many indices for array: array is {len(shape)}-dimensional, but {used} were indexed")
    at = next((n for n, i in enumerate(known) if i is Ellipsis), len(known))
    full = [slice(None)] * (len(shape) - used)
    known = [*known[:at], *full, *known[at + 1 :]]
    static: list[Any] = []
    arrays: list[Any] = []
    axis = 0
    for item in known:
        if isinstance(item, Value) and item.dtype == bool:
            static.append(Slot(len(arrays), counted_size(item.atom.serial), item.ndim))  # type: ignore[union-attr]
            arrays.append(item)
        elif isinstance(item, (np.ndarray, Value)):
            if item.dtype.kind not in "iu":
                raise IndexError("arrays used as indices must be of integer (or boolean) type")
            static.append(Slot(len(arrays)))
            arrays.append(item)
        else:
            if isinstance(item, int) and isinstance(shape[axis], int) and not -shape[axis] <= item < shape[axis]:
                raise IndexError(f"index {item} is out of bounds for axis {axis} with size {shape[axis]}")
            static.append(item)
        axis += _axes(item)
    return tuple(static), arrays


def _axes(item: Any) -> int:
    """How many axes one item of an index stands for."""
    if item is None or item is Ellipsis:
        return 0
    return len(item.shape) if getattr(getattr(item, "dtype", None), "kind", "") == "b" else 1


def first_made(mask: Any) -> Any:
    """The first value in scope that was computed just as this one: in ``x[x > 0] * y[x > 0]`` one mask selects one number of elements."""
    import numpy as np

    from ..core.builder import Value, current
    from ..core.program import Apply, Const, Var
    from .table import find

    first: dict[Any, Var] = {}
    stands: dict[Any, Any] = {}
    for body in current()._bodies:
        for node in body:
            if not isinstance(node, Apply) or len(node.outs) != 1:
                continue
            entry = find(node.op)
            if entry is None or entry.random or any(isinstance(v, np.ndarray) for v in node.params.values()):
                continue
            known = ((a.type, a.value.tobytes() if a.type.shape else a.value) if isinstance(a, Const) else a for a in node.args)
            key = (node.op, tuple(stands.get(a, a) for a in known), repr(node.params))
            stands[node.outs[0]] = first.setdefault(key, node.outs[0])
    return Value(stands.get(mask.atom, mask.atom))


def _check_mask(x: Any, items: list[Any], place: int, mask: Any) -> None:
    """A mask has the lengths of the axes that it stands for."""
    before = [_axes(i) for i in items[:place]]
    after = sum(_axes(i) for i in items[place + 1 :]) + mask.ndim
    first = len(x.shape) - after if any(i is Ellipsis for i in items[:place]) else sum(before)
    for k, n in enumerate(mask.shape):
        if first + k < len(x.shape) and isinstance(x.shape[first + k], int) and x.shape[first + k] != n:
            raise IndexError(
                f"boolean index did not match indexed array along axis {first + k}; size of axis is {x.shape[first + k]} "
                f"but size of corresponding boolean axis is {n}"
            )


def _int(value: Any, what: str) -> Any:
    import operator

    from ..core.sizes import Size

    if isinstance(value, Size):
        return value
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError("slice indices must be integers or None or have an __index__ method") from None


@dataclass(frozen=True)
class Geometry:
    """The shape that an index gives: ``before`` and ``after`` the broadcast ``shape`` of the index arrays, which stands first when the
    arrays are separated (``first``)."""

    before: Shape
    shape: Shape
    after: Shape
    first: bool

    @property
    def result(self) -> Shape:
        return (*self.before, *self.shape, *self.after)


def geometry(shape: Sequence[Dim], index: tuple[Any, ...], arrays: Sequence[Type]) -> Geometry:
    """Where the axes of the result come from, by NumPy's rules."""
    from ..core.sizes import slice_length
    from ..core.types import broadcast

    advanced = [n for n, i in enumerate(index) if isinstance(i, Slot) or (arrays and isinstance(i, int))]
    separated = bool(advanced) and advanced != list(range(advanced[0], advanced[-1] + 1))
    before: list[Dim] = []
    after: list[Dim] = []
    axis = 0
    for n, item in enumerate(index):
        into = after if advanced and n > advanced[0] and not separated else before
        if item is None:
            into.append(1)
            continue
        if isinstance(item, slice):
            into.append(slice_length(item, shape[axis]))
        axis += item.axes if isinstance(item, Slot) else 1
    counts = {i.k: i.count for i in index if isinstance(i, Slot) and i.count is not None}
    dims = broadcast(*((counts[k],) if k in counts else t.shape for k, t in enumerate(arrays))) if arrays else ()
    if separated:
        return Geometry((), dims, (*before, *after), True)
    return Geometry(tuple(before), dims, tuple(after), False)


def _prepare_get(x: Any, index: Any) -> tuple[list[Any], dict[str, Any]]:
    static, arrays = normalize(x, index)
    return [x, *arrays], {"index": static}


def _infer_get(types: list[Type], params: dict[str, Any]) -> Type:
    from ..core.types import Type

    shape = geometry(types[0].shape, params["index"], types[1:]).result
    return Type(types[0].dtype, shape, scalar=not shape and None not in params["index"] and Ellipsis not in params["index"])


def index_text(index: tuple[Any, ...], first: int = 1) -> str:
    """The index as source, its arrays being ``_first``, …"""
    texts = [_item_text(i, first) for i in index]
    leading = next((n for n, t in enumerate(texts) if t != ":"), len(texts))
    if 2 < leading < len(texts):
        texts = ["...", *texts[leading:]]
    else:
        while len(texts) > 1 and texts[-1] == ":":
            texts.pop()
    return ", ".join(texts) or "()"


def _item_text(item: Any, first: int) -> str:
    if isinstance(item, Slot):
        return f"_{item.k + first}"
    if isinstance(item, slice):
        start, stop, step = ("" if s is None else str(s) for s in (item.start, item.stop, item.step))
        return f"{start}:{stop}" + (f":{step}" if step else "")
    return str(item)


def _emit_get(types: list[Type], params: dict[str, Any], out: Any) -> str:
    return f"_0[{index_text(params['index'])}]"


def _get_vjp(d: Derivative, i: int) -> Any:
    if i == 0 and not d.x[0].shape and not d.params["index"]:
        return d.ct  # the one element of an array without axes
    return Scatter(d.ct, d.params["index"], d.x[1:]) if i == 0 else None


def _linear_in_first(d: Derivative) -> Any:
    from ..core.builder import current

    return None if d.dx[0] is None else current().apply(d.entry, [d.dx[0], *d.x[1:]], dict(d.params))


def _batched_index(b: Batching, offset: int, base_mapped: bool) -> tuple[tuple[Any, ...], list[Any], Any]:
    """The index and arrays of the batched operation, and the geometry of the per-sample one."""
    from ..core.builder import current
    from ..core.builder import recorded as np

    index, types = b.params["index"], b.types[offset:]
    if any(b.mapped[offset + k] for k in masks(index)):
        raise mask_violation(current().span)
    per_sample = geometry(b.types[0].shape, index, types)
    arrays = list(b.x[offset:])
    if not any(b.mapped[offset:]):
        return (slice(None), *index), arrays, per_sample
    rank = len(per_sample.shape)
    flat = masks(index)
    arrays = [x if k in flat else b.aligned(offset + k, rank) for k, x in enumerate(arrays)]
    if not base_mapped:
        return index, arrays, per_sample
    rows = expand(np.arange(b.size), range(1, 1 + rank))
    return (Slot(len(arrays)), *index), [*arrays, rows], per_sample


def masks(index: Any) -> list[int]:
    """Which operands of a static index are masks."""
    return [i.k for i in index if isinstance(i, Slot) and i.count is not None] if isinstance(index, tuple) else []


def mask_violation(span: Any) -> VmapViolation:
    """A mask that differs between samples selects another number of elements of each."""
    from ..errors import VmapViolation

    return VmapViolation(
        "data-dependent shape: a boolean mask selects a number of elements that depends on values",
        code="PGR402",
        span=span,
        hint="np.where(mask, x, 0.0) keeps the shape",
    )


def _reorder(index: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[int, int]]:
    """Number the slots in order of appearance."""
    order: dict[int, int] = {}
    out = []
    for item in index:
        if isinstance(item, Slot):
            order.setdefault(item.k, len(order))
            item = replace(item, k=order[item.k])
        out.append(item)
    return tuple(out), order


def _tidy(index: tuple[Any, ...], arrays: list[Any]) -> tuple[tuple[Any, ...], list[Any]]:
    index, order = _reorder(index)
    return index, [arrays[k] for k in sorted(order, key=order.__getitem__)]


def _get_batch(b: Batching) -> Any:
    index, arrays, per = _batched_index(b, 1, b.mapped[0])
    index, arrays = _tidy(index, arrays)
    y = b.bind([b.x[0], *arrays], {"index": index})
    return _batch_first(y, b, per)


def _batch_first(y: Any, b: Batching, per: Geometry) -> Any:
    """Bring the axes of a batched read into (batch, per-sample result) order."""
    source = _batched_axes(b, per)
    from ..core.builder import call

    return y if source == list(range(len(source))) else call("numpy.transpose", y, source)


def _batched_axes(b: Batching, per: Geometry) -> list[int]:
    """For each axis of (batch, per-sample result), its place in what NumPy gives for the batched index."""
    pre, mid, post = len(per.before), len(per.shape), len(per.after)
    arrays_mapped = any(b.mapped[1 + (b.entry.name != "pergrad.getitem") :])
    if not arrays_mapped:
        # the batch is a slice before everything; separated arrays still come first
        if per.first:
            return [mid, *range(mid), *range(mid + 1, mid + 1 + post)]
        return list(range(1 + pre + mid + post))
    if not b.mapped[0]:
        if per.first:
            return list(range(1 + mid + post))
        return [pre, *range(pre), *range(pre + 1, pre + 1 + mid + post)]
    # arange(batch) was put in front: it stands with the other arrays unless a slice comes between
    between = pre > 0 or per.first
    if per.first or not between:
        return list(range(1 + pre + mid + post))
    return [0, *range(1 + mid, 1 + mid + pre), *range(1, 1 + mid), *range(1 + mid + pre, 1 + mid + pre + post)]


op(
    "pergrad.getitem",
    signature="x, index",
    operands=("x",),
    family="indexing",
    prepare=_prepare_get,
    infer=_infer_get,
    vjp=_get_vjp,
    jvp=_linear_in_first,
    batch=_get_batch,
    emit=_emit_get,
    view=lambda base, value, params, *places: put(base, value, params["index"], places),
    linear=True,
    samples="getitem",
)


def put(base: Any, value: Any, index: tuple[Any, ...], arrays: Sequence[Any], *, add: bool = False) -> Any:
    """The base with ``value`` (broadcast, cast to its dtype) written or added at a normalised index."""
    from ..core.builder import current
    from .table import find

    entry = find("pergrad.additem" if add else "pergrad.setitem")
    assert entry is not None
    return current().apply(entry, [base, value, *arrays], {"index": tuple(index)})


def _prepare_set(x: Any, index: Any, value: Any) -> tuple[list[Any], dict[str, Any]]:
    static, arrays = normalize(x, index)
    return [x, value, *arrays], {"index": static}


def _infer_set(types: list[Type], params: dict[str, Any]) -> Type:
    from ..core.types import Type, broadcast

    target = geometry(types[0].shape, params["index"], types[2:]).result
    value = types[1].shape
    while len(value) > len(target) and value[0] == 1:
        value = value[1:]
    try:
        fits = broadcast(value, target) == target
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"could not broadcast input array from shape {_text(types[1].shape)} into shape {_text(target)}")
    return Type(types[0].dtype, types[0].shape)


def _text(shape: Shape) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def _set_vjp(d: Derivative, i: int) -> Any:
    from ..core.builder import recorded as np

    index, arrays = d.params["index"], d.x[2:]
    if i == 0:
        ct = np.broadcast_to(d.ct, d.y.shape)
        return put(ct, 0.0, index, arrays) if d.entry.name == "pergrad.setitem" else d.ct
    if i > 1:
        return None
    ct = _get(np.broadcast_to(d.ct, d.y.shape), index, arrays)
    if d.entry.name == "pergrad.setitem" and arrays and not _surely_distinct(d.x[0], index, arrays):
        # of several writes to one place the last one stays: only it has a derivative
        count = np.reshape(np.arange(_count(ct.shape)), ct.shape)
        owner = put(np.zeros(d.x[0].shape, int), count, index, arrays)
        ct = np.where(_get(owner, index, arrays) == count, ct, 0.0)
    return _unstretch(ct, d.x[1].shape)


def _count(shape: Shape) -> Any:
    from ..core.types import product

    return product(shape)


def _unstretch(ct: Any, shape: Shape) -> Any:
    """Undo the broadcast of a written value. Leading axes of size 1 beyond the target's rank are legal in a write: give them back."""
    from ..core.builder import call
    from .shape import sum_to

    extra = max(len(shape) - len(ct.shape), 0)
    ct = sum_to(ct, shape[extra:])
    return call("numpy.reshape", ct, shape) if extra else ct


def _get(x: Any, index: tuple[Any, ...], arrays: Sequence[Any]) -> Any:
    from ..core.builder import current
    from .table import find

    entry = find("pergrad.getitem")
    assert entry is not None
    return current().apply(entry, [x, *arrays], {"index": tuple(index)})


def _surely_distinct(base: Any, index: tuple[Any, ...], arrays: Sequence[Any]) -> bool:
    import numpy as np

    from ..core.builder import atom_of
    from ..core.program import Const

    atoms = [atom_of(a) for a in arrays]
    if all(a.type.ndim == 0 for a in atoms) or masks(index):
        return True
    if len(atoms) != 1 or not isinstance(atoms[0], Const):
        return False
    axis = sum(1 for i in index[: next(n for n, i in enumerate(index) if isinstance(i, Slot))] if i is not None)
    size = base.shape[axis]
    values = np.asarray(atoms[0].value)
    return isinstance(size, int) and len(np.unique(values % size)) == values.size


def _set_jvp(d: Derivative) -> Any:
    from ..core.builder import recorded as np

    base = d.dx[0] if d.dx[0] is not None else np.zeros(d.x[0].shape, d.x[0].dtype)
    value = d.dx[1] if d.dx[1] is not None else (0.0 if d.entry.name == "pergrad.setitem" else None)
    if value is None:
        return base
    return put(base, value, d.params["index"], d.x[2:], add=d.entry.name == "pergrad.additem")


def _set_batch(b: Batching) -> Any:
    from ..core.builder import call

    base = b.full(0)
    wide = Batching(b.entry, (base, *b.x[1:]), (True, *b.mapped[1:]), b.types, b.params, b.size)
    index, arrays, per = _batched_index(wide, 2, True)
    value = b.x[1]
    if b.mapped[1]:
        value = b.aligned(1, max(len(per.result), b.types[1].ndim))
        axes = _batched_axes(wide, per)
        # (batch, per-sample result) order to the order in which the batched write takes it
        if axes != list(range(len(axes))):
            value = call("numpy.broadcast_to", value, (b.size, *per.result))
            value = call("numpy.transpose", value, [axes.index(n) for n in range(len(axes))])
    elif per.first and not any(b.mapped[2:]) and b.types[1].ndim == len(per.result):
        value = expand(value, [len(per.shape)])
    elif any(b.mapped[2:]) and b.types[1].ndim:
        value = call("numpy.broadcast_to", value, (b.size, *per.result))
        axes = _batched_axes(wide, per)
        if axes != list(range(len(axes))):
            value = call("numpy.transpose", value, [axes.index(n) for n in range(len(axes))])
    index, arrays = _tidy(index, arrays)
    return b.bind([base, value, *arrays], {"index": index})


def _emit_set(types: list[Type], params: dict[str, Any], out: Any) -> str:
    return f"_setitem(_0, np.s_[{index_text(params['index'], 2)}], _1)"


def _emit_add(types: list[Type], params: dict[str, Any], out: Any) -> str:
    return f"_additem(_0, np.s_[{index_text(params['index'], 2)}], _1)"


for _name, _emit in (("pergrad.setitem", _emit_set), ("pergrad.additem", _emit_add)):
    op(
        _name,
        signature="x, index, value",
        operands=("x", "value"),
        family="indexing",
        prepare=_prepare_set,
        infer=_infer_set,
        vjp=_set_vjp,
        jvp=_set_jvp,
        batch=_set_batch,
        emit=_emit,
        linear=True,
        samples="setitem",
    )
