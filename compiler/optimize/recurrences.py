"""Contractions moved out of loops: what each iteration does to its own slice is done to all slices at once.

Before the loop: a matrix product of the iteration's slice with something that never changes (a recurrent network's inputs times their
weights). After the loop: a carry that only adds up products; the factors are stacked instead, and one contraction over the iterations gives
the sum (the weights' gradient). Both pay only for arrays larger than a NumPy call, so small loops stay as they are written. The order of
additions changes as for any contraction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..core.builder import Value, atom_of
from ..core.program import Apply, Atom, Block, Const, For, Node, Program, Var, node_vars
from ..core.types import Dim, Type
from ..ops.contraction import LETTERS, contract, join, split
from ..ops.contraction_path import nominal, volume
from ..ops.indexing import Slot
from .rewriting import Rewriting

_WORTH = 2048  # elements; less takes no longer than the call that computes it
_FEW = 4  # iterations
_FULL = slice(None)


def move_contractions(program: Program) -> Program:
    """The program with contractions moved before and after loops."""
    return _Recurrences().program(program)


@dataclass
class Slices:
    """A value that is, in iteration i, the i-th slice of a whole along ``axis``; no axis if it is the same in all iterations."""

    whole: Any
    axis: int | None


class _Loop:
    """What is needed to know of one loop."""

    def __init__(self, node: For) -> None:
        self.node = node
        self.index = node.body.params[0]
        self.carries = node.body.params[1 : 1 + node.carried]
        self.xs = dict(zip(node.body.params[1 + node.carried :], node.xs))
        self.makers = {n.outs[0]: n for n in node.body.body if isinstance(n, Apply) and len(n.outs) == 1}
        self.inside = {*node.body.params, *(v for n in node.body.body for v in n.outs)}
        self.readers: Counter[Atom] = Counter(a for n in node.body.body for a in node_vars(n))
        self.readers.update(node.body.results)

    @property
    def length(self) -> Dim:
        assert not isinstance(self.node.length, (Var, Const))
        return self.node.length

    def slices(self, a: Atom) -> Slices | None:
        """How an operand of the body is made of slices of something outside."""
        if isinstance(a, Const) or a not in self.inside:
            return Slices(Value(a), None)
        if a in self.xs:
            return Slices(Value(self.xs[a]), 0)
        made = self.makers.get(a)
        if made is None or made.op != "pergrad.getitem" or made.args[1:] != (self.index,) or made.args[0] in self.inside:
            return None
        items = made.params["index"]
        if any(i not in (_FULL, Slot(0)) for i in items):
            return None
        axis = items.index(Slot(0))
        whole = Value(made.args[0])
        size = whole.shape[axis]
        if size == self.length:
            return Slices(whole, axis)
        if isinstance(size, int) and isinstance(self.length, int) and size > self.length:
            return Slices(whole[(*[_FULL] * axis, slice(self.length))], axis)
        return None


class _Recurrences(Rewriting):
    def rewrite(self, node: Node) -> Sequence[Atom] | None:
        if not isinstance(node, For) or isinstance(node.length, (Var, Const)) or nominal(node.length) < _FEW:
            return None
        before = before_loop(node)
        after = after_loop(before, self)
        if after is not None:
            return after
        if before is node:
            return None
        self.b.append(before)
        return before.outs


def before_loop(node: For) -> For:
    """The loop, reading products with what does not change from arrays computed before it."""
    loop = _Loop(node)
    body: list[Node] = []
    for n in node.body.body:
        moved = _product_before(loop, n) if isinstance(n, Apply) and n.op == "numpy.einsum" else None
        body.append(n if moved is None else moved)
    if all(a is b for a, b in zip(body, node.body.body)):
        return node
    return replace(node, body=replace(node.body, body=tuple(body)))


def _product_before(loop: _Loop, n: Apply) -> Apply | None:
    """A read of the product of all slices, in place of one of the product of each."""
    terms, out = split(n.params["subscripts"])
    found = [loop.slices(a) for a in n.args]
    if len(n.args) != 2 or any(s is None for s in found) or sum(s.axis is not None for s in found if s) != 1:
        return None
    summed = [c for c in terms[0] if c in terms[1] and c not in out]
    if not summed or nominal(loop.length) * volume(range(n.outs[0].type.ndim), dict(enumerate(n.outs[0].type.shape))) < _WORTH:
        return None
    letter, terms = _with_iterations(terms, out, found)  # type: ignore[arg-type]
    (axis,) = (s.axis for s in found if s and s.axis is not None)
    own = next(t for t in terms if letter in t)
    place = axis if out.startswith(own[:axis]) else 0
    whole = contract(join(terms, out[:place] + letter + out[place:]), *(s.whole for s in found if s))
    index = (*[_FULL] * place, Slot(0), *[_FULL] * (len(out) - place))
    return replace(n, op="pergrad.getitem", args=(atom_of(whole), loop.index), params={"index": index})


def _with_iterations(terms: Sequence[str], out: str, found: Sequence[Slices]) -> tuple[str, list[str]]:
    letter = next(c for c in LETTERS if c not in out and all(c not in t for t in terms))
    return letter, [t if s.axis is None else t[: s.axis] + letter + t[s.axis :] for t, s in zip(terms, found)]


def after_loop(node: For, rewriting: Rewriting) -> tuple[Atom, ...] | None:
    """The loop without the carries that only add up products, and its results with their sums."""
    loop = _Loop(node)
    sums = {k: products for k in range(node.carried) if (products := _products(loop, k)) is not None}
    if not sums:
        return None
    stacked: dict[Atom, Var] = dict(zip(node.body.results[node.carried :], node.outs[node.carried :]))
    added: list[Atom] = []

    def slices(a: Atom) -> Slices:
        found = loop.slices(a)
        if found is None:
            if a not in stacked:
                stacked[a] = Var(Type(a.type.dtype, (loop.length, *a.type.shape)), a.name)
                added.append(a)
            found = Slices(Value(stacked[a]), 0)
        return found

    operands = {k: [[slices(a) for a in p.args] for p in products] for k, products in sums.items()}
    kept = [k for k in range(node.carried) if k not in sums]
    carries = [loop.carries[k] for k in kept]
    results = (*(node.body.results[k] for k in kept), *node.body.results[node.carried :], *added)
    body = Block((loop.index, *carries, *node.body.params[1 + node.carried :]), node.body.body, results)
    outs = (*(node.outs[k] for k in kept), *node.outs[node.carried :], *(stacked[a] for a in added))
    rewriting.b.append(replace(node, outs=outs, inits=tuple(node.inits[k] for k in kept), body=body))
    totals: dict[int, Atom] = {}
    for k, products in sums.items():
        total = None
        for p, found in zip(products, operands[k]):
            terms, out = split(p.params["subscripts"])
            _, terms = _with_iterations(terms, out, found)
            term = contract(join(terms, out), *(s.whole for s in found))
            total = term if total is None else total + term
        totals[k] = atom_of(Value(node.inits[k]) + total)
        _name(totals[k], node.outs[k])
    return tuple(totals.get(k, v) for k, v in enumerate(node.outs))


def _name(a: Atom, v: Var) -> None:
    if isinstance(a, Var) and a.name is None:
        a.name = v.name


def _products(loop: _Loop, k: int) -> list[Apply] | None:
    """The products that a carry adds up in one iteration, if it does nothing else and they are larger than their factors."""
    products = list(_added(loop, loop.node.body.results[k], loop.carries[k]))
    if not products or any(p is None for p in products):
        return None
    for p in products:
        assert p is not None
        size = volume(range(p.outs[0].type.ndim), dict(enumerate(p.outs[0].type.shape)))
        factors = [volume(range(a.type.ndim), dict(enumerate(a.type.shape))) for a in p.args]
        if size < _WORTH or sum(factors) > size or p.outs[0].type != loop.carries[k].type:
            return None
        if all((s := loop.slices(a)) is not None and s.axis is None for a in p.args):
            return None
    return [p for p in products if p is not None]


def _added(loop: _Loop, total: Atom, carry: Var) -> Iterator[Apply | None]:
    """The contractions added to a carry, last first; a None if it is anything else."""
    while total is not carry:
        made = None if isinstance(total, Const) else loop.makers.get(total)
        if made is None or made.op != "numpy.add" or loop.readers[total] != 1:
            yield None
            return
        rest, value = made.args if _leads(loop, made.args[0], carry) else made.args[::-1]
        product = None if isinstance(value, Const) else loop.makers.get(value)
        if product is None or product.op != "numpy.einsum" or loop.readers[value] != 1 or any(a.type.weak for a in product.args):
            yield None
            return
        yield product
        total = rest
    if loop.readers[carry] != 1:
        yield None


def _leads(loop: _Loop, a: Atom, carry: Var) -> bool:
    """Whether a sum goes back to the carry."""
    while a is not carry:
        made = None if isinstance(a, Const) else loop.makers.get(a)
        if made is None or made.op != "numpy.add":
            return False
        a = made.args[0]
    return True
