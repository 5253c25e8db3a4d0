"""Sample calls: elementwise functions, reductions, scans, contractions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pergrad.compiler.ops.table import Op

from .calls import SAMPLES, Sample, X, booleans, call, integers, positive, reals, samples, with_zeros

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


@samples("logistic")
def _logistic(entry: Op) -> list[Sample]:
    return [call(X(reals(3, 4)), minus=True), call(X(reals(3)), minus=False), call(X(np.float64(0.3)), minus=True)]


@samples("softmax")
def _softmax(entry: Op) -> list[Sample]:
    return [
        call(X(reals(3, 4)), axis=-1, called=None),
        call(X(reals(2, 3, 4)), axis=-2, called="e"),
        call(X(reals(5)), axis=-1, called=None),
    ]


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
