"""Grids of coordinates and spaced numbers."""

from __future__ import annotations

from typing import Any

from .creation import made_at_run_time
from .families import cast, compose, constant_of, expand, real_only, refuse, static, value
from .table import op


@compose("numpy.meshgrid", "*xi", samples="meshgrid")
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    """Each vector along an axis of its own; with "xy" the first two axes change places."""
    from ..core.builder import recorded as np

    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    vectors = [np.ravel(value(x)) for x in xi]
    places = list(range(len(vectors)))
    if indexing == "xy" and len(places) > 1:
        places[:2] = [1, 0]
    arrays = [expand(v, [k for k in range(len(vectors)) if k != place]) for v, place in zip(vectors, places)]
    if not sparse:
        arrays = np.broadcast_arrays(*arrays)
    return tuple(np.copy(a) if copy else a for a in arrays)


def indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    import numpy

    from .creation import constant, made, varies

    if varies(tuple(dimensions)) and not sparse:
        dims = tuple(dimensions)
        extra = {} if numpy.dtype(dtype) == numpy.dtype(int) else {"dtype": numpy.dtype(dtype)}
        return made("indices", (len(dims), *dims), dtype, dims, **extra)
    dims = tuple(int(static(d, "a size")) for d in dimensions)
    if sparse:
        return tuple(value(v) for v in numpy.indices(dims, dtype, True))
    return constant(
        numpy.indices(dims, dtype), "indices", dims, **({} if numpy.dtype(dtype) == numpy.dtype(int) else {"dtype": numpy.dtype(dtype)})
    )


op(
    "numpy.indices",
    signature="dimensions, dtype=int, sparse=False",
    family="creation",
    lower=indices,
    **made_at_run_time("indices"),
    static={"dimensions": "PGR404"},
    samples="indices",
)


@compose("numpy.logspace", "start", "stop", static={"num": "PGR404"}, samples="logspace", family="creation")
def logspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0) -> Any:
    from ..core.builder import recorded as np

    y = np.power(base, np.linspace(start, stop, num, endpoint, axis=axis))
    return y if dtype is None else np.astype(y, dtype)


@compose("numpy.geomspace", "start", "stop", static={"num": "PGR404"}, samples="geomspace", family="creation")
def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    """Equal steps of the logarithm between two numbers of the same sign."""
    from ..core.builder import recorded as np

    real_only("numpy.geomspace", start, stop)
    start, stop = cast(start, "f8"), cast(stop, "f8")
    sign = np.sign(start)
    y = sign * np.power(10.0, np.linspace(np.log10(sign * start), np.log10(sign * stop), num, endpoint, axis=axis))
    return y if dtype is None else np.astype(y, dtype)


@compose("numpy.ix_", "*args", samples="ix_")
def ix_(*args: Any) -> Any:
    import numpy

    outs = []
    for k, a in enumerate(args):
        known = constant_of(a) if not isinstance(a, (list, tuple)) else numpy.asarray(a)
        if known is not None and getattr(getattr(known, "dtype", None), "kind", "") == "b":
            a = numpy.flatnonzero(known)
        v = value(a)
        if v.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if v.dtype.kind == "b":
            refuse("numpy.ix_", "a mask whose values are not known, args")
        outs.append(expand(v, [j for j in range(len(args)) if j != k]))
    return tuple(outs)


@compose("numpy.unravel_index", "indices", samples="unravel_index")
def unravel_index(indices: Any, shape: Any, order: str = "C") -> Any:
    if order not in ("C", "F"):
        raise ValueError("only 'C' or 'F' order is permitted")
    dims = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    outs = []
    rest = indices
    for d in dims if order == "F" else dims[::-1]:
        outs.append(rest % d)
        rest = rest // d
    return tuple(outs if order == "F" else outs[::-1])


@compose("numpy.ravel_multi_index", "*multi_index", samples="ravel_multi_index")
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Any:
    from .take import wrapped

    modes = [mode] * len(dims) if isinstance(mode, str) else list(mode)
    places = [wrapped(i, d, m, "numpy.ravel_multi_index") for i, d, m in zip(multi_index, dims, modes)]
    pairs = list(zip(places, dims))
    pairs = pairs if order == "C" else pairs[::-1]
    y = pairs[0][0]
    for place, d in pairs[1:]:
        y = y * d + place
    return y


@compose(
    "numpy.bincount",
    "x",
    "weights",
    samples="bincount",
    rejected="PGR401",
    static={"minlength": "PGR404"},
    hint="compare with np.arange(k) and sum",
)
def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    """The number of bins is the largest value and one: x must be known while compiling. Its weights may be anything."""
    import numpy

    from ..core.builder import current
    from ..core.builder import recorded as np
    from ..errors import Unsupported
    from .indexing import Slot, put

    known = constant_of(x)
    if known is None:
        raise Unsupported(
            "data-dependent shape: np.bincount gives as many bins as its largest value",
            code="PGR401",
            span=current().span,
            hint="(x[:, None] == np.arange(k)).sum(axis=0) with a known k",
        )
    bins = max(int(known.max()) + 1 if known.size else 0, minlength)
    if weights is None:
        return value(numpy.bincount(known, minlength=minlength))
    return put(np.zeros(bins), weights, (Slot(0),), [known], add=True)
