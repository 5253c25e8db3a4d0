"""Constants as a person writes them: a NumPy scalar, or an array that is one number everywhere, becomes a Python number wherever the result
has the same dtype and shape (``2.0 * x`` for ``np.float32(2.0) * x``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.program import Apply, Atom, Const, Node, Program
from ..ops import table
from .rewriting import Rewriting
from .rules import uniform


def weaken_constants(program: Program) -> Program:
    """The program with Python numbers for NumPy's where nothing else changes."""
    return _Weaken().program(program)


class _Weaken(Rewriting):
    def rewrite(self, node: Node) -> Sequence[Atom] | None:
        if not isinstance(node, Apply) or not any(isinstance(a, Const) and not a.type.weak for a in node.args):
            return None
        entry = table.find(node.op)
        if entry is None or entry.infer is None:
            return None
        args = list(node.args)
        for k, a in enumerate(args):
            if not isinstance(a, Const) or not _takes_number(entry, node, k):
                continue
            number = python_number(a, in_dtype=computing(node) == a.type.dtype)
            if number is None or (isinstance(number, complex) and not any(t.type.ndim for t in node.args)):
                continue  # Python's complex number takes a NumPy scalar for a float of its own
            tried = [*args[:k], Const(number), *args[k + 1 :]]
            inferred = entry.infer([t.type for t in tried], dict(node.params))
            if inferred == node.outs[0].type:
                args = tried
        if all(a is b for a, b in zip(args, node.args)):
            return None
        self.b.append(replace(node, args=tuple(args)))
        return node.outs


def computing(node: Apply) -> Any:
    """The dtype in which NumPy computes an op."""
    return np.result_type(*(a.type.dtype for a in node.args if not a.type.weak))


def _takes_number(entry: table.Op, node: Apply, k: int) -> bool:
    if node.op in ("pergrad.setitem", "pergrad.additem"):
        return k == 1 and node.args[1].type.dtype == node.args[0].type.dtype
    if node.op == "numpy.stack":
        return all(a.type.ndim == 0 for a in node.args)
    if node.op == "numpy.einsum":
        return node.args[k].type.ndim == 0
    return entry.family == "elementwise" and len(node.args) > 1 and not (node.op == "numpy.where" and k == 0)


def python_number(c: Const, *, in_dtype: bool) -> Any:
    """The Python number that NumPy takes for the same value; None for booleans and mixed arrays.

    Where the op computes in the constant's dtype the number has the digits of that: ``0.1`` for ``np.float32(0.1)``.
    """
    if c.type.weak or c.type.dtype.kind not in "iufc":
        return None
    number = uniform(c)
    if number is None:
        return None
    scalar = c.type.dtype.type(number)
    if in_dtype and c.type.dtype.kind == "f" and np.isfinite(scalar):
        number = float(str(scalar))
    return number if c.type.dtype.type(number).tobytes() == scalar.tobytes() else None
