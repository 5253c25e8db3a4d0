"""Formulas that the optimizer recognises as a whole, because their derivative is shorter than that of their parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .families import Derivative, elementwise, same_batch, scaled
from .table import op

if TYPE_CHECKING:
    from ..core.types import Type


def _logistic_slope(d: Derivative, t: Any) -> Any:
    return scaled(t, d.y * (1 - d.y) if d.params["minus"] else d.y * (d.y - 1))


# 0 where exp overflows, where the derivative of the parts is NaN
op(
    "pergrad.logistic",
    {**elementwise(_logistic_slope, name="exp"), "signature": "x, minus", "prepare": None},
    emit=lambda types, params, out: f"1 / (1 + np.exp({'-' * params['minus']}_0))",
    samples="logistic",
)


def _softmax_type(types: list[Type], params: dict[str, Any]) -> Type:
    return types[0]


def _softmax_slope(d: Derivative, t: Any) -> Any:
    """The same for tangents and cotangents: the Jacobian is symmetric."""
    from ..core.builder import recorded as np

    return d.y * (t - np.sum(t * d.y, axis=d.params["axis"], keepdims=True))


def softmax_parts(x: Any, axis: int) -> tuple[Any, Any]:
    """exp(x), and the softmax."""
    from ..core.builder import recorded as np

    e = np.exp(x)
    return e, e / np.sum(e, axis=axis, keepdims=True)


op(
    "pergrad.softmax",
    signature="x, axis, called",
    operands=("x",),
    family="normalisation",
    infer=_softmax_type,
    vjp=lambda d, i: _softmax_slope(d, d.ct),
    jvp=lambda d: _softmax_slope(d, d.dx[0]),
    batch=same_batch,
    emit=lambda types, params, out: f"np.exp(_0) / np.sum(np.exp(_0), axis={params['axis']}, keepdims=True)",
    samples="softmax",
)
