"""Dead code: what no result and no effect depends on, down to single carries, slices and stacked outputs of loops.

Random draws count as effects: they move their generator on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from ..core.program import Apply, Atom, Block, Const, Effect, For, If, Node, Program, Var, While, node_vars, walk
from ..ops import table

T = TypeVar("T")


def eliminate_dead_code(program: Program) -> Program:
    """The program without what is not needed for its results and effects."""
    body = _needed(program, _variables(program.results))
    return replace(program, body=body)


def has_effect(node: Node) -> bool:
    """Whether a node must run even if nobody reads its results."""
    match node:
        case Effect():
            return not node.kind.startswith("errstate")
        case Apply():
            entry = table.find(node.op)
            return entry is not None and entry.random
        case If():
            blocks: tuple[Block, ...] = (node.then, node.orelse)
        case For():
            blocks = (node.body,)
        case While():
            blocks = (node.cond, node.body)
        case _:
            return True
    return any(has_effect(n) for b in blocks for n in walk(b) if isinstance(n, (Effect, Apply)))


def _needed(block: Block, live: set[Var]) -> tuple[Node, ...]:
    """The nodes that ``live`` and the effects need; ``live`` grows by all that they read."""
    kept: list[Node] = []
    ends: list[int] = []
    """Where the regions under an errstate end among the kept."""
    for node in reversed(block.body):
        if isinstance(node, Effect) and node.kind == "errstate_exit":
            ends.append(len(kept))
        elif isinstance(node, Effect) and node.kind == "errstate_enter" and len(kept) - 1 == ends.pop():
            kept.pop()
            continue
        elif not isinstance(node, Effect) and not has_effect(node) and not any(v in live for v in node.outs):
            continue
        node = _trimmed(node, live)
        live.update(_variables(node_vars(node)))
        kept.append(node)
    return tuple(reversed(kept))


def _trimmed(node: Node, live: set[Var]) -> Node:
    match node:
        case If():
            used = [v in live for v in node.outs]
            then = _block(node.then, _where(used, node.then.results))
            orelse = _block(node.orelse, _where(used, node.orelse.results))
            return replace(node, outs=_where(used, node.outs), then=then, orelse=orelse)
        case For():
            return _for(node, live)
        case While():
            return _while(node, live)
    return node


def _block(block: Block, results: tuple[Atom, ...], params: tuple[Var, ...] | None = None) -> Block:
    return Block(block.params if params is None else params, _needed(block, _variables(results)), results)


def _carried(node: For | While, live: set[Var], first: int, always: set[Var]) -> tuple[list[bool], list[bool]]:
    """Which carries and which stacked outputs are needed. A carry is if it is live after the loop or anything needed in the body reads it;
    ``first`` is the place of the first carry among the body's parameters, ``always`` what is read besides."""
    n = node.carried
    params = node.body.params[first : first + n]
    ys = [v in live for v in node.outs[n : len(node.body.results)]]
    needed = [v in live or p in always for v, p in zip(node.outs, params)]
    while True:
        wanted = _variables(_where([*needed, *ys], node.body.results))
        _needed(node.body, wanted)
        grown = [old or p in wanted for old, p in zip(needed, params)]
        if grown == needed:
            return needed, ys
        needed = grown


def _for(node: For, live: set[Var]) -> For:
    n = node.carried
    needed, ys = _carried(node, live, 1, set())
    results = _where([*needed, *ys], node.body.results)
    wanted = _variables(results)
    body = _needed(node.body, wanted)
    index, carries, slices = node.body.params[0], node.body.params[1 : 1 + n], node.body.params[1 + n :]
    used = [p in wanted for p in slices]
    params = (index, *_where(needed, carries), *_where(used, slices))
    outs = _where([*needed, *ys], node.outs)
    return replace(node, outs=outs, inits=_where(needed, node.inits), xs=_where(used, node.xs), body=Block(params, body, results))


def _while(node: While, live: set[Var]) -> While:
    test = _variables(node.cond.results)
    cond = _needed(node.cond, test)
    always = {p for p, q in zip(node.body.params, node.cond.params) if q in test}
    needed, ys = _carried(node, live, 0, always)
    counted = node.counted and node.outs[-1] in live
    return replace(
        node,
        outs=_where([*needed, *ys, *([counted] if node.counted else [])], node.outs),
        inits=_where(needed, node.inits),
        cond=Block(_where(needed, node.cond.params), cond, node.cond.results),
        body=_block(node.body, _where([*needed, *ys], node.body.results), _where(needed, node.body.params)),
        counted=counted,
    )


def _variables(atoms: Sequence[Atom]) -> set[Var]:
    return {a for a in atoms if not isinstance(a, Const)}


def _where(keep: Sequence[bool], items: Sequence[T]) -> tuple[T, ...]:
    return tuple(item for item, k in zip(items, keep, strict=True) if k)
