"""Choosing between arrays, and changing their dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .families import Derivative, elementwise_batch
from .table import find, op

if TYPE_CHECKING:
    from ..core.types import Type


def _where_type(types: list[Type], params: dict[str, Any]) -> Type:
    import numpy as np

    from ..core.types import Type, broadcast

    shape = broadcast(*(t.shape for t in types))
    a, b = (t.dtype.type(1).item() if t.weak else t.dtype for t in types[1:])
    return Type(np.result_type(a, b), shape)


def _prepare_where(condition: Any, x: Any = None, y: Any = None) -> tuple[list[Any], dict[str, Any]]:
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    return [condition, x, y], {}


def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """A choice; with one argument the places of what is not zero."""
    from ..core.builder import call, current

    if x is None and y is None:
        from .families import constant_of
        from .rejected import places

        return places(condition, "where") if constant_of(condition) is None else call("numpy.nonzero", condition)
    entry = find("numpy.where")
    assert entry is not None
    return current().apply(entry, *_prepare_where(condition, x, y))


def _where_vjp(d: Derivative, i: int) -> Any:
    from ..core.builder import recorded as np

    if i == 0:
        return None
    return np.where(d.x[0], d.ct, 0.0) if i == 1 else np.where(d.x[0], 0.0, d.ct)


def _where_jvp(d: Derivative) -> Any:
    from ..core.builder import recorded as np

    x, y = (0.0 if t is None else t for t in d.dx[1:])
    return np.where(d.x[0], x, y)


op(
    "numpy.where",
    signature="condition, x=None, y=None",
    operands=("condition", "x", "y"),
    family="elementwise",
    lower=_where,
    infer=_where_type,
    vjp=_where_vjp,
    jvp=_where_jvp,
    batch=elementwise_batch,
    emit=lambda types, params, out: "np.where(_0, _1, _2)",
    analytic=True,
    samples="where",
)


def dtype_text(dtype: Any) -> str:
    """A dtype as source: np.float32, or the class of Python for bool."""
    import numpy as np

    dtype = np.dtype(dtype)
    return "bool" if dtype.kind == "b" else f"np.{dtype.name}"


def _prepare_astype(
    x: Any, dtype: Any, copy: bool = True, order: str = "K", casting: str = "unsafe", subok: bool = True, device: Any = None
) -> Any:
    import numpy as np

    return [x], {"dtype": np.dtype(dtype)}


def _astype_type(types: list[Type], params: dict[str, Any]) -> Type:
    from ..core.types import Type

    return Type(params["dtype"], types[0].shape, scalar=types[0].scalar)


def _astype_linear(d: Derivative, t: Any) -> Any:
    """A cast between floats keeps the derivative, one to an integer has none."""
    return t if d.params["dtype"].kind in "fc" else None


def _astype_jvp(d: Derivative) -> Any:
    from ..core.builder import recorded as np

    t = _astype_linear(d, d.dx[0])
    return None if t is None else np.astype(t, d.params["dtype"])


op(
    "numpy.astype",
    signature="x, dtype, copy=True",
    operands=("x",),
    family="elementwise",
    methods=("astype",),
    prepare=_prepare_astype,
    infer=_astype_type,
    vjp=lambda d, i: _astype_linear(d, d.ct),
    analytic=True,
    jvp=_astype_jvp,
    batch=elementwise_batch,
    emit=lambda types, params, out: f"{dtype_text(params['dtype'])}(_0)" if types[0].weak else f"_0.astype({dtype_text(params['dtype'])})",
    samples="astype",
)
