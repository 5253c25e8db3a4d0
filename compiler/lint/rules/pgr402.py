"""PGR402: selection by a batched boolean mask."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..rule import Facts, Finding, ValueLeaves
from ..values import Method


class MaskSelection(ValueLeaves):
    """`x[mask]` with a boolean mask that is batched.

    What it does: finds reads through a mask that differs between samples, and under torch and jax writes through one (`x[mask] = 0`,
    `x.at[mask].set(0)`), which both of them refuse. Under pergrad such a write keeps the shape and is legal.
    Why it is bad: each sample would select another number of elements.
    """

    code = "PGR402"
    name = "mask-selection"
    what = "selects as many elements as the values say"
    bad = """
import numpy as np
from pergrad import vmap

def f(x):
    return x[x > 0].sum()

F = vmap(f)
"""
    good = """
import numpy as np
from pergrad import vmap

def f(x):
    return np.where(x > 0, x, 0.0).sum()

F = vmap(f)
"""

    def visit_Subscript(self, node: ast.Subscript, facts: Facts) -> Iterator[Finding]:
        value = facts.value(node.value)
        if isinstance(value, Method):
            if value.name == "at" and isinstance(node.value, ast.Attribute):
                yield from self.written(node, node.value.value, facts)
        elif value is not None and facts.machine.cell(value) is not None:
            mask = self.mask(node, facts)
            if mask is not None:
                text = facts.text(node)
                message = f"data-dependent shape: `{text}` keeps as many elements as the mask says, which differs between samples"
                other = f"{facts.where}.where({facts.text(mask)}, {facts.text(node.value)}, 0.0)"
                yield self.finding(node, message, facts.batched(mask), help=other, about=(mask, node.value))

    def visit_store(self, node: ast.Subscript, facts: Facts) -> Iterator[Finding]:
        """torch looks for the places that a mask selects. Under pergrad NumPy's rule holds: a number goes to each of them."""
        if facts.library == "torch":
            yield from self.written(node, node.value, facts)

    def written(self, node: ast.Subscript, array: ast.expr, facts: Facts) -> Iterator[Finding]:
        mask = self.mask(node, facts)
        if mask is not None:
            text = facts.text(node)
            message = f"data-dependent shape: `{text}` writes as many elements as the mask says, which differs between samples"
            other = f"{facts.text(array)} = {facts.where}.where({facts.text(mask)}, value, {facts.text(array)})"
            yield self.finding(node, message, facts.batched(mask), help=other, about=(mask, array))

    def mask(self, node: ast.Subscript, facts: Facts) -> ast.expr | None:
        """The part of an index that is a batched array of truth values."""
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return next((p for p in parts if facts.batched(p).any and facts.boolean(p)), None)
