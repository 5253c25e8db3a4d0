"""Folding: a value that is used once becomes part of the expression that uses it, as far as the line is wide.

What the user named stays a statement of its own unless there is nothing to it. Nothing moves past an effect, nor past a write into
memory that it reads.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection

from ..core.program import Const, Var
from .alias_classes import AliasClasses
from .buffers import updated
from .literals import literal
from .tree import Act, Append, Bind, Branch, Loop, Move, Operand, Return, Statement, Store, Test, Tree, Write, each, variables

WIDTH = 88
MATRIX = 1000  # room for the rows of a matrix
_PRIMARY = (ast.Call, ast.Subscript, ast.Attribute)


def fold(block: list[Statement], name_of: Callable[[Var], str], ordered: Collection[Bind]) -> None:
    """Fold in place; ``ordered`` are statements that stay where they are, such as random draws."""
    _Folding(block, name_of, ordered).run()


def drop_unused(block: list[Statement], ordered: Collection[Bind]) -> None:
    """Remove assignments that nothing reads."""
    count: dict[Var, int] = {}

    def add(s: Statement, sign: int) -> None:
        own = s.targets if isinstance(s, (Store, Append)) else ()
        for x in s.operands:
            for v in variables(x):
                if v not in own:
                    count[v] = count.get(v, 0) + sign

    def sweep(block: list[Statement]) -> bool:
        kept: list[Statement] = []
        changed = False
        for s in reversed(block):
            for inner in reversed(s.blocks()):
                changed |= sweep(inner)
            if isinstance(s, (Bind, Write, Store, Append, Move)) and s not in ordered:
                used = [count.get(t, 0) > 0 for t in s.targets]
                if not any(used) or (isinstance(s, Move) and not all(used)):
                    changed = True
                    add(s, -1)
                    if not any(used):
                        continue
                    s.operands = [x for x, keep in zip(s.operands, used, strict=True) if keep]
                    s.targets = [t for t, keep in zip(s.targets, used, strict=True) if keep]
                    add(s, 1)
            if isinstance(s, (Loop, Branch)) and not any(s.blocks()):
                changed = True
                add(s, -1)
                continue
            kept.append(s)
        block[:] = reversed(kept)
        return changed

    for s in each(block):
        add(s, 1)
    while sweep(block):
        pass


class _Folding:
    def __init__(self, block: list[Statement], name_of: Callable[[Var], str], ordered: Collection[Bind]) -> None:
        self.top = block
        self.name_of = name_of
        self.ordered = ordered
        self.classes = AliasClasses.of(block)
        self.uses: dict[Var, int] = {}
        self.pinned: set[Var] = set()
        self.clock = 0
        self.barrier = 0
        self.written: dict[Var, int] = {}
        self.moved = {x for s in each(block) if isinstance(s, Move) for x in s.operands if isinstance(x, Var)}
        for s in each(block):
            for x in s.operands:
                for v in variables(x):
                    self.uses[v] = self.uses.get(v, 0) + 1
            if isinstance(s, Write):
                self.pinned.add(s.base)
            if isinstance(s, (Store, Append)):
                self.pinned.update(s.targets)
        self.left = dict(self.uses)
        self.pending: dict[Var, tuple[Bind, int, int]] = {}
        self.section = ""
        self.room = 0
        self.returning = False

    def run(self) -> None:
        self.visit(self.top, 4)

    def visit(self, block: list[Statement], indent: int) -> None:
        outer, self.pending = self.pending, {}
        folded: dict[Var, Bind] = {}
        for s in block:
            self.clock += 1
            self.room = WIDTH - indent - self.overhead(s) - sum(self.length(x) for x in s.operands)
            self.section = ""
            self.returning = isinstance(s, Return)
            s.operands = [self.substitute(x) for x in s.operands]
            if isinstance(s, Return):
                s.section = self.section
            for inner in s.blocks():
                self.visit(inner, indent + 4)
            if isinstance(s, Write):
                self.written[self.classes.find(s.base)] = self.clock
            elif isinstance(s, Act):
                self.barrier += 1
            elif isinstance(s, Bind) and self.foldable(s):
                self.pending[s.targets[0]] = s, self.clock, self.barrier
                folded[s.targets[0]] = s
        gone = {id(s) for v, s in folded.items() if self.left[v] == 0}
        block[:] = [s for s in block if id(s) not in gone]
        self.pending = outer

    def foldable(self, s: Bind) -> bool:
        if s.fixed or len(s.targets) != 1 or s in self.ordered:
            return False
        target, value = s.targets[0], s.operands[0]
        uses = self.uses.get(target, 0)
        if target in self.pinned or isinstance(value, Var) or not uses:
            return False
        if isinstance(value, Const):
            return uses == 1
        trivial = value.cheap and all(isinstance(x, (Var, Const)) for x in value.operands.values())
        name = target.name or "d_"
        named = not name.startswith("d_") and not name.endswith("_dot")
        if uses == 1:
            if target in self.moved and not target.type.scalar and updated(s) is not None:
                return False
            return trivial or not named
        return trivial and not named and uses <= 4

    def substitute(self, x: Operand, base: bool = False) -> Operand:
        """The expression with what is pending in place of its variables; ``base`` if it is subscripted or its attribute taken."""
        if isinstance(x, Var):
            found = self.pending.get(x)
            if found is None:
                return x
            bind, clock, barrier = found
            value = bind.operands[0]
            if base and x.name and not (isinstance(value, Tree) and value.cheap):
                return x
            grown = self.length(value) + _parentheses(value) - len(self.name_of(x))
            fits = grown <= self.room or (self.returning and _is_written_out(value))
            if barrier != self.barrier or not fits or not self.unwritten(value, clock):
                return x
            self.room -= grown
            self.left[x] -= 1
            self.section = bind.section or self.section
            return value
        if isinstance(x, Tree):
            counts = x.template.counts
            room = self.room
            if self.is_matrix(x):
                self.room = MATRIX
            for name, operand in x.operands.items():
                if isinstance(operand, Var) and counts.get(name, 0) > 1:
                    continue
                x.operands[name] = self.substitute(operand, name in x.template.bases)
            if self.room > WIDTH:
                self.room = room
        return x

    def is_matrix(self, x: Tree) -> bool:
        """Whether an expression puts together rows of numbers, which are written each on a line of its own where one line is too short."""
        rows = [self.pending[o][0].operands[0] if isinstance(o, Var) and o in self.pending else o for o in x.operands.values()]
        whole = all(isinstance(r, Const) or (isinstance(r, Tree) and r.template.function == "np.array") for r in rows)
        return x.template.function == "np.stack" and whole

    def unwritten(self, value: Operand, clock: int) -> bool:
        return all(self.written.get(self.classes.find(v), -1) < clock for v in variables(value))

    def length(self, x: Operand) -> int:
        """An estimate of the printed length."""
        if isinstance(x, Var):
            return len(self.name_of(x))
        if isinstance(x, Const):
            return len(literal(x) or "constant")
        total = x.template.length
        for name, operand in x.operands.items():
            total += (self.length(operand) + _parentheses(operand)) * x.template.counts.get(name, 0)
        return total

    def overhead(self, s: Statement) -> int:
        names = sum(len(self.name_of(t)) + 2 for t in s.targets)
        if isinstance(s, (Return, Test, Act)):
            return 8
        if isinstance(s, Loop):
            return names + 25
        if isinstance(s, Write):
            return 16 if s.how == "at" else 4
        return names + 4


def _parentheses(x: Operand) -> int:
    """How many characters an operand's parentheses may take."""
    return 2 if isinstance(x, Tree) and not isinstance(x.template.expr, _PRIMARY) else 0


def _is_written_out(x: Operand) -> bool:
    """Whether an expression is a matrix of numbers."""
    return isinstance(x, Tree) and x.template.function == "np.stack" and all(not isinstance(o, Var) for o in x.operands.values())


__all__ = ["WIDTH", "drop_unused", "fold"]
