"""PGR403: a slice with a batched bound."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..rule import Facts, Finding, ValueLeaves
from ..values import SLICE, Tuple


class SliceBound(ValueLeaves):
    """A slice whose bound is batched.

    What it does: finds `x[n:m]` where a bound differs between samples.
    Why it is bad: slices need Python numbers, and each sample would have a slice of another place or length. Indexing with an array
    gathers.
    """

    code = "PGR403"
    name = "slice-bound"
    bad = """
import numpy as np
from pergrad import vmap

def f(x, n):
    return x[n : n + 2]

F = vmap(f)
"""
    good = """
import numpy as np
from pergrad import vmap

def f(x, n):
    return x[n + np.arange(2)]

F = vmap(f)
"""

    def visit_Subscript(self, node: ast.Subscript, facts: Facts) -> Iterator[Finding]:
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for part in parts:
            for bound in bounds(part, facts):
                batch = facts.holds(bound)
                if batch.any:
                    lower = ast.unparse(part.lower) if isinstance(part, ast.Slice) and part.lower is not None else "0"
                    other = f"{facts.text(node.value)}[{lower} + {facts.where}.arange(k)] with a known k"
                    if facts.library == "jax":
                        other = f"jax.lax.dynamic_slice_in_dim({facts.text(node.value)}, {lower}, k)"
                    message = f"data-dependent shape: the bound `{facts.text(bound)}` of `{facts.text(node)}` differs between samples"
                    yield self.finding(node, message, batch, help=other, about=(bound,))
                    return


def bounds(part: ast.expr, facts: Facts) -> list[ast.expr]:
    """What bounds a slice; of a `slice` object that was made before, the object itself."""
    if isinstance(part, ast.Slice):
        return [b for b in (part.lower, part.upper, part.step) if b is not None]
    value = facts.value(part)
    return [part] if isinstance(value, Tuple) and value.names == SLICE else []
