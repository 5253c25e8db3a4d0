"""Calls of every op: the arguments that its battery of tests uses.

An entry names its samples; here the name becomes a list of calls. ``X(array)`` marks an argument that a Program has as a parameter;
everything else is known while compiling. Sizes are pairwise distinct: 2, 3, 4 and rarely 5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pergrad.compiler.ops.table import Op


class X:
    """An argument that is a parameter of the Program."""

    def __init__(self, value: Any) -> None:
        self.value = value if isinstance(value, np.generic) else np.asarray(value)


@dataclass
class Sample:
    """One call. ``before(np, *arrays)`` prepares the arrays (makes them symmetric, puts NaN in), ``after(np, y)`` takes out of the result
    what is unique (a sign of eigenvectors).
    ``order`` is how often central differences may differentiate it."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    before: Callable[..., Any] | None = None
    after: Callable[..., Any] | None = None
    order: int = 2


def call(*args: Any, before: Any = None, after: Any = None, order: int = 2, **kwargs: Any) -> Sample:
    return Sample(args, kwargs, before, after, order)


SAMPLES: dict[str, Callable[[Op], list[Sample]]] = {}


def samples(*names: str) -> Any:
    def add(make: Callable[[Op], list[Sample]]) -> Any:
        for name in names:
            SAMPLES[name] = make
        return make

    return add


def of(entry: Op) -> list[Sample]:
    """The calls of an entry; none where it names none."""
    if entry.samples is None:
        return []
    if not isinstance(entry.samples, str):
        return list(entry.samples)
    return SAMPLES[entry.samples](entry)


# numbers


def reals(*shape: int, seed: int = 0) -> Any:
    """Distinct, away from 0, from multiples of 1/2, and from each other's values under another seed."""
    rng = np.random.default_rng([seed, *shape])
    size = int(np.prod(shape))
    values = (rng.permutation(size) - size // 2 + 0.27 + 0.31 * seed / (seed + 1)) * (3.1 / max(size, 4))
    return (values + rng.uniform(-0.1, 0.1, size) / max(size, 4)).reshape(shape)


def positive(*shape: int, seed: int = 0) -> Any:
    return np.abs(reals(*shape, seed=seed)) + 0.2 + 0.1 * seed


def integers(*shape: int, low: int = -4, high: int = 9, seed: int = 0) -> Any:
    return np.random.default_rng([seed, *shape]).integers(low, high, shape)


def booleans(*shape: int, seed: int = 0) -> Any:
    return integers(*shape, low=0, high=2, seed=seed).astype(bool)


def with_zeros(*shape: int) -> Any:
    return np.where(np.random.default_rng([9, *shape]).random(shape) < 0.3, 0.0, reals(*shape))


def square(*shape: int, seed: int = 0) -> Any:
    """Well-conditioned matrices."""
    return 0.6 * reals(*shape, seed=seed) + 3.0 * np.eye(shape[-1])


# elementwise


def _elementwise(make: Callable[..., Any], entry: Op) -> list[Sample]:
    if len(entry.operands) == 1:
        return [call(X(make(3, 4))), call(X(np.float64(make(1)[0]))), call(X(make()))]
    a, b = (lambda *s: make(*s, seed=1)), (lambda *s: make(*s, seed=2))
    return [
        call(X(a(3, 4)), X(b(4))),
        call(X(a(4)), X(b(3, 1))),
        call(X(a(3)), 2.5),
        call(1.5, X(b(2, 3))),
        call(X(np.float64(a(1)[0])), X(b(3))),
    ]


for _name, _make in (
    ("reals", reals),
    ("reals away from 0", reals),
    ("positive", positive),
    ("inside 1", lambda *s, seed=0: np.tanh(reals(*s, seed=seed)) * 0.9),
    ("above 1", lambda *s, seed=0: 1.2 + positive(*s, seed=seed)),
):
    SAMPLES[_name] = lambda entry, make=_make: _elementwise(make, entry)


@samples("integers")
def _integers(entry: Op) -> list[Sample]:
    if len(entry.operands) == 1:
        return [call(X(integers(3, 4)))]
    return [call(X(integers(3, 4)), X(integers(4, low=0, high=5, seed=1))), call(X(integers(3)), 2)]


@samples("booleans")
def _booleans(entry: Op) -> list[Sample]:
    if len(entry.operands) == 1:
        return [call(X(booleans(3, 4)))]
    return [call(X(booleans(3, 4)), X(booleans(4, seed=1))), call(X(reals(3)), X(with_zeros(2, 3)))]


@samples("clip")
def _clip(entry: Op) -> list[Sample]:
    x = reals(3, 4)
    return [
        call(X(x), -0.5, 0.7),
        call(X(x), X(reals(4, seed=3) - 1), 1.1),
        call(X(x), None, 0.3),
        call(X(x), min=0.1),
        call(X(integers(4)), 0, 5),
    ]


@samples("where")
def _where(entry: Op) -> list[Sample]:
    return [
        call(X(booleans(3, 4)), X(reals(4)), X(reals(3, 1, seed=1))),
        call(X(booleans(4)), X(reals(4)), 0.0),
        call(booleans(4), 1.0, X(reals(3, 4))),
        call(X(booleans(4)), X(integers(4)), 2),
    ]


@samples("astype")
def _astype(entry: Op) -> list[Sample]:
    return [call(X(reals(3, 4)), np.dtype("f4"), order=0), call(X(reals(3)), int), call(X(integers(3)), float), call(X(reals(3, 4)), float)]


# reductions and scans


def _axes(entry: Op, make: Callable[..., Any]) -> list[Sample]:
    """Every way to say the axis that the function takes."""
    several = entry.name.split(".")[-1] in ("sum", "mean", "max", "min", "ptp", "var", "std", "prod", "any", "all", "flip", "count_nonzero")
    out = [call(X(make(5))), call(X(make(2, 3, 4)), axis=1), call(X(make(3, 4)), axis=-1), call(X(make(3, 4)), axis=0)]
    if "axis=-1" not in entry.signature:
        out.append(call(X(make(3, 4))))
    out.append(call(X(make(3, 4)), axis=None))
    if several:
        out.append(call(X(make(2, 3, 4)), axis=(0, 2)))
    if "keepdims" in entry.parameters:
        out.append(call(X(make(2, 3, 4)), axis=1, keepdims=True))
    if "ddof" in entry.parameters:
        out.append(call(X(make(3, 4)), axis=0, ddof=1))
    return out


@samples("arrays with axis", "distinct with axis")
def _arrays_with_axis(entry: Op) -> list[Sample]:
    out = _axes(entry, reals)
    if entry.short not in ("flip", "ptp", "sort", "argsort"):
        out.append(call(X(integers(3, 4)), axis=0))
    if entry.short == "sum":
        out.append(call(X(reals(3, 4)), axis=1, where=X(booleans(3, 4))))
    return out


@samples("arrays with axis and zeros")
def _with_zeros(entry: Op) -> list[Sample]:
    return [*_axes(entry, reals), call(X(with_zeros(3, 4)), axis=1), call(X(np.array([0.0, 2.0, 0.0])))]


@samples("booleans with axis")
def _booleans_with_axis(entry: Op) -> list[Sample]:
    return [*_axes(entry, booleans), call(X(with_zeros(3, 4)), axis=1), call(X(booleans(3, 4)), where=booleans(3, 4, seed=1))]


@samples("integers with axis")
def _integers_with_axis(entry: Op) -> list[Sample]:
    return [*_axes(entry, lambda *s: integers(*s, low=-1, high=2)), call(X(with_zeros(3, 4)), axis=1)]


@samples("with nan")
def _with_nan(entry: Op) -> list[Sample]:
    mask = np.array([[True, True, False, True], [True, False, True, True], [True, True, True, False]])
    hide = lambda n, x: n.where(mask, x, float("nan"))
    out = [call(X(reals(3, 4)), before=hide), call(X(reals(3, 4)), axis=1, before=hide), call(X(reals(3, 4)), axis=0, before=hide)]
    if "keepdims" in entry.parameters:
        out.append(call(X(reals(3, 4)), axis=1, keepdims=True, before=hide))
    return [*out, call(X(integers(3, 4)), axis=1)]


@samples("average")
def _average(entry: Op) -> list[Sample]:
    x = reals(3, 4)
    return [
        call(X(x), axis=0),
        call(X(x), weights=X(positive(3, 4))),
        call(X(x), axis=1, weights=X(positive(4))),
        call(X(x), axis=0, weights=X(positive(3)), returned=True, keepdims=True),
        call(X(reals(2, 3, 4)), axis=(0, 2), weights=X(positive(2, 4))),
        call(X(integers(3, 4)), 1),
    ]


@samples("cov")
def _cov(entry: Op) -> list[Sample]:
    return [call(X(reals(3, 4))), call(X(reals(4)), X(reals(4, seed=1))), call(X(reals(3, 4)), rowvar=False), call(X(reals(4)))]


@samples("vectors")
def _vectors(entry: Op) -> list[Sample]:
    return [
        call(X(reals(4))),
        call(X(reals(4)), include_initial=True),
        call(X(reals(3, 4)), axis=0, include_initial=True),
        call(X(reals(3, 4)), axis=-1),
    ]


@samples("diff")
def _diff(entry: Op) -> list[Sample]:
    x = reals(3, 4)
    return [
        call(X(x)),
        call(X(x), 2, axis=0),
        call(X(x), prepend=0.0),
        call(X(x), append=X(reals(3, 2, seed=1))),
        call(X(booleans(4))),
        call(X(integers(4)), 0),
    ]


@samples("diff vectors")
def _ediff1d(entry: Op) -> list[Sample]:
    return [call(X(reals(4))), call(X(reals(3, 4)), to_end=[1.0, 2.0], to_begin=X(reals(2, seed=1)))]


@samples("gradient")
def _gradient(entry: Op) -> list[Sample]:
    at = np.array([0.0, 1.0, 3.0, 3.5])
    return [
        *(call(X(reals(3, 4)), edge_order=e) for e in (1, 2)),
        *(call(X(reals(3, 4)), at, axis=1, edge_order=e) for e in (1, 2)),
        call(X(reals(4)), 0.5),
        call(X(reals(3, 4)), 0.5, 2.0),
    ]


@samples("trapezoid")
def _trapezoid(entry: Op) -> list[Sample]:
    return [
        call(X(reals(4)), dx=0.5),
        call(X(reals(3, 4)), X(reals(3, seed=1)), axis=0),
        call(X(reals(3, 4)), X(reals(3, 4, seed=1))),
        call(X(reals(3, 4)), [0.0, 1.0, 1.5, 3.0]),
    ]


# contractions


@samples("einsum")
def _einsum(entry: Op) -> list[Sample]:
    a, b = X(reals(2, 3)), X(reals(3, 4, seed=1))
    return [
        call("ij,jk->ik", a, b),
        call("ij,jk", a, b),
        call("ij,jk,k->", a, b, X(reals(4))),
        call("...j,jk->k...", X(reals(5, 2, 3)), b),
        call("ii->i", X(reals(3, 3))),
        call("ii", X(reals(3, 3))),
        call("ij->ji", a),
        call("ij->", a),
        call("i,j->ij", X(reals(2)), X(reals(3))),
        call("ij,ij->i", a, X(reals(2, 3, seed=1))),
        call("ij,ij->j", a, 2.0 * reals(2, 3)),
        call("ijk,ik->ij", X(reals(2, 3, 4)), X(reals(2, 4))),
    ]


@samples("matrices")
def _matrices(entry: Op) -> list[Sample]:
    a, b, v, w = X(reals(2, 3)), X(reals(3, 4, seed=1)), X(reals(3, seed=2)), X(reals(3, seed=3))
    match entry.short:
        case "dot":
            return [
                call(a, b),
                call(a, v),
                call(v, b),
                call(v, w),
                call(X(reals(4, 2, 3)), b),
                call(2.0, a),
                call(X(reals(5, 2, 3)), X(reals(4, 3, 2))),
            ]
        case "matmul":
            stacked = X(reals(5, 2, 3))
            return [
                call(a, b),
                call(a, v),
                call(v, b),
                call(v, w),
                call(stacked, b),
                call(stacked, v),
                call(stacked, X(reals(5, 3, 4))),
                call(X(reals(1, 2, 3)), X(reals(5, 3, 4))),
            ]
        case "inner":
            return [call(v, w), call(a, v), call(a, X(reals(4, 3))), call(2.0, v)]
        case "outer":
            return [call(v, X(reals(4))), call(a, v)]
        case "vdot":
            return [call(v, w), call(a, X(reals(2, 3, seed=1)))]
        case "vecdot":
            return [call(v, w), call(a, v), call(a, X(reals(2, 3, seed=1)))]
    return [call(a, b, 1), call(a, X(reals(3, 2)), axes=[(0, 1), (1, 0)]), call(X(reals(2, 3, 4)), b), call(v, w, 0)]


# shapes


@samples("arrays")
def _arrays(entry: Op) -> list[Sample]:
    return [call(X(reals(3, 4))), call(X(reals(2, 3, 4))), call(X(reals(3, 4)), "F"), call(X(reals(4))), call(X(reals()))]


@samples("reshape")
def _reshape(entry: Op) -> list[Sample]:
    x = reals(3, 4)
    return [
        call(X(x), (4, 3)),
        call(X(x), -1),
        call(X(x), (2, -1, 2)),
        call(X(reals(1)), ()),
        call(X(reals()), (1, 1)),
        call(X(np.float64(0.3)), 1),
    ]


@samples("transpose")
def _transpose(entry: Op) -> list[Sample]:
    x = reals(2, 3, 4)
    return [
        call(X(x)),
        call(X(x), (1, 0, 2)),
        call(X(x), (2, 0, 1)),
        call(X(x), (-1, 0, 1)),
        call(X(reals(3))),
        call(X(reals(3, 4))),
        call(X(reals(2, 3, 4, 5)), (3, 1, 0, 2)),
    ]


@samples("swapaxes", "moveaxis")
def _two_axes(entry: Op) -> list[Sample]:
    x = reals(2, 3, 4)
    out = [call(X(x), 0, 1), call(X(x), 0, -1), call(X(x), 1, 1), call(X(x), -1, -2)]
    return [*out, call(X(x), (0, 1), (-1, 0))] if entry.short == "moveaxis" else out


@samples("matrix")
def _matrix(entry: Op) -> list[Sample]:
    return [call(X(reals(3, 4))), call(X(reals(2, 3, 4)))]


@samples("expand_dims")
def _expand_dims(entry: Op) -> list[Sample]:
    x = reals(3, 4)
    return [
        call(X(x), 0),
        call(X(x), -1),
        call(X(x), 1),
        call(X(x), (0, 3)),
        call(X(np.float64(0.5)), 0),
        call(X(reals(2, 3, 4, 5)), 3),
        call(X(reals(2, 3, 4, 5)), 1),
    ]


@samples("squeeze")
def _squeeze(entry: Op) -> list[Sample]:
    x = reals(1, 3, 1, 4)
    return [call(X(x)), call(X(x), 0), call(X(x), -2), call(X(x), (0, 2)), call(X(reals(1, 1))), call(X(reals(3)))]


@samples("broadcast_to")
def _broadcast_to(entry: Op) -> list[Sample]:
    return [
        call(X(reals(4)), (3, 4)),
        call(X(reals(3, 1)), (2, 3, 4)),
        call(X(reals()), (2, 3)),
        call(X(reals(4)), 4),
        call(X(np.float64(0.5)), 3),
    ]


@samples("concatenate")
def _concatenate(entry: Op) -> list[Sample]:
    a, b = X(reals(2, 4)), X(reals(3, 4, seed=1))
    return [
        call([a, b]),
        call([a, X(reals(2, 3))], 1),
        call([a, b], None),
        call([a, a, b], -2),
        call([a, reals(1, 4)]),
        call([X(reals(3)), X(integers(2))]),
    ]


@samples("stack")
def _stack(entry: Op) -> list[Sample]:
    a, b = X(reals(3, 4)), X(reals(3, 4, seed=1))
    return [call([a, b]), call([a, b], 1), call([a, b], axis=-1), call([X(np.float64(0.5)), 2.0]), call([a, reals(3, 4)], 2)]


@samples("rows", "columns", "same shape")
def _joined(entry: Op) -> list[Sample]:
    v, w, a = X(reals(4)), X(reals(4, seed=1)), X(reals(3, 4))
    match entry.short:
        case "vstack":
            return [call([v, w]), call([a, w]), call((a, X(reals(2, 4))))]
        case "hstack":
            return [call([v, X(reals(3))]), call([a, X(reals(3, 2))])]
        case "column_stack":
            return [call([v, w]), call([X(reals(4, 2)), w])]
    return [call([v, w]), call([a, X(reals(3, 4, seed=1))]), call([X(reals(2, 3, 4)), X(reals(2, 3, 1))])]


@samples("same shape alone")
def _unstack(entry: Op) -> list[Sample]:
    return [call(X(reals(3, 4))), call(X(reals(3, 4)), axis=-1), call(X(reals(3)))]


@samples("block")
def _block(entry: Op) -> list[Sample]:
    a, v = X(reals(3, 4)), X(reals(4, seed=1))
    return [call([[a, a], [v, v]]), call([v, v]), call([[a, np.ones((3, 2))]]), call(a)]


@samples("append")
def _append(entry: Op) -> list[Sample]:
    return [call(X(reals(3, 4)), X(reals(4))), call(X(reals(3, 4)), X(reals(2, 4)), axis=0), call(X(reals(4)), 3.0)]


@samples("insert")
def _insert(entry: Op) -> list[Sample]:
    a, v = X(reals(3, 4)), X(reals(4, seed=1))
    return [
        call(a, 1, v, axis=0),
        call(v, 2, 5.0),
        call(v, [0, 2], [1.0, 2.0]),
        call(a, [1, 3], 2.0, axis=1),
        call(a, -1, X(reals(3)), axis=1),
        call(a, 3, v),
        call(a, slice(0, 2), X(reals(2, 4)), axis=0),
        call(a, 1, X(reals(2, 4)), axis=0),
    ]


@samples("delete")
def _delete(entry: Op) -> list[Sample]:
    a = X(reals(3, 4))
    return [
        call(a, 1, axis=0),
        call(X(reals(4)), [0, 2]),
        call(a, slice(0, 3, 2), axis=1),
        call(a, -1),
        call(a, [True, False, True], axis=0),
    ]


@samples("split", "split evenly", "split cubes")
def _split(entry: Op) -> list[Sample]:
    x = reals(4, 2, 6)
    match entry.short:
        case "array_split":
            return [call(X(x), 3), call(X(x), 4, axis=2), call(X(x), [1, 3])]
        case "split":
            return [call(X(x), 2), call(X(x), 3, axis=-1), call(X(x), [1, 2, 4], 2)]
    return [call(X(x), 2), call(X(x), [1])]


@samples("any rank")
def _any_rank(entry: Op) -> list[Sample]:
    return [call(X(np.float64(0.5))), call(X(reals(4))), call(X(reals(3, 4))), call(X(reals(2, 3, 4))), call(X(reals(4)), X(reals(3, 4)))]


@samples("rollaxis")
def _rollaxis(entry: Op) -> list[Sample]:
    x = X(reals(2, 3, 4))
    return [call(x, 2), call(x, 0, 3), call(x, 1, 0), call(x, -1, 1)]


@samples("broadcast_arrays")
def _broadcast_arrays(entry: Op) -> list[Sample]:
    return [call(X(reals(3, 1)), X(reals(4))), call(X(reals(3)), 2.0)]


# moving elements


@samples("roll")
def _roll(entry: Op) -> list[Sample]:
    x = X(reals(2, 3, 4))
    return [call(x, 2), call(x, -1, axis=1), call(x, (1, 2), (0, 2)), call(x, (1, 2), 1), call(X(reals(4)), 1)]


@samples("rot90")
def _rot90(entry: Op) -> list[Sample]:
    x = X(reals(2, 3, 4))
    return [call(x), call(x, 2), call(x, 3, (1, 2)), call(x, -1, (1, 0)), call(x, 0)]


@samples("matrices alone")
def _matrix_alone(entry: Op) -> list[Sample]:
    return [call(X(reals(3, 4)))]


@samples("square matrices")
def _square_matrices(entry: Op) -> list[Sample]:
    return [call(X(reals(3, 3)))]


@samples("tile")
def _tile(entry: Op) -> list[Sample]:
    x = X(reals(3, 4))
    return [call(x, 2), call(x, (2, 1)), call(x, (2, 1, 3)), call(X(reals(4)), (2, 3)), call(x, 1), call(X(np.float64(0.5)), 3)]


@samples("repeat")
def _repeat(entry: Op) -> list[Sample]:
    x = X(reals(3, 4))
    return [call(x, 2), call(x, 2, 1), call(x, [1, 0, 2], axis=0), call(x, 3, axis=-1), call(X(reals(4)), 2)]


@samples("pad")
def _pad(entry: Op) -> list[Sample]:
    x = X(reals(3, 4))
    modes = [call(x, ((1, 0), (2, 3)), mode=m) for m in ("constant", "edge", "reflect", "symmetric", "wrap")]
    return [*modes, call(x, 2), call(X(reals(4)), (1, 2)), call(x, 1, constant_values=3.0), call(X(integers(4)), 1, mode="edge")]


@samples("resize")
def _resize(entry: Op) -> list[Sample]:
    x = X(reals(3, 4))
    return [call(x, (5, 4)), call(x, (2, 2)), call(x, 7)]


@samples("diag")
def _diag(entry: Op) -> list[Sample]:
    v, a = X(reals(4)), X(reals(3, 4))
    return [call(v), call(v, 1), call(v, -2), call(a), call(a, 1), call(a, -1)]


@samples("diagonal")
def _diagonal(entry: Op) -> list[Sample]:
    x = X(reals(3, 3, 4))
    return [call(X(reals(3, 3))), call(X(reals(3, 4))), call(x), call(x, 1, 1, 2), call(x, 0, 0, 2), call(x, -1, 1, 2)]


@samples("square stacks")
def _square_stacks(entry: Op) -> list[Sample]:
    return [call(X(reals(3, 3))), call(X(reals(2, 3, 3))), call(X(reals(3, 4)), offset=1)]


@samples("triangle")
def _triangle(entry: Op) -> list[Sample]:
    return [call(X(reals(3, 4))), call(X(reals(2, 3, 4)), 1), call(X(reals(3, 4)), -1), call(X(reals(4)))]


@samples("known")
def _known(entry: Op) -> list[Sample]:
    return [call(3, 4), call(4)] if entry.short == "tri" else [call(3)] if entry.short == "diag_indices" else [call(3), call(3, 1)]


# reading and writing at places


@samples("take")
def _take(entry: Op) -> list[Sample]:
    x, i = X(reals(3, 4)), X(np.array([[0, 2], [1, 2]]))
    return [
        call(x, i),
        call(x, i, 1),
        call(x, i, axis=0, mode="wrap"),
        call(x, np.array([0, -1]), axis=1),
        call(x, 2, axis=1),
        call(x, X(np.array([0, 7, 1])), 0, mode="clip"),
        call(x, X(np.int64(1)), axis=0),
    ]


@samples("compress")
def _compress(entry: Op) -> list[Sample]:
    return [call([True, False, True], X(reals(3, 4)), axis=0), call(np.array([True, False, True]), X(reals(4)))]


@samples("extract")
def _extract(entry: Op) -> list[Sample]:
    return [call(booleans(3, 4), X(reals(3, 4)))]


@samples("take_along_axis")
def _take_along_axis(entry: Op) -> list[Sample]:
    x = X(reals(3, 4))
    return [
        call(x, X(np.array([[0, 2], [1, 2], [3, 3]])), 1),
        call(x, X(np.array([[0, 2, 2]])), axis=1),
        call(X(reals(1, 4)), X(np.array([[0, 2], [1, 2], [3, 3]])), -1),
        call(x, X(np.array([1, 5, 5])), None),
        call(X(reals(2, 3, 4)), X(integers(2, 2, 4, low=0, high=3)), axis=1),
    ]


@samples("put_along_axis")
def _put_along_axis(entry: Op) -> list[Sample]:
    return [
        call(X(reals(3, 4)), X(np.array([[0], [2], [1]])), X(reals(3, 1, seed=1)), 1),
        call(X(reals(3, 4)), X(np.array([[0, 1, 2, 0]])), 2.0, axis=0),
    ]


@samples("put")
def _put(entry: Op) -> list[Sample]:
    return [call(X(reals(3, 4)), [1, 5, 7], X(reals(3, seed=1))), call(X(reals(4)), X(np.array([2, 0])), 1.5)]


@samples("copyto")
def _copyto(entry: Op) -> list[Sample]:
    return [call(X(reals(3, 4)), X(reals(4, seed=1))), call(X(reals(3, 4)), 2.0, where=X(booleans(3, 4)))]


@samples("putmask")
def _putmask(entry: Op) -> list[Sample]:
    return [call(X(reals(3, 4)), X(booleans(3, 4)), X(reals(3, 4, seed=1))), call(X(reals(3, 4)), X(booleans(3, 4)), 2.0)]


@samples("fill_diagonal")
def _fill_diagonal(entry: Op) -> list[Sample]:
    return [call(X(reals(3, 3)), 0.0), call(X(reals(3, 4)), X(reals(3, seed=1))), call(X(reals(2, 2, 2)), X(np.float64(0.5)))]


@samples("choose")
def _choose(entry: Op) -> list[Sample]:
    i, a, b = X(np.array([0, 1, 2, 1])), X(reals(4)), X(reals(4, seed=1))
    return [call(i, [a, b, 1.0]), call(i, (a, b), mode="wrap"), call(i, [a, X(reals(3, 4))], mode="clip")]


@samples("select")
def _select(entry: Op) -> list[Sample]:
    c, d = X(booleans(3, 4)), X(booleans(4, seed=1))
    return [call([c, d], [X(reals(3, 4)), X(reals(4))], default=3.0), call([c, d], [X(reals(4)), 1.0])]


def _squared(v: Any) -> Any:
    return v * v


@samples("piecewise")
def _piecewise(entry: Op) -> list[Sample]:
    x, c, d = X(reals(3, 4)), X(booleans(3, 4)), X(booleans(3, 4, seed=1))
    return [call(x, [c, d], [_squared, 2.0]), call(x, [c], [_squared, lambda v: -v])]


# sorting and tables


@samples("partition")
def _partition(entry: Op) -> list[Sample]:
    at = lambda n, y: y[2]
    return [call(X(reals(5)), 2, after=at), call(X(reals(5, 3)), 2, axis=0, after=at), call(X(reals(4, 3)), 2, axis=None, after=at)]


@samples("lexsort")
def _lexsort(entry: Op) -> list[Sample]:
    return [call((X(reals(5)), X(np.array([1, 0, 1, 0, 2])))), call([X(reals(3, 4)), X(integers(3, 4, low=0, high=2))])]


@samples("median", "quantile", "percentile")
def _quantiles(entry: Op) -> list[Sample]:
    x, single = X(reals(2, 3, 4)), X(reals(5))
    if entry.short == "median":
        first, rest = (), []
    else:
        scale = 100 if entry.short == "percentile" else 1
        first = (0.3 * scale,)
        methods = ("lower", "higher", "nearest", "midpoint", "hazen", "weibull", "median_unbiased")
        rest = [call(single, 0.3 * scale, method=m) for m in methods]
        rest += [call(x, [0.2 * scale, 0.7 * scale], axis=1), call(single, np.float64(0.5 * scale)), call(single, 1 * scale)]
    return [
        call(single, *first),
        call(x, *first),
        call(x, *first, axis=0),
        call(x, *first, axis=-1, keepdims=True),
        call(x, *first, axis=(0, 2)),
        call(X(integers(4)), *first),
        call(X(reals(4)), *first),
        *rest,
    ]


@samples("searchsorted")
def _searchsorted(entry: Op) -> list[Sample]:
    table = np.sort(reals(5, seed=4))
    # stretching keeps a table sorted whatever a test adds to its elements
    table = X(np.arange(5.0) * 4 + table)
    v = 5.0 + 4 * reals(2, 3)
    return [call(table, X(v)), call(table, X(v), side="right"), call(np.array([0.0, 4.0, 6.0]), X(v)), call(table, X(np.float64(6.5)))]


@samples("digitize")
def _digitize(entry: Op) -> list[Sample]:
    x = X(reals(3, 4))
    return [
        call(x, [-1.0, 0.0, 1.0]),
        call(x, [1.0, 0.0, -1.0], right=True),
        call(x, X(np.array([-1.0, 0.0, 1.0]))),
        call(x, X(np.array([1.0, 0.0, -1.0]))),
    ]


@samples("interp")
def _interp(entry: Op) -> list[Sample]:
    at, q = np.array([-1.0, 0.0, 0.75]), X(reals(3, 4))
    return [
        call(q, at, X(reals(3))),
        call(q, X(at), X(reals(3))),
        call(X(np.float64(0.4)), at, X(reals(3)), left=-1.0),
        call(q, at, X(reals(3)), right=X(np.float64(2.0))),
        call(q, [0.5], [2.0]),
    ]


# linear algebra


def _symmetric(n: Any, x: Any) -> Any:
    return x + n.swapaxes(x, -1, -2)


@samples("invertible")
def _invertible(entry: Op) -> list[Sample]:
    out = [call(X(square(3, 3))), call(X(square(2, 3, 3)))]
    return [*out, call(X(square(3, 3)), 1), call(X(square(3, 3)), -2)] if entry.short == "linalg.cond" else out


@samples("positive definite")
def _positive_definite(entry: Op) -> list[Sample]:
    out = [call(X(square(3, 3)), before=_symmetric), call(X(square(2, 3, 3)), before=_symmetric)]
    return [*out, call(X(square(3, 3)), upper=True, before=_symmetric)]


@samples("symmetric")
def _eigen(entry: Op) -> list[Sample]:
    unsigned = (lambda n, y: (y[0], n.abs(y[1]))) if entry.short == "linalg.eigh" else None
    return [call(X(reals(*s)), *u, before=_symmetric, after=unsigned) for s in ((3, 3), (2, 3, 3)) for u in ((), ("U",))]


@samples("tall")
def _tall(entry: Op) -> list[Sample]:
    return [call(X(reals(4, 3) + np.eye(4, 3))), call(X(square(3, 3))), call(X(square(2, 3, 3))), call(X(square(3, 3)), "r")]


@samples("rectangular")
def _rectangular(entry: Op) -> list[Sample]:
    shapes = ((4, 3), (3, 3), (3, 4), (2, 4, 3))
    matrices = [X(reals(*s) + np.diag([3.0, 2.0, 1.0, 0.5])[: s[-2], : s[-1]]) for s in shapes]
    if entry.short != "linalg.svd":
        return [call(m) for m in matrices]
    unsigned = lambda n, y: (n.abs(y[0]), y[1], n.abs(y[2]))
    return [
        *(call(m, full_matrices=False, after=unsigned) for m in matrices),
        call(matrices[1], after=unsigned),
        call(matrices[0], compute_uv=False),
    ]


@samples("solve")
def _solve(entry: Op) -> list[Sample]:
    a, many = X(square(3, 3)), X(square(2, 3, 3))
    return [
        call(a, X(reals(3))),
        call(a, X(reals(3, 4))),
        call(many, X(reals(3, 4))),
        call(a, X(reals(2, 3, 4))),
        call(many, X(reals(3))),
        call(square(3, 3), X(reals(3))),
    ]


@samples("matrix_power")
def _matrix_power(entry: Op) -> list[Sample]:
    return [call(X(square(3, 3) / 3), n) for n in (0, 1, 2, 5, -2)] + [call(X(square(2, 3, 3) / 3), 3)]


@samples("multi_dot")
def _multi_dot(entry: Op) -> list[Sample]:
    return [call([X(reals(2, 3)), X(reals(3, 4)), X(reals(4, 5))]), call([X(reals(3)), X(reals(3, 4)), X(reals(4))])]


@samples("lstsq")
def _lstsq(entry: Op) -> list[Sample]:
    a = X(reals(4, 3) + np.eye(4, 3))
    return [call(a, X(reals(4)), rcond=None), call(a, X(reals(4, 2)), rcond=None)]


_INF = float("inf")


@samples("norm")
def _norm(entry: Op) -> list[Sample]:
    return [
        *(call(X(reals(5)), o) for o in (None, 2, 1, 0, 3, 1.5, _INF, -_INF)),
        *(call(X(reals(4, 3)), o) for o in (None, "fro", "nuc", 1, -1, _INF, -_INF, 2, -2)),
        *(call(X(reals(2, 3, 4)), o, axis=1) for o in (None, 1, _INF, 3)),
        *(call(X(reals(2, 3, 4)), o, axis=(2, 0)) for o in ("fro", "nuc", 1, _INF)),
        call(X(reals(2, 3, 4))),
        call(X(reals(3, 4)), keepdims=True),
        call(X(reals(5)), 2, keepdims=True),
        call(X(integers(4))),
    ]


@samples("norm vector")
def _norm_vector(entry: Op) -> list[Sample]:
    x = X(reals(2, 3, 4))
    return [call(x), call(x, axis=(0, 2), ord=3), call(x, axis=1, keepdims=True), call(X(reals(4)), ord=_INF)]


@samples("norm matrix")
def _norm_matrix(entry: Op) -> list[Sample]:
    x = X(reals(2, 3, 4))
    return [call(x), call(x, ord="nuc"), call(x, ord=1, keepdims=True)]


@samples("kron")
def _kron(entry: Op) -> list[Sample]:
    a, v = X(reals(2, 3)), X(reals(4))
    return [call(a, v), call(v, X(reals(3))), call(2.0, a), call(a, X(reals(4, 5)))]


@samples("cross")
def _cross(entry: Op) -> list[Sample]:
    a, v = X(reals(2, 3)), X(reals(3, seed=1))
    if entry.short == "linalg.cross":
        return [call(v, X(reals(3))), call(a, v), call(X(reals(3, 2)), X(reals(3, 2, seed=1)), axis=0)]
    return [call(v, X(reals(3))), call(a, v), call(X(reals(3, 2)), a, axisa=0, axisb=1, axisc=0)]


# windows, grids, whole arrays


@samples("convolve")
def _convolve(entry: Op) -> list[Sample]:
    return [call(X(reals(n)), X(reals(m, seed=1)), mode) for mode in ("full", "same", "valid") for n, m in ((5, 3), (5, 4), (2, 5))]


@samples("sliding_window_view")
def _sliding(entry: Op) -> list[Sample]:
    x = X(reals(4, 5))
    return [call(x, 2, axis=1), call(x, (2, 3)), call(X(reals(5)), 2), call(x, (2, 2), axis=(1, 0))]


@samples("polyval")
def _polyval(entry: Op) -> list[Sample]:
    return [call(X(reals(3)), X(reals(2, 4))), call([1.0, 2.0, 3.0], X(reals(4))), call(X(reals(3)), X(np.float64(0.4)))]


@samples("vander")
def _vander(entry: Op) -> list[Sample]:
    return [call(X(reals(4))), call(X(reals(4)), 3, increasing=True)]


@samples("meshgrid")
def _meshgrid(entry: Op) -> list[Sample]:
    a, b, c = X(reals(2)), X(reals(3)), X(reals(4))
    return [call(a, b), call(a, b, indexing="ij"), call(a, b, c), call(a, b, sparse=True), call(a)]


@samples("indices")
def _indices(entry: Op) -> list[Sample]:
    return [call((2, 3)), call((2, 3), float), call((2, 3), sparse=True)]


@samples("logspace")
def _logspace(entry: Op) -> list[Sample]:
    return [
        call(X(np.float64(0.4)), 2.0, 5),
        call(X(reals(3)), X(reals(3, seed=1)), 4, endpoint=False),
        call(0.0, X(np.float64(0.7)), 3, base=2.0),
    ]


@samples("geomspace")
def _geomspace(entry: Op) -> list[Sample]:
    return [call(X(np.float64(0.4)), 2.0, 5), call(1.0, X(positive(3)), 4)]


@samples("linspace")
def _linspace(entry: Op) -> list[Sample]:
    return [
        call(X(np.float64(0.4)), 2.0, 5),
        call(X(reals(3)), X(reals(3, seed=1)), 4, endpoint=False),
        call(X(reals(3)), X(reals(3, seed=1)), 4, axis=1),
        call(0.0, 1.0, 5),
        call(X(np.float64(0.4)), 2.0, 3, retstep=True),
    ]


@samples("ix_")
def _ix(entry: Op) -> list[Sample]:
    return [call([0, 2], [True, False, True, True]), call(X(np.array([0, 2])), X(np.array([1, 3, 3])))]


@samples("unravel_index")
def _unravel_index(entry: Op) -> list[Sample]:
    return [call(X(np.array([3, 5, 11])), (3, 4)), call(X(np.int64(7)), (3, 4))]


@samples("ravel_multi_index")
def _ravel_multi_index(entry: Op) -> list[Sample]:
    i, j = X(np.array([0, 2])), X(np.array([3, 5]))
    return [call((i, X(np.array([3, 1]))), (3, 4)), call((i, j), (3, 4), mode="wrap"), call((i, j), (3, 4), mode=("raise", "clip"))]


@samples("bincount")
def _bincount(entry: Op) -> list[Sample]:
    return [call(np.array([0, 2, 2, 1]), X(reals(4))), call(np.array([0, 2, 2, 1]), X(reals(4)), minlength=5), call(np.array([0, 2, 2, 1]))]


@samples("isclose")
def _isclose(entry: Op) -> list[Sample]:
    x = np.array([1.0, 2.0, _INF, float("nan")])
    return [call(X(x), X(np.array([1.0 + 1e-9, 2.1, _INF, float("nan")])), equal_nan=e) for e in (False, True)] + [
        call(X(reals(3)), 0.5, atol=1.0)
    ]


@samples("same shape pair")
def _same_shape_pair(entry: Op) -> list[Sample]:
    return [call(X(reals(3)), X(reals(3))), call(X(reals(3)), X(reals(3, seed=1))), call(X(reals(3)), X(reals(4)))]


# methods of ufuncs


@samples("ufunc reduce", "ufunc accumulate", "ufunc outer", "ufunc reduceat", "ufunc at")
def _ufunc_methods(entry: Op) -> list[Sample]:
    x = X(reals(3, 4))
    match entry.short:
        case "ufunc.reduce":
            more = [call(np.maximum, x, axis=None), call(np.logaddexp, x, axis=1), call(np.add, x, axis=(0, 1), keepdims=True)]
            return [call(u, x) for u in (np.add, np.multiply, np.subtract, np.minimum)] + more
        case "ufunc.accumulate":
            return [call(u, x, 1) for u in (np.add, np.multiply, np.maximum, np.subtract)]
        case "ufunc.outer":
            return [call(np.subtract, x, X(reals(2))), call(np.multiply, X(reals(3)), X(reals(4)))]
        case "ufunc.reduceat":
            return [call(np.add, x, [0, 2, 1], 1), call(np.maximum, x, [0, 2])]
    return [call(np.add, x, X(np.array([0, 2, 0])), X(reals(3, 4, seed=1))), call(np.subtract, X(reals(4)), [1, 1], 2.0)]


# indexing and creation


@samples("getitem")
def _getitem(entry: Op) -> list[Sample]:
    x, i, j = X(reals(2, 3, 4)), X(np.array([0, 2, 1])), X(np.array([[0], [3]]))
    return [
        call(x, 0),
        call(x, (slice(None), -1)),
        call(x, (Ellipsis, slice(None, None, -1))),
        call(x, (0, None, slice(1, None), slice(None, None, 2))),
        call(x, (1, 2, 3)),
        call(x, (slice(None), i)),
        call(x, (slice(None), i, i)),
        call(x, (0, slice(None), i)),
        call(x, (slice(None), slice(None), j)),
        call(x, (X(np.array([1, 0])), slice(None), X(np.array([3, 3])))),
        call(x, (X(np.int64(1)),)),
        call(x, booleans(2, 3)),
        call(X(reals(2, 3, 4, 5)), (slice(None), i, slice(None), j)),
    ]


@samples("setitem", "additem")
def _setitem(entry: Op) -> list[Sample]:
    x, i = X(reals(3, 4)), X(np.array([0, 2]))
    return [
        call(x, 0, X(reals(4, seed=1))),
        call(x, (slice(None), 1), 2.0),
        call(x, (slice(0, 2), slice(None, None, 2)), X(reals(2, 2, seed=1))),
        call(x, i, X(reals(2, 4, seed=1))),
        call(x, (slice(None), i), X(reals(3, 2, seed=1))),
        call(x, (i, i), X(reals(2, seed=1))),
        call(x, (X(np.int64(1)), slice(None)), X(np.float64(0.5))),
        call(X(reals(2, 3, 4)), (1, slice(None), np.array([1, 3])), X(reals(2, 3, seed=1))),
    ]


@samples("array", "asarray", "copy")
def _array(entry: Op) -> list[Sample]:
    a, s = X(reals(3)), X(np.float64(0.5))
    if entry.short == "array":
        return [call(a), call([a, a]), call([[s, 1.0], [2.0, s]]), call(a, dtype="f8"), call(a, ndmin=2), call([1, 2])]
    return [call(a), call([1.0, 2.0])]


@samples("like")
def _like(entry: Op) -> list[Sample]:
    more = (2.0,) if entry.short == "full_like" else ()
    return [call(X(reals(3, 4)), *more), call(X(reals(3, 4)), *more, dtype=int), call(X(reals(3)), *more, shape=(2, 3))]


@samples("full")
def _full(entry: Op) -> list[Sample]:
    return [call((2, 3), 1.5), call(3, X(np.float64(0.5))), call((2, 3), X(reals(3))), call(2, 7)]


@samples("sizes")
def _sizes(entry: Op) -> list[Sample]:
    return [call((2, 3)), call(3), call((2,), int)]


@samples("eye")
def _eye(entry: Op) -> list[Sample]:
    return [call(3)] if entry.short == "identity" else [call(3), call(3, 4), call(3, k=1), call(3, dtype=int)]


@samples("arange")
def _arange(entry: Op) -> list[Sample]:
    return [call(4), call(1, 4), call(0.0, 1.0, 0.25), call(4, dtype=float)]


@samples("static")
def _static(entry: Op) -> list[Sample]:
    x = X(reals(3, 4))
    match entry.short:
        case "size":
            return [call(x), call(x, 1)]
        case "result_type":
            return [call(x, np.float32), call(x, 2)]
        case "can_cast":
            return [call(np.float32, np.float64)]
        case "isscalar":
            return [call(x), call(2.0)]
    return [call(x)]


@samples("known places")
def _known_places(entry: Op) -> list[Sample]:
    """Of known arrays; of any other they are refused."""
    a, b = np.array([0, 3, 0, 1, 3]), np.array([1, 3, 5])
    return [call(a, b)] if len(entry.operands) == 2 else [call(a)]
