"""Sample calls: shapes, moving elements, reading and writing at places."""

from __future__ import annotations

from typing import Any

import numpy as np

from pergrad.compiler.ops.table import Op

from .calls import Sample, X, booleans, call, integers, reals, samples

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
