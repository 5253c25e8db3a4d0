"""How a contraction on letters is spelled: broadcast products, ``@``, sums, and ``np.einsum`` where nothing plainer fits.

The forms were chosen by timing them (NumPy 2.4, float32, batches of 64 to 4096): ``np.vecdot`` is 2 times faster than ``np.einsum`` for
``"bi,bi->b"`` and 3 times faster than ``(a * b).sum(-1)``; a stacked ``@`` is 2.5 times faster than ``np.einsum`` for ``"bij,bj->bi"``;
flattening to one matrix product is 7 times faster for ``"bij,bik->jk"``. Only ``"bi,bi->i"`` is best as ``np.einsum``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..core.types import Dim, Size, Type
from .contraction_path import cheapest_pair, kept, natural_order, nominal, volume

_FEW_ROWS = 16  # stacks of matrices with so few rows are faster as one large product
_SHORT = 32  # sums of so few terms are as fast in einsum as in anything longer to read
_LETTERS = "ijklmnopqrstuvwxyzacdefghABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class Factor:
    """An expression and the letters of its axes."""

    text: str
    letters: str

    @property
    def primary(self) -> str:
        """The text as an operand of any operator, subscript or attribute."""
        return self.text if re.fullmatch(r"[\w.]+", self.text) or _closed(self.text) else f"({self.text})"


def contraction_text(subscripts: str, types: Sequence[Type]) -> str:
    """The expression, over ``_0``, ``_1``, …, that computes a contraction; each operand occurs in it once.

    ``subscripts`` is explicit (``"ij,bj->bi"``), one letter per axis; operands without letters are scalars.
    """
    operands, target = parse(subscripts)
    sizes = letter_sizes(operands, types)
    scalars = [Factor(f"_{i}", "") for i, letters in enumerate(operands) if not letters]
    arrays = [Factor(f"_{i}", letters) for i, letters in enumerate(operands) if letters]
    array_types = [t for t, letters in zip(types, operands) if letters]
    if not arrays:
        return " * ".join(f.text for f in scalars) or "1"
    spelled = _Spelling(sizes, arrays, array_types, target)
    squeezed = [_squeezed(f, t, sizes) for f, t in zip(arrays, array_types)]
    if spelled.changes_dtype(squeezed):
        return _scaled(scalars, Factor(spelled.einsum(arrays, target), target)).text
    return spelled.product(squeezed, scalars).text


def aliases_operand(subscripts: str) -> bool:
    """Whether the expression is a view of its operand: one operand, nothing summed."""
    operands, target = parse(subscripts)
    return len(operands) == 1 and set(operands[0]) == set(target)


def parse(subscripts: str) -> tuple[list[str], str]:
    """The letters of the operands and of the result."""
    left, _, target = subscripts.partition("->")
    return left.split(","), target


def letter_sizes(operands: Sequence[str], types: Sequence[Type]) -> dict[str, Dim]:
    """The size of each letter; an axis of size 1 adapts to the others with the same letter."""
    sizes: dict[str, Dim] = {}
    for letters, t in zip(operands, types, strict=True):
        for letter, size in zip(letters, t.shape, strict=True):
            if sizes.get(letter, 1) == 1:
                sizes[letter] = size
    return sizes


class _Spelling:
    """The forms that one contraction may take; each method gives None where its form does not fit."""

    def __init__(self, sizes: dict[str, Dim], factors: Sequence[Factor], types: Sequence[Type], target: str) -> None:
        self.sizes = sizes
        self.target = target
        self.real = all(t.dtype.kind != "c" for t in types)
        self.uniform = len({t.dtype for t in types}) == 1
        self.widening = any(t.dtype.kind == "b" or (t.dtype.kind in "iu" and t.dtype.itemsize < 8) for t in types)

    def changes_dtype(self, factors: Sequence[Factor]) -> bool:
        """Whether summing operands alone would differ from einsum: ``.sum`` widens small integers, and would add before promoting."""
        alone = any(self.solo(f, factors) for f in factors)
        return alone and (self.widening or not self.uniform)

    def solo(self, factor: Factor, factors: Sequence[Factor]) -> list[str]:
        others = {letter for f in factors if f is not factor for letter in f.letters}
        return [c for c in dict.fromkeys(factor.letters) if c not in others and c not in self.target]

    def product(self, factors: list[Factor], scalars: Sequence[Factor]) -> Factor:
        """All factors, joined two at a time, cheapest pair first; scalars scale whatever is smallest."""
        factors = [self.reduced(f, factors) for f in factors]
        smallest = min(range(len(factors)), key=lambda i: volume(factors[i].letters, self.sizes))
        early = volume(factors[smallest].letters, self.sizes) < volume(self.target, self.sizes)
        if scalars and early:
            factors[smallest] = _scaled(scalars, factors[smallest])
            scalars = []
        while len(factors) > 2:
            letters = [f.letters for f in factors]
            i, j = cheapest_pair(letters, self.target, self.sizes)
            a, b = factors[i], factors[j]
            joined = self.pair(a, b, natural_order(a.letters, b.letters, kept(letters, i, j, self.target), self.target))
            rest = [f for k, f in enumerate(factors) if k not in (i, j)]
            factors = [*rest[:i], joined, *rest[i:]]
        whole = self.pair(factors[0], factors[1], self.target) if len(factors) == 2 else _transposed(factors[0], self.target)
        return _scaled(scalars, whole)

    def reduced(self, f: Factor, factors: Sequence[Factor]) -> Factor:
        """Diagonals taken and letters summed that no other operand and not the result has."""
        others = {letter for g in factors if g is not f for letter in g.letters}
        while repeated := next((c for c in f.letters if f.letters.count(c) > 1), ""):
            f = self.diagonal(f, repeated, repeated not in others and repeated not in self.target)
        axes = [k for k, c in enumerate(f.letters) if c not in others and c not in self.target]
        if not axes:
            return f
        rest = "".join(c for k, c in enumerate(f.letters) if k not in axes)
        axis = "" if not rest else f"axis={axes[0] if len(axes) == 1 else tuple(axes)}"
        return Factor(f"{f.primary}.sum({axis})", rest)

    def diagonal(self, f: Factor, letter: str, summed: bool) -> Factor:
        first = f.letters.index(letter)
        second = f.letters.index(letter, first + 1)
        rest = "".join(c for k, c in enumerate(f.letters) if k not in (first, second))
        where = "" if (first, second) == (0, 1) else f", axis1={first}, axis2={second}"
        if summed and letter not in rest:
            return Factor(f"np.trace({f.text}{where})", rest)
        return Factor(f"np.diagonal({f.text}{where})", rest + letter)

    def pair(self, a: Factor, b: Factor, target: str) -> Factor:
        summed = [c for c in a.letters if c in b.letters and c not in target]
        if not summed:
            a, b = sorted((a, b), key=lambda f: len(f.letters))
            return Factor(f"{_aligned(a, target).primary} * {_aligned(b, target).primary}", target)
        text = self.full(a, b, target) if not target else None
        if text is None and len(summed) == 1:
            text = self.matmul(a, b, summed[0], target) or self.moved(a, b, summed[0], target) or self.matvec(a, b, summed[0], target)
        if text is None:
            text = self.rowwise(a, b, summed, target) or self.grouped(a, b, summed, target)
        return Factor(text or self.einsum([a, b], target), target)

    def full(self, a: Factor, b: Factor, target: str) -> str | None:
        """The sum of all products of two arrays of the same letters. ``np.vdot`` conjugates, so it is for real arrays."""
        if len(a.letters) == 1:
            return f"{a.primary} @ {b.primary}"
        return f"np.vdot({a.text}, {_transposed(b, a.letters).text})" if self.real else None

    def matmul(self, a: Factor, b: Factor, s: str, target: str) -> str | None:
        """``a @ b``, stacked over all letters of the result but the last two."""
        if len(target) < 2:
            return None
        stack, row, column = target[:-2], target[-2], target[-1]
        left, right = (a, b) if row in a.letters else (b, a)
        if row in right.letters or column in left.letters:
            return None
        if len(left.letters) > 2 and len(right.letters) == 2 and left.letters == stack + row + s and nominal(self.sizes[row]) <= _FEW_ROWS:
            return f"np.tensordot({left.text}, {right.text}, axes={1 if right.letters[0] == s else (len(left.letters) - 1, 1)})"
        return f"{_matrix(left, stack, row, s).primary} @ {_matrix(right, stack, s, column).primary}"

    def moved(self, a: Factor, b: Factor, s: str, target: str) -> str | None:
        """``(a @ b).transpose(…)``: the stack in front, where the result has it between or behind a row and a column."""
        stack = "".join(c for c in target if c in a.letters and c in b.letters)
        free = [c for c in target if c not in stack]
        if len(free) != 2 or (free[0] in a.letters) == (free[1] in a.letters):
            return None
        product = self.matmul(a, b, s, stack + "".join(free))
        return product and _transposed(Factor(product, stack + "".join(free)), target).text

    def matvec(self, a: Factor, b: Factor, s: str, target: str) -> str | None:
        """A matrix times a vector, stacked over all letters of the result but the last."""
        if not target:
            return None
        stack, row = target[:-1], target[-1]
        if (row in a.letters) == (row in b.letters):
            return None
        matrix, vector = (a, b) if row in a.letters else (b, a)
        if len(vector.letters) > 1 and len(matrix.letters) > 2 and not set(matrix.letters) & set(vector.letters) - {s}:
            return None  # one matrix product with the letters of each taken together
        if vector.letters == s:
            if matrix.letters == s + row:
                return f"{vector.primary} @ {matrix.primary}"
            return f"{_transposed(matrix, ''.join(c for c in stack + row + s)).primary} @ {vector.primary}"
        lead = ":, " * len(stack)
        if matrix.letters.endswith(s + row):
            product = f"{_aligned(vector, stack + row + s, row).primary} @ {_matrix(matrix, stack, s, row).primary}"
            return f"({product})[{lead}0, :]"
        product = f"{_matrix(matrix, stack, row, s).primary} @ {_aligned(vector, stack + s + row, row).primary}"
        return f"({product})[{lead}:, 0]"

    def rowwise(self, a: Factor, b: Factor, summed: Sequence[str], target: str) -> str | None:
        """Dot products of rows: ``np.vecdot``, which conjugates, so for real arrays only."""
        last = "".join(summed)
        if not self.real or not target or a.letters != target + last or set(b.letters) != set(a.letters):
            return None
        if len(summed) == 1:
            return f"np.vecdot({a.text}, {_transposed(b, a.letters).text})"
        length = self.number(summed)
        if length < _SHORT or b.letters != a.letters or len(target) != 1:
            return None
        return f"np.vecdot({a.primary}.reshape(-1, {length}), {b.primary}.reshape(-1, {length}))"

    def grouped(self, a: Factor, b: Factor, summed: Sequence[str], target: str) -> str | None:
        """One matrix product with several letters taken together; no letter may be shared and kept."""
        free_a = "".join(c for c in a.letters if c not in summed)
        free_b = "".join(c for c in b.letters if c not in summed)
        if set(free_a) & set(free_b):
            return None
        if free_b and target.startswith(free_b):
            a, b, free_a, free_b = b, a, free_b, free_a
        n, m = self.number(free_a), self.number(free_b)
        lead = "".join(c for c in a.letters if c in summed)
        stacked = (a.letters, b.letters) == (lead + free_a, lead + free_b)
        if len(free_a) == len(free_b) == 1 and target == free_a + free_b and stacked and n and m:
            return f"{a.primary}.reshape(-1, {n}).T @ {b.primary}.reshape(-1, {m})"
        axes = (tuple(a.letters.index(c) for c in summed), tuple(b.letters.index(c) for c in summed))
        shown: Any = axes if len(summed) > 1 else (axes[0][0], axes[1][0])
        if shown == (len(a.letters) - 1, 0):
            shown = 1
        product = Factor(f"np.tensordot({a.text}, {b.text}, axes={shown})", free_a + free_b)
        return _transposed(product, target).text

    def number(self, letters: Sequence[str]) -> int:
        """The product of the sizes, 0 if one is symbolic."""
        out = 1
        for letter in letters:
            size = self.sizes[letter]
            out *= size if isinstance(size, int) else 0
        return out

    def einsum(self, factors: Sequence[Factor], target: str) -> str:
        names = self.tidy([f.letters for f in factors])
        letters = [f.letters.translate(names) for f in factors]
        return f'np.einsum("{",".join(letters)}->{target.translate(names)}", {", ".join(f.text for f in factors)})'

    def tidy(self, operands: Sequence[str]) -> dict[int, str]:
        """``b`` for the first symbolic size, ``i``, ``j``, … in order of appearance for the rest."""
        names: dict[int, str] = {}
        free = iter(_LETTERS)
        for c in dict.fromkeys("".join(operands)):
            batch = isinstance(self.sizes[c], Size) and "b" not in names.values()
            names[ord(c)] = "b" if batch else next(free)
        return names


def _squeezed(f: Factor, t: Type, sizes: dict[str, Dim]) -> Factor:
    """Without the axes of size 1 whose letter is larger elsewhere."""
    ones = [size == 1 and sizes[c] != 1 for c, size in zip(f.letters, t.shape)]
    if not any(ones):
        return f
    index = ", ".join("0" if one else ":" for one in ones)
    return Factor(f"{f.primary}[{index}]", "".join(c for c, one in zip(f.letters, ones) if not one))


def _scaled(scalars: Sequence[Factor], f: Factor) -> Factor:
    if not scalars:
        return f
    scale = " * ".join(s.text for s in scalars)
    return Factor(f"{scale} * {f.primary}", f.letters)


def _transposed(f: Factor, target: str) -> Factor:
    if f.letters == target:
        return f
    axes = [f.letters.index(c) for c in target]
    n = len(axes)
    if axes == list(range(n))[::-1]:
        return Factor(f"{f.primary}.T", target)
    if axes == [*range(n - 2), n - 1, n - 2]:
        return Factor(f"{f.primary}.mT", target)
    return Factor(f"{f.primary}.transpose({', '.join(map(str, axes))})", target)


def _aligned(f: Factor, target: str, missing: str = "") -> Factor:
    """With ``None`` for the letters of ``target`` that it lacks; NumPy supplies leading ones itself."""
    f = _transposed(f, "".join(c for c in target if c in f.letters))
    index = [":" if c in f.letters else "None" for c in target]
    while index and index[0] == "None" and target[len(target) - len(index)] != missing:
        index.pop(0)
    return Factor(f"{f.primary}[{', '.join(index)}]", target) if "None" in index else f


def _matrix(f: Factor, stack: str, row: str, column: str) -> Factor:
    """As a stack of matrices. A swapped pair of last axes is written ``.T`` or ``.mT``."""
    return _aligned(f, stack + row + column)


def _closed(text: str) -> bool:
    """Whether a text is one call, subscript or attribute chain: brackets balance and nothing outside them is an operator."""
    depth = 0
    for c in text:
        depth += (c in "([{") - (c in ")]}")
        if depth == 0 and c in " *@+-/":
            return False
    return not text.startswith("-")
