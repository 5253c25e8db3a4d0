"""PGR701: a Python construct that the compiler does not support."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..external import Call
from ..rule import Facts, Finding, Rule

CALLS = ("exec", "eval", "compile", "locals", "globals", "input", "open", "breakpoint")


class UnsupportedConstruct(Rule):
    """A construct of Python that pergrad's compiler does not support: `await`, `exec`, `eval` and their like.

    What it does: finds, in functions that pergrad maps, what has no meaning in a compiled program.
    Why it is bad: the function is compiled from its source; code that is made or waits at run time is not in it.
    """

    code = "PGR701"
    name = "unsupported-construct"
    bad = """
import numpy as np
from pergrad import vmap

def f(x):
    return eval("x * 2")

F = vmap(f)
"""
    good = """
import numpy as np
from pergrad import vmap

def f(x):
    return x * 2

F = vmap(f)
"""

    def visit_Await(self, node: ast.Await, facts: Facts) -> Iterator[Finding]:
        if facts.library == "numpy":
            yield self.finding(node, "`await` is not supported in a function that pergrad compiles", help="call an ordinary function")

    def visit_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        short = call.name.removeprefix("builtins.")
        if facts.library == "numpy" and call.name == f"builtins.{short}" and short in CALLS[:4]:
            yield self.finding(
                call.node,
                f"`{short}` is not supported in a function that pergrad compiles",
                sure=short in ("exec", "eval"),
                help="write the expression out",
            )
