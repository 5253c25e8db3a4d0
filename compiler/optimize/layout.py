"""Rules of layout: transposes, reshapes, axes of length one, broadcasts, and sums over what was broadcast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.builder import Value
from ..core.builder import recorded as np
from ..core.program import Const
from ..core.types import known, product
from ..ops.contraction import contract, join, split
from .rules import rule

if TYPE_CHECKING:
    from .algebra import Match

_LARGEST = 1 << 16  # elements of a constant that is turned round
BROADCAST = "numpy.broadcast_to"


@rule("numpy.transpose")
def transpose(m: Match) -> Any:
    (x,) = m.x
    n = x.ndim
    order = [a % n for a in m.params["axes"]]
    if order == list(range(n)):
        return x
    if inner := m.made(x, "numpy.transpose"):
        return np.transpose(inner.x[0], tuple(inner.params["axes"][a] for a in order))
    if (inner := m.made(x, "numpy.einsum")) and m.derived and m.read_once(x):
        operands, target = split(inner.params["subscripts"])
        return contract(join(operands, "".join(target[a] for a in order)), *inner.x)
    return None


@rule("numpy.transpose")
def transposed_operands(m: Match) -> Any:
    """Of an elementwise op whose operands are transposed back by it, or have so few axes that only their place changes."""
    (x,) = m.x
    inner = m.made(x) if m.derived and m.read_once(x) else None
    if inner is None or inner.family != "elementwise":
        return None
    before = len(m.rewriting.b.nodes)
    turned = transposed(m, x, [a % x.ndim for a in m.params["axes"]])
    if turned is None:
        del m.rewriting.b.nodes[before:]
    return turned


@rule("numpy.transpose")
def transposed_stack(m: Match) -> Any:
    """The axis along which arrays are stacked, elsewhere."""
    stack = m.made(m.x[0], "numpy.stack") if m.derived and m.read_once(m.x[0]) else None
    if stack is None:
        return None
    n = m.type.ndim
    order, axis = [a % n for a in m.params["axes"]], stack.params["axis"] % n
    rest = [a for a in order if a != axis]
    return np.stack(stack.x, axis=order.index(axis)) if rest == sorted(rest) else None


def transposed(m: Match, x: Any, order: list[int]) -> Any:
    """A value that is broadcast to as many axes as ``order`` has, with them in that order; None where it would have to be turned round."""
    n = len(order)
    if not x.ndim:
        return x
    if isinstance(x.atom, Const):
        padded = x.atom.value.reshape((1,) * (n - x.ndim) + x.shape) if known(x.shape) and x.size <= _LARGEST else None
        return None if padded is None else x if _is_symmetric(padded, order) else Value(Const(padded.transpose(order)))
    inner = m.made(x)
    if inner and inner.node.op == "numpy.transpose":
        own = [a - (n - x.ndim) for a in order[n - x.ndim :]]
        back = min(own) >= 0 and [inner.params["axes"][a] % x.ndim for a in own] == list(range(x.ndim))
        return inner.x[0] if back else None
    if inner and inner.node.op == "numpy.eye":
        return x if order == [*range(n - 2), n - 1, n - 2] else None
    if inner and inner.family == "elementwise" and inner.derived and m.read_once(x) and x.ndim == n:
        operands = [transposed(m, y, order) for y in inner.x]
        return None if any(y is None for y in operands) else inner.bind(*operands)
    added = {a % x.ndim for a in inner.params["axis"]} if inner and inner.node.op == "numpy.expand_dims" else set()
    places = [order.index(a + n - x.ndim) for a in range(x.ndim) if a not in added]
    if not places or places != sorted(places):
        return None
    source = inner.x[0] if inner and added else x
    absent = tuple(k for k in range(n) if k not in places)
    return source if absent == tuple(range(places[0])) else np.expand_dims(source, absent)


def _is_symmetric(value: Any, order: list[int]) -> bool:
    return value.transpose(order).shape == value.shape and bool((value.transpose(order) == value).all())


@rule("numpy.reshape")
def reshape(m: Match) -> Any:
    (x,) = m.x
    if x.shape == m.type.shape:
        return x if x.type.scalar == m.type.scalar else None  # an array of no axes can be written, a scalar cannot
    if inner := m.made(x, "numpy.reshape", "numpy.expand_dims", "numpy.squeeze"):
        return np.reshape(inner.x[0], m.type.shape)
    long = [d for d in x.shape if d != 1]
    if long == list(x.shape) and long == [d for d in m.type.shape if d != 1] and long:
        return np.expand_dims(x, tuple(k for k, d in enumerate(m.type.shape) if d == 1))
    if long == list(m.type.shape) and long:
        return np.squeeze(x, tuple(k for k, d in enumerate(x.shape) if d == 1))
    return None


@rule("numpy.expand_dims", "numpy.squeeze")
def ones(m: Match) -> Any:
    """Axes of length one that are added and taken away again."""
    (x,) = m.x
    if not m.params["axis"]:
        return x
    inner = m.made(x, "numpy.expand_dims")
    if inner is None:
        return None
    added = {a % x.ndim for a in inner.params["axis"]}
    if m.node.op == "numpy.expand_dims":
        n = m.type.ndim
        outer = {a % n for a in m.params["axis"]}
        places = [k for k in range(n) if k not in outer]
        return np.expand_dims(inner.x[0], tuple(sorted(outer | {places[a] for a in added})))
    dropped = {a % x.ndim for a in m.params["axis"]}
    if not dropped <= added:
        return None
    rest = [k for k in range(x.ndim) if k not in dropped]
    axes = tuple(rest.index(k) for k in sorted(added - dropped))
    return np.expand_dims(inner.x[0], axes) if axes else inner.x[0]


@rule("numpy.squeeze")
def squeezed_sum(m: Match) -> Any:
    """The axes of a reduction kept and squeezed out."""
    (x,) = m.x
    inner = m.made(x, "numpy.sum", "numpy.mean", "numpy.max", "numpy.min", "numpy.any", "numpy.all")
    if inner is None or not inner.params["keepdims"] or not m.read_once(x):
        return None
    n = x.ndim
    if {a % n for a in inner.params["axis"]} != {a % n for a in m.params["axis"]}:
        return None
    return inner.bind(*inner.x, keepdims=False)


@rule("numpy.squeeze")
def squeezed_operands(m: Match) -> Any:
    """Axes that an elementwise op only has because all its operands were given them."""
    (x,) = m.x
    inner = m.made(x)
    if inner is None or not m.read_once(x) or inner.family != "elementwise":
        return None
    gone = {a % x.ndim for a in m.params["axis"]}
    for operand in inner.x:
        added = m.made(operand, "numpy.expand_dims")
        axes = {a % operand.ndim for a in added.params["axis"]} if added else set()
        if operand.ndim and (operand.ndim != x.ndim or not gone <= axes):
            return None
    return inner.bind(*(np.squeeze(operand, tuple(sorted(gone))) if operand.ndim else operand for operand in inner.x))


@rule(BROADCAST)
def broadcast(m: Match) -> Any:
    (x,) = m.x
    if x.shape == m.type.shape:
        return x
    if inner := m.made(x, BROADCAST):
        return np.broadcast_to(inner.x[0], m.type.shape)
    number = m.number(x)
    # an array of its own, into which sums can be written
    return None if number is None else np.full(m.type.shape, number, dtype=m.type.dtype)


@rule("elementwise")
def unbroadcast(m: Match) -> Any:
    """NumPy broadcasts the operands of an elementwise op itself; where all are broadcast, compute on the small ones and broadcast after."""
    sources = [unbroadcasted(m, x) for x in m.x]
    if all(s is None for s in sources):
        return None
    if any(x.type.weak and not isinstance(x.atom, Const) for x in m.x):
        ranks = [(x if s is None else s).ndim for s, x in zip(sources, m.x)]
        if not any(ranks):
            return None  # of Python's own numbers 1 / 0 is an error, of arrays it is not
    small = m.bind(*(x if s is None else s for s, x in zip(sources, m.x)))
    return small if small.shape == m.type.shape else np.broadcast_to(small, m.type.shape)


def unbroadcasted(m: Match, x: Any) -> Any:
    """What was broadcast to give an operand: an array, or the number that fills it."""
    if m.derived and x.ndim and (number := m.number(x)) is not None:
        return Value(Const(x.dtype.type(number)))
    if inner := m.made(x, BROADCAST):
        return inner.x[0]
    if inner := m.made(x, "numpy.full"):
        return Value(Const(inner.type.dtype.type(inner.params["value"])))
    return None


@rule("numpy.einsum")
def contraction(m: Match) -> Any:
    """Without factors of one; a single operand whose letters are only reordered is transposed."""
    operands, target = split(m.params["subscripts"])
    for k, x in enumerate(m.x) if m.derived and len(operands) > 1 else ():
        if not operands[k] and m.number(x) == -1:
            return -contract(join([*operands[:k], *operands[k + 1 :]], target), *m.x[:k], *m.x[k + 1 :])
    kept = [k for k, x in enumerate(m.x) if operands[k] or m.number(x) != 1]
    if 0 < len(kept) < len(operands):
        return contract(join([operands[k] for k in kept], target), *(m.x[k] for k in kept))
    if len(operands) == 1 and sorted(operands[0]) == sorted(target):
        return np.transpose(m.x[0], tuple(operands[0].index(c) for c in target)) if operands[0] != target else m.x[0]
    for k, x in enumerate(m.x):
        if inner := m.made(x, "numpy.transpose"):
            axes = [a % x.ndim for a in inner.params["axes"]]
            operands[k] = "".join(operands[k][axes.index(a)] for a in range(x.ndim))
            return contract(join(operands, target), *m.x[:k], inner.x[0], *m.x[k + 1 :])
    return None


@rule("pergrad.setitem", "pergrad.additem")
def unbroadcast_value(m: Match) -> Any:
    inner = m.made(m.x[1], BROADCAST)
    return None if inner is None else m.bind(m.x[0], inner.x[0], *m.x[2:])


@rule("numpy.sum")
def sum_over_ones(m: Match) -> Any:
    """A sum over an axis of length one is none; over a broadcast axis it is a product, in what differentiation added."""
    (x,) = m.x
    n = x.ndim
    axes = [a % n for a in m.params["axis"]] if n else []
    if x.dtype != m.type.dtype:
        return None
    if all(x.shape[a] == 1 for a in axes):
        return x if m.params["keepdims"] or not axes else np.squeeze(x, tuple(axes)) if len(axes) < n else None
    inner = m.made(x, BROADCAST)
    if inner is None or not m.derived or x.dtype.kind not in "fc":
        return None
    source = inner.x[0]
    missing = n - source.ndim
    stretched = [a for a in axes if a < missing or source.shape[a - missing] == 1]
    count = product(x.shape[a] for a in stretched)
    if not stretched or not isinstance(count, int):
        return None
    if not m.params["keepdims"]:
        rest = [a - missing for a in axes if a >= missing]
        total = np.sum(source, axis=tuple(rest)) if rest else source
        left = [k for k in range(missing) if k not in axes]
        return float(count) * (np.expand_dims(total, tuple(range(len(left)))) if left else total)
    return None
