"""Elementwise functions: each entry is its partial derivatives."""

from __future__ import annotations

from .families import elementwise
from .table import op


def ufunc(name: str, *partials: str, inputs: int | None = None, symbol: str = "", samples: str = "reals", aliases: tuple[str, ...] = (), **fields) -> None:
    op(f"numpy.{name}", elementwise(*partials, name=name, inputs=inputs, symbol=symbol), samples=samples, aliases=aliases, **fields)


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
