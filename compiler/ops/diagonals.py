"""Diagonals, triangles and the trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .creation import made_at_run_time
from .families import Derivative, axis_of, compose, linear, read_only, refuse, same_batch, static, value
from .table import amend, find, op

if TYPE_CHECKING:
    from ..core.types import Type


def _length(n: Any, m: Any, k: int) -> Any:
    return max(0, min(n + min(k, 0), m - max(k, 0)) if k else min(n, m))


@compose("numpy.diagonal", methods=("diagonal",), view=read_only, samples="diagonal")
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The plain diagonal of a matrix is a contraction that repeats a letter; any other is a read of the flattened axes."""
    from ..core.builder import recorded as np

    if a.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    first, second = axis_of(axis1, a), axis_of(axis2, a)
    if first == second:
        raise ValueError("axis1 and axis2 cannot be the same")
    n, m = a.shape[first], a.shape[second]
    if offset == 0 and n == m:
        return _repeated(a, first, second, "Y")
    x = a if (first, second) == (-2, -1) else np.moveaxis(a, (first, second), (-2, -1))
    import numpy

    rows = numpy.arange(_length(n, m, offset)) + max(-offset, 0)
    return x[..., rows, rows + offset]


def _repeated(a: Any, first: int, second: int, kept: str) -> Any:
    """The contraction that has one letter on two axes: their diagonal if it is kept, else the trace."""
    from .contraction import LETTERS, contract

    letters = list(LETTERS[: a.ndim])
    letters[first] = letters[second] = "Y"
    return contract(f"{''.join(letters)}->{''.join(c for c in letters if c != 'Y')}{kept}", a)


@compose("numpy.linalg.diagonal", samples="square stacks")
def linalg_diagonal(x: Any, *, offset: int = 0) -> Any:
    from ..core.builder import call

    return call("numpy.diagonal", x, offset, -2, -1)


@compose("numpy.trace", methods=("trace",), samples="diagonal")
def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    from ..core.builder import recorded as np

    if a.ndim >= 2 and a.dtype.kind == "f" and dtype is None and offset == 0:
        first, second = axis_of(axis1, a), axis_of(axis2, a)
        if first != second and a.shape[first] == a.shape[second]:
            return _repeated(a, first, second, "")
    return np.sum(diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype)


@compose("numpy.linalg.trace", samples="square stacks")
def linalg_trace(x: Any, *, offset: int = 0, dtype: Any = None) -> Any:
    return trace(x, offset, -2, -1, dtype)


@compose("numpy.diag", "v", samples="diag")
def diag(v: Any, k: int = 0) -> Any:
    from ..core.builder import call, current

    if v.ndim == 2:
        return call("numpy.diagonal", v, k)
    if v.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    return current().apply(find("numpy.diag"), [v], {"k": int(k)})  # type: ignore[arg-type]


@compose("numpy.diagflat", "v", samples="diag")
def diagflat(v: Any, k: int = 0) -> Any:
    from ..core.builder import recorded as np

    return diag(np.ravel(v), k)


def _diag_type(types: list[Type], params: dict[str, Any]) -> Type:
    n = types[0].shape[-1] + abs(params["k"]) if params["k"] else types[0].shape[-1]
    return types[0].with_shape((*types[0].shape[:-1], n, n))


def _diag_text(types: list[Type], params: dict[str, Any], out: Any) -> str:
    """Stacked vectors, which NumPy's diag does not take, are multiplied by an identity."""
    k = params["k"]
    if types[0].ndim == 1:
        return f"np.diag(_0, {k})" if k else "np.diag(_0)"
    n = out.shape[-1]
    if not k:
        return f"np.where(np.eye({n}, dtype=bool), _0[..., None], 0)"
    widths = [(0, 0)] * (types[0].ndim - 1) + [(0, k) if k > 0 else (-k, 0)]
    return f"np.where(np.eye({n}, k={k}, dtype=bool), np.pad(_0, {widths})[..., None], 0)"


def _diag_back(d: Derivative) -> Any:
    return diagonal(d.ct, d.params["k"], -2, -1)


amend(
    "numpy.diag",
    **linear(_diag_back),
    infer=_diag_type,
    batch=same_batch,
    emit=_diag_text,
)


@compose("numpy.tri", raw=True, operands=(), samples="known", family="creation", static={"N": "PGR404", "M": "PGR404"})
def tri(N: Any, M: Any = None, k: int = 0, dtype: Any = float) -> Any:
    import numpy

    from .creation import constant, made, varies

    kwargs = {**({"k": k} if k else {}), **({} if numpy.dtype(dtype) == numpy.dtype(float) else {"dtype": numpy.dtype(dtype)})}
    args = (N,) if M is None else (N, M)
    if varies(N, M):
        return made("tri", (N, N if M is None else M), dtype, *args, **kwargs)
    return constant(numpy.tri(N, M, k, dtype), "tri", *args, **kwargs)


amend("numpy.tri", **made_at_run_time("tri"))


def _triangle(name: str) -> Any:
    def triangle(m: Any, k: int = 0) -> Any:
        """A vector becomes the rows of a square first, as in NumPy."""
        from ..core.builder import current, recorded

        if m.ndim == 1:
            m = recorded.broadcast_to(m, (m.shape[0], m.shape[0]))
        if m.ndim < 2:
            raise ValueError("array must be at least one-dimensional")
        return current().apply(find(f"numpy.{name}"), [m], {"k": int(k)})  # type: ignore[arg-type]

    return triangle


def _masked(d: Derivative) -> Any:
    from ..core.builder import current

    return current().apply(d.entry, [d.ct], dict(d.params))


for _name in ("triu", "tril"):
    compose(f"numpy.{_name}", samples="triangle")(_triangle(_name))
    amend(
        f"numpy.{_name}",
        **linear(_masked),
        infer=lambda types, params: types[0].with_shape(types[0].shape),
        batch=same_batch,
        emit=(lambda name: lambda types, params, out: f"np.{name}(_0, {params['k']})" if params["k"] else f"np.{name}(_0)")(_name),
    )


@compose("numpy.fill_diagonal", "a", "val", writes=("a",), returns="none", samples="fill_diagonal")
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> Any:
    import numpy

    from ..core.builder import recorded as np
    from .indexing import Slot, put

    if wrap and a.shape[0] > a.shape[1]:
        refuse("numpy.fill_diagonal", "wrap")
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim > 2 and len(set(a.shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    n = min(a.shape)
    val = value(val)
    if val.ndim:
        val = np.resize(val, n)
    places = numpy.arange(n)
    return put(a, np.astype(val, a.dtype) if val.dtype != a.dtype else val, tuple(Slot(k) for k in range(a.ndim)), [places] * a.ndim)


# places of triangles and diagonals: known numbers


def _known(name: str) -> Any:
    def places(*args: Any, **kwargs: Any) -> Any:
        import numpy

        return tuple(value(v) for v in getattr(numpy, name)(*(static(a, "a size") for a in args), **kwargs))

    return places


for _name, _signature in (
    ("triu_indices", "n, k=0, m=None"),
    ("tril_indices", "n, k=0, m=None"),
    ("diag_indices", "n, ndim=2"),
):
    op(f"numpy.{_name}", signature=_signature, family="creation", lower=_known(_name), static={"n": "PGR404"}, samples="known")


def _known_from(name: str) -> Any:
    def places(arr: Any, k: int = 0) -> Any:
        import numpy

        return tuple(value(v) for v in getattr(numpy, name)(arr.shape[-2], k, arr.shape[-1]))

    return places


for _name in ("triu_indices", "tril_indices"):
    compose(f"numpy.{_name}_from", "arr", samples="matrices alone")(_known_from(_name))


@compose("numpy.diag_indices_from", "arr", samples="square matrices")
def diag_indices_from(arr: Any) -> Any:
    import numpy

    return tuple(value(v) for v in numpy.diag_indices(arr.shape[0], arr.ndim))
