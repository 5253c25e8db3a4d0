"""Reads before writes: an element that is read of an array after a new array was made from it by a write is read before that write, so that
the write can be done in place."""

from __future__ import annotations

from dataclasses import replace

from ..core.program import Apply, Block, Const, Effect, For, If, Node, Program, Var, While

_WRITES = ("pergrad.setitem", "pergrad.additem")


def read_before_write(program: Program) -> Program:
    """The program with reads of a base moved before the first write to it in the same block."""
    return replace(program, body=_ordered(program))


def _ordered(block: Block) -> tuple[Node, ...]:
    out: list[Node] = []
    place: dict[Var, int] = {}
    """Where each variable of this block is assigned in ``out``."""
    written: dict[Var, Apply] = {}
    for node in block.body:
        node = _inner(node)
        at = len(out)
        if isinstance(node, Apply) and node.op == "pergrad.getitem" and not isinstance(node.args[0], Const):
            write = written.get(node.args[0])
            first = place[write.outs[0]] if write else at
            if all(isinstance(a, Const) or place.get(a, -1) < first for a in node.args):
                at = first
        elif isinstance(node, Apply) and node.op in _WRITES and isinstance(node.args[0], Var):
            written.setdefault(node.args[0], node)
        elif isinstance(node, Effect):
            written.clear()
        if at < len(out):
            place = {v: k + (k >= at) for v, k in place.items()}
        out.insert(at, node)
        place.update((v, at) for v in node.outs)
    return tuple(out)


def _inner(node: Node) -> Node:
    match node:
        case If():
            return replace(node, then=replace(node.then, body=_ordered(node.then)), orelse=replace(node.orelse, body=_ordered(node.orelse)))
        case For() | While():
            return replace(node, body=replace(node.body, body=_ordered(node.body)))
    return node
