"""Elementwise functions: each entry is its partial derivatives."""

from __future__ import annotations

from typing import Any

from .families import Derivative, Partial, elementwise
from .table import op


def ufunc(name: str, *partials: Partial, symbol: str = "", samples: str = "reals", aliases: tuple[str, ...] = (), **fields: Any) -> None:
    op(f"numpy.{name}", elementwise(*partials, name=name, symbol=symbol), samples=samples, aliases=aliases, **fields)


ufunc("add", "1", "1", symbol="+")
ufunc("subtract", "1", "-1", symbol="-")
ufunc("multiply", "x2", "x1", symbol="*")
ufunc("divide", "1 / x2", "-y / x2", symbol="/", samples="reals away from 0", aliases=("numpy.true_divide",))
ufunc("negative", "-1", symbol="-")
ufunc("positive", "1", symbol="+")
ufunc("floor_divide", "0", "0", symbol="//", samples="reals away from 0")
ufunc("remainder", "1", "-np.floor(x1 / x2)", symbol="%", samples="reals away from 0", aliases=("numpy.mod",))
ufunc("square", "2 * x")
ufunc("sqrt", "0.5 / y", samples="positive")
ufunc("exp", "y")
ufunc("expm1", "y + 1")
ufunc("log", "1 / x", samples="positive")
ufunc("log1p", "1 / (1 + x)", samples="positive")
ufunc("sin", "np.cos(x)")
ufunc("cos", "-np.sin(x)")
ufunc("tan", "1 + y * y")
ufunc("sinh", "np.cosh(x)")
ufunc("cosh", "np.sinh(x)")
ufunc("tanh", "1 - y * y")
ufunc("absolute", "np.sign(x)", samples="reals away from 0", aliases=("numpy.abs",))
ufunc("sign", "0", samples="reals away from 0")
ufunc("logaddexp", "np.exp(x1 - y)", "np.exp(x2 - y)")


def _power_base(d: Derivative, t: Any) -> Any:
    """p x**(p-1), without a power where p is a small known number."""
    from ..core.builder import atom_of, recorded as np
    from ..core.program import Const

    x, p = d.x
    exponent = atom_of(p)
    if not isinstance(exponent, Const):
        return t * np.where(p == 0, 0.0, p * x ** np.where(p == 0, 1, p - 1))
    if exponent.type.ndim:
        return t * (p * x ** np.where(p == 0, 1, p - 1))
    value = exponent.value.item() if hasattr(exponent.value, "item") else exponent.value
    if value == 0:
        return None
    if value == 1:
        return t
    return t * (value * x) if value == 2 else t * (value * x ** (value - 1))


def _power_exponent(d: Derivative, t: Any) -> Any:
    """y log x; at x = 0 the power is flat in its exponent."""
    from ..core.builder import recorded as np

    x = d.x[0]
    return t * (d.y * np.log(np.where(x == 0, 1, x)))


ufunc("power", _power_base, _power_exponent, symbol="**", samples="positive", aliases=("numpy.pow",))


def _extremum(i: int, above: str) -> Any:
    """Of two arrays the tie is shared evenly; against a known number the derivative at the tie is 0, as for relu."""

    def rule(d: Derivative, t: Any) -> Any:
        from ..core.builder import atom_of, recorded as np
        from ..core.program import Const

        x, other = d.x[i], d.x[1 - i]
        wins = x > other if above == ">" else x < other
        if isinstance(atom_of(other), Const):
            return np.where(wins, t, 0.0)
        return np.where(x == other, 0.5 * t, np.where(wins, t, 0.0))

    return rule


ufunc("maximum", _extremum(0, ">"), _extremum(1, ">"))
ufunc("minimum", _extremum(0, "<"), _extremum(1, "<"))

for name, symbol in (("less", "<"), ("less_equal", "<="), ("greater", ">"), ("greater_equal", ">="), ("equal", "=="), ("not_equal", "!=")):
    ufunc(name, "0", "0", symbol=symbol)
for name, symbol in (("bitwise_and", "&"), ("bitwise_or", "|"), ("bitwise_xor", "^"), ("left_shift", "<<"), ("right_shift", ">>")):
    ufunc(name, "0", "0", symbol=symbol, samples="integers")
ufunc("invert", "0", symbol="~", samples="integers", aliases=("numpy.bitwise_not",))
for name in ("logical_and", "logical_or", "logical_xor"):
    ufunc(name, "0", "0", samples="booleans")
ufunc("logical_not", "0", samples="booleans")
for name in ("isnan", "isinf", "isfinite", "signbit"):
    ufunc(name, "0")
