"""What a second pass over a block reads of the first: exposed as outputs of the first, or computed again where that is cheap.

Reverse and linearize leave the forward part of a program as it is and build a part that reads its variables. At the top that is legal as
it stands. Inside a loop or a branch the variables are out of scope: a loop stacks them (``ys``) for the other loop to slice (``xs``), a
branch returns them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core.builder import current
from ..core.program import Apply, Atom, Block, Const, For, If, Node, Program, Var, While, free_vars
from ..core.rewrite import Substitution
from ..core.types import Dim, Size, Type, loop_size, loop_sized, ragged
from ..errors import Unsupported
from ..ops import table
from .activity import loop_parts

_VIEWS = {"pergrad.getitem", "numpy.reshape", "numpy.transpose", "numpy.expand_dims", "numpy.squeeze", "numpy.broadcast_to"}


@dataclass(frozen=True)
class Split:
    """What two passes over one program have in common: ``residuals`` are the variables of the first that the second reads. Those that
    are neither parameters nor results of the original program are further results of ``forward``."""

    forward: Program
    residuals: tuple[Var, ...]

    def saved(self, arguments: Sequence[Any], outs: Sequence[Any]) -> list[Any]:
        """The residuals among a call's arguments and all that ``forward`` gave."""
        values = {r: o for r, o in zip(self.forward.results, outs) if isinstance(r, Var)}
        values.update(zip(self.forward.params, arguments))
        return [values[r] for r in self.residuals]


def split_program(program: Program, nodes: Sequence[Node], second: Block) -> tuple[Program, Block, tuple[Var, ...], tuple[Var, ...]]:
    """The program, whose nodes are now ``nodes``, with what ``second`` reads of it among its results; ``second`` reading parameters of
    its own instead; the residuals, and those parameters. Variables that are free in the program stay free."""
    outer = set(free_vars(program))
    residuals = tuple(v for v in free_vars(second) if v not in outer)
    own: set[Atom] = {*program.params, *program.results}
    extra = tuple(Var(v.type, v.name, v.span) for v in residuals)
    results = (*program.results, *(v for v in residuals if v not in own))
    forward = Program(program.params, tuple(nodes), results, program.name, program.sizes)
    return forward, renamed(second, dict(zip(residuals, extra))), residuals, extra


def check_rows(program: Program, residuals: Sequence[Var]) -> None:
    """Refuse to keep for another compilation what a loop has stacked when its rows differ in shape: that is no array."""
    kept = set(residuals)
    for node in program.body:
        if isinstance(node, (For, While)):
            for v in node.outs[node.carried : len(node.body.results)]:
                if v in kept and ragged(v.type):
                    raise Unsupported(
                        "this loop keeps arrays of another size at every turn, which cannot be handed from one compilation to the next",
                        code="PGR702",
                        span=node.span,
                        hint="grad and jvp, or vjp and linearize inside pergrad.compile: one compilation has both passes",
                    )


class Rename(Substitution):
    """Replaces variables that are read; those assigned stay."""

    def fresh(self, v: Var) -> Var:
        return v


def renamed(block: Block, mapping: Mapping[Var, Atom], extra: Sequence[Var] = (), before: Sequence[Node] = ()) -> Block:
    """The block reading other variables, with more parameters and with nodes put in front."""
    if not mapping and not before:
        return Block((*block.params, *extra), block.body, block.results)
    r = Rename(mapping)
    body = tuple(r.node(n) for n in (*before, *block.body))
    return Block((*block.params, *extra), body, r.atoms(block.results))


def index_type() -> Type:
    """The type of a loop's index: a Python int."""
    return Type(np.dtype(np.int64), (), weak=True, scalar=True)


def stacked_type(t: Type, length: Dim) -> Type:
    """One value per iteration."""
    return Type(t.dtype, (length, *t.shape))


def loop_length(node: For | While) -> Dim:
    """The length of what a loop stacks; a size of its own where the trip count is known only by running."""
    if isinstance(node, For) and not isinstance(node.length, (Var, Const)):
        return node.length
    for v in node.outs[node.carried : len(node.body.results)]:
        if v.type.shape and isinstance(v.type.shape[0], Size):
            return v.type.shape[0]
    for a in node.xs if isinstance(node, For) else ():
        if isinstance(a.type.shape[0], Size):
            return a.type.shape[0]
    return loop_size(Var(index_type()).serial)


def split_loop(node: For | While, inner: Sequence[Node], second: Block) -> tuple[For | While, Block, tuple[Atom, ...]]:
    """The loop with what ``second`` reads of its iterations stacked, ``second`` reading slices instead, and the atoms to be sliced.

    ``inner`` is the loop's body as it will be; ``second`` a loop body over the same iterations whose first parameter is the index.
    """
    index, _, slices, xs = loop_parts(node)
    params = node.body.params
    inside = {*params, *(v for n in inner for v in n.outs)}
    reads = [v for v in free_vars(second) if v in inside]
    sliced = dict(zip(slices, xs))
    stacked = dict(zip(node.body.results[node.carried :], node.outs[node.carried :]))
    again = _recomputed(inner, reads, inside, {*slices, *([index] if index else [])})
    reads = list(dict.fromkeys([*reads, *(a for n in again for a in n.args if isinstance(a, Var) and a in inside)]))
    computed = {v: Var(v.type, v.name, v.span) for n in again for v in n.outs}
    mapping: dict[Var, Atom] = {**computed}
    if index:
        mapping[index] = second.params[0]
    extra: list[Var] = []
    whole: list[Atom] = []
    taped: list[Var] = []
    outs: list[Var] = []
    length = loop_length(node)
    for v in reads:
        if v is index or v in computed:
            continue
        mapping[v] = p = Var(v.type, v.name, v.span)
        extra.append(p)
        if v in sliced:
            whole.append(sliced[v])
            continue
        if v in stacked:
            whole.append(stacked[v])
            continue
        taped.append(v)
        outs.append(Var(stacked_type(v.type, length), f"{v.name}_tape" if v.name else "tape", v.span))
        whole.append(outs[-1])
    before = [replace(n, outs=tuple(computed[v] for v in n.outs), section=current().section) for n in again]
    second = renamed(second, mapping, extra, before)
    body = Block(params, tuple(inner), (*node.body.results, *taped))
    if isinstance(node, While):
        count = node.outs[-1] if node.counted else Var(index_type(), "count")
        own = node.outs[:-1] if node.counted else node.outs
        return replace(node, body=body, outs=(*own, *outs, count), counted=True), second, tuple(whole)
    return replace(node, body=body, outs=(*node.outs, *outs)), second, tuple(whole)


def split_branches(node: If, inner: Sequence[Sequence[Node]], seconds: Sequence[Block]) -> tuple[If, list[Block]]:
    """The branch with what the second branches read of its blocks among its results, and the second branches reading those."""
    outs = list(node.outs)
    results = [list(node.then.results), list(node.orelse.results)]
    bodies = [list(inner[0]), list(inner[1])]
    blocks = []
    for which, second in enumerate(seconds):
        inside = {v for n in inner[which] for v in n.outs}
        reads = [v for v in free_vars(second) if v in inside]
        returned = dict(zip(results[which], node.outs))
        again = _recomputed(inner[which], reads, inside, set())
        computed = {v: Var(v.type, v.name, v.span) for n in again for v in n.outs}
        mapping: dict[Var, Atom] = {**computed}
        for v in reads:
            if v in mapping:
                continue
            if v in returned:
                mapping[v] = returned[v]
                continue
            mapping[v] = out = Var(v.type, v.name, v.span)
            outs.append(out)
            results[which].append(v)
            with current().block() as made:
                results[1 - which].append(placeholder(v.type))
            bodies[1 - which].extend(made)
        before = [replace(n, outs=tuple(computed[v] for v in n.outs), section=current().section) for n in again]
        blocks.append(renamed(second, mapping, (), before))
    then, orelse = (Block((), tuple(b), tuple(r)) for b, r in zip(bodies, results))
    return replace(node, then=then, orelse=orelse, outs=tuple(outs)), blocks


def placeholder(t: Type) -> Atom:
    """What a branch returns for a value of the other branch: zeros, without the axes that only the other branch's loops know."""
    from ..core.builder import atom_of, recorded

    if t.weak or t.scalar:
        return zero_scalar(t)
    if loop_sized(t):
        shape = tuple(0 if isinstance(d, Size) else d for d in t.shape)
        return Const(np.zeros(shape, t.dtype), t, ("numpy.zeros", (shape,), {"dtype": t.dtype}))
    return atom_of(recorded.zeros(t.shape, t.dtype))


def zero_scalar(t: Type) -> Const:
    value = t.dtype.type(0)
    return Const(value.item() if t.weak else value, t)


def _recomputed(inner: Sequence[Node], reads: Iterable[Var], inside: set[Var], available: set[Var]) -> list[Apply]:
    """The nodes to run again in the second pass, in order: index arithmetic and views of what does not change.

    Each gives a value of ``reads`` from outer variables, constants, ``available`` and each other.
    """
    cheap: dict[Var, Apply] = {}
    for node in inner:
        if isinstance(node, Apply) and _is_cheap(node):
            known = (not isinstance(a, Var) or a not in inside or a in available or a in cheap for a in node.args)
            if all(known):
                cheap[node.outs[0]] = node
    needed: dict[Var, None] = {}
    todo = [v for v in reads if v in cheap]
    while todo:
        v = todo.pop()
        if v not in needed:
            needed[v] = None
            todo.extend(a for a in cheap[v].args if isinstance(a, Var) and a in cheap)
    return [n for v, n in cheap.items() if v in needed]


def _is_cheap(node: Apply) -> bool:
    if len(node.outs) != 1:
        return False
    t = node.outs[0].type
    if node.op in _VIEWS:
        return all(a.type.ndim == 0 for a in node.args[1:])
    entry = table.find(node.op)
    if entry is None or entry.family != "elementwise" or t.ndim:
        return False
    return all(k in "iub" for k in (t.dtype.kind, *(a.type.dtype.kind for a in node.args)))


def sizes_of(params: Sequence[Var]) -> dict[str, tuple[int, int]]:
    """Where each symbolic size can be read. Behind the first axis, the size of an inner loop's tape differs from slice to slice."""
    found: dict[str, Any] = {}
    for k, p in enumerate(params):
        for axis, d in enumerate(p.type.shape):
            if isinstance(d, Size) and d.symbol and not (axis and ragged(p.type)):
                found.setdefault(d.symbol, (k, axis))
    return found
