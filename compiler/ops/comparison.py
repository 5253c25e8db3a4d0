"""Comparing whole arrays, and what an array's dtype alone says."""

from __future__ import annotations

from typing import Any

from .families import compose, value
from .table import op


@compose("numpy.isclose", "a", "b", samples="isclose")
def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    """Infinities are close to themselves only."""
    from ..core.builder import recorded as np

    finite = np.isfinite(b)
    near = np.logical_and(np.abs(a - b) <= atol + rtol * np.abs(b), finite)
    y = np.logical_or(near, a == b)
    return np.logical_or(y, np.logical_and(np.isnan(a), np.isnan(b))) if equal_nan else y


@compose("numpy.allclose", "a", "b", samples="isclose")
def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    from ..core.builder import recorded as np

    return np.all(isclose(value(a), value(b), rtol, atol, equal_nan))


@compose("numpy.array_equal", "a1", "a2", samples="same shape pair")
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    from ..core.builder import recorded as np

    if a1.shape != a2.shape:
        return False
    same = a1 == a2
    if equal_nan:
        same = np.logical_or(same, np.logical_and(np.isnan(a1), np.isnan(a2)))
    return np.all(same)


@compose("numpy.array_equiv", "a1", "a2", samples="same shape pair")
def array_equiv(a1: Any, a2: Any) -> Any:
    from ..core.builder import recorded as np
    from ..core.types import broadcast

    try:
        broadcast(a1.shape, a2.shape)
    except ValueError:
        return False
    return np.all(a1 == a2)


@compose("numpy.isreal", samples="reals")
def isreal(x: Any) -> Any:
    from ..core.builder import recorded as np

    return np.imag(x) == 0


@compose("numpy.iscomplex", samples="reals")
def iscomplex(x: Any) -> Any:
    from ..core.builder import recorded as np

    return np.imag(x) != 0


# what never depends on an element


def _kind(x: Any) -> Any:
    from ..core.builder import atom_of

    return atom_of(x).type


def iscomplexobj(x: Any) -> bool:
    return bool(_kind(x).dtype.kind == "c")


def isrealobj(x: Any) -> bool:
    return not iscomplexobj(x)


def isscalar(element: Any) -> bool:
    import numpy

    from ..core.builder import Value

    return bool(element.type.scalar) if isinstance(element, Value) else numpy.isscalar(element)


def result_type(*arrays_and_dtypes: Any) -> Any:
    import numpy

    from ..core.builder import Value

    def plain(x: Any) -> Any:
        if not isinstance(x, Value):
            return x
        return x.dtype.type(1).item() if x.type.weak else x.dtype

    return numpy.result_type(*(plain(x) for x in arrays_and_dtypes))


def common_type(*arrays: Any) -> Any:
    import numpy

    return numpy.common_type(*(numpy.empty(0, _kind(a).dtype) for a in arrays))


def min_scalar_type(a: Any) -> Any:
    import numpy

    from ..core.builder import Value

    return a.dtype if isinstance(a, Value) and a.ndim else numpy.min_scalar_type(a)


def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    import numpy

    from ..core.builder import Value

    return bool(numpy.can_cast(from_.dtype if isinstance(from_, Value) else from_, to, casting))


for _lower, _signature in (
    (iscomplexobj, "x"),
    (isrealobj, "x"),
    (isscalar, "element"),
    (result_type, "*arrays_and_dtypes"),
    (common_type, "*arrays"),
    (min_scalar_type, "a"),
    (can_cast, "from_, to, casting='safe'"),
):
    _first = _signature.split(",")[0]
    op(
        f"numpy.{_lower.__name__}",
        signature=_signature,
        operands=(_first,),
        family="static",
        lower=_lower,
        returns="static",
        samples="static",
    )
