"""Branches: a result that is the same on both sides needs no branch; one that is True on one side and False on the other is the test, or
not the test. Inside a branch its test is known. Two branches with the same test, one after the other, are one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..core.builder import atom_of, recorded
from ..core.program import Apply, Atom, Block, Const, If, Node, Program, Var
from .rewriting import Rewriting


def simplify_branches(program: Program) -> Program:
    """The program with such results replaced; dead code then drops them from their branch."""
    return _Branches(unite=False).program(program)


def unite_branches(program: Program) -> Program:
    """The same, with neighbours made one: not before the program is batched, which reports each test by its line."""
    return _Branches(unite=True).program(program)


class _Branches(Rewriting):
    def __init__(self, unite: bool) -> None:
        super().__init__()
        self.unite = unite
        self.opposites: dict[Atom, list[Var]] = {}  # what is `not` a test

    def visit(self, node: Node, body: list[Node]) -> None:
        if self.unite and isinstance(node, If) and body and isinstance(first := body[-1], If):
            if first.pred is self.atom(node.pred) and (first.section, first.helper) == (node.section, node.helper):
                body.pop()
                node = _one(first, node)
        super().visit(node, body)
        new = body[-1] if body else None
        if isinstance(new, Apply) and new.op == "numpy.logical_not":
            self.opposites.setdefault(new.args[0], []).append(new.outs[0])
        if isinstance(new, If) and isinstance(node, If) and new.outs is node.outs:
            self.replace_results(new)

    def updated(self, node: Node) -> Node:
        if not isinstance(node, If):
            return super().updated(node)
        pred = self.atom(node.pred)
        if isinstance(pred, Const):
            return super().updated(node)
        blocks = []
        for block, holds in ((node.then, True), (node.orelse, False)):
            known: dict[Atom, bool] = {pred: holds, node.pred: holds, **dict.fromkeys(self.opposites.get(pred, ()), not holds)}
            before = {v: self.values.get(v) for v in known if isinstance(v, Var)}
            self.values.update({v: Const(np.bool_(known[v]), v.type) for v in before})
            blocks.append(self.block(block))
            for v, old in before.items():
                if old is None:
                    del self.values[v]
                else:
                    self.values[v] = old
        return replace(node, pred=pred, then=blocks[0], orelse=blocks[1])

    def replace_results(self, node: If) -> None:
        inside = {v for block in (node.then, node.orelse) for n in block.body for v in n.outs}
        for out, a, b in zip(node.outs, node.then.results, node.orelse.results, strict=True):
            same = _same(a, b, inside)
            if same is None and _truth(a) is not None and _truth(b) is (not _truth(a)):
                same = node.pred if _truth(a) else atom_of(recorded.logical_not(self.b.wrap(node.pred)))
            if same is not None and same.type == out.type:
                self.values[out] = same


def _one(first: If, second: If) -> If:
    """Two branches with one test as one."""
    sides = []
    for a, b in ((first.then, second.then), (first.orelse, second.orelse)):
        reading = Rewriting()
        reading.values.update(zip(first.outs, a.results, strict=True))
        b = reading.block(b)
        sides.append(Block((), (*a.body, *b.body), (*a.results, *b.results)))
    return replace(first, outs=(*first.outs, *second.outs), then=sides[0], orelse=sides[1])


def _same(a: Atom, b: Atom, inside: set[Var]) -> Atom | None:
    """What both sides give, if it exists outside of them."""
    if isinstance(a, Var):
        return a if a is b and a not in inside else None
    if isinstance(b, Const) and not a.type.shape and a.type == b.type and repr(a.value) == repr(b.value):
        return a
    return None


def _truth(a: Atom) -> bool | None:
    return bool(a.value) if isinstance(a, Const) and a.type.dtype.kind == "b" and not a.type.shape else None
