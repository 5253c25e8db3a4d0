"""Sizes that are known only at run time: arithmetic against Python's own, decisions and their guards."""

import itertools
import operator

import pytest

from pergrad.compiler.core.sizes import Decisions, Seen, Size, decide, range_length, same, seen, slice_length, unseen
from pergrad.compiler.errors import Unsupported

B, T = Size.named("B"), Size.named("T")
NUMBERS = [{"B": b, "T": t} for b, t in itertools.product((1, 2, 5, 8), (1, 3, 4))]


def number(x, numbers):
    return x.at(numbers.__getitem__) if isinstance(x, Size) else x


EXPRESSIONS = [
    lambda b, t: b + t,
    lambda b, t: 2 * b - 3 * t + 1,
    lambda b, t: (b + t) * (b - t),
    lambda b, t: (b + 1) ** 2 - b * b,
    lambda b, t: -b + 7,
    lambda b, t: 1 - b * t,
    lambda b, t: 6 * b * t // (2 * t),
    lambda b, t: (b * b - 1) // (b + 1),
    lambda b, t: (b + 1) // 2 + b // 2,
    lambda b, t: (3 * b + t) // 4 * 4 + (3 * b + t) % 4,
    lambda b, t: (2 * b + 5) % 2,
    lambda b, t: 7 // b - 7 % t,
    lambda b, t: divmod(b + 3, 2)[0] * 3,
    lambda b, t: (b - b) * t,
]


@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.parametrize("numbers", NUMBERS, ids=str)
def test_arithmetic_is_pythons(expression, numbers):
    with Decisions(numbers).deciding():
        assert number(expression(B, T), numbers) == expression(numbers["B"], numbers["T"])


def test_what_cancels_is_a_number():
    assert B - B == 0 and type(B - B) is int
    assert (B + 3) - B == 3
    assert (2 * B + 5) % 2 == 1


def test_polynomials_have_one_form():
    assert (B + T) * (B - T) == B * B - T * T
    assert hash(B * T) == hash(T * B)
    assert str(2 * B - 1) == "2 * B - 1" and str(B // 2) == "(B // 2)" and str(-B + T) == "-B + T"
    assert (B // 2).names == ("B",) and B.symbol == "B" and (B // 2).symbol is None and (B + 1).symbol is None


@pytest.mark.parametrize("compare", [operator.lt, operator.le, operator.gt, operator.ge])
@pytest.mark.parametrize(("left", "right"), [(B, 5), (B, T), (B, 4.5), (B + 1, B), (2 * B, 2 * B), (B - 1, 0), (B * T, B + T)])
@pytest.mark.parametrize("numbers", NUMBERS, ids=str)
def test_comparisons_decide_as_pythons(compare, left, right, numbers):
    decisions = Decisions(numbers)
    with decisions.deciding():
        outcome = compare(left, right)
    assert outcome == compare(number(left, numbers), number(right, numbers))
    test = decisions.test()
    for other in NUMBERS:
        if test is None or test(**other):
            assert compare(number(left, other), number(right, other)) == outcome


def test_what_holds_for_all_sizes_is_no_guard():
    decisions = Decisions({"B": 3})
    with decisions.deciding():
        assert B >= 0 and B + 1 > B and 2 * B + 1 >= 1 and not B < 0 and (B + 1)
        assert decisions.test() is None
        assert B >= 1
    assert decisions.test()(B=1) and not decisions.test()(B=0)


def test_nothing_is_decided_without_numbers():
    with pytest.raises(Unsupported):
        decide(B, ">=", 1)
    with Decisions({"T": 1}).deciding(), pytest.raises(Unsupported):
        decide(B, "==", T)


SLICES = [slice(*bounds) for bounds in itertools.product((None, 0, 1, 3, -1, -2, 9), (None, 0, 2, 7, -1, -3), (None, 1, 2, -1, -2))]


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 8])
def test_slices_are_as_long_as_pythons(n):
    for s in SLICES:
        decisions = Decisions({"B": n})
        with decisions.deciding():
            length = slice_length(s, B)
        test = decisions.test()
        for other in range(10):
            if other == n or test is None or test(B=other):
                assert number(length, {"B": other}) == len(range(*s.indices(other))), (s, other, length)


@pytest.mark.parametrize(("start", "stop"), [(B // 2, None), (None, B - 1), (-B, None), (B // 3, B - B // 3), (B, 2 * B)])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_slices_with_sizes_as_bounds(start, stop, n):
    with Decisions({"B": n}).deciding():
        length = slice_length(slice(start, stop), B)
    known = slice(*(None if x is None else number(x, {"B": n}) for x in (start, stop)))
    assert number(length, {"B": n}) == len(range(n)[known])


@pytest.mark.parametrize("n", [0, 1, 4, 7])
@pytest.mark.parametrize("bounds", [(B,), (1, B + 1), (B, 0, -1), (0, B, 2), (3, B), (B, 2 * B, 3), (B - 1, -1, -2)])
def test_ranges_are_as_long_as_pythons(bounds, n):
    with Decisions({"B": n}).deciding():
        length = range_length(*bounds)
    assert number(length, {"B": n}) == len(range(*(number(x, {"B": n}) for x in bounds)))


def test_the_users_sizes_decide_equality_too():
    decisions = Decisions({"B": 3, "T": 3})
    with decisions.deciding():
        assert B != 3, "among the compiler's sizes equality is structural"
        assert seen(B) == 3 and seen(B) == seen(T) and seen(B) in (1, 3) and same(B, T)
        assert seen((B, 2)) == (3, 2)
        assert type(seen(B) + 1) is Seen and type(2 * seen(B) // 2) is Seen
    assert decisions.test()(B=3, T=3) and not decisions.test()(B=3, T=4)
    assert unseen([seen(B), (seen(B), slice(seen(B)))]) == [B, (B, slice(B))]


@pytest.mark.parametrize("use", [int, float, str, repr, hash, "{}".format, range, lambda n: [0] * n, lambda n: [1, 2][n], lambda n: {n: 1}])
def test_where_python_needs_the_number_it_is_refused(use):
    with Decisions({"B": 3}).deciding(), pytest.raises(Unsupported):
        use(seen(B))


def test_a_size_is_compared_with_anything_as_python_does():
    assert (seen(B) == "B") is False and (seen(B) == None) is False  # noqa: E711
    with pytest.raises(TypeError):
        seen(B) + "B"
    with pytest.raises(ZeroDivisionError):
        B // 0
