"""Numbers that are counted: how many elements axes have whose size only the values know; the largest of the samples' trip counts in a loop
with masks, 0 for an empty batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .families import same_batch
from .table import op

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..core.types import Type


def extent(x: Any, axes: Iterable[int]) -> Any:
    """How many elements the axes of x have together: a number where it is known, else one that is counted when the program runs."""
    from ..core.types import local, product

    axes = tuple(axes)
    size = product(x.shape[a] for a in axes)
    if not local(size):
        return size
    from ..core.builder import current
    from .table import find

    entry = find("pergrad.extent")
    assert entry is not None
    ndim = len(x.shape)
    return current().apply(entry, [x], {"axes": tuple(sorted(a % ndim - ndim for a in axes))}, weak=True)


def _extent_type(types: list[Type], params: dict[str, Any]) -> Type:
    import numpy as np

    from ..core.types import Type

    return Type(np.dtype(np.int64), (), weak=True, scalar=True)


def _extent_text(types: list[Type], params: dict[str, Any], out: Any) -> str:
    ndim, axes = types[0].ndim, params["axes"]
    if len(axes) == ndim:
        return "len(_0)" if ndim == 1 else "_0.size"
    return " * ".join("len(_0)" if ndim + a == 0 else f"_0.shape[{a}]" for a in axes)


op(
    "pergrad.extent",
    signature="x, axes",
    operands=("x",),
    family="shape",
    infer=_extent_type,
    vjp=lambda d, i: None,
    jvp=lambda d: None,
    batch=same_batch,
    emit=_extent_text,
)


def _infer(types: list[Type], params: dict[str, Any]) -> Type:
    from ..core.types import Type

    shape = types[0].shape[:-1]
    return Type(types[0].dtype, shape, scalar=not shape)


op(
    "pergrad.most",
    signature="counts",
    operands=("counts",),
    family="reduction",
    infer=_infer,
    vjp=lambda d, i: None,
    jvp=lambda d: None,
    batch=same_batch,
    emit=lambda types, params, out: "np.max(_0, initial=0)" if types[0].ndim == 1 else "np.max(_0, axis=-1, initial=0)",
)
