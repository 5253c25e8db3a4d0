"""Names: one for each variable, the user's own where he gave one, shared by variables that never hold a value at the same time.

Variables are gathered into slots. A write in place and its base are one slot; a loop's variable, its first value and its next one
become one where their lifetimes allow, and so do the values that the branches of an ``if`` join. Then each slot takes the name that it
prefers, numbered if another slot holds that name at the same time.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Mapping

from ..core.program import Var
from .liveness import Segments, lifetimes, merge, overlap
from .tree import Bind, Loop, Move, Operand, Repeat, Statement, Tree, Write, each, variables

RESERVED = frozenset({*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "np"})
_INDICES = "ijklmn"
_SEQUENCE = "tuvwpqrs"


def tidy(name: str | None) -> str:
    """A name as an identifier; empty if there is nothing to make one of."""
    if not name:
        return ""
    text = re.sub(r"\W+", "_", name).strip("_") if not name.isidentifier() else name
    if not text or text == "_":
        return ""
    text = text if not text[0].isdigit() else f"x{text}"
    return f"{text}_" if text in RESERVED else text


def assign(
    block: list[Statement],
    fixed: Mapping[Var, str],
    preferred: Callable[[Var], str],
    reserved: Iterable[str],
    *,
    share: bool = True,
    always: Iterable[Var] = (),
) -> dict[Var, str]:
    """A name for every variable. ``fixed`` are given; ``reserved`` names are never used for anything else."""
    return _Naming(block, fixed, preferred, reserved, share, always).run()


class _Naming:
    def __init__(
        self,
        block: list[Statement],
        fixed: Mapping[Var, str],
        preferred: Callable[[Var], str],
        reserved: Iterable[str],
        share: bool,
        always: Iterable[Var],
    ) -> None:
        self.block = block
        self.fixed = fixed
        self.preferred = preferred
        self.reserved = {*RESERVED, *reserved}
        self.share = share
        self.life = lifetimes(block, always=always)
        self.slot: dict[Var, Var] = {}
        self.members: dict[Var, list[Var]] = {}
        self.spans: dict[Var, Segments] = dict(self.life.segments)
        self.hints: dict[Var, str] = {}
        self.index_depth: dict[Var, int] = {}
        self.users: set[str] = set()
        for v in fixed:
            self.spans.setdefault(v, [])

    def run(self) -> dict[Var, str]:
        for s in each(self.block):
            if isinstance(s, Write):
                self.unite(s.base, s.targets[0])
            elif isinstance(s, Bind) and s.update:
                self.unite(left_of(s), s.targets[0])
        for s in each(self.block):
            if isinstance(s, (Loop, Repeat)):
                for inner in s.blocks()[-1]:
                    if isinstance(inner, Move):
                        self.coalesce(inner)
        for s in each(self.block):
            if isinstance(s, Move):
                self.coalesce(s)
        self.collect(self.block, 0)
        return self.choose()

    # slots

    def find(self, v: Var) -> Var:
        while (up := self.slot.get(v, v)) is not v:
            v = up
        return v

    def unite(self, a: Var, b: Var) -> None:
        x, y = self.find(a), self.find(b)
        if x is y:
            return
        if y in self.fixed:
            x, y = y, x
        self.slot[y] = x
        self.members[x] = self.members.get(x, [x]) + self.members.pop(y, [y])
        self.spans[x] = merge(self.spans.get(x, []), self.spans.pop(y, []))

    def coalesce(self, s: Move) -> None:
        for t, value in zip(s.targets, s.operands, strict=True):
            if not isinstance(value, Var):
                continue
            a, b = self.find(t), self.find(value)
            if a is b or (a in self.fixed and b in self.fixed):
                continue
            if not self.share and (a in self.fixed or b in self.fixed):
                continue
            names = {n for n in (self.name_of(a), self.name_of(b)) if n}
            if len(names) > 1 or overlap(self.spans.get(a, []), self.spans.get(b, [])):
                continue
            self.unite(a, b)

    def name_of(self, slot: Var) -> str:
        """The name that a slot prefers: its own if fixed, else the user's."""
        if slot in self.fixed:
            return self.fixed[slot]
        for v in self.members.get(slot, [slot]):
            name = tidy(self.preferred(v))
            if name:
                return name
        return ""

    # choice

    def collect(self, block: list[Statement], depth: int) -> None:
        """Hints for what has no name: the index of a loop, the result of a well-known function."""
        for s in block:
            if isinstance(s, Loop) and not s.over:
                self.index_depth[self.find(s.targets[0])] = depth
            elif isinstance(s, Bind) and len(s.targets) == 1:
                value = s.operands[0]
                hint = value.hint if isinstance(value, Tree) else ""
                if hint or s.section == "backward":
                    self.hints.setdefault(self.find(s.targets[0]), hint or "g")
            for inner in s.blocks():
                self.collect(inner, depth + isinstance(s, (Loop, Repeat)))

    def choose(self) -> dict[Var, str]:
        order: dict[Var, None] = {}
        for v in self.fixed:
            order[self.find(v)] = None
        read: set[Var] = set()
        for s in each(self.block):
            for x in (*s.targets, *(v for o in s.operands for v in variables(o))):
                order[self.find(x)] = None
            read.update(v for o in s.operands for v in variables(o))
        held: dict[str, Segments] = {}
        chosen: dict[Var, str] = {}
        taken = self.reserved - {*self.fixed.values()}
        slots = [v for v in order if v in self.fixed] + sorted(
            (v for v in order if v not in self.fixed), key=lambda v: (not self.name_of(v), self.spans.get(v, [(0, 0)])[0])
        )
        self.users = {n for v in slots if (n := self.name_of(v))}
        for slot in slots:
            spans = self.spans.get(slot, [])
            if slot in self.fixed:
                name = self.fixed[slot]
            elif not any(v in read for v in self.members.get(slot, [slot])):
                chosen[slot] = "_"
                continue
            else:
                name = next(n for n in self.candidates(slot) if n not in taken and self.free(n, spans, held))
            for span in spans:
                insort(held.setdefault(name, []), span)
            if not spans:
                held.setdefault(name, [])
            chosen[slot] = name
        return {v: chosen[self.find(v)] for v in [*order, *(m for ms in self.members.values() for m in ms)]}

    def free(self, name: str, spans: Segments, held: Mapping[str, Segments]) -> bool:
        """Whether no slot that holds a name needs it at the same time."""
        others = held.get(name)
        if others is None or not self.share:
            return others is None
        for start, stop in spans:
            before = bisect_left(others, (stop,))
            if before and others[before - 1][1] > start:
                return False
        return True

    def candidates(self, slot: Var) -> Iterable[str]:
        own = self.name_of(slot)
        if own:
            yield own
            if slot in self.index_depth and own in _INDICES:
                yield from (n for n in _INDICES.partition(own)[2] if n not in self.users)
        elif slot in self.index_depth:
            yield from (n for n in _INDICES[self.index_depth[slot] :] if n not in self.users)
            own = "i"
        elif slot in self.hints:
            own = self.hints[slot]
            if own not in self.users:
                yield own
        else:
            yield from (n for n in _SEQUENCE if n not in self.users)
            own = "t"
        n = 1
        while True:
            yield f"{own}_{n}" if own[-1].isdigit() or len(own) > 1 else f"{own}{n}"
            n += 1


def left_of(s: Bind) -> Var:
    """The variable that an update assigns: the left operand of its expression."""
    value = s.operands[0]
    assert isinstance(value, Tree) and isinstance(value.template.expr, ast.BinOp) and isinstance(value.template.expr.left, ast.Name)
    left: Operand = value.operands[value.template.expr.left.id]
    assert isinstance(left, Var)
    return left


__all__ = ["RESERVED", "assign", "left_of", "tidy"]
