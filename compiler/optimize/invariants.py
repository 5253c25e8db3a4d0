"""Loop-invariant motion: what is the same in every iteration is computed once, before the loop.

Out of a loop that surely runs everything moves that the first iteration would compute anyway. Out of one that may not run at all only what
can neither fail nor warn. Nothing moves out of a branch, nor past an effect; views stay where they are read unless what moves needs them.
"""

from __future__ import annotations

from dataclasses import replace

from ..core.program import Apply, Block, Const, Effect, For, If, Node, Program, Var, While, walk
from ..ops import table

_VIEWS = frozenset({"numpy.transpose", "numpy.expand_dims", "numpy.squeeze", "numpy.reshape", "numpy.broadcast_to", "pergrad.getitem"})
_SILENT = frozenset(
    f"numpy.{name}"
    for name in """transpose expand_dims squeeze reshape broadcast_to where negative positive absolute sign less less_equal greater
    greater_equal equal not_equal logical_and logical_or logical_not logical_xor maximum minimum concatenate stack flip""".split()
)
_FALLIBLE = frozenset({"linalg", "host", ""})


def hoist_invariants(program: Program) -> Program:
    """The program with loop-invariant ops moved before their loops."""
    return replace(program, body=_body(program))


def _body(block: Block) -> tuple[Node, ...]:
    out: list[Node] = []
    for node in block.body:
        match node:
            case If():
                node = replace(node, then=replace(node.then, body=_body(node.then)), orelse=replace(node.orelse, body=_body(node.orelse)))
            case For() | While():
                body = replace(node.body, body=_body(node.body))
                runs = isinstance(node, For) and isinstance(node.length, int) and node.length > 0
                moved, rest = _split(body, runs)
                out.extend(moved)
                node = replace(node, body=replace(body, body=rest))
        out.append(node)
    return tuple(out)


def _split(body: Block, runs: bool) -> tuple[list[Node], tuple[Node, ...]]:
    """The nodes that move before the loop, and the rest."""
    inside: set[Var] = {*body.params}
    candidates: dict[Var, Apply] = {}
    wanted: list[Var] = []
    past_effect = False
    for node in body.body:
        if isinstance(node, Apply) and len(node.outs) == 1 and _may_move(node, runs and not past_effect):
            free = [a for a in node.args if not isinstance(a, Const)]
            if not any(a in inside for a in free):
                candidates[node.outs[0]] = node
                if node.op not in _VIEWS:
                    wanted.append(node.outs[0])
                continue
        inside.update(node.outs)
        past_effect = past_effect or any(isinstance(n, Effect) for n in walk(Block((), (node,), ())))
    needed: set[Var] = set()
    while wanted:
        v = wanted.pop()
        if v not in needed:
            needed.add(v)
            wanted.extend(a for a in candidates[v].args if not isinstance(a, Const) and a in candidates)
    moved: list[Node] = [node for v, node in candidates.items() if v in needed]
    return moved, tuple(n for n in body.body if not any(v in needed for v in n.outs))


def _may_move(node: Apply, runs: bool) -> bool:
    entry = table.find(node.op)
    if entry is None or entry.random or (not node.args and entry.family == "creation"):
        return False
    if node.op == "pergrad.getitem":
        return runs or len(node.args) == 1
    return node.op in _SILENT or (runs and entry.family not in _FALLIBLE)
