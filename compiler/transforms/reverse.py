"""Reverse mode: the nodes of a program, and after them the nodes that carry cotangents from its results back to its parameters.

In:  a verified Program and which of its parameters are wanted.   Out: the same nodes and their backward pass, in one Program or two.

The forward part is not edited. The backward part reads its variables; what it reads from inside a loop or a branch is exposed there
afterwards (``residuals.py``), so that nested constructs need nothing of their own. A cotangent that is absent is zero. It may be smaller
than its variable and then stands for its broadcast, until an operation needs all of it.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..core.builder import Builder, atom_of, call, recorded
from ..core.program import Apply, Atom, Block, Const, For, If, Node, Program, Var, While, free_vars
from ..core.types import Dim, Shape, Size, Type, loop_sized, product, ragged
from ..errors import Unsupported
from ..ops import table
from ..ops.families import Derivative, Scatter, refuse_complex
from ..ops.indexing import put
from .activity import activity, loop_parts, useful
from .residuals import Split, index_type, loop_length, renamed, sizes_of, split_branches, split_loop, split_program, stacked_type


@dataclass(frozen=True)
class Pullback(Split):
    """A program and its backward pass: ``backward`` takes (*cotangents of the inexact results, *residuals) and gives the cotangents of
    the wanted parameters."""

    backward: Program


def grad(program: Program, wanted: Sequence[bool], *, value: bool = False) -> Program:
    """The gradient of the first result, a scalar: (*gradients of the wanted parameters, *the first result if ``value``, *the others)."""
    first = program.results[0]
    seed = Const(first.type.dtype.type(1))
    builder = Builder()
    with builder.active():
        forward, gradients = _reverse(builder, program, wanted, [seed, *[None] * (len(program.results) - 1)])
    results = (*gradients, *program.results[0 if value else 1 :])
    return Program(program.params, (*forward, *builder.nodes), results, program.name, program.sizes)


def vjp(program: Program, wanted: Sequence[bool]) -> Pullback:
    """The program with what its backward pass needs, and the backward pass."""
    builder = Builder()
    cts = [Var(array_type(r.type), _prefixed(r.name)) if r.type.inexact else None for r in program.results]
    with builder.active():
        forward, gradients = _reverse(builder, program, wanted, cts)
    params: tuple[Var, ...] = tuple(ct for ct in cts if ct is not None)
    backward = Block(params, tuple(builder.nodes), gradients)
    program, backward, residuals, extra = split_program(program, forward, backward)
    params = (*params, *extra)
    return Pullback(
        program,
        residuals,
        Program(params, backward.body, backward.results, f"{program.name}_backward", sizes_of(params)),
    )


def _reverse(
    builder: Builder, program: Program, wanted: Sequence[bool], cts: Sequence[Atom | None]
) -> tuple[tuple[Node, ...], tuple[Atom, ...]]:
    """Record the backward pass; the forward nodes, and the cotangents of the wanted parameters."""
    params = [p for p, w in zip(program.params, wanted, strict=True) if w]
    active = activity(program, params)
    pairs = [(r, ct) for r, ct in zip(program.results, cts) if ct is not None]
    sweep = Sweep(builder, useful(program, [r for r, _ in pairs], active))
    with builder.stamped(section="backward"):
        for r, ct in pairs:
            sweep.add(r, builder.wrap(ct))
        forward = sweep.block(program)
        gradients = tuple(atom_of(sweep.whole(p)) for p in params)
    return forward, gradients


def array_type(t: Type) -> Type:
    """The type of a cotangent: never a Python scalar."""
    return Type(t.dtype, t.shape, scalar=t.scalar or (t.weak and not t.shape))


def _prefixed(name: str | None) -> str | None:
    return f"d_{name}" if name else None


class Sweep:
    """Walks blocks backwards. ``flow``: the variables that get a cotangent; ``ct``: the cotangents so far, scope by scope."""

    def __init__(
        self, builder: Builder, flow: set[Var], rename: Callable[[str | None], str | None] = _prefixed, section: str = "forward"
    ) -> None:
        self.builder = builder
        self.flow = flow
        self.ct: ChainMap[Var, Any] = ChainMap()
        self.start = Var(index_type()).serial
        self.rename = rename
        self.section = section

    def block(self, block: Block) -> tuple[Node, ...]:
        """Record the backward pass of a block whose results have their cotangents; the block's nodes as they have to be then."""
        nodes = []
        for node in reversed(block.body):
            match node:
                case Apply():
                    self.apply(node)
                case If():
                    node = self.branch(node)
                case For() | While():
                    node = self.loop(node)
            nodes.append(in_section(node, self.section))
        return tuple(reversed(nodes))

    # one operation

    def apply(self, node: Apply) -> None:
        cts = [self.ct.get(v) for v in node.outs]
        if all(ct is None for ct in cts):
            return
        targets = [i for i, a in enumerate(node.args) if a in self.flow]
        if not targets:
            return
        entry = table.find(node.op)
        assert entry is not None
        if entry.vjp is None:
            raise Unsupported(f"{_spelled(entry)} has no derivative", code="PGR702", span=node.span, hint=entry.hint)
        refuse_complex(entry, (*node.args, *node.outs), node.span)
        for v, ct in zip(node.outs, cts):
            if ct is not None:
                self.label(v, ct)
        with self.builder.stamped(span=node.span, helper=node.helper):
            wrap = self.builder.wrap
            # one number for all that a mask selects stays one number
            wide = len(cts) == 1 and (entry.family == "elementwise" or (entry.name == "pergrad.getitem" and loop_sized(node.outs[0].type)))
            x, y = tuple(wrap(a) for a in node.args), tuple(wrap(v) for v in node.outs)
            if not wide:
                cts = [self.filled(ct, v.type) for v, ct in zip(node.outs, cts)]
            d = Derivative(entry, x, y if len(y) > 1 else y[0], node.params, tuple(cts) if len(cts) > 1 else cts[0])
            for i in targets:
                part = entry.vjp(d, i)
                if part is not None:
                    self.add(node.args[i], part, node.outs[0].type.shape if entry.family == "elementwise" else None)

    def add(self, target: Atom, part: Any, shape: Shape | None = None, *, rows: bool = False) -> None:
        """Accumulate into the cotangent of ``target``; ``shape`` is that of the result which an operand was broadcast to. ``rows``: the
        target is what loops stack and slice."""
        if target not in self.flow:
            return
        t = target.type
        old = self.ct.get(target)
        if isinstance(part, Scatter):
            base = zeros(t) if old is None else whole(old, t)
            self.ct[target] = put(base, typed(part.value, t), part.index, part.arrays, add=True)
            return
        part = self.builder.wrap(atom_of(part))
        if shape is not None and shape != t.shape:
            part = unbroadcast(part, shape, t.shape)
        part = typed(part, t)
        if old is not None and rows and ragged(t):
            message = "this derivative of a loop inside a loop, whose number of iterations differs, has no rule"
            raise Unsupported(message, code="PGR702", span=self.builder.span)
        self.ct[target] = part if old is None else old + part

    def filled(self, ct: Any, t: Type) -> Any:
        return zeros(t) if ct is None else whole(ct, t)

    def whole(self, v: Var) -> Any:
        """The cotangent of a variable in its full shape, as an array; zeros if it has none."""
        ct = self.ct.get(v)
        if ct is None and loop_sized(v.type):
            return recorded.where(False, self.builder.wrap(v), 0.0)
        if ct is None:
            return zeros(v.type)
        ct = strong(whole(ct, v.type))
        self.label(v, ct)
        return ct

    def label(self, v: Var, value: Any) -> None:
        """Name a cotangent after its variable, unless it is a variable of the forward part or has a name already."""
        atom = value.atom
        if v.name and isinstance(atom, Var) and atom.name is None and atom.serial > self.start:
            atom.name = self.rename(v.name)

    # branches

    def branch(self, node: If) -> If:
        """A branch on the same test; each side adds to the cotangents of the outer variables that it read."""
        cts = [self.ct.get(v) for v in node.outs]
        if all(ct is None for ct in cts):
            return node
        outer = self.ct
        blocks = (node.then, node.orelse)
        targets = [v for v in dict.fromkeys([*free_vars(node.then), *free_vars(node.orelse)]) if v in self.flow]
        inner, bodies, changes = [], [], []
        with self.builder.stamped(span=node.span, helper=node.helper):
            for block in blocks:
                with self.builder.block() as body:
                    self.ct = outer.new_child()
                    for r, ct in zip(block.results, cts):
                        if ct is not None:
                            self.add(r, ct)
                    inner.append(self.block(block))
                bodies.append(body)
                changes.append(self.ct)
            targets = [v for v in targets if any(v in c.maps[0] for c in changes)]
            seconds = []
            for body, change in zip(bodies, changes):
                with self.builder.block() as more:
                    self.ct = change
                    results = tuple(atom_of(self.whole(v)) for v in targets)
                seconds.append(Block((), (*body, *more), results))
            self.ct = outer
            first, (then, orelse) = split_branches(node, inner, seconds)
            outs = tuple(Var(array_type(v.type), self.rename(v.name)) for v in targets)
            if outs:
                self.record(If(outs=outs, pred=node.pred, then=then, orelse=orelse))
            for v, out in zip(targets, outs):
                self.ct[v] = self.builder.wrap(out)
        return first

    def record(self, node: Node) -> None:
        b = self.builder
        b.append(replace(node, span=b.span, section=b.section, helper=b.helper))

    # loops

    def loop(self, node: For | While) -> For | While:
        """A loop over the same iterations in the other direction, which carries the cotangents of what the first one carried and of the
        outer variables that it read; the cotangents of slices are stacked."""
        results, n = node.body.results, node.carried
        if all(self.ct.get(v) is None for v in node.outs[: len(results)]):
            return node
        _, carries, slices, xs = loop_parts(node)
        live = [k for k in range(n) if node.outs[k] in self.flow or carries[k] in self.flow]
        stacked = [k for k in range(n, len(results)) if self.ct.get(node.outs[k]) is not None]
        free = [v for v in free_vars(node.body) if v in self.flow]
        outer = self.ct
        with self.builder.stamped(span=node.span, helper=node.helper):
            inits = [atom_of(self.whole(v)) for v in (*(node.outs[k] for k in live), *free)]
            given = [atom_of(whole(self.ct[node.outs[k]], node.outs[k].type)) for k in stacked]
            index = Var(index_type(), node.body.params[0].name if isinstance(node, For) else "i")
            carried = [self.fresh(v) for v in (*(carries[k] for k in live), *free)]
            sliced = [self.fresh(results[k]) for k in stacked]
            wrap = self.builder.wrap
            with self.builder.block() as body:
                self.ct = ChainMap({v: wrap(p) for v, p in zip(free, carried[len(live) :])})
                for k, p in zip((*live, *stacked), (*carried[: len(live)], *sliced)):
                    self.add(results[k], wrap(p))
                inner = self.block(node.body)
                ends = [atom_of(self.whole(v)) for v in (*(carries[k] for k in live), *free)]
                of_slices = [k for k, v in enumerate(slices) if v in self.flow and self.ct.get(v) is not None]
                ys = [atom_of(self.whole(slices[k])) for k in of_slices]
            self.ct = outer
            changed = [k for k in range(len(inits)) if k < len(live) or ends[k] is not carried[k]]
            constant = {carried[k]: inits[k] for k in range(len(inits)) if k not in changed}
            second = Block((index, *(carried[k] for k in changed), *sliced), tuple(body), (*(ends[k] for k in changed), *ys))
            first, second, tapes = split_loop(node, inner, renamed(second, constant))
            length = node.length if isinstance(node, For) else first.outs[-1]
            size = loop_length(node) if isinstance(node, For) else loop_length(first)
            targets = [*(node.inits[k] for k in live), *free]
            outs = [Var(carried[k].type, self.rename(targets[k].name)) for k in changed]
            whole_ys = [Var(stacked_type(y.type, size), self.rename(xs[k].name)) for y, k in zip(ys, of_slices)]
            self.record(
                For(
                    outs=(*outs, *whole_ys),
                    length=length,
                    inits=tuple(inits[k] for k in changed),
                    xs=(*given, *tapes),
                    body=second,
                    reverse=not node.reverse if isinstance(node, For) else True,
                )
            )
            # an outer variable's accumulator takes the place of its cotangent; only then may a carry add to the same variable
            for k, out in zip(changed, outs):
                if k >= len(live):
                    self.ct[targets[k]] = wrap(out)  # type: ignore[index]
            for k, out in zip(changed, outs):
                if k < len(live):
                    self.add(targets[k], wrap(out))
            for y, k in zip(whole_ys, of_slices):
                self.add(xs[k], wrap(y), rows=True)
        return first

    def fresh(self, a: Atom) -> Var:
        return Var(array_type(a.type), self.rename(a.name))


def in_section(node: Node, section: str) -> Node:
    """The node, and those inside it, marked as belonging to a section unless they belong to one."""
    if node.section or not section:
        return node
    changes: dict[str, Any] = {"section": section}
    for name in ("then", "orelse", "body", "cond"):
        block = getattr(node, name, None)
        if isinstance(block, Block):
            changes[name] = Block(block.params, tuple(in_section(n, section) for n in block.body), block.results)
    return replace(node, **changes)


def _spelled(entry: table.Op) -> str:
    return entry.name.replace("numpy.", "np.", 1)


# cotangents and shapes


def zeros(t: Type) -> Any:
    """Zeros of a variable's shape and dtype."""
    if not t.shape:
        return recorded.asarray(t.dtype.type(0)) if not (t.scalar or t.weak) else atom_value(t.dtype.type(0))
    return recorded.zeros(t.shape, t.dtype)


def atom_value(x: Any) -> Any:
    from ..core.builder import current

    return current().wrap(atom_of(x))


def whole(value: Any, t: Type) -> Any:
    """A value broadcast to a type's shape."""
    return value if value.shape == t.shape else recorded.broadcast_to(value, t.shape)


def typed(value: Any, t: Type) -> Any:
    """A value cast to a type's dtype: of a complex one, for a real variable, the real part."""
    if value.dtype.kind == "c" and t.dtype.kind != "c":
        value = recorded.real(value)
    return value if value.dtype == t.dtype else recorded.astype(value, t.dtype)


def strong(value: Any) -> Any:
    """A value that is no Python scalar."""
    return recorded.astype(value, value.dtype) if value.type.weak else value


def unbroadcast(value: Any, shape: Shape, target: Shape) -> Any:
    """The sum over the axes along which an operand of shape ``target`` was broadcast to ``shape``; ``value`` broadcasts to ``shape``.

    Axes that the value lacks are counted, not made.
    """
    offset = len(shape) - value.ndim
    lead = len(shape) - len(target)
    summed = [n for n, d in enumerate(shape) if n < lead or (target[n - lead] == 1 and d != 1)]
    missing: list[Dim] = [shape[n] for n in summed if (n < offset or value.shape[n - offset] == 1) and shape[n] != 1]
    if any(isinstance(d, Size) or d == 0 for d in missing):
        value, offset = recorded.broadcast_to(value, shape), 0
    elif missing:
        value = value * product(missing)
    dropped = tuple(n - offset for n in range(offset, lead))
    if dropped:
        value = call("numpy.sum", value, axis=dropped)
        offset = lead
    stretched = tuple(n - offset for n in summed if n >= max(lead, offset) and value.shape[n - offset] != 1)
    return call("numpy.sum", value, axis=stretched, keepdims=True) if stretched else value


def transposed(builder: Builder, block: Block, cts: Iterable[Any]) -> list[Any]:
    """The transpose of a block that is linear in its parameters, applied to cotangents of its results.

    Appends the block's nodes that the transpose reads, then the transpose.
    """
    flow = useful(block, block.results, activity(block, block.params))
    sweep = Sweep(builder, flow, lambda name: None, section="")
    with builder.block() as back:
        for r, ct in zip(block.results, cts):
            sweep.add(r, ct)
        nodes = sweep.block(block)
        results = [sweep.ct.get(p) for p in block.params]
    wanted = {a for r in results if r is not None for a in [r.atom]} | set(free_vars(Block((), tuple(back), ())))
    kept = []
    for node in reversed(nodes):
        if any(v in wanted for v in node.outs):
            kept.append(node)
            wanted.update(free_vars(Block((), (node,), ())))
    for node in (*reversed(kept), *back):
        builder.append(node)
    return results


__all__ = ["Pullback", "Sweep", "grad", "transposed", "vjp"]
