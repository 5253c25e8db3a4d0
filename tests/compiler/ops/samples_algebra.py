"""Sample calls: sorting and tables, linear algebra, windows, grids, whole arrays, indexing and creation."""

from __future__ import annotations

from typing import Any

import numpy as np

from pergrad.compiler.ops.table import Op

from .calls import Sample, X, booleans, call, integers, positive, reals, samples, square

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


# Fourier transforms: complex arrays are made of real ones, and results taken apart into real ones


def _both_parts(np: Any, y: Any) -> Any:
    return np.real(y) + 2.0 * np.imag(y)


def _halves(np: Any, x: Any) -> Any:
    return x[0] + 1j * x[1]


@samples("parts of complex numbers")
def _parts(entry: Op) -> list[Sample]:
    halves = [call(X(reals(2, *shape)), before=_halves, after=_both_parts) for shape in ((), (3,), (3, 4))]
    return [call(X(reals(3, 4))), call(X(reals())), *halves]


@samples("fourier")
def _fourier(entry: Op) -> list[Sample]:
    real = [
        call(X(reals(4)), after=_both_parts),
        call(X(reals(3, 4)), 3, 0, "ortho", after=_both_parts),
        call(X(reals(3, 4)), n=5, norm="forward", after=_both_parts),
        call(X(reals(2, 3)), axis=-2, after=_both_parts),
    ]
    if entry.short == "fft.rfft":
        return real
    of_shapes: list[Any] = [((4,), ()), ((3, 5), (6, 0)), ((3, 4), (3,))]
    return [*real, *(call(X(reals(2, *shape)), *more, before=_halves, after=_both_parts) for shape, more in of_shapes)]


@samples("fourier of several axes")
def _fourier_of_axes(entry: Op) -> list[Sample]:
    return [
        call(X(reals(3, 4)), after=_both_parts),
        call(X(reals(2, 3, 4)), (3, 2), (-2, -1), after=_both_parts),
        call(X(reals(3, 4)), axes=(1, 0), after=_both_parts),
    ]


@samples("shifts of fourier")
def _shifts(entry: Op) -> list[Sample]:
    return [call(X(reals(5))), call(X(reals(3, 4)), 1), call(X(reals(2, 3, 4)), (0, -1))]
