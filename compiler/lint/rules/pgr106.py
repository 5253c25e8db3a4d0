"""PGR106: Python's min, max, sorted, any and all on batched values."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..external import Call
from ..rule import Facts, Finding, Rule
from ..values import Batch, Static, Value

NAMES = {"min": "minimum", "max": "maximum", "sorted": "sort", "any": "any", "all": "all"}
METHODS = ("sort", "index", "count", "remove")


class BuiltinComparison(Rule):
    """Python's `min`, `max`, `sorted`, `any` or `all` on batched values.

    What it does: finds the builtins that compare their arguments one by one.
    Why it is bad: each comparison asks a batch for one truth value. The library's own function compares every sample.
    """

    code = "PGR106"
    name = "builtin-comparison"
    bad = """
import numpy as np
from pergrad import vmap

def f(x):
    return max(x[0], 0.0)

F = vmap(f)
"""
    good = """
import numpy as np
from pergrad import vmap

def f(x):
    return np.maximum(x[0], 0.0) + max(x.shape[0], 2)

F = vmap(f)
"""

    def visit_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        short = call.name.rpartition(".")[2]
        if call.name == f"builtins.{short}" and short in NAMES:
            batch = Batch(0, 0)
            key = call.args.keywords.get("key")
            # With a key it is what the key gives that is compared.
            compared = call.args.positional if key is None or isinstance(key, Static) else []
            for v in compared:
                # Of one argument it is the entries that are compared: of a dict, its keys.
                batch = batch | facts.holds(facts.machine.element(v, call.node) if len(compared) == 1 else v)
            if len(call.args.positional) > 1 and "key" in call.args.keywords and short in ("min", "max"):
                batch = facts.machine.deep_all(call.args)
            if batch.any:
                texts = [facts.text(n) for n in call.args.nodes if n is not None]
                function = NAMES[short] if len(texts) == 2 else {"min": "min", "max": "max"}.get(short, NAMES[short])
                stacked = (
                    texts[0] if len(texts) == 1 else ", ".join(texts) if len(texts) == 2 else f"{facts.where}.stack([{', '.join(texts)}])"
                )
                message = f"data-dependent control flow: `{short}` compares values that differ between samples"
                yield self.finding(call.node, message, batch, help=f"{facts.where}.{function}({stacked})")
        elif call.name.startswith("builtins.list.") and short in METHODS and call.owner is not None:
            batch = facts.holds(call.owner) if short == "sort" else facts.holds(call.owner) | facts.machine.deep_all(call.args)
            if batch.any:
                message = f"data-dependent control flow: the list's `{short}` compares values that differ between samples"
                yield self.finding(
                    call.node, message, batch, help=f"{facts.where}.sort({facts.where}.stack(...))" if short == "sort" else ""
                )

    def visit_key(self, subject: tuple[ast.AST, Value], facts: Facts) -> Iterator[Finding]:
        node, value = subject
        batch = facts.holds(value)
        if batch.any and not facts.seen(node):
            message = f"data-dependent control flow: `{facts.text(node)}` compares keys that differ between samples"
            yield self.finding(node, message, batch, help=f"{facts.where}.argsort(keys)")
