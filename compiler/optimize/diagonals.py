"""Diagonal arrays: what differentiation multiplies by an identity matrix is computed on its diagonal.

A Jacobian is taken with an identity for its cotangents. Such an array is zero unless certain axes have the same index:
``v[k, i] = δ_ki d[k]``. What is linear keeps that form, and where an axis of a pair is summed over the other takes its place:
``Σ_i W_ij δ_ki s_i = W_kj s_k``, and the identity is gone. Only ops that differentiation added are rewritten: in a user's own
``A @ np.eye(n)`` an infinite ``A`` gives NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy

from ..core.builder import Value, atom_of, current
from ..core.builder import recorded as np
from ..core.program import Apply, Atom, Block, Const, Node, Program, Var
from ..core.types import Dim, known
from ..ops import table
from ..ops.contraction import LETTERS, contract, split
from .rewriting import Rewriting
from .rules import uniform

_LARGEST = 1 << 16  # elements of a constant that are searched for a diagonal


def fold_diagonals(program: Program) -> Program:
    """The program with identity matrices of differentiation folded into what they multiply."""
    return _Diagonals().program(program)


@dataclass(frozen=True)
class Diagonal:
    """An array that is zero unless axes of the same class have the same index. ``classes`` has the class of each axis; ``entries`` is the
    array of one axis per class, of length one where nothing varies along it."""

    classes: tuple[int, ...]
    entries: Any

    @property
    def plain(self) -> bool:
        return len(set(self.classes)) == len(self.classes)

    def members(self, c: int) -> list[int]:
        return [k for k, other in enumerate(self.classes) if other == c]


class _Diagonals(Rewriting):
    def __init__(self) -> None:
        super().__init__()
        self.known: dict[Var, Diagonal] = {}
        self.identities: set[Atom] = set()

    def rewrite(self, node: Node) -> Sequence[Atom] | None:
        new = self.followed(node)
        if new is None and isinstance(node, Apply) and any(a in self.known for a in node.args):
            self.b.append(replace(node, args=tuple(map(self.made_dense, node.args))))
            return node.outs
        return new

    def leave(self, block: Block) -> None:
        self.values.update((r, self.made_dense(r)) for r in block.results if not isinstance(r, Const) and r in self.known)

    def made_dense(self, a: Atom) -> Atom:
        """What is not followed reads an array made of its diagonal at once, where the diagonal has an array of its own."""
        d = None if isinstance(a, Const) or a in self.identities else self.known.get(a)
        if d is None:
            return a
        shape, count = a.type.shape, d.entries.ndim
        if d.classes != (*range(count), count - 1) or d.entries.shape[-1] != shape[-1]:
            return a
        with self.b.stamped(section="backward"):
            y = np.broadcast_to(d.entries, shape[:-1]) if d.entries.shape != shape[:-1] else d.entries
            entry = table.find("numpy.diag")
            assert entry is not None
            diagonal = atom_of(current().apply(entry, [y], {"k": 0}))
        return diagonal if diagonal.type == a.type else a

    def followed(self, node: Node) -> Sequence[Atom] | None:
        """What replaces a node that keeps the form, or loses it to a sum."""
        if not isinstance(node, Apply) or node.section not in ("backward", "tangent") or len(node.outs) != 1:
            return None
        if identity := self.identity(node):
            self.known[node.outs[0]] = identity
            self.b.append(node)
            return node.outs
        diagonals = [self.diagonal(a) for a in node.args]
        rule = RULES.get(node.op)
        if rule is None or not any(diagonals):
            return None
        before = len(self.b.nodes)
        found = rule(self, node, diagonals)
        if found is None or found.entries.dtype != node.outs[0].type.dtype:
            del self.b.nodes[before:]
            return None
        if found.plain:
            y = atom_of(self.dense(found, node.outs[0].type.shape))
            if y.type == node.outs[0].type:
                return (y,)
            del self.b.nodes[before:]
            return None
        self.known[node.outs[0]] = found
        self.b.append(node)
        return node.outs

    def identity(self, node: Apply) -> Diagonal | None:
        """The identity of a size that varies, also with both axes taken apart alike."""
        t = node.outs[0].type
        n = t.ndim // 2
        square = node.op == "numpy.eye" and len(node.params["args"]) == 1 and "k" not in node.params["kwargs"]
        apart = node.op == "numpy.reshape" and node.args[0] in self.identities and t.ndim == 2 * n
        if not square and not (apart and t.shape[:n] == t.shape[n:]):
            return None
        if square:
            self.identities.add(node.outs[0])
        classes = (*range(n), *(n + k if t.shape[k] == 1 else k for k in range(n)))
        names = sorted(set(classes))
        ones = Value(Const(numpy.ones((1,) * len(names), t.dtype)))
        return Diagonal(tuple(names.index(c) for c in classes), ones)

    def diagonal(self, a: Atom) -> Diagonal | None:
        return diagonal_of_constant(a) if isinstance(a, Const) else self.known.get(a)

    def dense(self, d: Diagonal, shape: tuple[Dim, ...]) -> Any:
        """An array without pairs of axes, in full."""
        y = d.entries
        if d.classes != tuple(range(len(d.classes))):
            y = np.transpose(y, d.classes)
        return y if y.shape == shape else np.broadcast_to(y, shape)


def diagonal_of_constant(a: Const) -> Diagonal | None:
    """Pairs of axes along which a constant is zero off the diagonal."""
    shape = a.type.shape
    if a.type.ndim < 2 or a.type.dtype.kind not in "fc" or not known(shape) or a.type.size > _LARGEST:
        return None
    value = numpy.asarray(a.value)
    nonzero = value != 0
    classes = list(range(a.type.ndim))
    indices = numpy.ogrid[tuple(slice(n) for n in value.shape)]
    for p in range(a.type.ndim):
        for q in range(p + 1, a.type.ndim):
            if classes[q] == q and shape[p] == shape[q] and shape[p] != 1 and not (nonzero & (indices[p] != indices[q])).any():
                classes[q] = classes[p]
    names = sorted(set(classes))
    if len(names) == len(classes):
        return None
    letters = "".join(LETTERS[names.index(c)] for c in classes)
    entries = numpy.einsum(f"{letters}->{''.join(sorted(set(letters)))}", value)
    number = uniform(Const(entries))
    if number is not None:
        entries = numpy.full((1,) * len(names), number, value.dtype)
    return Diagonal(tuple(names.index(c) for c in classes), Value(Const(numpy.ascontiguousarray(entries))))


Rule = Callable[[_Diagonals, Apply, list[Diagonal | None]], Diagonal | None]
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    def add(function: Rule) -> Rule:
        RULES.update(dict.fromkeys((f"numpy.{name}" for name in names), function))
        return function

    return add


def on_diagonal(x: Any, classes: Sequence[int], ndim: int) -> Any:
    """A dense operand, broadcast to the axes of ``classes``, read where axes of the same class have the same index: one axis per class."""
    missing = ndim - x.ndim
    count = max(classes) + 1
    keep: list[int] = []
    squeezed: list[int] = []
    own: list[int] = []
    for k in range(x.ndim):
        c = classes[missing + k]
        alone = all(x.shape[j] == 1 for j in range(x.ndim) if j != k and classes[missing + j] == c)
        if x.shape[k] == 1 and (not alone or c in own):
            squeezed.append(k)
        else:
            keep.append(k)
            own.append(c)
    if squeezed:
        x = np.squeeze(x, tuple(squeezed))
    present = sorted(set(own))
    if own != present:
        x = contract(f"{''.join(LETTERS[c] for c in own)}->{''.join(LETTERS[c] for c in present)}", x)
    absent = tuple(c for c in range(count) if c not in present)
    return np.expand_dims(x, absent) if absent and x.ndim else x


def apply(node: Apply, operands: Sequence[Any]) -> Any:
    entry = table.find(node.op)
    assert entry is not None
    return current().apply(entry, operands, dict(node.params))


@rule("multiply", "divide", "negative", "positive", "astype", "add", "subtract", "where")
def elementwise(p: _Diagonals, node: Apply, diagonals: list[Diagonal | None]) -> Diagonal | None:
    """Linear elementwise ops: a product with anything, a sum or selection of arrays diagonal in the same axes."""
    ndim = node.outs[0].type.ndim
    wide = [None if d is None else _widened(d, ndim) for d in diagonals]
    found = [d for d in wide if d is not None]
    if not found or any(d.classes != found[0].classes for d in found):
        return None
    classes = found[0].classes
    linear = {"multiply": range(2), "divide": range(1), "where": range(1, 3)}.get(node.op.removeprefix("numpy."), range(len(node.args)))
    if node.op in ("numpy.multiply", "numpy.divide"):
        if not any(wide[k] for k in linear) or (node.op == "numpy.divide" and wide[1]):
            return None
    elif any(wide[k] is None and not _is_zero(node.args[k]) for k in linear):
        return None
    if any(node.outs[0].type.shape[k] != a.type.shape[k - ndim] for a, d in zip(node.args, wide) if d for k in _paired(d)):
        return None
    entries = [d.entries if d else on_diagonal(Value(a), classes, ndim) for a, d in zip(node.args, wide)]
    return Diagonal(classes, apply(node, entries))


def _is_zero(a: Atom) -> bool:
    return isinstance(a, Const) and uniform(a) == 0


def _widened(d: Diagonal, ndim: int) -> Diagonal:
    """With axes of length one in front."""
    missing = ndim - len(d.classes)
    if not missing:
        return d
    entries = np.expand_dims(d.entries, tuple(range(missing)))
    return Diagonal((*range(missing), *(missing + c for c in d.classes)), entries)


def _paired(d: Diagonal) -> list[int]:
    return [k for k, c in enumerate(d.classes) if len(d.members(c)) > 1]


@rule("transpose")
def transpose(p: _Diagonals, node: Apply, diagonals: list[Diagonal | None]) -> Diagonal | None:
    (d,) = diagonals
    assert d is not None
    return _renumbered([d.classes[k] for k in node.params["axes"]], d.entries)


@rule("expand_dims")
def expand_dims(p: _Diagonals, node: Apply, diagonals: list[Diagonal | None]) -> Diagonal | None:
    (d,) = diagonals
    assert d is not None
    n = node.outs[0].type.ndim
    classes = list(d.classes)
    count = d.entries.ndim
    entries = d.entries
    for k in sorted(k % n for k in node.params["axis"]):
        classes.insert(k, count)
        entries = np.expand_dims(entries, count)
        count += 1
    return _renumbered(classes, entries)


@rule("squeeze")
def squeeze(p: _Diagonals, node: Apply, diagonals: list[Diagonal | None]) -> Diagonal | None:
    (d,) = diagonals
    assert d is not None
    gone = {k % len(d.classes) for k in node.params["axis"]}
    return _dropped(d, gone, lambda c: np.squeeze)


@rule("broadcast_to")
def broadcast_to(p: _Diagonals, node: Apply, diagonals: list[Diagonal | None]) -> Diagonal | None:
    (d,) = diagonals
    assert d is not None
    shape, before = node.outs[0].type.shape, node.args[0].type.shape
    missing = len(shape) - len(before)
    return None if any(shape[missing + k] != before[k] for k in _paired(d)) else _widened(d, len(shape))


@rule("sum")
def total(p: _Diagonals, node: Apply, diagonals: list[Diagonal | None]) -> Diagonal | None:
    """Summing over one axis of a pair leaves the other; over both, the sum of the diagonal."""
    (d,) = diagonals
    assert d is not None
    shape = node.args[0].type.shape
    gone = {k % len(shape) for k in node.params["axis"]}
    sizes = {c: shape[k] for k, c in enumerate(d.classes)}

    def add_up(c: int) -> Any:
        if d.entries.shape[c] == sizes[c]:
            return np.sum
        return lambda x, axis: np.squeeze(x, axis) * float(sizes[c])  # type: ignore[arg-type]

    if any(not isinstance(sizes[c], int) and d.entries.shape[c] != sizes[c] for c in range(d.entries.ndim)):
        return None
    reduced = _dropped(d, gone, add_up)
    if reduced is None or not node.params["keepdims"]:
        return reduced
    rest = iter(reduced.classes)
    count = reduced.entries.ndim
    classes = [count + sorted(gone).index(k) if k in gone else next(rest) for k in range(len(shape))]
    return _renumbered(classes, np.expand_dims(reduced.entries, tuple(range(count, count + len(gone)))))


def _dropped(d: Diagonal, gone: set[int], reduce: Callable[[int], Any]) -> Diagonal | None:
    """Without some axes; a class of which none is left is reduced away."""
    classes = [c for k, c in enumerate(d.classes) if k not in gone]
    entries = d.entries
    for c in sorted(set(d.classes) - set(classes), reverse=True):
        entries = reduce(c)(entries, axis=c)
        classes = [k - (k > c) for k in classes]
    return _renumbered(classes, entries) if classes else Diagonal((), entries)


def _renumbered(classes: Sequence[int], entries: Any) -> Diagonal:
    """Classes counted in order of appearance."""
    order = list(dict.fromkeys(classes))
    if order != list(range(len(order))):
        entries = np.transpose(entries, tuple(order))
    return Diagonal(tuple(order.index(c) for c in classes), entries)


@rule("einsum")
def einsum(p: _Diagonals, node: Apply, diagonals: list[Diagonal | None]) -> Diagonal | None:
    """Letters of axes that must have the same index are one letter."""
    operands, target = split(node.params["subscripts"])
    one = united(operands, target, diagonals)
    sizes = {one[letter]: size for term, a in zip(operands, node.args) for letter, size in zip(term, a.type.shape)}
    terms: list[str] = []
    arrays: list[Any] = []
    for term, a, d in zip(operands, node.args, diagonals):
        x: Any = Value(a) if d is None else d.entries
        names = [one[letter] for letter in term] if d is None else [one[term[d.members(c)[0]]] for c in range(d.entries.ndim)]
        ones = tuple(k for k, letter in enumerate(names) if x.shape[k] == 1 and sizes[letter] != 1)
        arrays.append(np.squeeze(x, ones) if ones else x)
        terms.append("".join(letter for k, letter in enumerate(names) if k not in ones))
    out = list(dict.fromkeys(one[letter] for letter in target))
    had = "".join(terms)
    number = 1.0
    for letter in dict.fromkeys(one.values()):
        if letter not in had and letter not in out:
            size = sizes[letter]
            if not isinstance(size, int):
                return None
            number *= size
    y = contract(f"{','.join(terms)}->{''.join(letter for letter in out if letter in had)}", *arrays)
    y = y if number == 1.0 else number * y
    absent = tuple(k for k, letter in enumerate(out) if letter not in had)
    return Diagonal(tuple(out.index(one[letter]) for letter in target), np.expand_dims(y, absent) if absent else y)


def united(operands: Sequence[str], target: str, diagonals: Sequence[Diagonal | None]) -> dict[str, str]:
    """For each letter the one that stands for all that must have the same index: one of the result, if there is."""
    leader = {letter: letter for term in operands for letter in term}

    def find(letter: str) -> str:
        while leader[letter] != letter:
            letter = leader[letter]
        return letter

    for term, d in zip(operands, diagonals):
        for c in range(d.entries.ndim) if d else ():
            first, *rest = (term[k] for k in d.members(c))  # type: ignore[union-attr]
            for other in rest:
                a, b = sorted((find(first), find(other)), key=lambda letter: letter not in target)
                leader[b] = a
    return {letter: find(letter) for letter in leader}
