"""Forward mode: beside each value its tangent.

In:  a verified Program and which of its parameters have tangents.   Out: one Program over primals and tangents (``jvp``), or the program
and a second one that is linear in the tangents and computes nothing of the first again (``linearize``).

A tangent that is absent is zero. It may be smaller than its variable and then stands for its broadcast, until an operation needs all of
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..core.builder import Builder, atom_of, recorded
from ..core.program import Apply, Atom, Block, Const, For, If, Node, Program, Var, While
from ..core.types import loop_sized
from ..errors import Unsupported
from ..ops import table
from ..ops.families import Derivative, Scatter, refuse_complex
from ..ops.indexing import put
from .activity import activity, loop_parts
from .residuals import Split, index_type, loop_length, sizes_of, split_branches, split_loop, split_program, stacked_type
from .reverse import array_type, in_section, strong, transposed, typed, unbroadcast, whole, zeros


@dataclass(frozen=True)
class Linearized(Split):
    """A program and its derivative: ``linear`` takes (*residuals, *tangents of the active parameters) and gives the tangents of the
    inexact results."""

    linear: Program


def jvp(program: Program, active: Sequence[bool]) -> Program:
    """(*primals, *tangents of the active) to (*results, *tangents of the inexact results)."""
    builder = Builder()
    with builder.active():
        push = Push(builder, activity(program, _chosen(program, active)), fused=True)
        tangents = push.parameters(program, active)
        push.block(program)
        results = push.results(program)
    params = (*program.params, *tangents)
    return Program(params, tuple(builder.nodes), (*program.results, *results), program.name, program.sizes)


def linearize(program: Program, active: Sequence[bool]) -> Linearized:
    """The program with what its derivative needs, and the derivative."""
    builder = Builder()
    with builder.active(), builder.stamped(section="tangent"):
        push = Push(builder, activity(program, _chosen(program, active)), fused=False)
        tangents = push.parameters(program, active)
        nodes = push.block(program)
        results = push.results(program)
    second = Block(tangents, tuple(builder.nodes), results)
    name = program.name
    program, second, residuals, extra = split_program(program, nodes, second)
    params = (*extra, *tangents)
    return Linearized(program, residuals, Program(params, second.body, second.results, f"{name}_tangent", sizes_of(params)))


def _chosen(program: Program, active: Sequence[bool]) -> list[Var]:
    return [p for p, a in zip(program.params, active, strict=True) if a]


def _dotted(name: str | None) -> str | None:
    return f"{name}_dot" if name else None


class Push:
    """Walks blocks. ``active``: the variables with a tangent; ``dot``: the tangents so far.

    With ``fused`` the nodes of the program are recorded too, and loops carry values and tangents together. Otherwise only tangents are
    recorded, in loops and branches of their own.
    """

    def __init__(self, builder: Builder, active: set[Var], fused: bool) -> None:
        self.builder = builder
        self.active = active
        self.fused = fused
        self.dot: dict[Atom, Any] = {}
        self.start = Var(index_type()).serial

    def parameters(self, program: Program, active: Sequence[bool]) -> tuple[Var, ...]:
        chosen = _chosen(program, active)
        tangents = tuple(self.fresh(p) for p in chosen)
        self.dot.update((p, self.builder.wrap(t)) for p, t in zip(chosen, tangents) if p in self.active)
        return tangents

    def results(self, program: Program) -> tuple[Atom, ...]:
        return tuple(atom_of(self.whole(r)) for r in program.results if r.type.inexact)

    def fresh(self, v: Atom) -> Var:
        return Var(array_type(v.type), _dotted(v.name))

    def whole(self, a: Atom) -> Any:
        """The tangent of an atom in its full shape, as an array; zeros if it has none."""
        t = self.dot.get(a)
        if t is None and loop_sized(a.type):
            return self.builder.wrap(a) if isinstance(a, Const) else recorded.where(False, self.builder.wrap(a), 0.0)
        if t is None:
            return zeros(a.type)
        t = strong(whole(t, a.type))
        self.label(a, t)
        return t

    def label(self, v: Atom, value: Any) -> None:
        atom = value.atom
        if v.name and isinstance(atom, Var) and atom.name is None and atom.serial > self.start:
            atom.name = _dotted(v.name)

    def block(self, block: Block) -> tuple[Node, ...]:
        """Record the tangents of a block; unless fused, the block's nodes as they have to be then."""
        nodes: list[Node] = []
        for node in block.body:
            section = node.section if node.section == "backward" else "tangent"
            with self.builder.stamped(span=node.span, section=section, helper=node.helper):
                match node:
                    case Apply():
                        self.keep(node, nodes)
                        self.apply(node)
                    case If() if any(v in self.active for v in node.outs):
                        self.branch(node, nodes)
                    case For() | While() if any(v in self.active for v in node.outs):
                        self.loop(node, nodes)
                    case _:
                        self.keep(node, nodes)
        return tuple(nodes)

    def keep(self, node: Node, nodes: list[Node]) -> None:
        if self.fused:
            self.builder.append(node)
        else:
            nodes.append(in_section(node, "forward"))

    # one operation

    def apply(self, node: Apply) -> None:
        if not any(v in self.active for v in node.outs):
            return
        dx = [self.dot.get(a) for a in node.args]
        if all(t is None for t in dx):
            return
        entry = table.find(node.op)
        assert entry is not None
        if entry.vjp is None and entry.jvp is None:
            name = entry.name.replace("numpy.", "np.", 1)
            raise Unsupported(f"{name} has no derivative", code="PGR702", span=node.span, hint=entry.hint)
        refuse_complex(entry, (*node.args, *node.outs), node.span)
        wide = entry.family == "elementwise" and len(node.outs) == 1
        if not wide or entry.jvp is None:
            dx = [None if t is None else whole(t, a.type) for t, a in zip(dx, node.args)]
        wrap = self.builder.wrap
        x, y = tuple(wrap(a) for a in node.args), tuple(wrap(v) for v in node.outs)
        d = Derivative(entry, x, y if len(y) > 1 else y[0], node.params, dx=tuple(dx))
        result = entry.jvp(d) if entry.jvp else self.derived(d, node)
        for v, t in zip(node.outs, result if isinstance(result, tuple) else (result,)):
            if t is not None and v in self.active:
                t = typed(wrap(atom_of(t)), v.type)
                self.dot[v] = t
                self.label(v, t)

    def derived(self, d: Derivative, node: Apply) -> Any:
        """The tangent by transposing the rule of reverse mode, which is linear in the cotangent."""
        cts = tuple(Var(array_type(v.type)) for v in node.outs)
        values = tuple(self.builder.wrap(v) for v in cts)
        back = Derivative(d.entry, d.x, d.y, d.params, ct=values if len(values) > 1 else values[0])
        parts: list[Atom] = []
        tangents = []
        with self.builder.block() as body:
            for i, (a, t) in enumerate(zip(node.args, d.dx)):
                part = None if t is None else d.entry.vjp(back, i)  # type: ignore[misc]
                if part is None:
                    continue
                if isinstance(part, Scatter):
                    part = put(zeros(a.type), part.value, part.index, part.arrays, add=True)
                elif d.entry.family == "elementwise":
                    part = unbroadcast(self.builder.wrap(atom_of(part)), node.outs[0].type.shape, a.type.shape)
                parts.append(atom_of(whole(typed(self.builder.wrap(atom_of(part)), a.type), a.type)))
                tangents.append(t)
        if not parts:
            return tuple(None for _ in cts)
        return tuple(transposed(self.builder, Block(cts, tuple(body), tuple(parts)), tangents))

    # branches and loops

    def branch(self, node: If, nodes: list[Node]) -> None:
        chosen = [v for v in node.outs if v in self.active]
        inner, seconds = [], []
        for block in (node.then, node.orelse):
            with self.builder.block() as body:
                inner.append(self.block(block))
                dots = tuple(atom_of(self.whole(r)) for r, v in zip(block.results, node.outs) if v in self.active)
            seconds.append(Block((), tuple(body), dots))
        outs = tuple(self.fresh(v) for v in chosen)
        if self.fused:
            then, orelse = (Block((), s.body, (*b.results, *s.results)) for b, s in zip((node.then, node.orelse), seconds))
            self.builder.append(replace(node, then=then, orelse=orelse, outs=(*node.outs, *outs)))
        else:
            first, (then, orelse) = split_branches(node, inner, seconds)
            self.keep(first, nodes)
            self.record(If(outs=outs, pred=node.pred, then=then, orelse=orelse))
        self.dot.update((v, self.builder.wrap(o)) for v, o in zip(chosen, outs))

    def record(self, node: Node) -> None:
        b = self.builder
        b.append(replace(node, span=b.span, section=b.section, helper=b.helper))

    def loop(self, node: For | While, nodes: list[Node]) -> None:
        index, carries, slices, xs = loop_parts(node)
        n, results = node.carried, node.body.results
        live = [k for k in range(n) if carries[k] in self.active]
        sliced = [k for k, p in enumerate(slices) if p in self.active]
        stacked = [k for k in range(n, len(results)) if results[k] in self.active]
        wrap = self.builder.wrap
        inits = tuple(atom_of(self.whole(node.inits[k])) for k in live)
        given = tuple(atom_of(self.whole(xs[k])) for k in sliced)
        moving = [carries[k] for k in live]
        dots, parts = tuple(self.fresh(v) for v in moving), tuple(self.fresh(slices[k]) for k in sliced)
        self.dot.update((v, wrap(p)) for v, p in zip((*moving, *(slices[k] for k in sliced)), (*dots, *parts)))
        with self.builder.block() as body:
            inner = self.block(node.body)
            ends = tuple(atom_of(self.whole(results[k])) for k in (*live, *stacked))
        outs = tuple(self.fresh(node.outs[k]) for k in live)
        length = loop_length(node)
        ys = tuple(Var(stacked_type(results[k].type, length), _dotted(node.outs[k].name)) for k in stacked)
        if self.fused:
            m = len(results)
            body_results = (*results[:n], *ends[: len(live)], *results[n:], *ends[len(live) :])
            all_outs = (*node.outs[:n], *outs, *node.outs[n:m], *ys, *node.outs[m:])
            front = (index,) if index else ()
            block = Block((*front, *carries, *dots, *slices, *parts), tuple(body), body_results)
            if isinstance(node, For):
                self.builder.append(replace(node, inits=(*node.inits, *inits), xs=(*xs, *given), body=block, outs=all_outs))
            else:
                cond = Block((*node.cond.params, *(self.fresh(v) for v in moving)), node.cond.body, node.cond.results)
                self.builder.append(replace(node, inits=(*node.inits, *inits), cond=cond, body=block, outs=all_outs))
        else:
            own_index = Var(index_type(), index.name if index else "i")
            second = Block((own_index, *dots, *parts), tuple(body), ends)
            first, second, tapes = split_loop(node, inner, second)
            self.keep(first, nodes)
            times = node.length if isinstance(node, For) else first.outs[-1]
            if isinstance(node, While):
                ys = tuple(Var(stacked_type(results[k].type, loop_length(first)), _dotted(node.outs[k].name)) for k in stacked)
            reverse = node.reverse if isinstance(node, For) else False
            self.record(For(outs=(*outs, *ys), length=times, inits=inits, xs=(*given, *tapes), body=second, reverse=reverse))
        self.dot.update((node.outs[k], wrap(o)) for k, o in zip((*live, *stacked), (*outs, *ys)))


__all__ = ["Linearized", "Push", "jvp", "linearize"]
