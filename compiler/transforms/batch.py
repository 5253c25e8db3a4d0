"""Batching: every value that depends on a mapped parameter gains the batch as axis 0.

In:  a verified Program, which parameters are mapped, the batch size.
Out: a verified Program over arrays with one more axis in front, and which results have it.

What depends on no mapped parameter is copied as it is. Violations are collected, so that a user sees all of them at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeGuard

from ..core.builder import Builder, atom_of, call, recorded
from ..core.program import Apply, Atom, Block, Const, Effect, For, If, Node, Program, Var, While, blocks_of, reads, walk
from ..core.types import Dim, Type, loop_sized
from ..errors import PergradError, Span, Step, Unsupported, VmapViolation, several
from ..ops import table
from ..ops.families import Batching
from .activity import loop_parts
from .residuals import placeholder, sizes_of


def batch(
    program: Program, mapped: Sequence[bool], size: Dim, *, randomness: str = "error", control_flow: str = "error"
) -> tuple[Program, tuple[bool, ...]]:
    """The program over a batch, and which of its results are batched.

    Errors: VmapViolation for what a mapped value may not do, Unsupported for an operation without a batching rule; all that there are.
    """
    builder = Builder()
    with builder.active():
        b = _masked(builder, size, randomness) if control_flow == "mask" else Batch(builder, size, randomness)
        params = tuple(b.parameter(p) if m else p for p, m in zip(program.params, mapped, strict=True))
        b.spread(program)
        b.read = _read(program)
        b.body(program)
        results = tuple(atom_of(b.value(r)) for r in program.results)
    if b.errors:
        raise several(b.errors)
    sizes = {name: (k, axis + mapped[k]) for name, (k, axis) in program.sizes.items()}
    sizes.update({n: at for n, at in sizes_of(params).items() if n not in sizes})
    return Program(params, tuple(builder.nodes), results, program.name, sizes), tuple(b.mapped(r) for r in program.results)


def _masked(builder: Builder, size: Dim, randomness: str) -> Batch:
    from .mask import Mask

    return Mask(builder, size, randomness)


def _read(block: Block) -> set[Atom]:
    """What is read otherwise than slice by slice."""
    found: set[Atom] = set(block.results)
    for node in walk(block):
        found.update(reads(replace(node, xs=()) if isinstance(node, For) else node))
        for inner in blocks_of(node):
            found.update(inner.results)
    return found


_TESTS = {"pergrad.truth", "numpy.logical_not", "numpy.logical_and", "numpy.logical_or"}


class Batch:
    """Walks a program once. ``env``: for each mapped variable its value with the batch in front."""

    def __init__(self, builder: Builder, size: Dim, randomness: str) -> None:
        self.builder = builder
        self.size = size
        self.randomness = randomness
        self.env: dict[Var, Any] = {}
        self.depends: dict[Var, Var | None] = {}
        self.along: dict[Atom, Any] = {}
        self.read: set[Atom] = set()
        self.errors: list[PergradError] = []
        self.refused: set[Node] = set()
        self.told: dict[Atom, str] = {}

    def parameter(self, p: Var) -> Var:
        new = Var(self.batched(p.type), p.name, p.span)
        self.env[p] = self.builder.wrap(new)
        self.depends[p] = None
        return new

    def batched(self, t: Type) -> Type:
        """A per-sample type with the batch in front."""
        return Type(t.dtype, (self.size, *t.shape))

    def mapped(self, a: Any) -> TypeGuard[Var]:
        return a in self.depends

    def value(self, a: Atom) -> Any:
        """What stands for an atom in the batched program: with the batch in front if it is mapped."""
        return self.env[a] if self.mapped(a) else self.builder.wrap(a)

    def full(self, a: Atom) -> Any:
        """An atom with the batch in front, whether it is mapped or not."""
        if self.mapped(a):
            return self.env[a]
        x = self.builder.wrap(a)
        if isinstance(a, Const) and loop_sized(a.type):
            return self.builder.wrap(placeholder(self.batched(a.type)))
        x = recorded.broadcast_to(x, (self.size, *a.type.shape))
        return x if x.dtype == a.type.dtype else recorded.astype(x, a.type.dtype)

    # which variables are mapped, before anything is recorded

    def spread(self, block: Block) -> None:
        """Mark the variables that depend on marked ones, each with one that it depends on."""
        for node in block.body:
            match node:
                case Apply():
                    source = self.source(node.args)
                    if self.draws(node) and source is None:
                        self.depends.update((v, None) for v in node.outs)
                    elif source is not None:
                        self.mark(node.outs, source)
                case If():
                    self.spread_branches(node)
                case For() | While():
                    self.spread_loop(node)

    def source(self, atoms: Sequence[Atom]) -> Var | None:
        return next((a for a in atoms if self.mapped(a)), None)

    def mark(self, variables: Sequence[Var], source: Var) -> None:
        for v in variables:
            self.depends.setdefault(v, source)

    def draws(self, node: Apply) -> bool:
        """Whether a node draws numbers that differ between samples; an error if nobody said."""
        entry = table.find(node.op)
        if entry is None or not entry.random:
            return False
        if self.randomness == "error" and node not in self.refused:
            self.refused.add(node)
            self.errors.append(self.random_violation(node, entry))
        return self.randomness == "different"

    def spread_branches(self, node: If) -> None:
        if self.mapped(node.pred):
            self.mark(node.outs, node.pred)
        for block in (node.then, node.orelse):
            self.spread(block)
            for v, r in zip(node.outs, block.results):
                if self.mapped(r):
                    self.mark([v], r)

    def spread_loop(self, node: For | While) -> None:
        _, carries, slices, xs = loop_parts(node)
        for p, a in zip((*carries, *slices), (*node.inits, *xs)):
            if self.mapped(a):
                self.mark([p], a)
        while True:
            before = sum(self.mapped(p) for p in carries)
            self.spread(node.body)
            self.spread_condition(node, carries)
            for p, r in zip(carries, node.body.results):
                if self.mapped(r):
                    self.mark([p], r)
            if sum(self.mapped(p) for p in carries) == before:
                break
        results = node.body.results
        for v, a in zip(node.outs, (*carries, *results[len(carries) :])):
            if self.mapped(a):
                self.mark([v], a)

    def spread_condition(self, node: For | While, carries: Sequence[Var]) -> None:
        """The test of a while sees the same carries."""
        if isinstance(node, While):
            for p, c in zip(node.cond.params, carries):
                if self.mapped(c):
                    self.mark([p], c)
            self.spread(node.cond)

    # recording

    def body(self, block: Block) -> None:
        """Record the nodes of a block."""
        for node in block.body:
            with self.builder.stamped(span=node.span, section=node.section, helper=node.helper):
                try:
                    self.node(node)
                except (Unsupported, VmapViolation) as error:
                    source = self.source(node.args) if isinstance(node, Apply) else None
                    if source is not None and isinstance(error, VmapViolation) and not error.trail:
                        error.trail = tuple(self.trail(source))
                    self.errors.append(error)
                    self.told.update((v, error.code) for v in node.outs)
                    self.give_up(node)

    def give_up(self, node: Node) -> None:
        """After an error: stand-ins, so that later errors are found."""
        for v in node.outs:
            if self.mapped(v) and v not in self.env:
                self.env[v] = self.builder.wrap(Var(self.batched(v.type), v.name, v.span))

    def node(self, node: Node) -> None:
        match node:
            case Apply():
                self.apply(node)
            case Effect():
                self.effect(node)
            case If():
                self.branch(node)
            case For():
                self.for_loop(node)
            case While():
                self.while_loop(node)

    def apply(self, node: Apply) -> None:
        entry = table.find(node.op)
        assert entry is not None
        if not any(a in self.depends for a in node.outs):
            self.builder.append(node)
            return
        if entry.batch is None or (entry.random and self.randomness == "same"):
            code = entry.rejected or "PGR702"
            raise Unsupported(f"{_spelled(entry)} has no batching rule", code=code, span=node.span, hint=entry.hint)
        told = next((self.told[a] for a in node.args if a in self.told), None)
        if told and node.op in _TESTS:
            # the user has been told of this test already
            self.told.update((v, told) for v in node.outs)
            self.give_up(node)
            return
        mapped = tuple(a in self.depends for a in node.args)
        x = tuple(self.value(a) for a in node.args)
        result = entry.batch(Batching(entry, x, mapped, tuple(a.type for a in node.args), dict(node.params), self.size))
        for v, y in zip(node.outs, result if isinstance(result, tuple) else (result,)):
            self.assign(v, y)

    def assign(self, v: Var, y: Any) -> None:
        """Take a value as what stands for a variable."""
        shape = (self.size, *v.type.shape)
        if y.shape != shape:
            y = recorded.broadcast_to(y, shape)
        if y.dtype != v.type.dtype:
            y = recorded.astype(y, v.type.dtype)
        if isinstance(y.atom, Var) and y.atom.name is None:
            y.atom.name = v.name
        self.env[v] = y

    def effect(self, node: Effect) -> None:
        source = self.source(node.args)
        if node.kind == "assert" and source is not None:
            if source in self.told:
                return
            raise self.violation("PGR103", node.span, source, "assert", "np.where, or return what is to be checked and check it outside")
        if source is not None:
            payload = node.payload.without_specs() if node.kind == "print" else node.payload
            node = replace(node, args=tuple(atom_of(self.value(a)) for a in node.args), payload=payload)
        self.builder.append(node)

    def branch(self, node: If) -> None:
        if self.mapped(node.pred):
            hint = "np.where(condition, a, b) computes both and selects; or control_flow='mask'"
            if node.pred not in self.told:
                self.errors.append(self.violation("PGR101", node.span, node.pred, "if", hint))
            elif self.told[node.pred] == "PGR104":
                self.told.update((v, "PGR104") for v in node.outs)
            for block in (node.then, node.orelse):
                with self.builder.block():
                    self.body(block)
                self.told.update((v, self.told[r]) for v, r in zip(node.outs, block.results) if r in self.told)
            self.give_up(node)
            return
        blocks = [self.block((), b, [self.mapped(v) for v in node.outs]) for b in (node.then, node.orelse)]
        self.structured(node, replace(node, then=blocks[0], orelse=blocks[1]))

    def block(self, params: Sequence[Var], block: Block, mapped: Sequence[bool], along: int | None = None) -> Block:
        """A block batched, with the results of ``mapped`` having the batch in front."""
        with self.builder.block() as body:
            self.body(block)
            results = tuple(atom_of(self.full(r) if m else self.value(r)) for r, m in zip(block.results, mapped))
        return Block(tuple(params), tuple(body), results)

    def structured(self, node: Node, new: Node) -> None:
        """Append a node whose outs stand for those of ``node``."""
        outs = tuple(Var(self.batched(v.type), v.name, v.span) if self.mapped(v) else v for v in node.outs)
        self.builder.append(replace(new, outs=outs))
        self.env.update((v, self.builder.wrap(o)) for v, o in zip(node.outs, outs) if v is not o)

    def rebound(self, p: Var) -> Var:
        """A block's parameter, with the batch in front if it is mapped."""
        if not self.mapped(p):
            return p
        new = Var(self.batched(p.type), p.name, p.span)
        self.env[p] = self.builder.wrap(new)
        return new

    def for_loop(self, node: For) -> None:
        if isinstance(node.length, Var) and self.mapped(node.length):
            hint = "loop up to a bound that is the same for all and select with np.where"
            if node.length not in self.told:
                self.errors.append(self.violation("PGR107", node.span, node.length, "the length of a loop", hint))
            self.give_up(node)
            return
        if not any(self.mapped(v) for v in (*node.outs, *node.body.params)):
            self.builder.append(node)
            return
        _, carries, _, xs = loop_parts(node)
        n = node.carried
        inits = tuple(atom_of(self.full(a) if self.mapped(p) else self.value(a)) for a, p in zip(node.inits, carries))
        sliced = tuple(atom_of(self.loop_first(a)) for a in xs)
        params = tuple(self.rebound(p) for p in node.body.params)
        body = self.block(params, node.body, self.results_mapped(node, carries))
        new = replace(node, inits=inits, xs=sliced, body=body)
        self.looped(node, new, n, len(node.outs))

    def results_mapped(self, node: For | While, carries: Sequence[Var]) -> list[bool]:
        results = node.body.results
        return [self.mapped(v) for v in (*carries, *node.outs[len(carries) : len(results)])]

    def loop_first(self, a: Atom) -> Any:
        """What a loop slices, with the loop's axis in front of the batch."""
        if a in self.along:
            return self.along[a]
        return call("numpy.moveaxis", self.value(a), 1, 0) if self.mapped(a) else self.value(a)

    def looped(self, node: For | While, new: Node, n: int, m: int) -> None:
        """Append a loop. What it stacks has the batch behind the loop's axis; it is brought in front unless only loops slice it."""
        outs = []
        for k, v in enumerate(node.outs):
            if not self.mapped(v):
                outs.append(v)
                continue
            shape = (self.size, *v.type.shape) if k < n else (v.type.shape[0], self.size, *v.type.shape[1:])
            outs.append(Var(Type(v.type.dtype, shape), v.name, v.span))
        self.builder.append(replace(new, outs=tuple(outs)))
        self.take(node, outs, n, m)

    def take(self, node: For | While, outs: Sequence[Var], n: int, m: int) -> None:
        """Let a batched loop's outs stand for those of ``node``; those from ``n`` to ``m`` are stacked."""
        for k, (v, o) in enumerate(zip(node.outs, outs)):
            if v is o:
                continue
            y = self.builder.wrap(o)
            if n <= k < m:
                self.along[v] = y
                if v not in self.read:
                    continue
                y = call("numpy.moveaxis", y, 1, 0)
            self.env[v] = y

    def while_loop(self, node: While) -> None:
        if self.mapped(node.cond.results[0]):
            hint = "loop a number of times that is the same for all and select with np.where; or control_flow='mask'"
            before = len(self.errors)
            with self.builder.block():
                for block in (node.cond, node.body):
                    for p in block.params:
                        self.rebound(p)
                    self.body(block)
            if node.cond.results[0] not in self.told and len(self.errors) == before:
                # else it is left by a test inside that has been told of
                self.errors.append(self.violation("PGR102", node.span, node.cond.results[0], "while", hint))
            if node.counted:
                self.told[node.outs[-1]] = "PGR102"
            self.give_up(node)
            return
        if not any(self.mapped(v) for v in (*node.outs, *node.body.params)):
            self.builder.append(node)
            return
        carries, n = node.body.params, node.carried
        inits = tuple(atom_of(self.full(a) if self.mapped(p) else self.value(a)) for a, p in zip(node.inits, carries))
        cond = self.block(tuple(self.rebound(p) for p in node.cond.params), node.cond, [False])
        body = self.block(tuple(self.rebound(p) for p in carries), node.body, self.results_mapped(node, carries))
        self.looped(node, replace(node, inits=inits, cond=cond, body=body), n, len(node.body.results))

    # violations

    def violation(self, code: str, span: Span | None, source: Var, what: str, hint: str) -> VmapViolation:
        name = source.name or (source.span.text() if source.span else "") or "a value"
        message = f"data-dependent control flow: `{what}` is decided by `{name}`, which differs between samples"
        return VmapViolation(message, code=code, span=span or source.span, hint=hint, trail=self.trail(source))

    def random_violation(self, node: Apply, entry: table.Op) -> VmapViolation:
        text = node.span.text() if node.span else ""
        message = f"random numbers under vmap: `{text or _spelled(entry)}` does not say whether samples share them"
        hint = "vmap(..., randomness='different') draws for every sample, randomness='same' draws once for all"
        return VmapViolation(message, code="PGR501", span=node.span, hint=hint)

    def trail(self, v: Var) -> list[Step]:
        """How a variable came to depend on a mapped parameter: the named or spanned variables on the way, first to last."""
        chain: list[Var] = [v]
        while (before := self.depends.get(chain[-1])) is not None and before not in chain:
            chain.append(before)
        steps = []
        known = ""
        for link in reversed(chain):
            if link.name is None or link.span is None:
                known = known or link.name or ""
                continue
            if link.name == known:
                continue
            steps.append(Step(link.span, f"{link.name} depends on {known}" if known else f"{link.name} is mapped here"))
            known = link.name
        return steps


def _spelled(entry: table.Op) -> str:
    return entry.name.replace("numpy.", "np.", 1)


__all__ = ["Batch", "batch"]
