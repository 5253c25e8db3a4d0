"""Batching with masks: control flow that differs between samples runs for all of them and selects.

An ``if`` on a mapped test runs both sides and selects. A loop with a mapped test, or one whose number of iterations differs, runs while any
sample is active; samples that are done keep their values. What is computed for samples that would not come there warns of nothing, and its
indices are clamped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.builder import Builder, atom_of, call, recorded
from ..core.program import Apply, Atom, Block, Const, Effect, For, If, Node, Var, While, walk
from ..core.rewrite import Substitution
from ..core.types import Dim, Type, loop_sized
from ..ops import table
from ..ops.families import expand
from ..ops.indexing import Slot
from .activity import loop_parts
from .batch import Batch
from .residuals import index_type

_BOOL = np.dtype(bool)
_QUIET = {"shape", "indexing", "creation"}
_QUIET_OPS = {"numpy.where", "numpy.negative", "numpy.positive", "numpy.maximum", "numpy.minimum", "numpy.absolute", "numpy.sign"}
_MASKED = {"PGR101", "PGR102", "PGR104"}
_INDEXED = {"pergrad.getitem": 1, "pergrad.setitem": 2, "pergrad.additem": 2}


class Mask(Batch):
    """``lanes``: the tests, one number for each sample, under which the nodes at work are reached; ``trips``: for a trip count that differs
    between samples, the number of iterations that were run."""

    def __init__(self, builder: Builder, size: Dim, randomness: str) -> None:
        super().__init__(builder, size, randomness)
        self.lanes: list[Any] = []
        self.trips: dict[Atom, Any] = {}
        self.quiet = False
        self.under = False

    # which variables are mapped

    def spread_branches(self, node: If) -> None:
        before = self.under
        self.under = before or self.mapped(node.pred)
        super().spread_branches(node)
        self.under = before

    def spread_loop(self, node: For | While) -> None:
        super().spread_loop(node)
        if not self.under and self.reason(node) is not None:
            self.under = True
            super().spread_loop(node)
            self.under = False

    def spread_condition(self, node: For | While, carries: Sequence[Var]) -> None:
        """What a masked loop carries stops at another iteration for each sample."""
        super().spread_condition(node, carries)
        source = self.reason(node)
        if source is not None:
            self.mark([p for p, r in zip(carries, node.body.results) if r is not p], source)
            if isinstance(node, While) and node.counted:
                self.mark([node.outs[-1]], source)

    def reason(self, node: For | While) -> Var | None:
        """The variable because of which a loop is masked."""
        test = node.length if isinstance(node, For) else node.cond.results[0]
        if self.mapped(test):
            return test
        if isinstance(node, While) and (self.under or self.lanes):
            return next(iter(self.depends))
        return None

    # where nodes are reached by some samples only

    @contextmanager
    def masked(self, lane: Any) -> Iterator[None]:
        self.lanes.append(lane)
        try:
            yield
        finally:
            self.lanes.pop()

    @contextmanager
    def silent(self, *blocks: Block) -> Iterator[None]:
        """No warnings, where any could come."""
        outermost = not self.quiet and any(_may_warn(n) for b in blocks for n in walk(b))
        if outermost:
            self.builder.append(Effect(outs=(), kind="errstate_enter", payload={"all": "ignore"}))
        before, self.quiet = self.quiet, self.quiet or outermost
        try:
            yield
        finally:
            self.quiet = before
        if outermost:
            self.builder.append(Effect(outs=(), kind="errstate_exit"))

    def reached(self) -> Any:
        """Which samples come here."""
        total = self.lanes[0]
        for lane in self.lanes[1:]:
            total = total & lane
        return total

    def select(self, lane: Any, a: Atom, b: Atom, t: Type) -> Any:
        """``a`` for the samples of ``lane``, ``b`` for the others."""
        for one, other in ((a, b), (b, a)):
            if isinstance(other, Const) and loop_sized(t):
                return self.value(one)  # the other is nothing but a stand-in for a tape
        if a is b:
            return self.full(a)
        return recorded.where(expand(lane, range(1, 1 + t.ndim)), self.value(a), self.value(b))

    def test(self, a: Atom) -> Any:
        """A test as booleans."""
        x = self.value(a)
        return x if x.dtype == _BOOL else x != 0

    def branch(self, node: If) -> None:
        if not self.mapped(node.pred):
            super().branch(node)
            return
        lane = self.test(node.pred)
        with self.silent(node.then, node.orelse):
            for block, test in ((node.then, lane), (node.orelse, ~lane)):
                with self.masked(test):
                    self.body(block)
            for v, a, b in zip(node.outs, node.then.results, node.orelse.results):
                self.assign(v, self.select(lane, a, b, v.type))

    def effect(self, node: Effect) -> None:
        if not self.lanes or node.kind.startswith("errstate") or (node.kind == "assert" and self.source(node.args)):
            super().effect(node)
        elif node.kind == "assert":
            tests = recorded.where(self.reached(), self.builder.wrap(node.args[0]), True)
            self.builder.append(replace(node, args=(atom_of(recorded.all(tests)),)))
        else:
            some = atom_of(recorded.any(self.reached()))
            with self.builder.block() as body:
                super().effect(node)
            then, orelse = Block((), tuple(body), ()), Block((), (), ())
            self.builder.append(If(outs=(), pred=some, then=then, orelse=orelse, span=node.span, section=node.section, helper=node.helper))

    def apply(self, node: Apply) -> None:
        if node.op == "pergrad.truth" and self.mapped(node.args[0]) and node.params["code"] in _MASKED:
            x = self.test(node.args[0])
            self.assign(node.outs[0], x if x.ndim == 1 else recorded.reshape(x, (self.size,)))
            return
        if self.lanes and node.op in _INDEXED:
            node = self.clamped(node)
        super().apply(node)

    def clamped(self, node: Apply) -> Apply:
        """A read or write whose indices are in bounds also for samples that do not come here."""
        first = _INDEXED[node.op]
        args = list(node.args)
        axis = 0
        for item in node.params["index"]:
            if isinstance(item, Slot):
                n, a = node.args[0].type.shape[axis], args[first + item.k]
                if isinstance(n, int) and n and isinstance(a, Var) and item.count is None:
                    with self.builder.block() as nodes:
                        args[first + item.k] = atom_of(recorded.minimum(recorded.maximum(self.builder.wrap(a), -n), n - 1))
                    for m in nodes:
                        assert isinstance(m, Apply)
                        if self.mapped(a):
                            self.mark(m.outs, a)
                        super().apply(m)
            axis += item.axes if isinstance(item, Slot) else item is not None
        return replace(node, args=tuple(args))

    # loops

    def while_loop(self, node: While) -> None:
        if self.reason(node) is None:
            super().while_loop(node)
            return
        carries, n = node.body.params, node.carried
        inits = tuple(self.full(a) if self.mapped(p) else self.value(a) for a, p in zip(node.inits, carries))
        with self.silent(node.cond):
            active = self.condition(node, inits)
            for lane in self.lanes:
                active = active & lane
            active = self.over_samples(active)
        params = tuple(self.rebound(p) for p in carries)
        extra = [(active, Var(Type(_BOOL, (self.size,)), "active"))]
        if node.counted:
            count = node.outs[-1]
            extra.append((recorded.zeros(self.size, int), Var(self.batched(count.type), count.name)))
        running = tuple(v for _, v in extra)
        with self.builder.block() as body, self.silent(node.body, node.cond):
            lane = self.builder.wrap(running[0])
            with self.masked(lane):
                self.body(node.body)
            kept = self.kept(lane, carries, node.body.results)
            ends = [lane & self.condition(node, kept)]
            if node.counted:
                ends.append(self.builder.wrap(running[1]) + lane)
            stacked = node.body.results[n:]
            ys = tuple(atom_of(self.full(r) if self.mapped(v) else self.value(r)) for r, v in zip(stacked, node.outs[n:]))
        results = (*map(atom_of, (*kept, *ends)), *ys)
        seen = tuple(Var(p.type, p.name) for p in (*params, *running))
        with self.builder.block() as test:
            some = atom_of(recorded.any(self.builder.wrap(seen[n])))
        new = replace(
            node,
            inits=(*(atom_of(a) for a in inits), *(atom_of(a) for a, _ in extra)),
            cond=Block(seen, tuple(test), (some,)),
            body=Block((*params, *running), tuple(body), results),
            counted=node.counted,
        )
        self.masked_loop(node, new, running)

    def for_loop(self, node: For) -> None:
        if self.reason(node) is None:
            super().for_loop(node)
            return
        index, carries, _, xs = loop_parts(node)
        n = node.carried
        assert index is not None and isinstance(node.length, Var)
        count = self.value(node.length)
        length = self.trips.get(node.length)
        if length is None:
            length = call("pergrad.most", count)
        inits = tuple(atom_of(self.full(a) if self.mapped(p) else self.value(a)) for a, p in zip(node.inits, carries))
        sliced = tuple(atom_of(self.loop_first(a)) for a in xs)
        params = tuple(self.rebound(p) for p in node.body.params)
        with self.builder.block() as body, self.silent(node.body):
            lane = self.builder.wrap(index) < count
            with self.masked(lane):
                self.body(node.body)
            kept = self.kept(lane, carries, node.body.results)
            stacked = node.body.results[n:]
            ys = tuple(atom_of(self.full(r) if self.mapped(v) else self.value(r)) for r, v in zip(stacked, node.outs[n:]))
        block = Block(params, tuple(body), (*map(atom_of, kept), *ys))
        self.masked_loop(node, replace(node, length=atom_of(length), inits=inits, xs=sliced, body=block), ())

    def kept(self, lane: Any, carries: Sequence[Var], results: Sequence[Atom]) -> list[Any]:
        """What the next iteration starts from: the new values of active samples, the old ones of the others."""
        out = []
        for p, r in zip(carries, results):
            if not self.mapped(p):
                out.append(self.value(r))
                continue
            y = self.select(lane, r, p, p.type)
            out.append(y if y.dtype == p.type.dtype else recorded.astype(y, p.type.dtype))
        return out

    def condition(self, node: While, carries: Sequence[Any]) -> Any:
        """A while's test on given values, in a copy of its own."""
        known = {p: atom_of(v) for p, c, v in zip(node.cond.params, node.body.params, carries) if not self.mapped(c)}
        copy = Substitution(known)
        for p, v in zip(node.cond.params, carries):
            if p not in known:
                self.env[copy.fresh(p)] = v
        nodes = tuple(copy.node(m) for m in node.cond.body)
        for old, new in copy.mapping.items():
            if isinstance(new, Var) and old not in known and old in self.depends:
                self.depends[new] = self.depends[old]
        self.body(Block((), nodes, ()))
        return self.test(copy.atom(node.cond.results[0]))

    def over_samples(self, x: Any) -> Any:
        return x if x.shape == (self.size,) else recorded.broadcast_to(x, (self.size,))

    def masked_loop(self, node: For | While, new: For | While, running: Sequence[Var]) -> None:
        """Append a loop that carries also what is running, and take its outs for those of ``node``."""
        n, m = node.carried, len(node.body.results)
        outs: list[Var] = []
        for k, v in enumerate(node.outs[:m]):
            if not self.mapped(v):
                outs.append(v)
                continue
            shape = (self.size, *v.type.shape) if k < n else (v.type.shape[0], self.size, *v.type.shape[1:])
            outs.append(Var(Type(v.type.dtype, shape), v.name, v.span))
        ends = [Var(p.type, p.name) for p in running]
        trips = [Var(index_type(), "steps")] if isinstance(node, While) and node.counted else []
        self.builder.append(replace(new, outs=(*outs[:n], *ends, *outs[n:], *trips)))
        self.take(node, outs, n, m)
        if trips:
            self.env[node.outs[-1]] = self.builder.wrap(ends[-1])
            self.trips[node.outs[-1]] = self.builder.wrap(trips[0])


def _may_warn(node: Node) -> bool:
    if not isinstance(node, Apply):
        return False
    entry = table.find(node.op)
    if entry is None or entry.family in _QUIET or entry.name in _QUIET_OPS:
        return False
    return any(v.type.inexact for v in node.outs)


__all__ = ["Mask"]
