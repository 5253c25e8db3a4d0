"""Arrays that differentiation puts together number by number, for each sample: written into one buffer.

``np.stack`` of ``np.stack`` copies everything once for each level, and makes arrays of zeros for entries that are zero. Without samples the
entries are numbers, and ``np.array([[a, b], [c, d]])`` is what a person writes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from ..core.builder import Value, atom_of
from ..core.builder import recorded as np
from ..core.program import Apply, Atom, Const, Node, Program, node_vars, walk
from ..ops.indexing import put
from .rewriting import Rewriting
from .rules import uniform

_MOST = 32  # writes
_FULL = slice(None)


def assemble(program: Program) -> Program:
    """The program with stacks of stacks that differentiation added, and those along the last axis, as writes into zeros."""
    return _Assembly(program).program(program)


class _Assembly(Rewriting):
    def __init__(self, program: Program) -> None:
        super().__init__()
        self.uses: Counter[Atom] = Counter(a for n in walk(program) for a in node_vars(n))
        self.uses.update(program.results)
        self.parts = {a for n in walk(program) if self.is_stack(n) for a in node_vars(n) if self.uses[a] == 1}

    def is_stack(self, node: Node) -> bool:
        derived = node.section in ("backward", "tangent")
        return isinstance(node, Apply) and node.op == "numpy.stack" and derived and node.outs[0].type.ndim > 1

    def rewrite(self, node: Node) -> Sequence[Atom] | None:
        if not isinstance(node, Apply) or not self.is_stack(node) or node.outs[0] in self.parts:
            return None
        t = node.outs[0].type
        entries = list(self.entries(node, list(range(t.ndim)), [_FULL] * t.ndim))
        apart = len(entries) > len(node.args) or node.params["axis"] in (-1, t.ndim - 1)
        if not apart or len(entries) > _MOST or any(a.type.dtype != t.dtype for _, a in entries):
            return None
        if all(_FULL not in index for index, _ in entries):
            return None
        y = np.zeros(t.shape, t.dtype)
        for index, a in entries:
            if not (isinstance(a, Const) and uniform(a) == 0):
                y = put(y, Value(a), tuple(index), ())
        atom = atom_of(y)
        if not isinstance(atom, Const):
            atom.name = node.outs[0].name or "out"
        return (atom,)

    def entries(self, node: Apply, axes: list[int], index: list[Any]) -> Iterator[tuple[list[Any], Atom]]:
        """What is put together and where, through stacks that nothing else reads; ``axes`` are those of the whole."""
        k = node.params["axis"] % len(axes)
        rest = [*axes[:k], *axes[k + 1 :]]
        for i, a in enumerate(node.args):
            place = [i if n == axes[k] else own for n, own in enumerate(index)]
            inner = self.maker(a, "numpy.stack")
            if inner is not None and a in self.parts:
                yield from self.entries(inner, rest, place)
            else:
                yield from self.numbers(self.value(a), rest, place)

    def numbers(self, a: Atom, axes: list[int], index: list[Any]) -> Iterator[tuple[list[Any], Atom]]:
        """An entry, or each number of one that is a few known ones."""
        number = uniform(a) if isinstance(a, Const) else None
        if number is not None or not isinstance(a, Const) or a.type.ndim != 1 or a.type.size not in range(_MOST):
            yield index, a if number is None else Const(a.type.dtype.type(number))
            return
        for i, entry in enumerate(a.value):
            yield [i if n == axes[-1] else own for n, own in enumerate(index)], Const(entry)

    def value(self, a: Atom) -> Atom:
        """An entry before it was broadcast: a write broadcasts by itself."""
        made = self.maker(a, "numpy.broadcast_to", "numpy.full")
        if made is not None:
            return made.args[0] if made.args else Const(a.type.dtype.type(made.params["value"]))
        return a


__all__ = ["assemble"]
