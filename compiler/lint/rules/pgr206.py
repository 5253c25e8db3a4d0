"""PGR206: an array built from batched scalars."""

from __future__ import annotations

from collections.abc import Iterator

from ..external import Call
from ..rule import Facts, Finding, Rule
from ..values import Batch


class ArrayFromScalars(Rule):
    """`torch.tensor` of batched values.

    What it does: finds constructors that read each element's value.
    Why it is bad: `torch.tensor` calls `.item()` on its elements. `torch.stack` puts tensors together, batched or not.
    """

    code = "PGR206"
    name = "array-from-scalars"
    bad = """
import torch
from torch.func import vmap

def f(x):
    return torch.tensor([x[1], -x[0]])

out = vmap(f)(torch.ones(4, 2))
"""
    good = """
import torch
from torch.func import vmap

def f(x):
    return torch.stack([x[1], -x[0]]) + torch.tensor([0.0, 1.0])

out = vmap(f)(torch.ones(4, 2))
"""

    def visit_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        if call.fact is None or call.fact.returns != "build" or call.host:
            return
        batch = Batch(0, 0)
        for v in call.args.positional[:1]:
            batch = batch | facts.holds(v)
        if batch.any:
            own = any(facts.batched(v).any for v in call.args.positional[:1])
            text = next((facts.text(n) for n in call.args.nodes[:1] if n is not None), "[...]")
            message = f"data-dependent: `{facts.text(call.node)}` reads the values of its elements, which differ between samples"
            help = f"use `{text}` itself" if own else f"torch.stack({text})"
            yield self.finding(call.node, message, batch, sure=bool(batch.yes) and not own, help=help)
