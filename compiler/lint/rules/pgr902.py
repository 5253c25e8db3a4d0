"""PGR902: a map site that was not analysed."""

from __future__ import annotations

from ..rule import Rule


class SiteNotAnalysed(Rule):
    """A map site whose function could not be found. A note: shown with `--strict` only.

    What it does: names each `vmap(f)` whose `f` is a parameter nobody passes, or comes from a file that was not read.
    Why it is bad: nothing was checked there, so no finding says nothing.
    """

    code = "PGR902"
    name = "site-not-analysed"
    bad = """
from pergrad import vmap

def run(f, data):
    return vmap(f)(data)
"""
    good = """
from pergrad import vmap

def double(x):
    return 2 * x

def run(data):
    return vmap(double)(data)
"""
