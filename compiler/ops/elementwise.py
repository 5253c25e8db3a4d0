"""Elementwise functions: each entry is its partial derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .families import (
    Derivative,
    Partial,
    cast,
    compose,
    constant_of,
    elementwise,
    elementwise_batch,
    elementwise_jvp,
    elementwise_vjp,
    is_one,
    linear,
    real_only,
    refuse,
    scaled,
    static,
    ufunc_type,
)
from .table import amend, find, op

if TYPE_CHECKING:
    from ..core.types import Type


_ANALYTIC = frozenset(
    """add subtract multiply divide negative positive square sqrt exp expm1 log log1p sin cos tan sinh cosh tanh absolute arcsin arccos
    arctan arcsinh arccosh arctanh exp2 log2 log10 reciprocal power float_power""".split()
)


def ufunc(name: str, *partials: Partial, symbol: str = "", samples: str = "reals", aliases: tuple[str, ...] = (), **fields: Any) -> None:
    fields = {"samples": samples, "aliases": aliases, "analytic": name in _ANALYTIC, **fields}
    op(f"numpy.{name}", elementwise(*partials, name=name, symbol=symbol), **fields)


def _length_slope(d: Derivative, t: Any) -> Any:
    """The sign; of a complex number the part of a change that points away from 0."""
    from ..core.builder import recorded as np

    (x,) = d.x
    if x.dtype.kind != "c":
        return scaled(t, np.sign(x))
    along = t * (np.conjugate(x) / np.where(d.y == 0, 1, d.y))
    return np.real(along) if t.dtype.kind == "c" else along


def _divisor_slope(d: Derivative, t: Any) -> Any:
    """-y / x2, in the order that shares t / x2 with the other operand."""
    return -d.y / d.x[1] if is_one(t) else -(t / d.x[1] * d.y)


def _quotient_tangent(d: Derivative) -> Any:
    """(dx1 - y * dx2) / x2"""
    above, below = d.dx
    if below is None:
        return above / d.x[1]
    change = d.y * below
    return (-change if above is None else above - change) / d.x[1]


ufunc("add", "1", "1", symbol="+")
ufunc("subtract", "1", "-1", symbol="-")
ufunc("multiply", "x2", "x1", symbol="*")
ufunc("divide", "1 / x2", _divisor_slope, jvp=_quotient_tangent, symbol="/", samples="reals away from 0", aliases=("numpy.true_divide",))
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
ufunc("absolute", _length_slope, samples="reals away from 0", aliases=("numpy.abs",), emit=lambda types, params, out: "np.abs(_0)")
ufunc("sign", "0", samples="reals away from 0")
ufunc("fabs", "np.sign(x)", samples="reals away from 0")
ufunc("arcsin", "1 / np.sqrt(1 - x * x)", samples="inside 1", aliases=("numpy.asin",))
ufunc("arccos", "-1 / np.sqrt(1 - x * x)", samples="inside 1", aliases=("numpy.acos",))
ufunc("arctan", "1 / (1 + x * x)", aliases=("numpy.atan",))
ufunc("arcsinh", "1 / np.sqrt(1 + x * x)", aliases=("numpy.asinh",))
ufunc("arccosh", "1 / np.sqrt(x * x - 1)", samples="above 1", aliases=("numpy.acosh",))
ufunc("arctanh", "1 / (1 - x * x)", samples="inside 1", aliases=("numpy.atanh",))
ufunc("arctan2", "x2 / (x1 * x1 + x2 * x2)", "-x1 / (x1 * x1 + x2 * x2)", samples="reals away from 0", aliases=("numpy.atan2",))
ufunc("hypot", "x1 / np.where(y == 0, 1, y)", "x2 / np.where(y == 0, 1, y)")
# constants in digits: a NumPy scalar such as np.log(2) would widen float32
ufunc("exp2", "0.6931471805599453 * y")
ufunc("log2", "1.4426950408889634 / x", samples="positive")
ufunc("log10", "0.4342944819032518 / x", samples="positive")
ufunc("cbrt", "1 / (3 * y * y)", samples="positive")
ufunc("reciprocal", "-y * y", samples="reals away from 0")
ufunc("logaddexp2", "np.exp2(x1 - y)", "np.exp2(x2 - y)")
ufunc("copysign", "np.sign(x1) * np.copysign(1.0, x2)", "0", samples="reals away from 0")
ufunc("heaviside", "0", "x1 == 0", samples="reals away from 0")
ufunc("fmod", "1", "-np.trunc(x1 / x2)", samples="reals away from 0")
for name in ("floor", "ceil", "rint", "trunc"):
    ufunc(name, "0", samples="reals away from 0")
for name, factor, alias in (("degrees", "57.29577951308232", "rad2deg"), ("radians", "0.017453292519943295", "deg2rad")):
    ufunc(name, factor)
    ufunc(alias, factor)
ufunc("logaddexp", "np.exp(x1 - y)", "np.exp(x2 - y)")


def _scaled_sinc(d: Derivative, t: Any) -> Any:
    """(cos πx - y) / x; near 0 its series, so that every order of derivative is right there."""
    from ..core.builder import recorded as np

    x, y = d.x[0], d.y
    near = np.abs(x) < 0.01
    safe = np.where(near, 1, x)
    series = x * (-3.289868133696453 + x * x * (3.2469697011334144 - 1.1445511186337138 * (x * x)))
    return t * np.where(near, series, (np.cos(3.141592653589793 * x) - y) / safe)


op(
    "numpy.sinc",
    {**elementwise(_scaled_sinc, name="sin"), "signature": "x"},
    emit=lambda types, params, out: "np.sinc(_0)",
    samples="reals",
)


def _power_base(d: Derivative, t: Any) -> Any:
    """p x**(p-1), without a power where p is a small known number."""
    from ..core.builder import atom_of
    from ..core.builder import recorded as np
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
    return scaled(t, value * x if value == 2 else value * x ** (value - 1))


def _power_exponent(d: Derivative, t: Any) -> Any:
    """y log x; at x = 0 the power is flat in its exponent."""
    from ..core.builder import recorded as np

    x = d.x[0]
    return t * (d.y * np.log(np.where(x == 0, 1, x)))


def _power_text(types: Any, params: Any, out: Any) -> str:
    return "np.power(_0, _1)" if types[0].dtype.kind == "b" else "_0 ** _1"


ufunc("power", _power_base, _power_exponent, emit=_power_text, samples="positive", aliases=("numpy.pow",))
ufunc("float_power", _power_base, _power_exponent, samples="positive")


def _extremum(i: int, above: str) -> Any:
    """Of two arrays the tie is shared evenly; against a known number the derivative at the tie is 0, as for relu."""

    def rule(d: Derivative, t: Any) -> Any:
        from ..core.builder import atom_of
        from ..core.builder import recorded as np
        from ..core.program import Const

        x, other = d.x[i], d.x[1 - i]
        wins = x > other if above == ">" else x < other
        if isinstance(atom_of(other), Const):
            return np.where(wins, t, 0.0)
        return np.where(x == other, 0.5 * t, np.where(wins, t, 0.0))

    return rule


def _ignoring_nan(i: int, above: str) -> Any:
    """fmax and fmin: a NaN never wins against a number."""
    shared = _extremum(i, above)

    def rule(d: Derivative, t: Any) -> Any:
        from ..core.builder import recorded as np

        x, other = d.x[i], d.x[1 - i]
        return np.where(np.isnan(other), t, np.where(np.isnan(x), 0.0, shared(d, t)))

    return rule


ufunc("fmax", _ignoring_nan(0, ">"), _ignoring_nan(1, ">"))
ufunc("fmin", _ignoring_nan(0, "<"), _ignoring_nan(1, "<"))
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
for name in ("gcd", "lcm"):
    ufunc(name, "0", "0", samples="integers")


# functions with options of their own


@compose("numpy.clip", "a", "a_min", "a_max", methods=("clip",), samples="clip", family="elementwise", partials=("", "", ""))
def clip(
    a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None, where: Any = True, dtype: Any = None
) -> Any:
    """Known bounds print as np.clip; arrays as bounds share a tie as np.maximum and np.minimum do."""
    from ..core.builder import current
    from ..core.builder import recorded as np

    low, high = (a_min if min is None else min), (a_max if max is None else max)
    if low is None and high is None:
        return np.copy(a)
    if low is None:
        return np.minimum(a, high)
    if high is None:
        return np.maximum(a, low)
    if constant_of(low) is None or constant_of(high) is None:
        return np.minimum(np.maximum(a, low), high)
    return current().apply(find("numpy.clip"), [a, low, high], {})  # type: ignore[arg-type]


def _clip_type(types: Any, params: Any) -> Any:
    resolve = ufunc_type("maximum")
    return resolve([resolve(types[:2], params), types[2]], params)


def _inside(d: Derivative, t: Any) -> Any:
    from ..core.builder import recorded as np

    x, low, high = d.x
    return np.where((x > low) & (x < high), t, 0.0)


amend(
    "numpy.clip",
    infer=_clip_type,
    partials=(_inside, "0", "0"),
    vjp=elementwise_vjp,
    jvp=elementwise_jvp,
    batch=elementwise_batch,
    emit=lambda types, params, out: "np.clip(_0, _1, _2)",
)


def _prepare_nan_to_num(x: Any, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    if not static(copy, "copy"):
        refuse("numpy.nan_to_num", "copy=False, copy", "x[...] = np.nan_to_num(x)")
    return [x], {"nan": static(nan, "nan"), "posinf": static(posinf, "posinf"), "neginf": static(neginf, "neginf")}


def _nan_to_num_text(types: Any, params: Any, out: Any) -> str:
    shown = {"nan": params["nan"] or None, "posinf": params["posinf"], "neginf": params["neginf"]}
    return "np.nan_to_num(_0" + "".join(f", {k}={v!r}" for k, v in shown.items() if v is not None) + ")"


op(
    "numpy.nan_to_num",
    {**elementwise("np.isfinite(x)", name="conjugate"), "signature": "x, copy=True, nan=0.0, posinf=None, neginf=None", "writes": ()},
    prepare=_prepare_nan_to_num,
    emit=_nan_to_num_text,
    samples="reals",
)


def _prepare_round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    if out is not None:
        refuse("numpy.round", "out")
    return [cast(a, "f2") if a.dtype.kind == "b" else a], {"decimals": int(static(decimals, "decimals"))}


op(
    "numpy.round",
    {**elementwise("0", name="positive"), "signature": "a, decimals=0, out=None"},
    prepare=_prepare_round,
    emit=lambda types, params, out: f"np.round(_0, {params['decimals']})" if params["decimals"] else "np.round(_0)",
    methods=("round",),
    aliases=("numpy.around",),
    samples="reals away from 0",
)


@compose("numpy.fix", samples="reals away from 0")
def fix(x: Any, out: Any = None) -> Any:
    from ..core.builder import recorded as np

    return np.trunc(x)


@compose("numpy.isposinf", samples="reals")
def isposinf(x: Any, out: Any = None) -> Any:
    real_only("numpy.isposinf", x)
    return x == float("inf")


@compose("numpy.isneginf", samples="reals")
def isneginf(x: Any, out: Any = None) -> Any:
    real_only("numpy.isneginf", x)
    return x == -float("inf")


@compose("numpy.modf", samples="reals away from 0")
def modf(x: Any, out: Any = None) -> Any:
    from ..core.builder import recorded as np

    whole = np.trunc(x)
    return x - whole, whole


@compose("numpy.divmod", "x1", "x2", samples="reals away from 0")
def divmod_(x1: Any, x2: Any, out: Any = None) -> Any:
    return x1 // x2, x1 % x2


# complex numbers


@compose("numpy.real", "val", samples="parts of complex numbers")
def real(val: Any) -> Any:
    from ..core.builder import current

    return current().apply(find("numpy.real"), [val], {}) if val.dtype.kind == "c" else val  # type: ignore[arg-type]


@compose("numpy.imag", "val", samples="parts of complex numbers")
def imag(val: Any) -> Any:
    from ..core.builder import current
    from ..core.builder import recorded as np

    if val.dtype.kind == "c":
        return current().apply(find("numpy.imag"), [val], {})  # type: ignore[arg-type]
    zeros = np.zeros_like(val)
    return zeros[()] if val.type.scalar else zeros


def _part_type(types: list[Type], params: Any) -> Type:
    from dataclasses import replace

    import numpy as np

    return replace(types[0], dtype=np.empty(0, types[0].dtype).real.dtype)


def _imaginary(x: Any) -> Any:
    """i x, in the complex dtype of x's precision."""
    import numpy as np

    return x * np.result_type(x.dtype, np.complex64).type(1j)


for _name, _back, _put in (
    ("real", lambda d: d.ct, lambda base, value: value + _imaginary(imag(base))),
    ("imag", lambda d: -_imaginary(d.ct), lambda base, value: real(base) + _imaginary(value)),
):
    amend(
        f"numpy.{_name}",
        **linear(_back, family="elementwise"),
        infer=_part_type,
        batch=elementwise_batch,
        emit=lambda types, params, out, name=_name: f"_0.{name}",
        view=lambda base, value, params, put=_put: put(base, value),
    )


@compose("numpy.conjugate", aliases=("numpy.conj",), samples="parts of complex numbers")
def conjugate(x: Any, out: Any = None) -> Any:
    from ..core.builder import call, current

    if x.dtype.kind == "c":
        return current().apply(find("numpy.conjugate"), [x], {})  # type: ignore[arg-type]
    if x.dtype.kind == "b":
        x = 0 + cast(x, "i1")
    return call("numpy.copy", x) if x.ndim else x if x.type.scalar else x[()]


@compose("numpy.ndarray.conj", methods=("conj", "conjugate"), samples="parts of complex numbers")
def conj(x: Any, out: Any = None) -> Any:
    """The method gives the real array itself, where the function copies."""
    return conjugate(x) if x.dtype.kind == "c" else x


def _conjugated(d: Derivative, t: Any) -> Any:
    return conjugate(t)


amend(
    "numpy.conjugate",
    family="elementwise",
    infer=ufunc_type("conjugate"),
    partials=(_conjugated,),
    vjp=elementwise_vjp,
    jvp=elementwise_jvp,
    batch=elementwise_batch,
    emit=lambda types, params, out: "np.conj(_0)",
    analytic=True,
)


@compose("numpy.angle", "z", samples="reals away from 0")
def angle(z: Any, deg: bool = False) -> Any:
    from ..core.builder import recorded as np

    y = np.arctan2(np.imag(z), np.real(z)) if z.dtype.kind == "c" else np.arctan2(0, z)
    return y * 57.29577951308232 if deg else y
