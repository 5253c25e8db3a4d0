"""Constants as source text."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.program import Const

INLINE_SIZE = 32  # elements of an array that is printed digit by digit
_SHORT = 48  # characters of digits that are as good as the ops that gave them
_DIGITS = 256  # elements of an array that is written before the function
_STEPS = 24  # ops that are still shorter than digits
_DEFAULT = {"f": np.dtype(np.float64), "i": np.dtype(np.int64), "c": np.dtype(np.complex128), "b": np.dtype(bool)}


def literal(const: Const) -> str | None:
    """The expression of a constant; None for an array that stands before the function because digits would not say what it is."""
    if const.recipe is not None:
        return recipe(*const.recipe)
    value = const.value
    if isinstance(value, np.ndarray):
        text = _array(value)
        return None if text is not None and len(text) > _SHORT and computed(const) else text
    if isinstance(value, np.generic) and not const.type.weak:
        if isinstance(value, np.bool_):
            return repr(bool(value))
        return f"np.{value.dtype.name}({number(value.item())})"
    return number(value.item() if isinstance(value, np.generic) else value)


def computed(const: Const) -> bool:
    """Whether a few ops on constants that can be printed give this one."""
    return const.made is not None and const.made.steps <= _STEPS and all(c.made or literal(c) or digits(c) for c in const.made.args)


def digits(const: Const) -> Const | None:
    """The array written out, however many lines that takes; None if that is too much to read."""
    value = const.value
    if not isinstance(value, np.ndarray) or value.size > _DIGITS or value.dtype.kind not in "biufc":
        return None
    keywords = {} if value.dtype == _DEFAULT.get(value.dtype.kind) else {"dtype": value.dtype}
    return Const(value, const.type, ("numpy.array", (value.tolist(),), keywords))


def number(value: Any) -> str:
    """A Python number; infinities and NaN by NumPy's names."""
    if isinstance(value, float):
        if math.isnan(value):
            return "np.nan"
        if math.isinf(value):
            return "np.inf" if value > 0 else "-np.inf"
    if isinstance(value, complex):
        if math.isfinite(value.real) and math.isfinite(value.imag) and math.copysign(1, value.real) > 0:
            if value.real == 0:
                return f"{value.imag!r}j"
            return f"{value.real!r} {'-' if math.copysign(1, value.imag) < 0 else '+'} {abs(value.imag)!r}j"
        return f"complex({number(value.real)}, {number(value.imag)})"
    return repr(value)


def dtype_name(dtype: Any) -> str:
    """A dtype as an expression."""
    dtype = np.dtype(dtype)
    return "bool" if dtype.kind == "b" else f"np.{dtype.name}"


def dtype_keyword(dtype: Any) -> str:
    """``, dtype=...`` unless it is float64, the default of np.zeros and np.empty."""
    return "" if np.dtype(dtype) == np.float64 else f", dtype={dtype_name(dtype)}"


def recipe(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """A call as the user wrote it."""
    if args and isinstance(args[0], tuple) and len(args[0]) == 1 and name in ("numpy.zeros", "numpy.ones", "numpy.empty", "numpy.full"):
        args = (args[0][0], *args[1:])
    parts = [_static(a) for a in args] + [f"{k}={_static(v)}" for k, v in kwargs.items()]
    return f"np.{name.removeprefix('numpy.')}({', '.join(parts)})"


def _static(value: Any) -> str:
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return dtype_name(value)
    if isinstance(value, type):
        return value.__name__
    if isinstance(value, np.ndarray):
        return _array(value) or repr(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, tuple):
        return f"({', '.join(map(_static, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, list):
        return f"[{', '.join(map(_static, value))}]"
    if isinstance(value, (bool, int, float, complex)):
        return number(value)
    return repr(value)


def _array(value: np.ndarray[Any, Any]) -> str | None:
    shape = repr(value.shape if value.ndim != 1 else value.shape[0])
    tail = dtype_keyword(value.dtype)
    if value.dtype.kind not in "biufc":
        return None
    if value.size == 0:
        return f"np.zeros({shape}{tail})"
    first = value.flat[0]
    if value.ndim and value.size > 2 and _uniform(value, first):
        if first == 0:
            return f"np.zeros({shape}{tail})"
        if first == 1:
            return f"np.ones({shape}{tail})"
        tail = "" if value.dtype == _DEFAULT.get(value.dtype.kind) else f", dtype={dtype_name(value.dtype)}"
        return f"np.full({shape}, {number(first.item())}{tail})"
    if value.size > INLINE_SIZE:
        return None
    tail = "" if value.dtype == _DEFAULT.get(value.dtype.kind) else f", dtype={dtype_name(value.dtype)}"
    return f"np.array({_nested(value.tolist())}{tail})"


def _uniform(value: np.ndarray[Any, Any], first: Any) -> bool:
    """Whether all elements are the same number, sign of zero included."""
    if not bool((value == first).all()):
        return False
    return not (first == 0 and value.dtype.kind in "fc") or value.tobytes() == bytes(value.nbytes)


def _nested(value: Any) -> str:
    return f"[{', '.join(map(_nested, value))}]" if isinstance(value, list) else number(value)


__all__ = ["INLINE_SIZE", "computed", "digits", "dtype_keyword", "dtype_name", "literal", "number", "recipe"]
