"""Liveness over printed statements: where each variable's value is still needed.

A statement at position p reads at time 2p and assigns at time 2p + 1. A lifetime is a list of half-open segments of time; it has holes
where a branch is not taken or a loop's variable waits for its next value, so that a name can serve again there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ..core.program import Var
from .tree import Append, Branch, Loop, Repeat, Statement, Store, Under, each, variables

Segments = list[tuple[int, int]]


@dataclass
class Lifetimes:
    """``segments`` of each variable, ascending; ``after``, for the statements asked for, the variables needed after them;
    ``end``, the time after everything."""

    segments: dict[Var, Segments] = field(default_factory=dict)
    after: dict[int, frozenset[Var]] = field(default_factory=dict)
    end: int = 0

    def needed_after(self, s: Statement) -> frozenset[Var]:
        return self.after[id(s)]


def lifetimes(block: list[Statement], wanted: Callable[[Statement], bool] = lambda s: False, always: Iterable[Var] = ()) -> Lifetimes:
    """The lifetimes of a function's variables. ``always`` are variables needed to the end."""
    return _Walk(wanted).run(block, always)


def overlap(a: Segments, b: Segments) -> bool:
    """Whether two ascending lists of segments have a time in common."""
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i][0] < b[j][1] and b[j][0] < a[i][1]:
            return True
        if a[i][1] <= b[j][1]:
            i += 1
        else:
            j += 1
    return False


def merge(a: Segments, b: Segments) -> Segments:
    """The union of two ascending lists of segments, touching ones joined."""
    out: Segments = []
    for start, stop in sorted(a + b):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(stop, out[-1][1]))
        else:
            out.append((start, stop))
    return out


class _Walk:
    def __init__(self, wanted: Callable[[Statement], bool]) -> None:
        self.wanted = wanted
        self.out = Lifetimes()
        self.place: dict[int, tuple[int, int]] = {}
        self.clock = 0

    def run(self, block: list[Statement], always: Iterable[Var]) -> Lifetimes:
        self.number(block)
        end = 2 * self.clock + 2
        live = dict.fromkeys(always, end)
        self.block(block, live)
        self.close(live, 0)
        self.out.end = end
        for v, found in self.out.segments.items():
            self.out.segments[v] = merge(found, [])
        return self.out

    def number(self, block: list[Statement]) -> None:
        for s in block:
            self.clock += 1
            start = self.clock
            for inner in s.blocks():
                self.number(inner)
                self.clock += 1
            self.place[id(s)] = start, self.clock

    def close(self, live: dict[Var, int], start: int) -> None:
        for v, stop in live.items():
            self.segment(v, start, stop)

    def segment(self, v: Var, start: int, stop: int) -> None:
        if start < stop:
            self.out.segments.setdefault(v, []).append((start, stop))

    def block(self, block: list[Statement], live: dict[Var, int]) -> None:
        for s in reversed(block):
            self.statement(s, live)

    def statement(self, s: Statement, live: dict[Var, int]) -> None:
        start, stop = self.place[id(s)]
        if self.wanted(s):
            self.out.after[id(s)] = frozenset(live)
        match s:
            case Branch():
                self.branch(s, live, start, stop)
            case Loop():
                self.loop(s, live, start, stop)
            case Repeat():
                self.repeat(s, live, start, stop)
            case Under():
                self.block(s.body, live)
            case Store() | Append():
                pass
            case _:
                for t in s.targets:
                    self.segment(t, 2 * start + 1, live.pop(t, 2 * start + 2))
        for x in s.operands:
            for v in variables(x):
                live.setdefault(v, 2 * start + 1)

    def branch(self, s: Branch, live: dict[Var, int], start: int, stop: int) -> None:
        self.close(live, 2 * stop)
        after = list(live)
        live.clear()
        first = 2 * start + 2
        for block in reversed(s.blocks()):
            begin, end = self.bounds(s, block, start, stop)
            inside = dict.fromkeys(after, end)
            self.block(block, inside)
            self.close(inside, begin)
            live.update(dict.fromkeys(inside, first))

    def bounds(self, s: Branch, block: list[Statement], start: int, stop: int) -> tuple[int, int]:
        """The times at which a branch begins and ends."""
        middle = self.place[id(s.then[-1])][1] + 1 if s.then else start + 1
        return (2 * start + 2, 2 * middle) if block is s.then else (2 * middle, 2 * stop)

    def loop(self, s: Loop, live: dict[Var, int], start: int, stop: int) -> None:
        self.close(live, 2 * stop)
        after = list(live)
        inside = dict.fromkeys([*after, *exposed(s), *s.carried], 2 * stop)
        self.block(s.body, inside)
        head = 2 * start + 2
        for v in after:
            inside.setdefault(v, head)
        for t in s.targets:
            used = inside.pop(t, head)
            # a reader would lose the thread if an index changed its meaning inside its loop
            self.segment(t, head - 1, used if s.over else max(used, 2 * stop if used > head else head))
        self.close(inside, head)
        live.clear()
        live.update(dict.fromkeys(inside, head))

    def repeat(self, s: Repeat, live: dict[Var, int], start: int, stop: int) -> None:
        self.close(live, 2 * stop)
        after = list(live)
        inside = dict.fromkeys([*after, *exposed(s), *s.carried], 2 * stop)
        self.block(s.body, inside)
        test = self.place[id(s.head[-1])][1]
        for v in after:
            inside.setdefault(v, 2 * test + 2)
        self.block(s.head, inside)
        head = 2 * start + 2
        self.close(inside, head)
        live.clear()
        live.update(dict.fromkeys(inside, head))


def exposed(s: Loop | Repeat) -> list[Var]:
    """What a loop reads from outside it at each iteration."""
    defined: set[Var] = set(s.targets)
    read: dict[Var, None] = {}
    if isinstance(s, Loop) and s.over:
        read.update(dict.fromkeys(v for x in s.operands for v in variables(x)))
    for block in s.blocks():
        for inner in each(block):
            if not isinstance(inner, (Store, Append)):
                defined.update(inner.targets)
            for x in inner.operands:
                read.update(dict.fromkeys(variables(x)))
    return [v for v in read if v not in defined]


__all__ = ["Lifetimes", "Segments", "exposed", "lifetimes", "merge", "overlap"]
