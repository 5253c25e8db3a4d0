"""PGR402: selection by a batched boolean mask."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..rule import Facts, Finding, ValueLeaves


class MaskSelection(ValueLeaves):
    """`x[mask]` with a boolean mask that is batched.

    What it does: finds reads through a mask that differs between samples. Assigning through one (`x[mask] = 0`) keeps the shape and is
    legal.
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
        if type(value).__name__ == "Method" or (facts.machine.cell(value) is None if value is not None else True):
            return
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for part in parts:
            batch = facts.batched(part)
            if batch.any and facts.boolean(part):
                text = facts.text(node.value)
                message = (
                    f"data-dependent shape: `{facts.text(node)}` keeps as many elements as the mask says, which differs between samples"
                )
                yield self.finding(
                    node, message, batch, help=f"{facts.where}.where({facts.text(part)}, {text}, 0.0)", about=(part, node.value)
                )
                return
