"""Arrays of a few numbers, taken apart: where a Jacobian's unit vectors each have a pass of their own.

A function that reads ``x[0]``, ``x[1]`` and ``x[2]``, or returns ``np.array([a, b, c])``, has scalar code; over a basis each scalar would
be an array that is mostly zeros. One pass for each unit vector, whose zeros are structural, leaves what a person writes: the entries.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from ..core.builder import Value
from ..core.program import Apply, Atom, Const, Program, Var, reads, walk
from ..core.types import Type, known
from ..ops import table
from .activity import activity

FEW = 4  # entries
_MOST = 60  # operations that are repeated for each


def units(t: Type) -> Iterator[Value]:
    """The unit vectors of a type, in order."""
    n = math.prod(map(int, t.shape))  # type: ignore[arg-type]
    for k in range(n):
        yield Value(Const(np.eye(1, n, k, dtype=t.dtype).reshape(t.shape)))


def read_by_entries(program: Program, x: Var) -> bool:
    """Whether a parameter is a few numbers that are only read one by one."""
    if not _few(x.type) or x in program.results or not _plain(program, [x]):
        return False
    return all(isinstance(n, Apply) and is_entry(n) for n in walk(program) if x in reads(n))


def made_of_entries(program: Program, result: Atom, wanted: Sequence[Var]) -> bool:
    """Whether a result is an array of a few numbers, each computed by itself."""
    if not isinstance(result, Var) or result.type.ndim != 1 or not _few(result.type) or not _plain(program, wanted):
        return False
    made = {n.outs[0]: n for n in program.body if isinstance(n, Apply) and len(n.outs) == 1}
    node = made.get(result)
    while node is not None and node.op == "pergrad.setitem" and is_entry(node):
        base = node.args[0]
        node = None if isinstance(base, Const) else made.get(base)
        if node is None or node.op == "numpy.full":
            return isinstance(base, Const) or node is not None
    return node is not None and node.op == "numpy.stack" and all(a.type.ndim == 0 for a in node.args)


def is_entry(node: Apply) -> bool:
    """Whether a read or a write is of one element, whose place is known."""
    index = node.params.get("index", ())
    count = {"pergrad.getitem": 1, "pergrad.setitem": 2}.get(node.op)
    return len(node.args) == count and len(index) == node.args[0].type.ndim and all(isinstance(i, int) for i in index)


def _few(t: Type) -> bool:
    return t.ndim > 0 and known(t.shape) and 1 < t.size <= FEW


def _plain(program: Program, wanted: Sequence[Var]) -> bool:
    """Whether a pass for each entry stays short: a few operations, no branches, loops or draws."""
    active = activity(program, wanted)
    nodes = [n for n in program.body if any(v in active for v in n.outs)]
    drawn = any(isinstance(n, Apply) and (entry := table.find(n.op)) is not None and entry.random for n in walk(program))
    return len(nodes) <= _MOST and all(isinstance(n, Apply) for n in nodes) and not drawn


__all__ = ["made_of_entries", "read_by_entries", "units"]
