"""PGR903: a suppression that suppresses nothing."""

from __future__ import annotations

from ..rule import Rule


class UnusedSuppression(Rule):
    """A `# noqa: PGR…` that suppresses nothing.

    What it does: names suppressions that no finding needs any more.
    Why it is bad: it would hide the next real finding on its line.
    """

    code = "PGR903"
    name = "unused-suppression"
    bad = """
def f(x):
    return 2 * x  # noqa: PGR101
"""
    good = """
from pergrad import vmap

def f(x):
    if x > 0:  # noqa: PGR101
        return x
    return -x

F = vmap(f)
"""
