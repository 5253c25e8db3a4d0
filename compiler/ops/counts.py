"""What loops with masks need: the largest of the samples' trip counts, 0 for an empty batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .families import same_batch
from .table import op

if TYPE_CHECKING:
    from ..core.types import Type


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
