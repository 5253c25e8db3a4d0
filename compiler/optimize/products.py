"""Reading values as products on letters: multiplications, squares, minus signs, transposes, broadcasts, axes of length one, and
contractions without a sum."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass

from ..core.program import Apply, Atom, Block, Const, Node, Program, Var, node_vars, walk
from ..core.types import Dim
from ..ops.contraction import split
from .rewriting import Rewriting
from .rules import uniform

Letter = int
MANY = 32  # factors that one contraction is looked through to


@dataclass
class Factor:
    """An atom and the letters of its axes; ``inner`` is how it is itself a product, if it is."""

    atom: Atom
    letters: tuple[Letter, ...]
    inner: Product | None = None


@dataclass
class Product:
    """A number times factors. ``axes`` has a letter per axis of the result, None for an axis of length one that no factor has."""

    factors: list[Factor]
    axes: tuple[Letter | None, ...]
    number: float = 1.0
    single: bool = False
    """Whether nothing else reads it, so that it need not be made once it is inlined."""


class ProductReading(Rewriting):
    """A pass that reads values as products. Letters are numbers, new for each reading; ``sizes`` has their sizes."""

    def __init__(self, program: Program) -> None:
        super().__init__()
        self.readers: Counter[Atom] = Counter()
        for node in walk(program):
            self.readers.update(list(dict.fromkeys(node_vars(node))))
        self.readers.update(program.results)
        self.serial = itertools.count()
        self.sizes: dict[Letter, Dim] = {}
        self.local: list[set[Var]] = []
        self.budget = 0

    def enter(self, block: Block) -> None:
        self.local.append(set())

    def leave(self, block: Block) -> None:
        self.local.pop()

    def visit(self, node: Node, body: list[Node]) -> None:
        before = len(body)
        super().visit(node, body)
        for v in node.outs:
            self.readers[self.atom(v)] = max(self.readers[self.atom(v)], self.readers[v])
        self.local[-1].update(v for made in body[before:] for v in made.outs)

    def fresh(self, size: Dim) -> Letter:
        letter = next(self.serial)
        self.sizes[letter] = size
        return letter

    def axes(self, a: Atom) -> tuple[Letter, ...]:
        return tuple(self.fresh(d) for d in a.type.shape)

    def letters_of(self, node: Apply) -> dict[str, Letter]:
        """Letters for those of an einsum."""
        letters: dict[str, Letter] = {}
        for term, a in zip(split(node.params["subscripts"])[0], node.args):
            for c, size in zip(term, a.type.shape):
                if c not in letters:
                    letters[c] = self.fresh(size)
        return letters

    def factor(self, a: Atom, letters: tuple[Letter, ...], node: Apply) -> Factor:
        """An operand of a node, read as a product if it is one of the same dtype."""
        if a.type.weak or a.type.dtype != node.outs[0].type.dtype:
            return Factor(a, letters)
        return Factor(a, letters, self.read(a))

    def read(self, a: Atom) -> Product | None:
        """How an atom is a product of others."""
        made = self.maker(a)
        if made is None or len(made.outs) != 1 or self.budget <= 0:
            return None
        self.budget -= 1
        reader = getattr(self, "read_" + made.op.removeprefix("numpy."), None)
        product: Product | None = reader(made) if reader else None
        if product is not None:
            product.single = self.readers[a] <= 1 and a in self.local[-1]
        return product

    def read_einsum(self, node: Apply) -> Product | None:
        operands, target = split(node.params["subscripts"])
        if any(c not in target for term in operands for c in term):
            return None
        letters = self.letters_of(node)
        factors = [self.factor(a, tuple(letters[c] for c in term), node) for a, term in zip(node.args, operands)]
        return Product(factors, tuple(letters[c] for c in target))

    def read_multiply(self, node: Apply) -> Product | None:
        shape = node.outs[0].type.shape
        axes = tuple(None if d == 1 else self.fresh(d) for d in shape)
        factors: list[Factor] = []
        number = 1.0
        for a in node.args:
            known = plain_number(a)
            if known is not None:
                number *= known
            elif a.type.dtype != node.outs[0].type.dtype:
                return None
            else:
                factors.append(self.factor(a, self.stretched(a, axes), node))
        return Product(factors, axes, number)

    def stretched(self, a: Atom, axes: tuple[Letter | None, ...]) -> tuple[Letter, ...]:
        """The letters of an operand that is broadcast to these axes: its axes of length one have letters of their own."""
        own = axes[len(axes) - a.type.ndim :]
        return tuple(self.fresh(1) if d == 1 or c is None else c for c, d in zip(own, a.type.shape))

    def read_negative(self, node: Apply) -> Product:
        return self.repeated(node, 1, -1.0)

    def read_square(self, node: Apply) -> Product | None:
        return self.repeated(node, 2)

    def read_power(self, node: Apply) -> Product | None:
        return self.repeated(node, 2) if plain_number(node.args[1]) == 2 and node.args[1].type.ndim == 0 else None

    def repeated(self, node: Apply, times: int, number: float = 1.0) -> Product:
        axes = self.axes(node.args[0])
        return Product([self.factor(node.args[0], axes, node) for _ in range(times)], axes, number)

    def read_transpose(self, node: Apply) -> Product:
        axes = self.axes(node.args[0])
        return Product([self.factor(node.args[0], axes, node)], tuple(axes[k] for k in node.params["axes"]))

    def read_expand_dims(self, node: Apply) -> Product:
        axes = self.axes(node.args[0])
        n = node.outs[0].type.ndim
        new = {k % n for k in node.params["axis"]}
        old = iter(axes)
        return Product([self.factor(node.args[0], axes, node)], tuple(None if k in new else next(old) for k in range(n)))

    def read_squeeze(self, node: Apply) -> Product:
        axes = self.axes(node.args[0])
        gone = {k % len(axes) for k in node.params["axis"]}
        return Product([self.factor(node.args[0], axes, node)], tuple(c for k, c in enumerate(axes) if k not in gone))

    def read_broadcast_to(self, node: Apply) -> Product:
        axes = tuple(self.fresh(d) for d in node.outs[0].type.shape)
        return Product([self.factor(node.args[0], self.stretched(node.args[0], axes), node)], axes)

    def read_reshape(self, node: Apply) -> Product | None:
        """Only where axes of length one come or go."""
        before, after = node.args[0].type.shape, node.outs[0].type.shape
        if [d for d in before if d != 1] != [d for d in after if d != 1]:
            return None
        axes = self.axes(node.args[0])
        long = iter([c for c, d in zip(axes, before) if d != 1])
        return Product([self.factor(node.args[0], axes, node)], tuple(None if d == 1 else next(long) for d in after))


def plain_number(a: Atom) -> float | None:
    """The real number that a constant is everywhere."""
    number = uniform(a) if isinstance(a, Const) else None
    return float(number) if isinstance(number, (int, float)) and not isinstance(number, bool) else None


__all__ = ["Factor", "Letter", "Product", "ProductReading", "plain_number"]
