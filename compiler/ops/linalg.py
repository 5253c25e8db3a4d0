"""Linear algebra on stacks of matrices: each primitive with its matrix derivative.

The formulas are those of M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation" (2008);
of the pseudo-inverse, G. Golub and V. Pereyra (1973). A decomposition that reads one triangle of a symmetric matrix has the symmetric
derivative.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .families import Batching, Derivative, compose, refuse, same_batch
from .shape import sum_to
from .table import amend, find, op

if TYPE_CHECKING:
    from ..core.types import Type


def _float(dtype: Any) -> Any:
    import numpy as np

    return dtype if dtype.kind in "fc" else np.dtype(float)


def _square(types: list[Type]) -> None:
    import numpy as np

    shape = types[0].shape
    if len(shape) < 2:
        raise np.linalg.LinAlgError(f"{len(shape)}-dimensional array given. Array must be at least two-dimensional")
    if shape[-1] != shape[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")


def transposed(x: Any) -> Any:
    """Each matrix of a stack transposed."""
    from ..core.builder import recorded as np

    return np.swapaxes(x, -1, -2)


def symmetric(x: Any) -> Any:
    return 0.5 * (x + transposed(x))


def _diagonal(x: Any) -> Any:
    from ..core.builder import recorded as np

    return np.linalg.diagonal(x)


def _eye(x: Any, n: Any) -> Any:
    from ..core.builder import recorded as np

    return np.eye(n, dtype=x.dtype)


def _matrix(name: str, vjp: Any, jvp: Any, infer: Any, *, samples: str, **fields: Any) -> None:
    op(
        f"numpy.linalg.{name}",
        **{
            "signature": "a",
            "operands": ("a",),
            "family": "linear algebra",
            "infer": infer,
            "vjp": vjp,
            "jvp": jvp,
            "batch": same_batch,
            "emit": lambda types, params, out: f"np.linalg.{name}(_0)",
            "samples": samples,
            **fields,
        },
    )


# inverse, determinant


def _square_type(types: list[Type], params: Any) -> Type:
    from ..core.types import Type

    _square(types)
    return Type(_float(types[0].dtype), types[0].shape)


def _inv_vjp(d: Derivative, i: int) -> Any:
    t = transposed(d.y)
    return -(t @ d.ct @ t)


_matrix("inv", _inv_vjp, lambda d: -(d.y @ d.dx[0] @ d.y), _square_type, samples="invertible", analytic=True)


def _number_type(types: list[Type], params: Any) -> Type:
    from ..core.types import Type

    _square(types)
    shape = types[0].shape[:-2]
    return Type(_float(types[0].dtype), shape, scalar=not shape)


def _column(x: Any) -> Any:
    from ..core.builder import recorded as np

    return np.expand_dims(x, (-2, -1)) if x.shape else x


def _det_vjp(d: Derivative, i: int) -> Any:
    from ..core.builder import recorded as np

    return _column(d.ct * d.y) * transposed(np.linalg.inv(d.x[0]))


def _det_jvp(d: Derivative) -> Any:
    from ..core.builder import recorded as np

    return d.y * np.linalg.trace(np.linalg.solve(d.x[0], d.dx[0]))


_matrix("det", _det_vjp, _det_jvp, _number_type, samples="invertible", analytic=True)


def _slogdet_type(types: list[Type], params: Any) -> tuple[Type, Type]:
    t = _number_type(types, params)
    return t, t


def _slogdet_vjp(d: Derivative, i: int) -> Any:
    from ..core.builder import recorded as np

    return _column(d.ct[1]) * transposed(np.linalg.inv(d.x[0]))


def _slogdet_jvp(d: Derivative) -> Any:
    from ..core.builder import recorded as np

    return None, np.linalg.trace(np.linalg.solve(d.x[0], d.dx[0]))


def _named(name: str, result: str) -> Any:
    """The primitive's results in NumPy's named tuple."""

    def lower(a: Any, **options: Any) -> Any:
        import importlib

        from ..core.builder import current

        entry = find(f"numpy.linalg.{name}")
        named = getattr(importlib.import_module("numpy.linalg._linalg"), result)
        return named(*current().apply(entry, [a], options))  # type: ignore[arg-type]

    return lower


@compose("numpy.linalg.slogdet", samples="invertible")
def slogdet(a: Any) -> Any:
    return _named("slogdet", "SlogdetResult")(a)


amend(
    "numpy.linalg.slogdet",
    family="linear algebra",
    infer=_slogdet_type,
    vjp=_slogdet_vjp,
    jvp=_slogdet_jvp,
    batch=same_batch,
    emit=lambda types, params, out: "np.linalg.slogdet(_0)",
)


# solving


def _is_vector(types: Any) -> bool:
    return len(types[1].shape) == 1


def _solve_type(types: list[Type], params: Any) -> Type:
    import numpy as np

    from ..core.types import Type, broadcast

    _square(types)
    a, b = types[0].shape, types[1].shape
    if not b or (b[-1] if len(b) == 1 else b[-2]) != a[-1]:
        raise ValueError(f"solve: shapes {a} and {b} do not fit")
    dtype = _float(np.result_type(types[0].dtype, types[1].dtype))
    if len(b) == 1:
        return Type(dtype, (*a[:-2], a[-1]))
    return Type(dtype, (*broadcast(a[:-2], b[:-2]), a[-1], b[-1]))


def _solve(a: Any, b: Any, vector: bool) -> Any:
    """Solve with stacks of vectors, which NumPy takes for matrices."""
    from ..core.builder import recorded as np

    if vector and len(b.shape) > 1:
        return np.linalg.solve(a, b[..., None])[..., 0]
    return np.linalg.solve(a, b)


def _solve_vjp(d: Derivative, i: int) -> Any:
    from ..core.builder import recorded as np

    a, b = d.x
    vector = _is_vector(d.x)
    back = _solve(transposed(a), d.ct, vector)
    if i == 1:
        return sum_to(back, b.shape)
    if vector:
        return -(np.outer(back, d.y) if back.ndim == 1 else back[..., None] * d.y[..., None, :])
    return sum_to(-(back @ transposed(d.y)), a.shape)


def _solve_jvp(d: Derivative) -> Any:
    a, (da, db) = d.x[0], d.dx
    right = db
    if da is not None:
        vector = _is_vector(d.x)
        moved = (da @ d.y[..., None])[..., 0] if vector and len(d.y.shape) > 1 else da @ d.y
        right = -moved if right is None else right - moved
    return _solve(a, right, _is_vector(d.x))


def _solve_batch(b: Batching) -> Any:
    """Right-hand sides alone become the columns of one; with a stack of matrices, vectors become matrices of one column."""
    from ..core.builder import recorded as np

    n, m = b.types[0].ndim, b.types[1].ndim
    if m == 1 and b.mapped[1]:
        if not b.mapped[0] and n == 2:
            return np.transpose(b.bind([b.x[0], np.transpose(b.x[1])]))
        right = b.x[1][(slice(None), *[None] * (n - 2), slice(None), None)]
        return b.bind([b.x[0], right])[..., 0]
    if m == 1:
        return b.bind(b.x)
    rank = max(n, m)
    return b.bind([b.aligned(0, rank), b.aligned(1, rank)])


op(
    "numpy.linalg.solve",
    signature="a, b",
    operands=("a", "b"),
    family="linear algebra",
    infer=_solve_type,
    vjp=_solve_vjp,
    jvp=_solve_jvp,
    batch=_solve_batch,
    emit=lambda types, params, out: "np.linalg.solve(_0, _1)",
    analytic=True,
    samples="solve",
)


# Cholesky


def _lower_half(x: Any) -> Any:
    """The lower triangle with half of the diagonal."""
    from ..core.builder import recorded as np

    n = x.shape[-1]
    half = 0.5 * _eye(x, n)
    return x * (np.tri(n, dtype=x.dtype) - half) if isinstance(n, int) else np.tril(x) - x * half


def _cholesky_vjp(d: Derivative, i: int) -> Any:
    from ..core.builder import recorded as np

    t = transposed(d.y)
    inner = _lower_half(t @ np.tril(d.ct))
    half = np.linalg.solve(t, transposed(np.linalg.solve(t, transposed(inner))))
    return symmetric(half)


def _cholesky_jvp(d: Derivative) -> Any:
    from ..core.builder import recorded as np

    left = np.linalg.solve(d.y, symmetric(d.dx[0]))
    return d.y @ _lower_half(transposed(np.linalg.solve(d.y, transposed(left))))


@compose("numpy.linalg.cholesky", samples="positive definite", family="linear algebra")
def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    from ..core.builder import current

    factor = current().apply(find("numpy.linalg.cholesky"), [transposed(a) if upper else a], {})  # type: ignore[arg-type]
    return transposed(factor) if upper else factor


amend(
    "numpy.linalg.cholesky",
    infer=_square_type,
    vjp=_cholesky_vjp,
    jvp=_cholesky_jvp,
    batch=same_batch,
    emit=lambda types, params, out: "np.linalg.cholesky(_0)",
)


# symmetric eigenvalues


def _gaps(w: Any) -> Any:
    """1 / (w_j - w_i), and 0 where they are equal."""
    from ..core.builder import recorded as np

    gap = w[..., None, :] - w[..., :, None]
    return np.where(gap == 0, 0.0, 1.0 / np.where(gap == 0, 1.0, gap))


def _eigh_type(types: list[Type], params: Any) -> tuple[Type, Type]:
    t = _square_type(types, params)
    return t.with_shape(t.shape[:-1]), t


def _eigh_vjp(d: Derivative, i: int) -> Any:
    from ..core.builder import recorded as np

    (w, v), (ct_w, ct_v) = d.y, d.ct
    inner = np.diag(ct_w) if len(w.shape) == 1 else ct_w[..., None] * _eye(w, w.shape[-1])
    inner = inner + _gaps(w) * (transposed(v) @ ct_v)
    return symmetric(v @ inner @ transposed(v))


def _eigh_jvp(d: Derivative) -> Any:
    w, v = d.y
    p = transposed(v) @ symmetric(d.dx[0]) @ v
    return _diagonal(p), v @ (_gaps(w) * p)


def _uplo(UPLO: str) -> dict[str, str]:
    if UPLO.upper() not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    return {} if UPLO.upper() == "L" else {"UPLO": "U"}


def _uplo_text(name: str) -> Any:
    return lambda types, params, out: f"np.linalg.{name}(_0{', UPLO=' + repr(params['UPLO']) if params else ''})"


@compose("numpy.linalg.eigh", samples="symmetric", family="linear algebra")
def eigh(a: Any, UPLO: str = "L") -> Any:
    return _named("eigh", "EighResult")(a, **_uplo(UPLO))


amend("numpy.linalg.eigh", infer=_eigh_type, vjp=_eigh_vjp, jvp=_eigh_jvp, batch=same_batch, emit=_uplo_text("eigh"))


def _eigvalsh_vjp(d: Derivative, i: int) -> Any:
    from ..core.builder import recorded as np

    v = np.linalg.eigh(d.x[0], **d.params)[1]
    return (v * d.ct[..., None, :]) @ transposed(v)


def _eigvalsh_jvp(d: Derivative) -> Any:
    from ..core.builder import recorded as np

    v = np.linalg.eigh(d.x[0], **d.params)[1]
    return np.sum(v * (symmetric(d.dx[0]) @ v), -2)


@compose("numpy.linalg.eigvalsh", samples="symmetric", family="linear algebra")
def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    from ..core.builder import current

    return current().apply(find("numpy.linalg.eigvalsh"), [a], _uplo(UPLO))  # type: ignore[arg-type]


amend(
    "numpy.linalg.eigvalsh",
    infer=lambda types, params: _eigh_type(types, params)[0],
    vjp=_eigvalsh_vjp,
    jvp=_eigvalsh_jvp,
    batch=same_batch,
    emit=_uplo_text("eigvalsh"),
)


# QR


def _qr_type(types: list[Type], params: Any) -> tuple[Type, Type]:
    from ..core.types import Type

    *stack, m, n = types[0].shape
    k: Any = min(m, n)
    dtype = _float(types[0].dtype)
    return Type(dtype, (*stack, m, k)), Type(dtype, (*stack, k, n))


def _tall(d: Derivative) -> None:
    if d.x[0].shape[-2] < d.x[0].shape[-1]:
        refuse("numpy.linalg.qr", "a wide matrix differentiated, mode", "differentiate the QR of its first square part")


def _right_solve(x: Any, r: Any) -> Any:
    """x times the inverse of r."""
    from ..core.builder import recorded as np

    return transposed(np.linalg.solve(transposed(r), transposed(x)))


def _qr_vjp(d: Derivative, i: int) -> Any:
    from ..core.builder import recorded as np

    _tall(d)
    (q, r), (ct_q, ct_r) = d.y, d.ct
    m = r @ transposed(ct_r) - transposed(ct_q) @ q
    strict = np.tril(m, -1)
    both = np.tril(m) + transposed(strict)
    return _right_solve(ct_q + q @ both, transposed(r))


def _qr_jvp(d: Derivative) -> Any:
    from ..core.builder import recorded as np

    _tall(d)
    q, r = d.y
    da = _right_solve(d.dx[0], r)
    c = transposed(q) @ da
    strict = np.tril(c, -1)
    turn = strict - transposed(strict)
    return q @ (turn - c) + da, (c - turn) @ r


@compose("numpy.linalg.qr", samples="tall", family="linear algebra")
def qr(a: Any, mode: str = "reduced") -> Any:
    from ..core.builder import recorded as np

    if a.ndim < 2:
        import numpy

        raise numpy.linalg.LinAlgError(f"{a.ndim}-dimensional array given. Array must be at least two-dimensional")
    if mode == "complete" and a.shape[-2] <= a.shape[-1]:
        mode = "reduced"
    if mode not in ("reduced", "r"):
        refuse("numpy.linalg.qr", f"mode={mode!r}, mode", "mode='reduced'")
    y = _named("qr", "QRResult")(a)
    return np.copy(y.R) if mode == "r" else y


amend("numpy.linalg.qr", infer=_qr_type, vjp=_qr_vjp, jvp=_qr_jvp, batch=same_batch, emit=lambda types, params, out: "np.linalg.qr(_0)")


# singular values


def _svd_type(types: list[Type], params: Any) -> tuple[Type, ...]:
    from ..core.types import Type

    *stack, m, n = types[0].shape
    k: Any = min(m, n)
    dtype = _float(types[0].dtype)
    return Type(dtype, (*stack, m, k)), Type(dtype, (*stack, k)), Type(dtype, (*stack, k, n))


def _svd_vjp(d: Derivative, i: int) -> Any:
    (u, s, vh), (ct_u, ct_s, ct_vh) = d.y, d.ct
    ut, v = transposed(u), transposed(vh)
    gaps = _gaps(s * s)
    over = 1.0 / s
    turn_u, turn_v = ut @ ct_u, vh @ transposed(ct_vh)
    inner = (gaps * (turn_u - transposed(turn_u))) * s[..., None, :]
    inner = inner + s[..., :, None] * (gaps * (turn_v - transposed(turn_v)))
    inner = inner + ct_s[..., None] * _eye(s, s.shape[-1])
    y = u @ inner @ vh
    m, n = u.shape[-2], v.shape[-2]
    if m > n:
        y = y + ((ct_u - u @ turn_u) * over[..., None, :]) @ vh
    if n > m:
        y = y + u @ (over[..., :, None] * (ct_vh - transposed(v @ turn_v)))
    return y


def _svd_jvp(d: Derivative) -> Any:
    u, s, vh = d.y
    v = transposed(vh)
    da = d.dx[0]
    p = transposed(u) @ da @ v
    wide, long = s[..., None, :], s[..., :, None]
    gaps = _gaps(s * s)
    du = u @ (gaps * (p * wide + long * transposed(p)))
    dv = v @ (gaps * (long * p + transposed(p) * wide))
    m, n = u.shape[-2], v.shape[-2]
    if m > n:
        du = du + (da @ v - u @ p) / wide
    if n > m:
        dv = dv + (transposed(da) @ u - v @ transposed(p)) / wide
    return du, _diagonal(p), transposed(dv)


@compose("numpy.linalg.svd", samples="rectangular", family="linear algebra")
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """The reduced form; the full one of a matrix that is not square has no rule."""
    if hermitian:
        refuse("numpy.linalg.svd", "hermitian")
    if not compute_uv:
        return svdvals(a)
    if full_matrices and a.shape[-1] != a.shape[-2]:
        refuse("numpy.linalg.svd", "full_matrices=True of a matrix that is not square, full_matrices", "full_matrices=False")
    return _named("svd", "SVDResult")(a)


amend(
    "numpy.linalg.svd",
    infer=_svd_type,
    vjp=_svd_vjp,
    jvp=_svd_jvp,
    batch=same_batch,
    emit=lambda types, params, out: "np.linalg.svd(_0, full_matrices=False)",
)


def _svdvals_vjp(d: Derivative, i: int) -> Any:
    from ..core.builder import recorded as np

    u, _, vh = np.linalg.svd(d.x[0], full_matrices=False)
    return (u * d.ct[..., None, :]) @ vh


def _svdvals_jvp(d: Derivative) -> Any:
    from ..core.builder import recorded as np

    u, _, vh = np.linalg.svd(d.x[0], full_matrices=False)
    return np.sum(u * (d.dx[0] @ transposed(vh)), -2)


_matrix(
    "svdvals",
    _svdvals_vjp,
    _svdvals_jvp,
    lambda types, params: _svd_type(types, params)[1],
    samples="rectangular",
    signature="x",
    operands=("x",),
)


def svdvals(a: Any) -> Any:
    from ..core.builder import current

    return current().apply(find("numpy.linalg.svdvals"), [a], {})  # type: ignore[arg-type]


# pseudo-inverse


def _pinv_type(types: list[Type], params: Any) -> Type:
    from ..core.types import Type

    *stack, m, n = types[0].shape
    return Type(_float(types[0].dtype), (*stack, n, m))


def _pinv_vjp(d: Derivative, i: int) -> Any:
    a, p, ct = d.x[0], d.y, transposed(d.ct)
    t = transposed(p)
    m, n = a.shape[-2:]
    return -(t @ d.ct @ t) + (_eye(a, m) - a @ p) @ ct @ p @ t + t @ p @ ct @ (_eye(a, n) - p @ a)


def _pinv_jvp(d: Derivative) -> Any:
    a, p, da = d.x[0], d.y, d.dx[0]
    t, dt = transposed(p), transposed(da)
    m, n = a.shape[-2:]
    return -(p @ da @ p) + p @ t @ dt @ (_eye(a, m) - a @ p) + (_eye(a, n) - p @ a) @ dt @ t @ p


@compose("numpy.linalg.pinv", samples="rectangular", family="linear algebra")
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    from ..core.builder import current

    if hermitian:
        refuse("numpy.linalg.pinv", "hermitian")
    bound = rcond if rcond is not None else rtol
    return current().apply(find("numpy.linalg.pinv"), [a], {} if bound is None else {"rcond": float(bound)})  # type: ignore[arg-type]


amend(
    "numpy.linalg.pinv",
    infer=_pinv_type,
    vjp=_pinv_vjp,
    jvp=_pinv_jvp,
    batch=same_batch,
    emit=lambda types, params, out: f"np.linalg.pinv(_0{', rcond=' + repr(params['rcond']) if params else ''})",
)
