"""PGR901: a file that cannot be parsed."""

from __future__ import annotations

from ..rule import Rule


class CannotParse(Rule):
    """A file that is not valid Python.

    What it does: reports the place where parsing failed; the other files are linted all the same.
    Why it is bad: nothing in the file was checked.
    """

    code = "PGR901"
    name = "cannot-parse"
    bad = """
def f(x:
    return x
"""
    good = """
def f(x):
    return x
"""
