"""Local algebra: each op is offered to the rules for it, once, in program order.

The rules are in ``arithmetic.py``, ``layout.py`` and ``indices.py``. A rule's result is taken only if its type is exactly that of what it
replaces. A rule never changes what a user's operation computes, save that ``x + 0`` is ``x`` also for -0.0; what
could differ in the last bit, or at signed zeros, is for operations that differentiation added (``Match.derived``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.builder import Value, atom_of, fold
from ..core.program import Apply, Atom, Const, If, Node, Program, Var, node_vars, walk
from ..core.types import Type
from ..ops import table
from . import arithmetic, indices, layout, sums
from .rewriting import Rewriting
from .rules import RULES, uniform


def simplify_algebra(program: Program) -> Program:
    """The program with each op simplified by the rules that know it."""
    return _Algebra(program).program(program)


@dataclass
class Match:
    """What a rule sees of the op it is offered: ``x`` its operands as values, so that a rule computes with NumPy."""

    rewriting: _Algebra
    node: Apply

    @property
    def x(self) -> tuple[Any, ...]:
        return tuple(Value(a) for a in self.node.args)

    @property
    def type(self) -> Type:
        return self.node.outs[0].type

    @property
    def params(self) -> dict[str, Any]:
        return dict(self.node.params)

    @property
    def family(self) -> str:
        entry = table.find(self.node.op)
        return entry.family if entry else ""

    @property
    def derived(self) -> bool:
        """Whether differentiation added this op."""
        return self.node.section in ("backward", "tangent")

    def number(self, x: Any) -> Any:
        """The Python number that a constant is everywhere, else None."""
        a = atom_of(x)
        return uniform(a) if isinstance(a, Const) else None

    def made(self, x: Any, *names: str) -> Match | None:
        """How an operand was computed, if by one of these ops."""
        maker = self.rewriting.maker(atom_of(x), *names)
        return None if maker is None else Match(self.rewriting, maker)

    def read_once(self, x: Any) -> bool:
        a = atom_of(x)
        return isinstance(a, Var) and self.rewriting.uses[a] <= 1

    def bind(self, *operands: Any, **params: Any) -> Any:
        """The same op on other operands."""
        entry = table.find(self.node.op)
        assert entry is not None
        given = {**self.params, **params}
        weak = all(atom_of(x).type.weak for x in operands) and self.type.weak
        return self.rewriting.b.apply(entry, operands, given, weak=weak)


class _Algebra(Rewriting):
    def __init__(self, program: Program) -> None:
        super().__init__()
        self.uses: Counter[Atom] = Counter(a for n in walk(program) for a in node_vars(n))

    def visit(self, node: Node, body: list[Node]) -> None:
        super().visit(node, body)
        for v in node.outs:
            if v in self.values:
                self.uses[self.values[v]] += self.uses[v]

    def rewrite(self, node: Node) -> Sequence[Atom] | None:
        if isinstance(node, If):
            return self.branch(node)
        if not isinstance(node, Apply) or len(node.outs) != 1:
            return None
        entry = table.find(node.op)
        if entry is None or entry.random:
            return None
        wanted = node.outs[0].type
        if node.args and all(isinstance(a, Const) for a in node.args):
            folded = kept(node) or fold(entry, node.args, dict(node.params), wanted)
            if folded is not None:
                return (positive(folded) if Match(self, node).derived else folded,)
        rules = [*RULES.get(node.op, ()), *RULES.get(entry.family, ())]
        before = len(self.b.nodes)
        for rule in rules:
            new = rule(Match(self, node))
            if new is None:
                continue
            atom = atom_of(new)
            if atom.type == wanted:
                return (atom,)
            del self.b.nodes[before:]
        return None

    def branch(self, node: If) -> Sequence[Atom] | None:
        """A known test takes its branch; a result that both branches share needs none."""
        if isinstance(node.pred, Const):
            taken = node.then if node.pred.value else node.orelse
            for n in taken.body:
                self.b.append(n)
            return taken.results
        for v, yes, no in zip(node.outs, node.then.results, node.orelse.results):
            if yes is no and yes.type == v.type:
                self.values[v] = yes
        return None


def kept(node: Apply) -> Const | None:
    """A constant that is multiplied by 1: itself, written as it was."""
    if node.op != "numpy.multiply":
        return None
    for a, one in (node.args, node.args[::-1]):
        if isinstance(a, Const) and isinstance(one, Const) and uniform(one) == 1 and a.type == node.outs[0].type:
            return a
    return None


def positive(c: Const) -> Const:
    """A constant with zeros that have no sign."""
    value: Any = c.value
    if c.type.dtype.kind != "f" or not (np.signbit(value) & (np.asarray(value) == 0)).any():
        return c
    return Const(value + c.type.dtype.type(0) if isinstance(value, (np.ndarray, np.generic)) else 0.0)


__all__ = ["Match", "arithmetic", "indices", "layout", "simplify_algebra", "sums"]
