"""Loops: carried values that never change are the values they start from."""

from __future__ import annotations

from ..core.program import For, Node, Program, While
from .rewriting import Rewriting


def simplify_loops(program: Program) -> Program:
    """The program with invariant carries replaced by their initial values."""
    return _Loops().program(program)


class _Loops(Rewriting):
    def updated(self, node: Node) -> Node:
        if isinstance(node, (For, While)):
            self.carries(node)
        return super().updated(node)

    def carries(self, node: For | While) -> None:
        offset = 1 if isinstance(node, For) else 0
        for k, init in enumerate(node.inits):
            param = node.body.params[offset + k]
            init = self.atom(init)
            if node.body.results[k] is not param or init.type != param.type:
                continue
            self.values[param] = init
            if isinstance(node, While):
                self.values[node.cond.params[k]] = init
            if node.outs[k].type == init.type:
                self.values[node.outs[k]] = init
