"""Rules of arithmetic: ones, minus signs, constant factors, selections, dtypes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..core.builder import Value, atom_of
from ..core.builder import recorded as np
from ..core.program import Const
from .rules import rule

if TYPE_CHECKING:
    from .algebra import Match


def same(x: Any, y: Any) -> bool:
    return atom_of(x) is atom_of(y)


@rule("numpy.add")
def sum_of_two(m: Match) -> Any:
    x, y = m.x
    if m.number(y) == 0:
        return x
    if m.number(x) == 0:
        return y
    if minus := m.made(y, "numpy.negative"):
        return x - minus.x[0]
    if minus := m.made(x, "numpy.negative"):
        return y - minus.x[0]
    for first, second in ((x, y), (y, x)) if m.derived else ():
        c = m.number(second)
        if isinstance(c, (int, float)) and c < 0:
            return first - like(-c, second)
    return None


@rule("numpy.add")
def either_or(m: Match) -> Any:
    """What is selected where a condition holds, and what is selected where it does not."""
    first, last = (selected(m, x) for x in m.x) if m.derived and m.type.inexact else (None, None)
    if first is None or last is None or not same(first[1].x[0], last[1].x[0]):
        return None
    for (c, a), (d, b) in ((first, last), (last, first)):
        if is_zero(m, a.x[2]) and is_zero(m, b.x[1]):
            return np.where(a.x[0], times(c, a.x[1]), times(d, b.x[2]))
    return None


def selected(m: Match, x: Any) -> tuple[Any, Match] | None:
    """A selection that nobody else reads, and the number (or None) that it is multiplied with."""
    c = None
    if (scaled := m.made(x, "numpy.multiply")) and m.read_once(x) and m.number(scaled.x[0]) is not None:
        c, x = scaled.x
    inner = m.made(x, "numpy.where")
    return (c, inner) if inner and m.read_once(x) and inner.type == m.type else None


def times(c: Any, x: Any) -> Any:
    return x if c is None else c * x


@rule("numpy.subtract")
def difference(m: Match) -> Any:
    x, y = m.x
    if m.number(y) == 0:
        return x
    if minus := m.made(y, "numpy.negative"):
        return x + minus.x[0]
    if m.derived and m.number(x) == 0:
        return -y
    return nothing(m) if m.derived and same(x, y) else None


def nothing(m: Match) -> Any:
    """Zeros that differentiation leaves."""
    zero = Value(Const(m.type.dtype.type(0)))
    return np.broadcast_to(zero, m.type.shape) if m.type.shape else zero


_LINEAR = "multiply divide sum einsum negative expand_dims squeeze transpose reshape broadcast_to".split()


@rule(*(f"numpy.{name}" for name in _LINEAR))
def nothing_of_nothing(m: Match) -> Any:
    """What differentiation multiplies by zero, or arranges otherwise, is zero: those of a derivative are structural."""
    operands = m.x[:1] if m.node.op == "numpy.divide" else m.x
    if not m.derived or not m.type.inexact or not any(is_zero(m, x) for x in operands):
        return None
    return nothing(m) if m.node.op != "numpy.broadcast_to" or m.made(m.x[0], "numpy.full") else None


def is_zero(m: Match, x: Any) -> bool:
    """Whether a value is zero everywhere."""
    return m.number(x) == 0 or ((full := m.made(x, "numpy.full")) is not None and full.params["value"] == 0)


@rule("numpy.negative")
def minus(m: Match) -> Any:
    (x,) = m.x
    if inner := m.made(x, "numpy.negative"):
        return inner.x[0]
    if not m.derived or not m.read_once(x):
        return None
    if inner := m.made(x, "numpy.subtract"):
        return inner.x[1] - inner.x[0]
    if (inner := m.made(x, "numpy.multiply", "numpy.divide")) and (c := m.number(inner.x[0])) is not None:
        return inner.bind(like(-c, inner.x[0]), inner.x[1])
    return None


@rule("numpy.multiply")
def product(m: Match) -> Any:
    x, y = m.x
    for one, other in ((x, y), (y, x)):
        c = m.number(one)
        if c is not None and not isinstance(c, bool):
            if c == 1:
                return other
            if c == -1 and other.dtype.kind in "ifc":
                return -other
            if (scaled := factor_of(m, one, c, other)) is not None:
                return scaled
    if not m.derived:
        return None
    for first, second in ((x, y), (y, x)):
        # minus signs move outward, where a sum may take them in
        if inner := m.made(first, "numpy.negative"):
            return -(inner.x[0] * second)
        if inner := m.made(first, "numpy.divide"):
            if m.number(inner.x[0]) == 1:
                return second / inner.x[1]
            if same(inner.x[1], second):
                return inner.x[0]
    return y * x if m.number(y) is not None and m.number(x) is None else None


def factor_of(m: Match, c1: Any, value: Any, x: Any) -> Any:
    """c1 * (c2 * x) as (c1 * c2) * x. Exact, and so allowed, if one factor is a power of two."""
    inner = m.made(x, "numpy.multiply", "numpy.negative")
    if inner is None or not m.derived:
        return None
    if inner.node.op == "numpy.negative":
        return like(-value, c1) * inner.x[0]
    for c2, rest in (inner.x, inner.x[::-1]):
        number = m.number(c2)
        if number is not None and not isinstance(number, bool) and (power_of_two(value) or power_of_two(number)):
            return like(value * number, c1, c2) * rest
    return None


def power_of_two(c: Any) -> bool:
    return isinstance(c, (int, float)) and c != 0 and math.isfinite(c) and abs(math.frexp(c)[0]) == 0.5


def like(value: Any, *models: Any) -> Any:
    """A number as the constants that it comes from: Python's if they are, else of their dtype."""
    strong = [atom_of(c).type for c in models if not atom_of(c).type.weak]
    return Value(Const(value) if not strong else Const(np.result_type(*(t.dtype for t in strong)).type(value)))


@rule("numpy.expand_dims", "numpy.squeeze", "numpy.transpose", "numpy.reshape", "numpy.broadcast_to", "numpy.sum")
def minus_outward(m: Match) -> Any:
    """A minus sign moves outward, where a sum may take it in."""
    inner = m.made(m.x[0], "numpy.negative") if m.derived else None
    return -m.bind(inner.x[0]) if inner and m.read_once(m.x[0]) else None


@rule("numpy.einsum")
def minus_of_factor(m: Match) -> Any:
    for k, x in enumerate(m.x if m.derived else ()):
        if (inner := m.made(x, "numpy.negative")) and m.read_once(x):
            return -m.bind(*m.x[:k], inner.x[0], *m.x[k + 1 :])
    return None


@rule("numpy.divide")
def quotient(m: Match) -> Any:
    x, y = m.x
    c = m.number(y)
    if c == 1:
        return x
    if c == -1 and x.dtype.kind in "ifc":
        return -x
    if m.derived and (inner := m.made(x, "numpy.negative")):
        return -(inner.x[0] / y)
    if m.derived and (inner := m.made(x, "numpy.multiply")):
        return next((rest for factor, rest in (inner.x, inner.x[::-1]) if same(factor, y)), None)
    return None


@rule("numpy.power")
def power(m: Match) -> Any:
    x, y = m.x
    return x if m.number(y) == 1 else None


@rule("numpy.where")
def selection(m: Match) -> Any:
    condition, x, y = m.x
    known = m.number(condition)
    if known is not None:
        return x if known else y
    if same(x, y) or (m.number(x) is not None and repr(m.number(x)) == repr(m.number(y))):
        return x
    if m.derived and m.number(y) == 0 and (inner := m.made(x, "numpy.negative")) and m.read_once(x):
        return -np.where(condition, inner.x[0], y)
    if (inner := m.made(x, "numpy.where")) and same(inner.x[0], condition):
        return np.where(condition, inner.x[1], y)
    if (inner := m.made(y, "numpy.where")) and same(inner.x[0], condition):
        return np.where(condition, x, inner.x[2])
    if m.derived and (chosen := under(m, x, condition)) is not None:
        return np.where(condition, chosen, y)
    return None


def under(m: Match, x: Any, condition: Any) -> Any:
    """A value where a condition holds, without the selections by the same condition on the way to it; None if there are none. Only through
    sums and multiples that nobody else reads: they are then computed of what is not selected in the end too, and must not warn of it."""
    inner = m.made(x, "numpy.where", "numpy.add", "numpy.subtract", "numpy.multiply", "numpy.negative")
    if inner is None or not m.read_once(x) or (inner.node.op == "numpy.multiply" and not any(m.number(a) for a in inner.x)):
        return None
    if inner.node.op == "numpy.where":
        return inner.x[1] if same(inner.x[0], condition) and inner.x[1].type == inner.type else None
    chosen = [under(inner, operand, condition) for operand in inner.x]
    if all(c is None for c in chosen):
        return None
    return inner.bind(*(operand if c is None else c for c, operand in zip(chosen, inner.x)))


@rule("numpy.astype")
def cast(m: Match) -> Any:
    return m.x[0]


@rule("numpy.positive")
def plus(m: Match) -> Any:
    return m.x[0]


@rule("numpy.logical_and", "numpy.bitwise_and")
def both(m: Match) -> Any:
    x, y = m.x
    if x.dtype != bool or y.dtype != bool:
        return None
    return x if m.number(y) is True or same(x, y) else y if m.number(x) is True else None


@rule("numpy.logical_or", "numpy.bitwise_or")
def either(m: Match) -> Any:
    x, y = m.x
    if x.dtype != bool or y.dtype != bool:
        return None
    return x if m.number(y) is False or same(x, y) else y if m.number(x) is False else None


@rule("numpy.logical_not", "numpy.invert")
def negation(m: Match) -> Any:
    inner = m.made(m.x[0], "numpy.logical_not", "numpy.invert")
    return inner.x[0] if inner and inner.x[0].dtype == bool else None
