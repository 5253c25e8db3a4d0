"""Products in the order that computes the least: numbers, minus signs and small factors multiply one another before they meet a large one.

``-(s[:, None] * x)`` is ``(-s)[:, None] * x``, and ``(c[:, None] * x) * s[:, None]`` is ``(c * s)[:, None] * x``. The value may differ
in its last bit, so only products that differentiation added are rearranged, and only where that spares elements.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..core.builder import atom_of
from ..core.program import Apply, Atom, Node, Program
from ..core.types import Type
from ..ops.contraction_path import cheapest_pair, kept, volume
from .contractions import Plan
from .products import MANY, Product, ProductReading

_PRODUCTS = ("numpy.multiply", "numpy.negative", "numpy.einsum")
_WORTH = 0.9  # of the elements computed before


def scale_small_factors(program: Program) -> Program:
    """The program with each product of several factors computed from the small ones to the large ones."""
    return _Scaling(program).program(program)


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
        plan = Plan(self, product.factors, product.axes, ())
        plan.number *= product.number
        if cost(plan) > _WORTH * self.computed:
            return None
        y = plan.record()
        return None if y is None or atom_of(y).type != t else (atom_of(y),)

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

    def read_square(self, node: Apply) -> None:
        """One op, of which two factors would make two."""

    def read_power(self, node: Apply) -> None:
        pass


def elements(t: Type) -> int:
    return volume(range(t.ndim), dict(enumerate(t.shape)))


def cost(plan: Plan) -> int:
    """The elements that a plan computes."""
    sizes = plan.owner.sizes
    out = [c for c in plan.out if c is not None]
    leaves = [leaf.letters for leaf in plan.leaves if leaf.letters]
    total = 0
    if plan.number != 1.0 or len(leaves) < len(plan.leaves):
        total += min((volume(letters, sizes) for letters in leaves), default=0)
    while len(leaves) > 1:
        i, j = cheapest_pair(leaves, out, sizes)
        joined = kept(leaves, i, j, out)
        total += volume(joined, sizes)
        leaves = [*(letters for k, letters in enumerate(leaves) if k not in (i, j)), tuple(joined)]
    return total
