"""Shifts that cancel: a maximum that is only subtracted for the sake of the exponential has no derivative.

In ``e = exp(z - max(z)); e / sum(e)`` every other shift would do. To see it, let the maximum move and follow how the values that depend on
it move along: by a constant (``z - m``), by a factor of themselves (``e``, ``sum(e)``), or not at all (``e / sum(e)``). If everything comes
to rest, the derivative through the maximum is zero, and nobody has to compute that zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..core.program import Apply, Atom, Block, Const, Effect, Node, Var, node_vars
from ..core.types import Dim

_EXTREMA = ("numpy.max", "numpy.min")


@dataclass(frozen=True)
class _Motion:
    """``value + rate * t``, or ``value * exp(rate * t)`` if it ``scales``, when the maximum moves by t."""

    rate: float
    scales: bool


def idle(block: Block) -> set[Var]:
    """The maxima and minima of a block (not of blocks inside it) through which the derivative is zero."""
    found = set()
    for k, node in enumerate(block.body):
        if isinstance(node, Apply) and node.op in _EXTREMA and node.outs[0].type.inexact and _Rows(node).at_rest(block, k):
            found.add(node.outs[0])
    return found


class _Rows:
    """One maximum: each row of its operand moves with an element of it. A value that moves has the operand's shape, the same with 1 for
    the reduced axes, or without them, so that it is known which element moves it; of a single row there is nothing to know."""

    def __init__(self, node: Apply) -> None:
        self.top = node.outs[0]
        shape = node.args[0].type.shape
        self.axes = tuple(a % len(shape) for a in node.params["axis"])
        self.whole = shape
        self.kept: tuple[Dim, ...] = tuple(1 if k in self.axes else n for k, n in enumerate(shape))
        self.dropped: tuple[Dim, ...] = tuple(n for k, n in enumerate(shape) if k not in self.axes)
        self.single = not self.dropped
        self.moving: dict[Atom, _Motion] = {self.top: _Motion(1.0, False)}
        self.flat: set[Atom] = set() if self.top.type.shape == self.kept else {self.top}

    def at_rest(self, block: Block, k: int) -> bool:
        for node in block.body[k + 1 :]:
            if isinstance(node, Effect) or not any(a in self.moving for a in node_vars(node)):
                continue
            if not self.follow(node):
                return False
        return not any(r in self.moving for r in block.results)

    def follow(self, node: Node) -> bool:
        """Note how a node's result moves; False if that is not known."""
        if not isinstance(node, Apply) or len(node.outs) != 1:
            return False
        out = node.outs[0]
        if not out.type.inexact:
            return True
        rule = _RULES.get(node.op)
        motion = rule(node, self.moving) if rule else None
        if motion is None or not (self.single or self.placed(node)):
            return False
        if motion.rate:
            self.moving[out] = motion
        return True

    def placed(self, node: Apply) -> bool:
        """Whether each element of the result still belongs to the row of the operands' elements."""
        out = node.outs[0]
        moved = [a for a in node.args if a in self.moving]
        if node.op in _REDUCTIONS:
            axes = tuple(a % node.args[0].type.ndim for a in node.params["axis"])
            if moved[0].type.shape != self.whole or moved[0] in self.flat or axes != self.axes:
                return False
            if not node.params["keepdims"]:
                self.flat.add(out)
            return True
        if node.op == "pergrad.getitem":
            return self.read(node, out)
        if node.op == "pergrad.softmax":
            return moved[0].type.shape == self.whole and moved[0] not in self.flat and (node.params["axis"] % len(self.whole),) == self.axes
        if node.op in _MOVING_ROWS:
            return False
        if all(a in self.flat for a in moved):
            self.flat.add(out)
            return out.type.shape == self.dropped
        return not any(a in self.flat for a in moved) and out.type.shape in (self.whole, self.kept)

    def read(self, node: Apply, out: Var) -> bool:
        """``s[:, None]`` of what has no reduced axes, or one element of each row: ``z[np.arange(n), label]``."""
        x, *arrays = node.args
        index = node.params["index"]
        full = slice(None)
        if x in self.flat:
            rest = iter(range(len(self.dropped)))
            axes = [None if i is None else next(rest) for i in index if i is None or i == full]
            where_new = [k for k, i in enumerate(axes) if i is None]
            return len(axes) == len(index) and out.type.shape == self.kept and where_new == sorted(self.axes)
        if x.type.shape != self.whole or len(index) != 2 or len(arrays) != 2 or self.axes != (1,):
            return False
        rows = arrays[0]
        self.flat.add(out)
        return isinstance(rows, Const) and out.type.shape == self.dropped and np.array_equal(rows.value, np.arange(np.size(rows.value)))


_Rule = Callable[[Apply, Mapping[Atom, _Motion]], _Motion | None]


def _sum_of_two(sign: float) -> _Rule:
    def rule(node: Apply, moving: Mapping[Atom, _Motion]) -> _Motion | None:
        x, y = (moving.get(a, _Motion(0.0, False)) for a in node.args)
        if x.scales and y.scales:
            return x if x.rate == y.rate else None
        return None if x.scales or y.scales else _Motion(x.rate + sign * y.rate, False)

    return rule


def _product(sign: float) -> _Rule:
    def rule(node: Apply, moving: Mapping[Atom, _Motion]) -> _Motion | None:
        x, y = (moving.get(a, _Motion(0.0, True)) for a in node.args)
        if x.scales and y.scales:
            return _Motion(x.rate + sign * y.rate, True)
        factor = _number(node.args[1] if x.rate and not y.rate else node.args[0])
        if factor is None or (x.rate and y.rate) or (sign < 0 and y.rate):
            return None
        return _Motion((x.rate or y.rate) * factor**sign, False)

    return rule


def _power(node: Apply, moving: Mapping[Atom, _Motion]) -> _Motion | None:
    base, exponent = moving.get(node.args[0]), _number(node.args[1])
    return _Motion(base.rate * exponent, True) if base is not None and base.scales and exponent is not None else None


def _of_one(scales: bool, then: bool, factor: float = 1.0) -> _Rule:
    def rule(node: Apply, moving: Mapping[Atom, _Motion]) -> _Motion | None:
        x = moving[node.args[0]]
        return _Motion(x.rate * factor, then) if x.scales == scales else None

    return rule


def _negative(node: Apply, moving: Mapping[Atom, _Motion]) -> _Motion:
    x = moving[node.args[0]]
    return x if x.scales else replace(x, rate=-x.rate)


def _same(node: Apply, moving: Mapping[Atom, _Motion]) -> _Motion:
    return moving[node.args[0]]


def _sum(node: Apply, moving: Mapping[Atom, _Motion]) -> _Motion | None:
    x = moving[node.args[0]]
    if x.scales:
        return x
    count = node.args[0].type.size // max(node.outs[0].type.size, 1) if isinstance(node.args[0].type.size, int) else None
    return None if count is None else _Motion(x.rate * count, False)


def _contraction(node: Apply, moving: Mapping[Atom, _Motion]) -> _Motion | None:
    found = [moving[a] for a in node.args if a in moving]
    return _Motion(sum(x.rate for x in found), True) if all(x.scales for x in found) else None


def _select(node: Apply, moving: Mapping[Atom, _Motion]) -> _Motion | None:
    _, x, y = node.args
    return moving[x] if x in moving and moving.get(x) == moving.get(y) else None


def _number(a: Atom) -> float | None:
    """The one nonzero number that a constant is."""
    if not isinstance(a, Const) or np.ndim(a.value) or not a.value:
        return None
    return float(a.value)


_RULES: dict[str, _Rule] = {
    "numpy.add": _sum_of_two(1.0),
    "numpy.subtract": _sum_of_two(-1.0),
    "numpy.multiply": _product(1.0),
    "numpy.divide": _product(-1.0),
    "numpy.power": _power,
    "numpy.negative": _negative,
    "numpy.exp": _of_one(False, True),
    "numpy.log": _of_one(True, False),
    "numpy.sqrt": _of_one(True, True, 0.5),
    "numpy.square": _of_one(True, True, 2.0),
    "numpy.reciprocal": _of_one(True, True, -1.0),
    "numpy.astype": _same,
    "numpy.mean": _same,
    "numpy.max": _same,
    "numpy.min": _same,
    "numpy.sum": _sum,
    "numpy.where": _select,
    "pergrad.getitem": _same,
    "numpy.einsum": _contraction,
    "pergrad.softmax": _of_one(False, True, 0.0),
    "numpy.reshape": _same,
    "numpy.transpose": _same,
    "numpy.broadcast_to": _same,
}
_REDUCTIONS = ("numpy.sum", "numpy.mean", *_EXTREMA)
_MOVING_ROWS = ("numpy.einsum", "numpy.reshape", "numpy.transpose", "numpy.broadcast_to")
