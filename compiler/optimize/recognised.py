"""Formulas that have a shorter derivative as a whole than op by op: recognised before differentiation, spelled out again after it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..core.builder import Value, atom_of, call
from ..core.program import Apply, Atom, Const, Node, Program, blocks_of, node_vars, walk
from ..ops.recognised import softmax_parts
from .rewriting import Rewriting
from .rules import uniform

_FULL = slice(None)


def recognise(program: Program) -> Program:
    """The program with one op for each of the formulas. What it computes stays the same, bit for bit."""
    return _Recognition(program).program(program)


def spell_out(program: Program) -> Program:
    """The program with formulas of several statements as those."""
    return _Spelling().program(program)


class _Recognition(Rewriting):
    def __init__(self, program: Program) -> None:
        super().__init__()
        self.uses: Counter[Atom] = Counter(a for n in walk(program) for a in node_vars(n))
        blocks = [program, *(b for n in walk(program) for b in blocks_of(n))]
        self.uses.update(r for b in blocks for r in b.results)

    def rewrite(self, node: Node) -> Sequence[Atom] | None:
        if not isinstance(node, Apply) or node.op != "numpy.divide" or node.section:
            return None
        for formula in (self.logistic, self.softmax):
            found = formula(*node.args)
            if found is not None and atom_of(found).type == node.outs[0].type:
                return (atom_of(found),)
        return None

    def part(self, a: Atom, name: str, uses: int = 1) -> Apply | None:
        """The op of that name that computed a part of the formula, if nothing else reads it."""
        return self.maker(a, name) if self.uses[a] == uses else None

    def logistic(self, one: Atom, below: Atom) -> Any:
        """1 / (1 + exp(-x))"""
        total = self.part(below, "numpy.add") if _is_one(one) else None
        if total is None:
            return None
        for first, second in (total.args, total.args[::-1]):
            power = self.part(second, "numpy.exp") if _is_one(first) else None
            if power is not None:
                (x,) = power.args
                minus = self.part(x, "numpy.negative")
                return call("pergrad.logistic", Value(minus.args[0] if minus else x), minus=minus is not None)
        return None

    def softmax(self, e: Atom, below: Atom) -> Any:
        """e / sum(e) with e = exp(x)"""
        power = self.part(e, "numpy.exp", uses=2)
        total = self.part(below, "numpy.sum") or self.widened(below)
        if power is None or total is None or total.args[0] is not e or len(total.params["axis"]) != 1:
            return None
        (axis,) = total.params["axis"]
        kept = below.type.ndim == e.type.ndim and below.type.shape[axis] == 1
        # without its axis the sum still fits where the axis was the first
        if not kept and (below.type.ndim == e.type.ndim or axis != -e.type.ndim):
            return None
        return call("pergrad.softmax", Value(power.args[0]), axis=axis, called=getattr(e, "name", None))

    def widened(self, a: Atom) -> Apply | None:
        """The sum in sum(e)[:, None] or np.expand_dims(sum(e), 1)."""
        made = self.part(a, "pergrad.getitem") or self.part(a, "numpy.expand_dims")
        return self.part(made.args[0], "numpy.sum") if made is not None and len(made.args) == 1 else None


class _Spelling(Rewriting):
    def rewrite(self, node: Node) -> Sequence[Atom] | None:
        if not isinstance(node, Apply) or node.op != "pergrad.softmax":
            return None
        e, y = map(atom_of, softmax_parts(Value(node.args[0]), node.params["axis"]))
        if not isinstance(e, Const):
            e.name = node.params["called"]
        return (y,)


def _is_one(a: Atom) -> bool:
    return isinstance(a, Const) and uniform(a) == 1 and not isinstance(a.value, bool)
