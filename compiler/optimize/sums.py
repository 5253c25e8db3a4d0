"""Sums of products that differentiation added: equal terms are counted, factors that two terms share are taken out of both.

Cotangents of a value that several operations read come together as a sum, often of products with one factor: ``b * b`` brings
``g * b + g * b``, a quotient ``x / v + y / v``. Each order of differentiation would multiply what is left standing of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..core.builder import atom_of
from ..core.program import Const
from .arithmetic import same
from .rules import rule

if TYPE_CHECKING:
    from .algebra import Match

_MOST = 12  # terms of a sum, and factors of a term, that are looked at


@dataclass
class Term:
    """A number times factors ``over`` factors ``under``. ``written`` is the value that stood for it, if one did, and the number that this
    was multiplied with."""

    number: float
    over: list[Any]
    under: list[Any]
    written: tuple[float, Any] | None = None

    def parts(self) -> tuple[float, Any]:
        """A number and the value to multiply with it."""
        return self.written or (self.number, product(self.over, self.under))


@rule("numpy.add", "numpy.subtract")
def collected(m: Match) -> Any:
    """The first two terms that can be one are."""
    if not m.derived or m.type.dtype.kind != "f":
        return None
    terms = terms_of(m)
    for k, last in enumerate(terms):
        for n, first in enumerate(terms[:k]):
            merged = united(first, last)
            if merged is not None:
                others = [merged] if merged.number else []
                return total([*terms[:n], *others, *terms[n + 1 : k], *terms[k + 1 :]])
    return None


@rule("numpy.add", "numpy.subtract")
def common_number(m: Match) -> Any:
    """A number that two terms are multiplied with."""
    first, last = (inside(m, x) for x in m.x) if m.derived and m.type.dtype.kind == "f" else (None, None)
    if not first or not last or first.node.op != "numpy.multiply" or last.node.op != "numpy.multiply":
        return None
    c = m.number(first.x[0])
    if not isinstance(c, float) or m.number(last.x[0]) != c:
        return None
    x, y = first.x[1], last.x[1]
    return c * (x - y if m.node.op == "numpy.subtract" else x + y)


def terms_of(m: Match) -> list[Term]:
    """What a sum adds up, through the sums that only it reads, also those that a number is multiplied with."""
    found: list[tuple[float, Any]] = []
    left: list[tuple[float, Any]] = [(-1.0 if m.node.op == "numpy.subtract" else 1.0, m.x[1]), (1.0, m.x[0])]
    while left:
        number, x = left.pop()
        inner = inside(m, x) if len(found) + len(left) < _MOST else None
        op = inner.node.op if inner else ""
        if inner and op in ("numpy.add", "numpy.subtract"):
            left += [(-number if op == "numpy.subtract" else number, inner.x[1]), (number, inner.x[0])]
        elif inner and op == "numpy.negative":
            left.append((-number, inner.x[0]))
        elif inner and op == "numpy.multiply" and isinstance(c := m.number(inner.x[0]), float):
            left.append((number * c, inner.x[1]))
        else:
            found.append((number, x))
    return [term_of(m, number, x) for number, x in found]


def term_of(m: Match, number: float, x: Any) -> Term:
    """A number times a value, this as a product, through the products that only it reads."""
    term = Term(number, [], [], (number, x))
    left: list[tuple[Any, bool]] = [(x, True)]
    while left:
        y, above = left.pop()
        inner = inside(m, y) if len(term.over) + len(left) < _MOST else None
        op = inner.node.op if inner else ""
        c = m.number(y) if above else None
        if isinstance(c, float):
            term.number *= c
        elif inner and op == "numpy.negative":
            term.number = -term.number
            left.append((inner.x[0], above))
        elif inner and op == "numpy.multiply":
            left += [(inner.x[1], above), (inner.x[0], above)]
        elif inner and op == "numpy.divide":
            left += [(inner.x[1], not above), (inner.x[0], above)]
        else:
            (term.over if above else term.under).append(y)
    return term


def inside(m: Match, x: Any) -> Match | None:
    """How an operand was computed, if differentiation added that and nothing else reads it."""
    inner = m.made(x)
    if inner is None or not inner.derived or not m.read_once(x) or inner.type.dtype != m.type.dtype:
        return None
    fitting = all(y.dtype == m.type.dtype or isinstance(atom_of(y), Const) for y in inner.x)
    return inner if fitting else None


def united(first: Term, last: Term) -> Term | None:
    """Two terms as one, if that spares an operation."""
    over, rest_first, rest_last = shared(first.over, last.over)
    under, under_first, under_last = shared(first.under, last.under)
    if not over and not under:
        return None
    if not (rest_first or rest_last or under_first or under_last):
        number = first.number + last.number
        return Term(number, over, under) if over else None
    if not (rest_first and rest_last):
        alone = (not rest_first and under_first) or (not rest_last and under_last)
        if alone or not smaller([*rest_first, *rest_last, *under_first, *under_last], over):
            return None
    inner = total([Term(first.number, rest_first, under_first), Term(last.number, rest_last, under_last)])
    return Term(1.0, [inner, *over], under)


def smaller(rest: Sequence[Any], over: Sequence[Any]) -> bool:
    """Whether what two terms do not share is smaller than what they do: ``x - r * x`` is then ``(1 - r) * x``."""
    return max((x.ndim for x in rest), default=0) < max((x.ndim for x in over), default=0)


def shared(first: Sequence[Any], last: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """The values in both, and the rest of each."""
    both: list[Any] = []
    only: list[Any] = []
    rest = list(last)
    for x in first:
        k = next((k for k, y in enumerate(rest) if same(x, y)), None)
        if k is None:
            only.append(x)
        else:
            both.append(rest.pop(k))
    return both, only, rest


def total(terms: Sequence[Term]) -> Any:
    """The sum of terms, the numbers that are not 1 before them."""
    y: Any = None
    for term in terms:
        number, x = term.parts()
        x = abs(number) if x is None else x if abs(number) == 1 else abs(number) * x
        if y is None:
            y = x if number > 0 else -x
        else:
            y = y + x if number > 0 else y - x
    return y


def product(over: Sequence[Any], under: Sequence[Any]) -> Any:
    """The product of values over values, small ones first; None for that of none."""
    if not over:
        return None
    factors = sorted([(x, False) for x in over] + [(x, True) for x in under], key=lambda f: (f[0].ndim, f[1]))
    y, _ = factors.pop(next(k for k, (_, divides) in enumerate(factors) if not divides))
    for x, divides in factors:
        y = y / x if divides else y * x
    return y
