"""PGR108: an `except` that waits for one sample's numerical failure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..rule import Facts, Finding, Rule

ARITHMETIC = frozenset({"FloatingPointError", "ZeroDivisionError", "ArithmeticError", "OverflowError"})


class NumericalFailureCaught(Rule):
    """An `except` for a numerical failure of a batched operation.

    What it does: finds handlers of LinAlgError, FloatingPointError and their like around operations on batched values.
    Why it is bad: the operation runs once for the whole batch. One singular sample would send all samples into the handler, or none.
    """

    code = "PGR108"
    name = "numerical-failure-caught"
    bad = """
import numpy as np
from pergrad import vmap

def f(A, b):
    try:
        return np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        return np.zeros_like(b)

F = vmap(f)
"""
    good = """
import numpy as np
from pergrad import vmap

def f(A, b):
    return np.linalg.solve(A + 1e-6 * np.eye(A.shape[0]), b)

F = vmap(f)
"""

    def visit_handler(self, subject: tuple[ast.ExceptHandler, set[str]], facts: Facts) -> Iterator[Finding]:
        handler, happened = subject
        if not happened:
            return
        kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        for kind in kinds:
            name = "" if kind is None else ast.unparse(kind).rpartition(".")[2]
            algebra = "linear algebra" in happened
            sure = name in ARITHMETIC or (
                algebra and (name in ("LinAlgError", "_LinAlgError") or (name == "RuntimeError" and facts.library == "torch"))
            )
            likely = algebra and name in ("", "Exception", "ValueError", "RuntimeError", "BaseException")
            if sure or likely:
                what = f"`except {name}`" if name else "`except`"
                message = (
                    f"data-dependent control flow: {what} waits for a failure of one sample, but the operation runs for the whole batch"
                )
                yield self.finding(
                    handler.type or handler,
                    message,
                    sure=sure,
                    help=f"make it safe beforehand, or select with {facts.where}.where(ok, value, other)",
                )
                return
