"""PGR603: running statistics of a batch norm updated inside a map."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ..rule import Facts, Finding, Rule
from ..writes import Write

NAMES = re.compile(r"(^|[^a-z])(running|moving|ema|batch_stats|num_batches)(_|$|[^a-z])|(mean|var|std|variance)s?_?(ema|avg|running)")
KEYS = re.compile(r"(^|_)(mean|var|variance|std|count|momentum)s?($|_)")


class RunningStatistics(Rule):
    """Running statistics updated inside a mapped function.

    What it does: finds writes to `running_mean` and its like, and torch's batch norm layers in training mode.
    Why it is bad: each sample would update the statistics after the one before it; a batch norm over one sample is not what was meant
    either.
    """

    code = "PGR603"
    name = "running-statistics"
    bad = """
import numpy as np
from pergrad import vmap

class BatchNorm:
    def __init__(self, d):
        self.running_mean = np.zeros(d)

    def __call__(self, x):
        m = x.mean(axis=0)
        self.running_mean = 0.9 * self.running_mean + 0.1 * m
        return x - m

bn = BatchNorm(3)
F = vmap(lambda x: bn(x))
"""
    good = """
import numpy as np
from pergrad import vmap

class BatchNorm:
    def __init__(self, d):
        self.running_mean = np.zeros(d)

    def __call__(self, x):
        return x - self.running_mean

bn = BatchNorm(3)
F = vmap(lambda x: bn(x))
"""

    def visit_write(self, write: Write, facts: Facts) -> Iterator[Finding]:
        if write.verdict in ("object", "argument", "array") and is_statistics(write):
            message = f"running statistics `{write.name}` are updated inside the mapped function: each sample would update them in turn"
            sure = write.sure or write.verdict == "object"
            yield self.finding(
                write.node, message, sure=sure, help="use the stored statistics (eval mode), return the new state (has_aux), or group norm"
            )

    def visit_statistics(self, subject: tuple[ast.AST, str], facts: Facts) -> Iterator[Finding]:
        node, name = subject
        if facts.batched(facts.value(node.args[0])).any if isinstance(node, ast.Call) and node.args else False:
            message = f"{name} in training mode updates its running statistics inside the mapped function"
            yield self.finding(node, message, sure=False, help="model.eval(), track_running_stats=False, or torch.nn.GroupNorm")


def is_statistics(write: Write) -> bool:
    """Whether the name written says that it is a running statistic."""
    if write.how not in ("attribute", "item", "in place"):
        return False
    target = write.target
    if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str):
        key = target.slice.value.lower()
        return bool(NAMES.search(key) or (write.batched and KEYS.search(key)))
    last = target.attr.lower() if isinstance(target, ast.Attribute) else write.name.rpartition(".")[2].lower()
    return bool(NAMES.search(last))
