"""PGR206: an array built from batched scalars."""

from __future__ import annotations

from collections.abc import Iterator

from ..external import Call
from ..rule import Facts, Finding, Rule


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
        data, node = call.args.get(0, "data"), call.args.node(0, "data")
        batch = facts.holds(data)
        own = facts.batched(data).any
        # `as_tensor` gives a tensor back as it is.
        if batch.any and not (own and call.name.rpartition(".")[2].startswith("as")):
            text = facts.text(node) if node is not None else "[...]"
            message = f"data-dependent: `{facts.text(call.node)}` reads the values of its elements, which differ between samples"
            yield self.finding(call.node, message, batch, help=f"use `{text}` itself" if own else f"torch.stack({text})")
