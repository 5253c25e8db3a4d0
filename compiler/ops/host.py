"""Where an array's value becomes a Python number or decides what Python does: free for one value, refused for a mapped one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .families import Batching, Derivative
from .table import op

if TYPE_CHECKING:
    from ..core.types import Type
    from ..errors import VmapViolation


_TANGENT = "tangent"  # of a Python number; a Jacobian has many at once, of one primal


def _host_type(types: list[Type], params: dict[str, Any]) -> Type:
    import numpy as np

    from ..core.types import Type

    kind = params["kind"] or types[0].dtype.kind
    dtype = {"f": np.float64, "i": np.int64, "u": np.int64, "c": np.complex128, "b": np.bool_}[kind]
    return Type(np.dtype(dtype), (), weak=kind != "b", scalar=True)


def _host_batch(b: Batching) -> Any:
    from ..core.builder import call, current

    if b.params["code"] == _TANGENT:
        return call("numpy.reshape", b.x[0], (b.size,))
    raise host_violation(b.params, current().span)


def host_violation(params: dict[str, Any], span: Any) -> VmapViolation:
    """A mapped value taken out of the array world."""
    from ..errors import VmapViolation

    text = span.text() if span else params["how"]
    return VmapViolation(
        f"data-dependent: {params['how']} takes one Python number for the whole batch of `{text}`",
        code=params["code"] or "PGR202",
        span=span,
        hint="leave it an array: x instead of float(x) or x.item(), np.exp instead of math.exp",
    )


def _host_vjp(d: Derivative, i: int) -> Any:
    return _linear(d, d.ct)


def _linear(d: Derivative, t: Any) -> Any:
    from ..core.builder import call

    if d.params["kind"] == "i" or d.params["kind"] == "b":
        return None
    return call("numpy.broadcast_to", t, d.x[0].shape) if d.x[0].shape else t


def _host_jvp(d: Derivative) -> Any:
    from ..core.builder import call

    if d.params["kind"] in ("i", "b"):
        return None
    return call("pergrad.host", d.dx[0], **{**d.params, "code": _TANGENT})


def _host_text(types: list[Type], params: dict[str, Any], out: Any) -> str:
    kind = params["kind"]
    if kind is None:
        return "_0.item()" if not types[0].weak else "_0"
    return f"{ {'f': 'float', 'i': 'int', 'c': 'complex', 'b': 'bool'}[kind] }(_0)".replace(" ", "")


op(
    "pergrad.host",
    signature="x, kind, how, code",
    operands=("x",),
    family="host",
    infer=_host_type,
    vjp=_host_vjp,
    jvp=_host_jvp,
    batch=_host_batch,
    emit=_host_text,
)

_HINTS = {
    "if": "np.where(test, a, b)",
    "while": "a fixed number of steps with np.where, or vmap(..., control_flow='mask')",
    "assert": "check outside the mapped function, or return the condition",
    "not": "np.logical_not",
    "and": "np.logical_and or &",
    "or": "np.logical_or, | or np.where",
}


def _truth_type(types: list[Type], params: dict[str, Any]) -> Type:
    import numpy as np

    from ..core.types import Type

    return Type(np.dtype(bool), (), scalar=True)


def _truth_batch(b: Batching) -> Any:
    from ..core.builder import current

    raise truth_violation(b.params, current().span)


def truth_violation(params: dict[str, Any], span: Any) -> VmapViolation:
    """A mapped value that would decide what Python does."""
    from ..errors import VmapViolation

    text = span.text() if span else "a value"
    word = params["word"]
    hint = _HINTS.get(word, "np.where, np.maximum, np.minimum or np.any")
    if word == "if":
        hint = f"np.where({text}, a, b)      or vmap(..., control_flow='mask')"
    return VmapViolation(
        f"data-dependent control flow: {word} is decided by `{text}`, which differs between samples",
        code=params["code"],
        span=span,
        hint=hint,
    )


op(
    "pergrad.truth",
    signature="x, word, code",
    operands=("x",),
    family="host",
    infer=_truth_type,
    vjp=lambda d, i: None,
    jvp=lambda d: None,
    batch=_truth_batch,
    emit=lambda types, params, out: "_0" if types[0].dtype.kind == "b" and not types[0].shape else "bool(_0)",
)
