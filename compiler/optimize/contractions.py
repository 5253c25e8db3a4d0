"""Contractions: sums of products on letters, with the products they read written into them.

A contraction is ``np.einsum``, a sum or a mean; what it reads is looked through as far as it is a product (``products.py``), never through
a sum. Where that is cheaper (``contraction_path``) the large product is not made: with ``g = x[:, None] * d``, ``(g * g).sum()`` becomes
``(x * x).sum() * (d * d).sum()``, and ``Σ_b c_b g_b`` one matrix product.

Since it changes the order of additions, what a user's own sum reads is looked through only if that spares an array larger than all that
the new contraction reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..core.builder import Value, atom_of
from ..core.builder import recorded as np
from ..core.program import Apply, Atom, Node, Program
from ..core.types import product as total_size
from ..ops.contraction import LETTERS, contract, split
from ..ops.contraction_path import cheapest_pair, kept, natural_order, path_cost, volume
from .products import MANY, Factor, Letter, ProductReading, plain_number

Letters = tuple[Letter, ...]
Axes = tuple[Letter | None, ...]


def fuse_contractions(program: Program) -> Program:
    """The program with products inlined into the contractions that read them where that is cheaper, and contractions of several operands
    done two at a time."""
    return _Contractions(program).program(program)


class _Contractions(ProductReading):
    def rewrite(self, node: Node) -> Sequence[Atom] | None:
        if not isinstance(node, Apply) or node.op not in ("numpy.einsum", "numpy.sum", "numpy.mean"):
            return None
        t = node.outs[0].type
        if t.dtype.kind not in "fc" or any(a.type.dtype != t.dtype and not a.type.weak for a in node.args):
            return None
        self.budget = MANY
        factors, out = self.einsum(node) if node.op == "numpy.einsum" else self.reduction(node)
        plan = self.best(_Plan(self, factors, out), node)
        if plan is None:
            return None
        y = plan.record()
        if y is not None and node.op == "numpy.mean":
            count = total_size(node.args[0].type.shape[k] for k in node.params["axis"])
            y = y / count if isinstance(count, int) else None
        return None if y is None or atom_of(y).type != t else (atom_of(y),)

    def einsum(self, node: Apply) -> tuple[list[Factor], Axes]:
        operands, target = split(node.params["subscripts"])
        letters = self.letters_of(node)
        factors = [self.factor(a, tuple(letters[c] for c in term), node) for a, term in zip(node.args, operands)]
        return factors, tuple(letters[c] for c in target)

    def reduction(self, node: Apply) -> tuple[list[Factor], Axes]:
        (a,) = node.args
        axes = self.axes(a)
        summed = {k % len(axes) for k in node.params["axis"]} if axes else set()
        out = tuple(None if k in summed else c for k, c in enumerate(axes) if k not in summed or node.params["keepdims"])
        return [self.factor(a, axes, node)], out

    def best(self, current: _Plan, node: Apply) -> _Plan | None:
        """The cheapest plan, if it is worth another order of additions; None to leave the node as it is."""
        plan = current.inlined(())
        for atom in list(plan.seen):
            other = plan.inlined((*plan.whole, atom))
            if other.cost() <= plan.cost():
                plan = other
        if plan.cost() < current.cost() and (node.section in ("backward", "tangent") or plan.spares()):
            return plan
        several = node.op == "numpy.einsum" and len(current.leaves) > 2
        fewer = len(current.leaves) < len([a for a in node.args if a.type.ndim])
        return current if several or fewer else None


@dataclass
class _Leaf:
    atom: Atom
    letters: Letters


class _Plan:
    """A contraction to ``out``, all products inlined but those in ``whole`` (None: nothing inlined)."""

    def __init__(self, owner: ProductReading, factors: list[Factor], out: Axes, whole: Sequence[Atom] | None = None) -> None:
        self.owner = owner
        self.factors = factors
        self.out = out
        self.whole = () if whole is None else tuple(whole)
        self.number = 1.0
        self.leaves: list[_Leaf] = []
        self.seen: dict[Atom, None] = {}
        """The products that were inlined, outermost first."""
        self.made: dict[Atom, float] = {}
        """The products that must be made for this contraction alone, with the cost of each."""
        for f in factors:
            self.add(f, f.letters, whole is None)

    def inlined(self, whole: Sequence[Atom]) -> _Plan:
        return _Plan(self.owner, self.factors, self.out, whole)

    def add(self, f: Factor, letters: Letters, stop: bool) -> None:
        number = plain_number(f.atom)
        if number is not None:
            self.number *= number
        elif f.inner is None or stop or f.atom in self.whole:
            self.leaves.append(_Leaf(f.atom, letters))
            self.make(f)
        else:
            self.seen[f.atom] = None
            self.number *= f.inner.number
            renamed = {inner: letter for inner, letter in zip(f.inner.axes, letters) if inner is not None}
            for g in f.inner.factors:
                self.add(g, tuple(renamed.get(c, c) for c in g.letters), False)

    def make(self, f: Factor) -> None:
        """Count what it costs to have a product that nobody else reads."""
        if f.inner is None or not f.inner.single or f.atom in self.made:
            return
        sizes = self.owner.sizes
        axes = [c for c in f.inner.axes if c is not None]
        cost = path_cost([g.letters for g in f.inner.factors], axes, sizes)
        if len(f.inner.factors) == 1 and f.inner.number != 1.0:
            cost = 3.0 * volume(axes, sizes)
        self.made[f.atom] = cost
        for g in f.inner.factors:
            self.make(g)

    def cost(self) -> float:
        if any(not isinstance(self.owner.sizes[c], int) for c in self.missing()):
            return float("inf")
        out = [c for c in self.out if c is not None]
        return path_cost([leaf.letters for leaf in self.leaves], out, self.owner.sizes) + sum(self.made.values())

    def spares(self) -> bool:
        """Whether an inlined product is larger than every factor."""
        largest = max((volume(leaf.letters, self.owner.sizes) for leaf in self.leaves), default=0)
        return any(volume(range(a.type.ndim), dict(enumerate(a.type.shape))) > largest for a in self.seen)

    def missing(self) -> list[Letter]:
        """Summed letters that no factor has: the sum is a product with their size."""
        had = {c for leaf in self.leaves for c in leaf.letters}
        summed = dict.fromkeys(c for f in self.factors for c in f.letters if c not in self.out)
        return [c for c in summed if c not in had]

    # recording

    def record(self) -> Any:
        """The value of the contraction, two factors at a time."""
        sizes = self.owner.sizes
        number = self.number * total_size(sizes[c] for c in self.missing())
        scalars: list[Any] = [Value(leaf.atom) for leaf in self.leaves if not leaf.letters]
        leaves = [self.squeezed(leaf) for leaf in self.leaves if leaf.letters]
        had = {c for _, letters in leaves for c in letters}
        target = tuple(c for c in self.out if c in had)
        if number != 1.0:
            scalars.insert(0, number)
        if not leaves:
            return None
        if scalars:
            k = min(range(len(leaves)), key=lambda n: volume(leaves[n][1], sizes))
            if volume(leaves[k][1], sizes) < volume(target, sizes):
                leaves[k] = (_scaled(scalars, leaves[k][0]), leaves[k][1])
                scalars = []
        while len(leaves) > 2:
            letters = [own for _, own in leaves]
            i, j = cheapest_pair(letters, target, sizes)
            joined = self.joined([leaves[i], leaves[j]], tuple(kept(letters, i, j, target)), target)
            rest = [leaf for k, leaf in enumerate(leaves) if k not in (i, j)]
            leaves = [*rest[:i], joined, *rest[i:]]
        y = _scaled(scalars, self.joined(leaves, target, target, last=True)[0])
        return self.spread(y, target)

    def squeezed(self, leaf: _Leaf) -> tuple[Any, Letters]:
        """Without the axes of length one that are only there to be summed."""
        others = {c for other in self.leaves if other is not leaf for c in other.letters}
        axes = tuple(k for k, c in enumerate(leaf.letters) if self.owner.sizes[c] == 1 and c not in others and c not in self.out)
        if not axes:
            return Value(leaf.atom), leaf.letters
        return np.squeeze(Value(leaf.atom), axes), tuple(c for k, c in enumerate(leaf.letters) if k not in axes)

    def joined(self, leaves: list[tuple[Any, Letters]], result: Letters, target: Letters, last: bool = False) -> Any:
        """One or two factors contracted to the letters of ``result``, in an order that needs no transposition unless it is the last."""
        names = dict(zip(dict.fromkeys(c for c in [*target, *(c for _, own in leaves for c in own)]), LETTERS))
        texts = ["".join(names[c] for c in own) for _, own in leaves]
        wanted = "".join(names[c] for c in result)
        if not last:
            wanted = natural_order(texts[0], texts[1], wanted, "".join(names[c] for c in target))
        letters = {name: c for c, name in names.items()}
        y = contract(f"{','.join(texts)}->{wanted}", *(x for x, _ in leaves))
        return y, tuple(letters[c] for c in wanted)

    def spread(self, y: Any, target: Letters) -> Any:
        """With the axes of the result that no factor has."""
        new = tuple(k for k, c in enumerate(self.out) if c not in target)
        if not new:
            return y
        shape = tuple(1 if c is None else self.owner.sizes[c] for c in self.out)
        y = np.expand_dims(y, new)
        return y if y.shape == shape else np.broadcast_to(y, shape)


def _scaled(scalars: Sequence[Any], x: Any) -> Any:
    """Scalars times an array, multiplied with one another first."""
    if not scalars:
        return x
    scale, *rest = scalars
    for s in rest:
        scale = scale * s
    return scale * x
