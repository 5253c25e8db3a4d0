"""Sizes that are known only at run time: polynomials over named sizes such as the batch.

Arithmetic stays symbolic. Where Python or a rule has to decide on a size, the numbers of the call at work decide, and the decision becomes
a guard of the compilation: for calls with sizes that would decide otherwise another program is compiled.
"""

from __future__ import annotations

import math
import operator
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..errors import Unsupported

Term = tuple[tuple[str, ...], int]  # a product of names, and how often it is counted
_NAME = re.compile(r"[A-Za-z_]\w*")
_local = threading.local()


@dataclass(eq=False)
class Decisions:
    """The numbers that named sizes have in one call, and what was decided by them: condition to outcome."""

    numbers: Mapping[str, int]
    taken: dict[str, bool] = field(default_factory=dict)

    @contextmanager
    def deciding(self) -> Iterator[Decisions]:
        """Make these the decisions of this thread."""
        stack = _decisions()
        stack.append(self)
        try:
            yield self
        finally:
            stack.pop()

    def test(self) -> Callable[..., bool] | None:
        """Whether numbers, by name, decide everything alike; None where nothing was decided."""
        if not self.taken:
            return None
        conditions = [text if outcome else f"not {text}" for text, outcome in self.taken.items()]
        return eval(f"lambda {', '.join(self.numbers)}: {' and '.join(conditions)}", {})


def _decisions() -> list[Decisions]:
    stack: list[Decisions] | None = getattr(_local, "decisions", None)
    if stack is None:
        stack = _local.decisions = []
    return stack


def decide(left: Any, relation: str, right: Any) -> bool:
    """Whether ``left >= right`` or ``left == right`` for sizes and numbers, under a guard unless it holds for all sizes."""
    left, right = unseen(left), unseen(right)
    if isinstance(left, (int, Size)) and isinstance(right, (int, Size)):
        gap = left - right
        if isinstance(gap, int):
            return gap == 0 if relation == "==" else gap >= 0
        surely = gap.sign()
        if surely is not None and (surely or relation == ">="):
            return relation == ">=" and surely >= 0
    elif not all(isinstance(x, (int, float, Size)) and (isinstance(x, Size) or math.isfinite(x)) for x in (left, right)):
        raise Unsupported("a size that varies is compared with what is no number")
    stack = _decisions()
    names = {n for x in (left, right) if isinstance(x, Size) for n in x.names}
    if not stack or not names <= set(stack[-1].numbers):
        raise _undecided()
    text = f"({left!s} {relation} {right!s})"
    taken = stack[-1].taken
    if text not in taken:
        taken[text] = bool(eval(text, {}, dict(stack[-1].numbers)))
    return taken[text]


def _undecided() -> Unsupported:
    """Only the values know the size, and something is decided by it while compiling."""
    from .builder import building, current

    return Unsupported(
        "how many elements an axis has is known only at run time, and a rule that is at work here needs the number",
        code="PGR702",
        span=current().span if building() else None,
        hint="np.where(mask, x, 0.0) keeps the shape",
    )


@dataclass(frozen=True)
class Size:
    """A polynomial over named sizes with whole coefficients, never a plain number. A quotient that is not exact is a name of its own.

    Equality is structural; all other comparisons decide. Arithmetic with floats and symbolic numbers gives a symbolic number.
    """

    terms: tuple[Term, ...]
    __array_ufunc__ = None  # NumPy's numbers leave arithmetic to us

    @staticmethod
    def named(name: str) -> Size:
        """A size of its own."""
        return Size((((name,), 1),))

    @property
    def names(self) -> tuple[str, ...]:
        """The names that it is computed of."""
        return tuple(dict.fromkeys(n for names, _ in self.terms for name in names for n in _NAME.findall(name)))

    @property
    def symbol(self) -> str | None:
        """The name, if it is nothing more."""
        names, count = self.terms[0]
        return names[0] if len(self.terms) == 1 and count == 1 and len(names) == 1 and names[0].isidentifier() else None

    def at(self, numbers: Callable[[str], int]) -> int:
        """The number that it is for these numbers."""
        return int(eval(str(self), {}, {n: numbers(n) for n in self.names}))

    def sign(self) -> int | None:
        """1 where it is positive for all sizes, 0 where it is never negative, -1 where it is negative; None where that depends."""
        if not all(name.isidentifier() for names, _ in self.terms for name in names):
            return None
        constant = next((count for names, count in self.terms if not names), 0)
        counts = [count for names, count in self.terms if names]
        if all(c > 0 for c in counts) and constant >= 0:
            return 1 if constant else 0
        return -1 if all(c < 0 for c in counts) and constant < 0 else None

    def __add__(self, other: Any) -> Any:
        return _sum(self, other) if isinstance(other, (int, Size)) else self._number("add", other)

    def __radd__(self, other: Any) -> Any:
        return _sum(self, other) if isinstance(other, (int, Size)) else self._number("add", other, swapped=True)

    def __sub__(self, other: Any) -> Any:
        return _sum(self, -other) if isinstance(other, (int, Size)) else self._number("subtract", other)

    def __rsub__(self, other: Any) -> Any:
        return _sum(-self, other) if isinstance(other, (int, Size)) else self._number("subtract", other, swapped=True)

    def __neg__(self) -> Any:
        return _product(self, -1)

    def __pos__(self) -> Any:
        return self

    def __mul__(self, other: Any) -> Any:
        return _product(self, other) if isinstance(other, (int, Size)) else self._number("multiply", other)

    def __rmul__(self, other: Any) -> Any:
        return _product(self, other) if isinstance(other, (int, Size)) else self._number("multiply", other, swapped=True)

    def __floordiv__(self, other: Any) -> Any:
        return _quotient(self, other) if isinstance(other, (int, Size)) else self._number("floor_divide", other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _quotient(other, self) if isinstance(other, int) else self._number("floor_divide", other, swapped=True)

    def __mod__(self, other: Any) -> Any:
        return _rest(self, other) if isinstance(other, (int, Size)) else self._number("remainder", other)

    def __rmod__(self, other: Any) -> Any:
        return _rest(other, self) if isinstance(other, int) else self._number("remainder", other, swapped=True)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __truediv__(self, other: Any) -> Any:
        return self._number("divide", other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._number("divide", other, swapped=True)

    def __pow__(self, other: Any) -> Any:
        return math.prod([self] * other) if type(other) is int and 0 < other <= 4 else self._number("power", other)

    def __rpow__(self, other: Any) -> Any:
        return self._number("power", other, swapped=True)

    def __abs__(self) -> Any:
        return self if self >= 0 else -self

    def __ge__(self, other: Any) -> Any:
        return decide(self, ">=", other) if _decidable(other) else self._number("greater_equal", other)

    def __lt__(self, other: Any) -> Any:
        return not decide(self, ">=", other) if _decidable(other) else self._number("less", other)

    def __le__(self, other: Any) -> Any:
        return decide(other, ">=", self) if _decidable(other) else self._number("less_equal", other)

    def __gt__(self, other: Any) -> Any:
        return not decide(other, ">=", self) if _decidable(other) else self._number("greater", other)

    def __bool__(self) -> bool:
        return not decide(self, "==", 0)

    def _number(self, op: str, other: Any, *, swapped: bool = False) -> Any:
        """An operation that leaves the whole numbers, on the number that the size is at run time."""
        from .builder import Value, operated

        if not isinstance(other, (Value, int, float, complex, Size)) and not hasattr(other, "dtype"):
            return NotImplemented
        return operated(f"numpy.{op}", *((other, self) if swapped else (self, other)))

    def __str__(self) -> str:
        text = ""
        for names, count in (*(t for t in self.terms if t[0]), *(t for t in self.terms if not t[0])):
            part = " * ".join([*([str(abs(count))] if abs(count) != 1 or not names else []), *names])
            text += (" - " if count < 0 else " + ") + part if text else ("-" if count < 0 else "") + part
        return text

    __repr__ = __str__


def _decidable(other: Any) -> bool:
    return isinstance(other, (int, float, Size))


def _whole(counts: Mapping[tuple[str, ...], int]) -> Any:
    """The size, or the number if nothing else is left."""
    terms = tuple(sorted(((names, c) for names, c in counts.items() if c), key=lambda t: (-len(t[0]), t[0])))
    if not terms:
        return 0
    return terms[0][1] if terms == (((), terms[0][1]),) else Size(terms)


def _terms(x: Any) -> tuple[Term, ...]:
    return x.terms if isinstance(x, Size) else (((), int(x)),)


def _sum(a: Any, b: Any) -> Any:
    counts = dict(_terms(a))
    for names, c in _terms(b):
        counts[names] = counts.get(names, 0) + c
    return like(_whole(counts), a, b)


def _product(a: Any, b: Any) -> Any:
    counts: dict[tuple[str, ...], int] = {}
    for left, c in _terms(a):
        for right, d in _terms(b):
            names = tuple(sorted(left + right))
            counts[names] = counts.get(names, 0) + c * d
    return like(_whole(counts), a, b)


def _divided(a: Any, b: Any) -> tuple[Any, Any]:
    """Quotient and rest of the division of polynomials, as far as it goes without fractions."""
    quotient: Any = 0
    (lead, count) = _terms(b)[0]
    while not (isinstance(a, int) and a == 0):
        names, c = _terms(a)[0]
        left = list(names)
        for n in lead:
            if n not in left:
                return quotient, a
            left.remove(n)
        if c % count:
            return quotient, a
        part = _whole({tuple(left): c // count})
        quotient, a = _sum(quotient, part), _sum(a, -_product(part, b))
    return quotient, a


def _split(a: Any, b: int) -> tuple[Any, Any]:
    """``a`` as ``b`` times a size plus a rest whose coefficients are less than ``b``."""
    whole = _whole({names: c // b for names, c in _terms(a)})
    return whole, _sum(a, -_product(whole, b))


def _quotient(a: Any, b: Any) -> Any:
    if isinstance(b, int) and b == 0:
        raise ZeroDivisionError("integer division or modulo by zero")
    if isinstance(b, int):
        whole, left = _split(unseen(a), b)
        return like(_sum(whole, left // b if isinstance(left, int) else Size.named(f"({_factor(left)} // {_factor(b)})")), a)
    quotient, rest = _divided(unseen(a), unseen(b))
    exact = isinstance(rest, int) and rest == 0 and decide(b, ">=", 1)
    return like(quotient if exact else Size.named(f"({_factor(a)} // {_factor(b)})"), a, b)


def _rest(a: Any, b: Any) -> Any:
    if isinstance(b, int) and b == 0:
        raise ZeroDivisionError("integer division or modulo by zero")
    if isinstance(b, int):
        left = _split(unseen(a), b)[1]
        return left % b if isinstance(left, int) else like(Size.named(f"({_factor(left)} % {_factor(b)})"), a)
    _, rest = _divided(unseen(a), unseen(b))
    if isinstance(rest, int) and rest == 0 and decide(b, ">=", 1):
        return 0
    return like(Size.named(f"({_factor(a)} % {_factor(b)})"), a, b)


def _factor(x: Any) -> str:
    text = str(unseen(x))
    return text if re.fullmatch(r"\w+", text) else f"({text})"


class Seen(Size):
    """A size that Python of the user's got to see: equality decides as well, and what needs the number itself is refused."""

    def _refuse(self, *_: Any) -> Any:
        raise Unsupported(f"Python needs the number that the size {Size.__str__(self)} stands for")

    def __eq__(self, other: object) -> Any:
        if not _decidable(other):
            return NotImplemented if other is None or not hasattr(other, "dtype") else self._number("equal", other)
        return decide(unseen(self), "==", unseen(other))

    def __ne__(self, other: object) -> Any:
        equal = self == other
        return equal if equal is NotImplemented else not equal if isinstance(equal, bool) else self._number("not_equal", other)

    __hash__ = __str__ = __repr__ = __format__ = __index__ = __int__ = __float__ = _refuse


def like(x: Any, *sources: Any) -> Any:
    """The result of arithmetic: seen if an operand was."""
    return seen(x) if any(type(s) is Seen for s in sources) else x


def seen(x: Any) -> Any:
    """A size, or a shape, as the user's code gets it."""
    if type(x) is Size:
        return Seen(x.terms)
    return tuple(map(seen, x)) if type(x) is tuple and any(type(d) is Size for d in x) else x


def unseen(x: Any) -> Any:
    """What the user's code passes on, with sizes as the compiler has them."""
    kind = type(x)
    if kind is Seen:
        return Size(x.terms)
    if kind is tuple or kind is list:
        return kind(map(unseen, x))
    if kind is slice:
        return slice(unseen(x.start), unseen(x.stop), unseen(x.step))
    return x


Dim = int | Size


def dim(d: Any) -> Dim:
    """One size of a shape, as the compiler has it; TypeError where it is no integer."""
    if isinstance(d, Size):
        return unseen(d)
    of_count = getattr(d, "size_of_count", None)
    return of_count if isinstance(of_count, Size) else operator.index(d)


def same(a: Dim, b: Dim) -> bool:
    """Whether two sizes are equal, under a guard where that depends on the call."""
    return a == b or ((isinstance(a, Size) or isinstance(b, Size)) and decide(a, "==", b))


def range_length(*bounds: Any) -> Dim:
    """How long a range is: ``stop``, or ``start, stop`` and a step."""
    start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    if all(isinstance(x, int) for x in (start, stop, step)):
        return len(range(start, stop, step))
    if not isinstance(step, int) or not all(isinstance(x, (int, Size)) for x in (start, stop)):
        raise Unsupported("the length of a range that is not of whole numbers and a known step")
    gap, step = (stop - start, step) if step > 0 else (start - stop, -step)
    return (gap + step - 1) // step if decide(gap, ">=", 0) else 0


def slice_length(s: slice, n: Dim) -> Dim:
    """How many elements a slice of an axis of size ``n`` takes."""
    if all(x is None or isinstance(x, int) for x in (s.start, s.stop, s.step, n)):
        return len(range(*s.indices(n)))  # type: ignore[arg-type]
    step = 1 if s.step is None else s.step
    if not isinstance(step, int):
        raise Unsupported("a slice's step is a size that varies")
    if step == 0:
        raise ValueError("slice step cannot be zero")
    if step < 0:
        start = n - 1 if s.start is None else _placed(s.start, n, -1, n - 1)
        stop = -1 if s.stop is None else _placed(s.stop, n, -1, n - 1)
        gap, step = start - stop, -step
    else:
        start = 0 if s.start is None else _placed(s.start, n, 0, n)
        stop = n if s.stop is None else _placed(s.stop, n, 0, n)
        gap = stop - start
    return (gap + step - 1) // step if decide(gap, ">=", 0) else 0


def _placed(x: Dim, n: Dim, least: Dim, most: Dim) -> Dim:
    """A bound of a slice as Python counts it."""
    if decide(x, ">=", 0):
        return x if decide(most, ">=", x) else most
    return x + n if decide(x + n, ">=", least) else least


__all__ = ["Decisions", "Dim", "Seen", "Size", "decide", "dim", "range_length", "same", "seen", "slice_length", "unseen"]
