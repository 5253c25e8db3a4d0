"""In which order a contraction of several operands is done two at a time, and what that costs.

The cost counts elements read and written, and multiplications at a sixteenth of that: NumPy's elementwise work waits for memory, a matrix
product does not. Symbolic sizes count as a batch of 64.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

from ..core.types import Dim, Size

NOMINAL_BATCH = 64


def nominal(size: Dim) -> int:
    """A number to plan with."""
    return size.at(lambda _: NOMINAL_BATCH) if isinstance(size, Size) else size


def volume(letters: Iterable[Any], sizes: Mapping[Any, Dim]) -> int:
    """The nominal number of elements of an array with these letters."""
    out = 1
    for letter in letters:
        out *= nominal(sizes[letter])
    return out


def pair_cost(a: Sequence[Any], b: Sequence[Any], result: Sequence[Any], sizes: Mapping[Any, Dim]) -> float:
    """The cost of contracting two operands."""
    flops = volume(dict.fromkeys([*a, *b]), sizes)
    return volume(a, sizes) + volume(b, sizes) + 2 * volume(result, sizes) + flops / 16


def cheapest_pair(operands: Sequence[Sequence[Any]], target: Sequence[Any], sizes: Mapping[Any, Dim]) -> tuple[int, int]:
    """Which two operands to contract first; the earliest of equals."""

    def cost(pair: tuple[int, int]) -> float:
        i, j = pair
        return pair_cost(operands[i], operands[j], kept(operands, i, j, target), sizes)

    return min(combinations(range(len(operands)), 2), key=cost)


def kept(operands: Sequence[Sequence[Any]], i: int, j: int, target: Sequence[Any]) -> list[Any]:
    """The letters that are still needed once operands i and j are contracted."""
    needed = {*target, *(c for k, letters in enumerate(operands) if k not in (i, j) for c in letters)}
    return [c for c in dict.fromkeys([*operands[i], *operands[j]]) if c in needed]


def path_cost(operands: Sequence[Sequence[Any]], target: Sequence[Any], sizes: Mapping[Any, Dim]) -> float:
    """The cost of the whole contraction, cheapest pair first. Sums within one operand come before."""
    total = 0.0
    reduced: list[list[Any]] = []
    for k, letters in enumerate(operands):
        others = {*target, *(c for n, other in enumerate(operands) if n != k for c in other)}
        rest = [c for c in dict.fromkeys(letters) if c in others]
        if len(rest) < len(letters):
            total += volume(letters, sizes) + 2 * volume(rest, sizes)
        reduced.append(rest)
    operands = [letters for letters in reduced if letters]
    while len(operands) > 1:
        i, j = cheapest_pair(operands, target, sizes)
        result = kept(operands, i, j, target)
        total += pair_cost(operands[i], operands[j], result, sizes)
        operands = [*(letters for k, letters in enumerate(operands) if k not in (i, j)), result]
    return total


def natural_order(a: str, b: str, result: Iterable[str], target: str) -> str:
    """The order of letters in which an intermediate result needs no transposition."""
    letters = list(result)
    union = dict.fromkeys(a + b)
    if len(letters) < len(union):
        shared = [c for c in letters if c in a and c in b]
        return "".join([*shared, *(c for c in letters if c not in shared)])
    wide = max((a, b), key=len)
    if set(wide) == set(union):
        return "".join(dict.fromkeys(wide))
    if all(c in target for c in letters):
        letters.sort(key=target.index)
    return "".join(letters)
