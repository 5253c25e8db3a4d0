"""Gradients by forward mode, where one tangent tells all: that of a single number, and of an array as far as operations are elementwise.

In:  as ``reverse.grad``.      Out: the same gradients.

It costs what a backward pass costs, and for derivatives of derivatives it is much shorter: the tangents of the order before are found
again as common subexpressions, so that each order adds one tangent for each value, where a backward pass doubles what there is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.builder import Builder, atom_of
from ..core.program import Apply, Block, Const, Node, Program, Var, node_vars
from ..ops import table
from .activity import activity, useful
from .forward import Push
from .reverse import Sweep, grad, in_section, typed, whole, zeros


def nested_grad(program: Program, wanted: Sequence[bool], *, value: bool = False) -> Program:
    """``reverse.grad`` for a derivative inside another or of another."""
    chosen = [p for p, w in zip(program.params, wanted, strict=True) if w]
    if len(chosen) != 1 or any(v.type.dtype.kind != "f" for v in activity(program, chosen)):
        return grad(program, wanted, value=value)
    (x,) = chosen
    if not x.type.shape:
        return _of_number(program, x, value)
    own = elementwise_part(program, x)
    return _of_array(program, x, own, value) if own else grad(program, wanted, value=value)


def _of_number(program: Program, x: Var, value: bool) -> Program:
    """The tangent for a change of 1."""
    builder = Builder()
    with builder.active():
        push = Push(builder, activity(program, [x]), fused=True)
        push.dot[x] = builder.wrap(Const(x.type.dtype.type(1)))
        push.block(program)
        with builder.stamped(section="tangent"):
            tangent = typed(push.whole(program.results[0]), x.type)
    return _finished(program, builder.nodes, tangent, value)


def elementwise_part(program: Program, x: Var) -> tuple[Node, ...]:
    """The nodes whose results depend on an array elementwise: each element on that of the same place."""
    active = activity(program, [x])
    inside = {x}
    found = []
    for node in program.body:
        if isinstance(node, Apply) and len(node.outs) == 1 and node.outs[0] in active:
            entry = table.find(node.op)
            fitting = node.outs[0].type.shape == x.type.shape and all(a in inside for a in node.args if a in active)
            if entry is not None and entry.family == "elementwise" and fitting:
                inside.update(node.outs)
                found.append(node)
    return tuple(found)


def _of_array(program: Program, x: Var, own: tuple[Node, ...], value: bool) -> Program:
    """Backwards to the results of the elementwise nodes, and from there the cotangents times their tangents for changes of 1."""
    mine = frozenset(own)
    rest = Block(program.params, tuple(n for n in program.body if n not in mine), program.results)
    inside = [x, *(v for n in own for v in n.outs)]
    read = {a for n in rest.body for a in node_vars(n)} | {program.results[0]}
    ends = [v for v in inside if v in read]
    result = program.results[0]
    builder = Builder()
    with builder.active(), builder.stamped(section="backward"):
        push = Push(builder, activity(program, [x]), fused=False)
        push.dot[x] = builder.wrap(Const(x.type.dtype.type(1)))
        push.block(Block((), own, ()))
        sweep = Sweep(builder, useful(rest, [result], activity(rest, ends)))
        sweep.add(result, builder.wrap(Const(result.type.dtype.type(1))))
        others = iter(sweep.block(rest))
        nodes = [in_section(n, "forward") if n in mine else next(others) for n in program.body]
        gradient: Any = None
        for v in ends:
            ct, dot = sweep.ct.get(v), push.dot.get(v)
            if ct is not None and dot is not None:
                part = ct if v is x else typed(ct, v.type) * dot
                gradient = part if gradient is None else gradient + part
        gradient = zeros(x.type) if gradient is None else whole(typed(gradient, x.type), x.type)
    return _finished(program, [*nodes, *builder.nodes], gradient, value)


def _finished(program: Program, nodes: Sequence[Node], gradient: Any, value: bool) -> Program:
    results = (atom_of(gradient), *program.results[0 if value else 1 :])
    return Program(program.params, tuple(nodes), results, program.name, program.sizes)


__all__ = ["elementwise_part", "nested_grad"]
