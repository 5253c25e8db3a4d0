"""PGR603: running statistics of a batch norm updated inside a map."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ..external import Call
from ..rule import Facts, Finding, Rule
from ..values import NONE, Batch, Static
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

    def visit_statistics(self, subject: tuple[ast.AST, str, Batch], facts: Facts) -> Iterator[Finding]:
        node, name, batch = subject
        if batch.any:
            message = f"{name} in training mode updates its running statistics inside the mapped function"
            yield self.finding(node, message, batch, help="model.eval(), track_running_stats=False, or torch.nn.GroupNorm")

    def visit_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """torch's ``batch_norm(x, running_mean, running_var, training=True)``."""
        if call.name not in ("torch.nn.functional.batch_norm", "torch.batch_norm") or facts.library != "torch":
            return
        training = call.args.get(5, "training")
        off = isinstance(training, Static) and not training.const
        batch = facts.holds(call.args.get(0, "input"))
        statistics = call.args.get(1, "running_mean")
        if training is None or off or statistics is None or statistics == NONE or not batch.without(facts.batched(statistics).any).any:
            return
        text = facts.text(call.args.node(1, "running_mean") or call.node)
        message = f"batch_norm with training updates `{text}`, which is not mapped: each sample would update it in turn"
        sure = bool(batch.yes) and training == Static(True) and facts.machine.is_sure_array(statistics)
        yield self.finding(call.node, message, sure=sure, help="training=False, running statistics None, or torch.nn.functional.group_norm")


def is_statistics(write: Write) -> bool:
    """Whether the name written says that it is a running statistic."""
    if write.how not in ("attribute", "item", "in place"):
        return False
    target = write.target
    if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str):
        key = target.slice.value.lower()
        return bool(NAMES.search(key) or (write.batched and KEYS.search(key)))
    last = target.attr.lower() if isinstance(target, ast.Attribute) else write.name.rpartition(".")[2].lower()
    return bool(NAMES.search(last)) or (write.batched and write.how == "attribute" and is_average(write))


def is_average(write: Write) -> bool:
    """Whether what is written is a moving average of what was there: ``a * self.m + b * new``, or ``self.m += a * (new - self.m)``."""
    assert write.target is not None
    name, source = ast.unparse(write.target), write.source
    holds = lambda node: any(ast.unparse(n) == name for n in ast.walk(node) if isinstance(n, ast.expr))
    if isinstance(write.node, ast.AugAssign):
        return source is not None and holds(source)
    if not isinstance(source, ast.BinOp) or not isinstance(source.op, ast.Add):
        return False
    sides = [s for s in (source.left, source.right) if isinstance(s, ast.BinOp) and isinstance(s.op, ast.Mult)]
    return len(sides) == 2 and sum(map(holds, sides)) == 1
