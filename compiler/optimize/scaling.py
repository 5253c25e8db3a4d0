"""Products in the order that computes the least: numbers, minus signs and small factors meet before they meet a large one.

``-(s[:, None] * x)`` is ``(-s)[:, None] * x``, and ``(c[:, None] * x) / s[:, None]`` is ``(c / s)[:, None] * x``. The value may differ
in its last bit, so only products that differentiation added are rearranged, and only where that spares elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from ..core.builder import Value, atom_of
from ..core.builder import recorded as np
from ..core.program import Apply, Atom, Node, Program
from ..core.types import Type
from ..ops.contraction import LETTERS, contract
from ..ops.contraction_path import natural_order, volume
from .products import MANY, Factor, Letter, Product, ProductReading, plain_number

_PRODUCTS = ("numpy.multiply", "numpy.divide", "numpy.negative", "numpy.einsum")
_WORTH = 0.9  # of the elements computed before


def scale_small_factors(program: Program) -> Program:
    """The program with each product of several factors computed from the small ones to the large ones."""
    return _Scaling(program).program(program)


@dataclass
class Divisor(Factor):
    """A factor that divides."""


class _Scaling(ProductReading):
    def rewrite(self, node: Node) -> Sequence[Atom] | None:
        if not isinstance(node, Apply) or node.op not in _PRODUCTS or node.section not in ("backward", "tangent"):
            return None
        t = node.outs[0].type
        if t.dtype.kind not in "fc" or t.ndim == 0 or any(a.type.dtype != t.dtype and not a.type.weak for a in node.args):
            return None
        self.budget = MANY
        self.computed = elements(t)
        self.inlined: list[Atom] = []
        self.shared = False
        product: Product | None = getattr(self, "read_" + node.op.removeprefix("numpy."))(node)
        if product is None or len(set(self.inlined)) < len(self.inlined):
            return None
        ordered = _Ordered(self, product)
        if ordered.cost() > _WORTH * self.computed:
            return None
        y = ordered.record()
        return (atom_of(y),) if atom_of(y).type == t else None

    def read(self, a: Atom) -> Product | None:
        """Through views, and through what nobody else reads: the rest is computed in any case."""
        made = self.maker(a)
        if made is None:
            return None
        alone = self.readers[a] <= 1 and a in self.local[-1]
        if made.op in _PRODUCTS and (self.shared or not alone):
            return None
        before, self.shared = self.shared, self.shared or not alone
        product = super().read(a)
        self.shared = before
        if product is not None and made.op in _PRODUCTS:
            self.inlined.append(a)
            self.computed += elements(a.type)
        return product

    def read_divide(self, node: Apply) -> Product | None:
        """The numerator may be a product; what divides is one factor, looked at through views."""
        above, below = node.args
        if plain_number(below) is not None:
            return None
        axes = tuple(None if d == 1 else self.fresh(d) for d in node.outs[0].type.shape)
        first = self.factor(above, self.stretched(above, axes), node)
        before, self.shared = self.shared, True
        last = self.factor(below, self.stretched(below, axes), node)
        self.shared = before
        return Product([first, Divisor(last.atom, last.letters, last.inner)], axes)

    def read_square(self, node: Apply) -> None:
        """One op, of which two factors would make two."""

    def read_power(self, node: Apply) -> None:
        pass


def elements(t: Type) -> int:
    return volume(range(t.ndim), dict(enumerate(t.shape)))


@dataclass
class Part:
    """A value with a letter for each axis, that multiplies or divides."""

    value: Any
    letters: tuple[Letter, ...]
    divides: bool


class _Ordered:
    """The factors of a product, taken two at a time, those first whose product is smallest."""

    def __init__(self, owner: _Scaling, product: Product) -> None:
        self.owner = owner
        self.sizes = owner.sizes
        self.out = product.axes
        self.number = product.number
        self.parts: list[Part] = []
        for f in product.factors:
            self.add(f, f.letters, False)
        self.numbered = self.number != 1.0 or all(p.divides for p in self.parts)
        self.target: tuple[Letter, ...] = tuple(c for c in self.out if c is not None and any(c in p.letters for p in self.parts))

    def add(self, f: Factor, letters: Sequence[Letter], divides: bool) -> None:
        divides = divides or isinstance(f, Divisor)
        number = plain_number(f.atom)
        if number is not None:
            self.number *= number
        elif f.inner is None:
            self.parts.append(self.part(f.atom, letters, divides))
        else:
            self.number *= f.inner.number
            renamed = {inner: letter for inner, letter in zip(f.inner.axes, letters) if inner is not None}
            for g in f.inner.factors:
                self.add(g, [renamed.get(c, c) for c in g.letters], divides)

    def part(self, a: Atom, letters: Sequence[Letter], divides: bool) -> Part:
        """A factor without the axes of length one that the product does not have; of axes with the same letter the diagonal."""
        ones = tuple(k for k, c in enumerate(letters) if self.sizes[c] == 1 and c not in self.out)
        x = np.squeeze(Value(a), ones) if ones else Value(a)
        own = [c for k, c in enumerate(letters) if k not in ones]
        kept = tuple(dict.fromkeys(own))
        if len(kept) < len(own):
            names = dict(zip(kept, LETTERS))
            x = contract(f"{''.join(names[c] for c in own)}->{''.join(names.values())}", x)
        return Part(x, kept, divides)

    def cost(self) -> int:
        """The elements that are computed."""
        letters = [p.letters for p in self.parts]
        total = 0
        if self.numbered:
            total += self.size(letters[self.smallest()])
        while len(letters) > 1:
            i, j = self.pair(letters)
            joined = self.union(letters[i], letters[j])
            total += self.size(joined)
            letters = [*(own for k, own in enumerate(letters) if k not in (i, j)), joined]
        return total

    def size(self, letters: Sequence[Letter]) -> int:
        return volume(letters, self.sizes)

    def smallest(self) -> int:
        """The factor that takes the number."""
        return min(range(len(self.parts)), key=lambda k: (self.size(self.parts[k].letters), self.parts[k].divides))

    def pair(self, letters: Sequence[Sequence[Letter]]) -> tuple[int, int]:
        return min(combinations(range(len(letters)), 2), key=lambda p: self.size(self.union(letters[p[0]], letters[p[1]])))

    def union(self, a: Sequence[Letter], b: Sequence[Letter]) -> tuple[Letter, ...]:
        return tuple(dict.fromkeys([*a, *b]))

    def record(self) -> Any:
        """The value of the product."""
        parts = list(self.parts)
        if self.numbered:
            k = self.smallest()
            parts[k] = self.scaled(parts[k])
        while len(parts) > 1:
            i, j = self.pair([p.letters for p in parts])
            joined = self.joined(parts[i], parts[j], last=len(parts) == 2)
            rest = [p for k, p in enumerate(parts) if k not in (i, j)]
            parts = [*rest[:i], joined, *rest[i:]]
        y = self.aligned(parts[0], self.target)
        new = tuple(k for k, c in enumerate(self.out) if c not in self.target)
        return np.expand_dims(y, new) if new else y

    def scaled(self, p: Part) -> Part:
        """A factor times the number; a number that it is made of takes it."""
        x, number = p.value, self.number
        if p.divides:
            return Part(number / x, p.letters, False)
        made = self.owner.maker(atom_of(x), "numpy.divide", "numpy.multiply")
        own = plain_number(made.args[0]) if made else None
        if made and own is not None:
            rest = Value(made.args[1])
            y = number * own / rest if made.op == "numpy.divide" else number * own * rest
        else:
            y = -x if number == -1.0 else number * x
        return Part(y, p.letters, False)

    def joined(self, a: Part, b: Part, last: bool) -> Part:
        letters = self.target if last else self.union(a.letters, b.letters)
        if (a.letters == b.letters or not a.letters or not b.letters) and letters in (a.letters, b.letters):
            if a.divides == b.divides:
                return Part(a.value * b.value, letters, a.divides)
            return Part(b.value / a.value if a.divides else a.value / b.value, letters, False)
        if a.divides == b.divides:
            names = dict(zip(dict.fromkeys([*self.target, *letters]), LETTERS))
            terms = ["".join(names[c] for c in p.letters) for p in (a, b)]
            wanted = "".join(names[c] for c in letters)
            if not last:
                wanted = natural_order(terms[0], terms[1], wanted, "".join(names[c] for c in self.target))
            back = {name: c for c, name in names.items()}
            return Part(contract(f"{terms[0]},{terms[1]}->{wanted}", a.value, b.value), tuple(back[c] for c in wanted), a.divides)
        above, below = (b, a) if a.divides else (a, b)
        return Part(self.aligned(above, letters) / self.aligned(below, letters), letters, False)

    def aligned(self, p: Part, letters: Sequence[Letter]) -> Any:
        """With the axes of these letters in their order, of length one where there is none; NumPy supplies leading ones itself."""
        x = p.value
        order = [p.letters.index(c) for c in letters if c in p.letters]
        if order != list(range(len(order))):
            x = np.transpose(x, tuple(order))
        new = [k for k, c in enumerate(letters) if c not in p.letters]
        while new and new[0] == len(letters) - len(order) - len(new) and x.ndim:
            new.pop(0)
        return np.expand_dims(x, tuple(new)) if new and x.ndim else x
