"""Loops: carried values that never change are the values they start from; what is the same in each turn is that after the loop too."""

from __future__ import annotations

from ..core.program import Atom, For, Node, Program, Var, While
from .rewriting import Rewriting


def simplify_loops(program: Program) -> Program:
    """The program with invariant carries replaced by their initial values, and equal rows by what they are."""
    return _Loops().program(program)


class _Loops(Rewriting):
    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[Atom, Atom] = {}  # what each row is of an array whose rows are equal

    def updated(self, node: Node) -> Node:
        if isinstance(node, (For, While)):
            self.carries(node)
        if isinstance(node, For):
            self.stacked(node)
        return super().updated(node)

    def stacked(self, node: For) -> None:
        for x, row in zip(node.xs, node.body.params[1 + node.carried :], strict=True):
            same = self.rows.get(self.atom(x))
            if same is not None and same.type == row.type:
                self.values[row] = same
        inside = _inside(node)
        for y, result in zip(node.outs[node.carried :], node.body.results[node.carried :], strict=True):
            if isinstance(result, Var) and result not in inside:
                self.rows[y] = self.atom(result)

    def carries(self, node: For | While) -> None:
        offset = 1 if isinstance(node, For) else 0
        runs = isinstance(node, For) and isinstance(node.length, int) and node.length > 0
        inside = _inside(node)
        for k, init in enumerate(node.inits):
            param = node.body.params[offset + k]
            init, result = self.atom(init), node.body.results[k]
            if runs and result not in inside and result.type == node.outs[k].type:
                self.values[node.outs[k]] = self.atom(result)
            if node.body.results[k] is not param or init.type != param.type:
                continue
            self.values[param] = init
            if isinstance(node, While):
                self.values[node.cond.params[k]] = init
            if node.outs[k].type == init.type:
                self.values[node.outs[k]] = init


def _inside(node: For | While) -> set[Atom]:
    """The variables of one turn."""
    return {*node.body.params, *(v for n in node.body.body for v in n.outs)}
