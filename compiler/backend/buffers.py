"""Memory: where a write may happen in place, and where a copy must be made first.

A Program's write is a new value of its base. It is printed as a write into the base itself when this function made the base, nothing
reads the old value or a view of it afterwards, and no variable carried around a loop still means it. Otherwise the base is copied
first. Results are copied where they would share memory with an argument, a constant or each other.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from functools import partial

from ..core.program import Var
from ..core.types import Type, known
from .alias_classes import AliasClasses
from .liveness import Lifetimes, lifetimes
from .tree import (
    Append,
    Bind,
    Loop,
    Move,
    Operand,
    Repeat,
    Return,
    Statement,
    Store,
    Tree,
    Write,
    assigned,
    each,
    is_readonly,
    kept,
    shared,
    template,
    variables,
)

_ATTEMPTS = 3


def copied(x: Operand) -> Tree:
    """A copy of a value."""
    return Tree(template("_0.copy()"), {"_0": x}, x.type)


def plan(block: list[Statement], foreign: Iterable[Var], *, in_place: bool) -> None:
    """Insert the copies, and mark the assignments that may update their left operand. ``foreign`` are arrays that belong to others."""
    facts = _Facts(block, list(foreign), in_place)
    detached: set[Bind] = set()
    for _ in range(_ATTEMPTS):
        attempt = _Plan(facts, detached)
        attempt.visit(block, None)
        if attempt.wanted <= detached:
            return
        attempt.undo()
        detached |= attempt.wanted
    _Plan(facts, detached).visit(block, None)


class _Facts:
    """What holds of the statements before any copy is inserted."""

    def __init__(self, block: list[Statement], foreign: list[Var], in_place: bool) -> None:
        self.foreign = foreign
        self.in_place = in_place
        self.static = AliasClasses.of(block)
        self.readonly = readonly_views(block)
        self.life: Lifetimes = lifetimes(block, lambda s: isinstance(s, (Bind, Move, Write)))


class _Plan:
    """One attempt. ``detached`` are views that are copied where they are taken, so that what they show may be written; ``wanted`` those
    that would have to be for some write to need no copy of the whole."""

    def __init__(self, facts: _Facts, detached: set[Bind]) -> None:
        self.in_place = facts.in_place
        self.static = facts.static
        self.readonly = facts.readonly
        self.life = facts.life
        self.detached = detached
        self.wanted: set[Bind] = set()
        self.views: dict[Var, Bind] = {}
        self.log: list[Callable[[], None]] = []
        self.classes = AliasClasses()
        self.foreign: set[Var] = {self.classes.find(v) for v in facts.foreign}
        # variables of the loops around that do not belong to one iteration alone: what they hold may turn up under another name in the next
        self.frozen: list[Var] = []
        self.exclusive: set[Var] = set()

    # changes

    def undo(self) -> None:
        """Take everything back."""
        for step in reversed(self.log):
            step()

    def copy(self, s: Statement, i: int) -> None:
        """Copy an operand."""
        before = s.operands[i]
        s.operands[i] = copied(before)
        self.log.append(partial(s.operands.__setitem__, i, before))

    # classes

    def join(self, target: Var, value: Operand) -> None:
        if target.type.scalar:
            return
        for v in shared(value):
            if isinstance(v, Var):
                foreign = self.is_foreign(v) or self.is_foreign(target)
                self.classes.union(target, v)
                if foreign:
                    self.foreign.add(self.classes.find(target))

    def is_foreign(self, v: Var) -> bool:
        return self.classes.find(v) in self.foreign

    def roots(self, x: Operand) -> list[Var]:
        """The classes of memory that an expression's value may lie in."""
        return [self.classes.find(v) for v in shared(x) if isinstance(v, Var) and not v.type.scalar]

    def taken(self, x: Operand, after: frozenset[Var], ignored: Iterable[Var] = ()) -> bool:
        """Whether the memory of a value is not this function's own, or is still needed under another name."""
        if is_readonly(x) or any(v in self.readonly for v in shared(x)):
            return True
        ignore = set(ignored)
        frozen = {self.classes.find(v) for v in self.frozen}
        for root in self.roots(x):
            if root in self.foreign or root in frozen or any(v in after and v not in ignore for v in self.classes.of_var(root)):
                return True
        return False

    # statements

    def visit(self, block: list[Statement], around: Loop | Repeat | None) -> None:
        out: list[Statement] = []
        entered = {v: s for s in block if isinstance(s, (Loop, Repeat)) for v in s.carried}
        for s in block:
            match s:
                case Bind():
                    self.bind(s)
                case Write():
                    self.write(s, out)
                case Move() if s.targets[0] in entered:
                    self.enter(s, entered[s.targets[0]])
                case Move() if around is not None and s.targets[0] in around.carried:
                    self.repeat(s)
                case Move():
                    self.pairs(s)
                case Append() | Store():
                    if (place := kept(s)) is not None:
                        self.join(s.targets[0], s.operands[place])
                case Loop(over=True):
                    for t, x in assigned(s):
                        self.join(t, x)
                case Return():
                    self.give_back(s)
            if isinstance(s, (Loop, Repeat)) and self.in_place:
                written = self.written(s)
                for a in each(s.blocks()[-1]):
                    place = kept(a)
                    if place is not None and not a.operands[place].type.scalar and self.static.find(a.targets[0]) in written:
                        self.copy(a, place)
            for inner in s.blocks():
                self.visit(inner, s if isinstance(s, (Loop, Repeat)) else None)
            if isinstance(s, (Loop, Repeat)):
                self.frozen = [v for v in self.frozen if v not in s.carried]
            out.append(s)
        self.log.append(partial(block.__setitem__, slice(None), list(block)))
        block[:] = out

    def bind(self, s: Bind) -> None:
        value = s.operands[0]
        if self.in_place and (left := updated(s)) is not None:
            after = self.life.needed_after(s)
            if not self.taken(left, after):
                s.update = True
                self.log.append(partial(setattr, s, "update", False))
                self.join(s.targets[0], left)
                return
        if s in self.detached:
            self.copy(s, 0)
            return
        for t in s.targets:
            self.join(t, value)
        if isinstance(value, Tree) and isinstance(value.template.expr, ast.Subscript) and value.aliases:
            self.views[s.targets[0]] = s

    def write(self, s: Write, out: list[Statement]) -> None:
        base, target = s.base, s.targets[0]
        taken = not self.in_place or self.taken(base, self.life.needed_after(s), (target,))
        if s.how == "at" and not taken:
            place = s.operands[0]
            assert isinstance(place, Tree)
            others = [s.operands[1], *(x for name, x in place.operands.items() if name != "_0")]
            root = self.classes.find(base)
            taken = any(self.classes.find(v) is root for x in others for v in variables(x))
        if taken and self.in_place:
            self.wanted.update(self.obstacles(base, target, self.life.needed_after(s)))
        if taken:
            fresh = Var(base.type, target.name)
            out.append(Bind(targets=[fresh], operands=[copied(base)], section=s.section, helper=s.helper))
            self.log.append(partial(setattr, s, "base", base))
            s.base = fresh
        self.join(target, s.base)

    def obstacles(self, base: Var, target: Var, after: frozenset[Var]) -> list[Bind]:
        """The views of parts of an array that alone keep it from being written in place."""
        root = self.classes.find(base)
        if root in self.foreign or base in self.readonly or any(self.classes.find(v) is root for v in self.frozen):
            return []
        needed = [v for v in self.classes.of_var(root) if v in after and v is not target]
        if all(v in self.views and smaller(v.type, base.type) for v in needed):
            return [self.views[v] for v in needed]
        return []

    def pairs(self, s: Move) -> None:
        for t, x in zip(s.targets, s.operands, strict=True):
            self.join(t, x)

    def written(self, loop: Loop | Repeat) -> set[Var]:
        """The classes of memory, taken over the whole function, that a loop writes."""
        return {self.static.find(w.base) for b in loop.blocks() for w in each(b) if isinstance(w, Write)}

    def enter(self, s: Move, loop: Loop | Repeat) -> None:
        """Into a loop: a carried array that the body writes must be this function's own and go by no other name."""
        after = self.life.needed_after(s)
        written = self.written(loop)
        others = [self.static.find(a.targets[0]) for b in loop.blocks() for a in each(b) if kept(a) is not None]
        others += [self.static.find(v) for v in loop.carried]
        all_roots = [root for x in s.operands for root in set(self.roots(x))]
        for i, (t, x) in enumerate(zip(s.targets, s.operands, strict=True)):
            if t.type.scalar:
                continue
            taken = self.taken(x, after, (t,)) or any(all_roots.count(root) > 1 for root in self.roots(x))
            if self.static.find(t) in written and self.in_place:
                if taken:
                    self.copy(s, i)
                self.exclusive.add(t)
            elif not taken and others.count(self.static.find(t)) == 1 and accumulates(t, loop):
                self.exclusive.add(t)
            self.join(t, s.operands[i])
            if t not in self.exclusive:
                self.frozen.append(t)

    def repeat(self, s: Move) -> None:
        """At the end of a loop's body: what is written in the next iteration must go by no other name either."""
        after = self.life.needed_after(s)
        all_roots = [root for x in s.operands for root in set(self.roots(x))]
        for i, (t, x) in enumerate(zip(s.targets, s.operands, strict=True)):
            if t in self.exclusive and (self.taken(x, after, s.targets) or any(all_roots.count(root) > 1 for root in self.roots(x))):
                self.copy(s, i)
        self.pairs(s)

    def give_back(self, s: Return) -> None:
        given: set[Var] = set()
        for i, x in enumerate(s.operands):
            if x.type.scalar:
                continue
            roots = self.roots(x)
            if any(r in given for r in roots) or self.taken(x, frozenset()):
                self.copy(s, i)
            given.update(roots)


def smaller(a: Type, b: Type) -> bool:
    """Whether a view of an array is surely less than the array."""
    return a.ndim < b.ndim or (known(a.shape) and known(b.shape) and int(a.size) < int(b.size))  # type: ignore[arg-type]


def readonly_views(block: list[Statement]) -> set[Var]:
    """The variables that may hold a view which cannot be written, whichever way control goes."""
    readers: dict[Var, list[Var]] = {}
    found: list[Var] = []
    for s in each(block):
        for t, value in assigned(s):
            if is_readonly(value):
                found.append(t)
            for v in shared(value):
                if isinstance(v, Var):
                    readers.setdefault(v, []).append(t)
    out: set[Var] = set()
    while found:
        v = found.pop()
        if v not in out and not v.type.scalar:
            out.add(v)
            found.extend(readers.get(v, ()))
    return out


def updated(s: Bind) -> Var | None:
    """The left operand that an assignment could update in place: ``x`` in ``x + y`` of the same type and name."""
    value = s.operands[0]
    if not isinstance(value, Tree) or len(s.targets) != 1 or s.fixed:
        return None
    expr, target = value.template.expr, s.targets[0]
    if not isinstance(expr, ast.BinOp) or not isinstance(expr.left, ast.Name):
        return None
    if not isinstance(expr.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)):
        return None
    left = value.operands.get(expr.left.id)
    if not isinstance(left, Var) or value.template.counts[expr.left.id] > 1 or left.type.scalar or left.type != target.type:
        return None
    return left if left.name in (None, target.name) else None


def accumulates(carry: Var, loop: Loop | Repeat) -> bool:
    """Whether a loop carries only sums into a variable, so that updating it in place keeps it the loop's own."""
    body = loop.blocks()[-1]
    defined = {s.targets[0]: s for s in body if isinstance(s, Bind) and len(s.targets) == 1}
    inner = {v: s for s in body if isinstance(s, (Loop, Repeat)) for v in s.carried}
    entry = {t: x for s in body if isinstance(s, Move) for t, x in zip(s.targets, s.operands, strict=True) if t in inner}
    for s in body:
        if isinstance(s, Move) and carry in s.targets:
            x: Operand | None = s.operands[s.targets.index(carry)]
            while isinstance(x, Var) and x is not carry:
                if x in entry and accumulates(x, inner[x]):
                    x = entry[x]
                else:
                    x = updated(defined[x]) if x in defined else None
            return x is carry
    return False


__all__ = ["copied", "plan"]
