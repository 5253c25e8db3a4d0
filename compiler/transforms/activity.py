"""Which variables carry a derivative: those that depend on a wanted one (active) and on which a result depends (useful)."""

from __future__ import annotations

from collections.abc import Iterable

from ..core.program import Apply, Atom, Block, For, If, Var, While, blocks_of
from ..ops import table
from .invariance import idle


def loop_parts(node: For | While) -> tuple[Var | None, tuple[Var, ...], tuple[Var, ...], tuple[Atom, ...]]:
    """A loop's index, carried parameters, slice parameters and the atoms that are sliced."""
    params, n = node.body.params, node.carried
    if isinstance(node, For):
        return params[0], params[1 : 1 + n], params[1 + n :], node.xs
    return None, params, (), ()


def activity(block: Block, wanted: Iterable[Var]) -> set[Var]:
    """The variables, of nested blocks too, that depend on the wanted ones through differentiable operations."""
    active = {v for v in wanted if v.type.inexact}
    _spread(block, active)
    return active


def _spread(block: Block, active: set[Var]) -> None:
    still = idle(block)
    for node in block.body:
        match node:
            case Apply():
                if any(a in active for a in node.args) and _differentiable(node, active):
                    active.update(v for v in node.outs if v.type.inexact and v not in still)
            case If():
                for b in blocks_of(node):
                    _spread(b, active)
                    active.update(v for v, r in zip(node.outs, b.results) if r in active)
            case For() | While():
                _spread_loop(node, active)


def _differentiable(node: Apply, active: set[Var]) -> bool:
    entry = table.find(node.op)
    if entry is None or len(entry.partials) != len(node.args):
        return True
    # the slopes of steps are 0 for real values alone: of a complex number the sign is its direction
    return any(a in active and (p != "0" or a.type.dtype.kind == "c") for a, p in zip(node.args, entry.partials))


def _spread_loop(node: For | While, active: set[Var]) -> None:
    _, carries, slices, xs = loop_parts(node)
    active.update(p for p, a in zip((*carries, *slices), (*node.inits, *xs)) if a in active)
    while True:
        _spread(node.body, active)
        new = [p for p, r in zip(carries, node.body.results) if r in active and p not in active]
        if not new:
            break
        active.update(new)
    active.update(v for v, p in zip(node.outs, carries) if p in active)
    active.update(v for v, r in zip(node.outs, node.body.results) if r in active)


def useful(block: Block, results: Iterable[Atom], active: set[Var]) -> set[Var]:
    """The active variables on which one of ``results`` depends: those that get a cotangent."""
    live = {r for r in results if isinstance(r, Var) and r in active}
    _trace(block, live, active)
    return live


def _trace(block: Block, live: set[Var], active: set[Var]) -> None:
    for node in reversed(block.body):
        match node:
            case Apply():
                if any(v in live for v in node.outs):
                    live.update(a for a in node.args if isinstance(a, Var) and a in active)
            case If():
                for b in blocks_of(node):
                    live.update(r for r, v in zip(b.results, node.outs) if v in live and isinstance(r, Var) and r in active)
                    _trace(b, live, active)
            case For() | While():
                _trace_loop(node, live, active)


def _trace_loop(node: For | While, live: set[Var], active: set[Var]) -> None:
    _, carries, slices, xs = loop_parts(node)
    results = node.body.results
    # of a loop that does not run, what comes out is what went in
    live.update(p for p, v in zip(carries, node.outs) if v in live and p in active)
    live.update(r for r, v in zip(results, node.outs) if v in live and isinstance(r, Var) and r in active)
    while True:
        _trace(node.body, live, active)
        new = [r for r, p in zip(results, carries) if p in live and isinstance(r, Var) and r in active and r not in live]
        if not new:
            break
        live.update(new)
    live.update(a for a, p in zip((*node.inits, *xs), (*carries, *slices)) if p in live and isinstance(a, Var) and a in active)
