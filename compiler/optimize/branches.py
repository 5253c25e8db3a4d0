"""Branches: a result that is the same on both sides needs no branch; one that is True on one side and False on the other is the test."""

from __future__ import annotations

from ..core.program import Atom, Const, If, Node, Program, Var
from .rewriting import Rewriting


def simplify_branches(program: Program) -> Program:
    """The program with such results replaced; dead code then drops them from their branch."""
    return _Branches().program(program)


class _Branches(Rewriting):
    def updated(self, node: Node) -> Node:
        node = super().updated(node)
        if isinstance(node, If):
            inside = {v for block in (node.then, node.orelse) for n in block.body for v in n.outs}
            for out, a, b in zip(node.outs, node.then.results, node.orelse.results, strict=True):
                same = _same(a, b, inside)
                if same is None and _truth(a) is True and _truth(b) is False:
                    same = node.pred
                if same is not None and same.type == out.type:
                    self.values[out] = same
        return node


def _same(a: Atom, b: Atom, inside: set[Var]) -> Atom | None:
    """What both sides give, if it exists outside of them."""
    if isinstance(a, Var):
        return a if a is b and a not in inside else None
    if isinstance(b, Const) and not a.type.shape and a.type == b.type and repr(a.value) == repr(b.value):
        return a
    return None


def _truth(a: Atom) -> bool | None:
    return bool(a.value) if isinstance(a, Const) and a.type.dtype.kind == "b" and not a.type.shape else None
