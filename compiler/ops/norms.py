"""Norms and what is made of products, inverses and singular values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .families import Derivative, compose, expand, real_only, refuse, same_batch, static, value
from .linalg import svdvals
from .reductions import axis_text, kept, reduced
from .table import amend, find

if TYPE_CHECKING:
    from ..core.types import Type


@compose("numpy.linalg.norm", "x", samples="norm")
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """All of NumPy's norms; the gradient at 0 is 0."""
    from ..core.builder import recorded as np
    from ..core.types import normal_axes

    if x.dtype.kind not in "fc":
        x = np.astype(x, float)
    if axis is None:
        if ord is None and x.ndim != 2:
            return _kept(euclidean(np.ravel(x), (-1,), False), x, keepdims) if x.ndim != 1 else euclidean(x, (-1,), keepdims)
        axes: tuple[int, ...] = tuple(range(-x.ndim, 0))
    else:
        axes = tuple(k if k < 0 else k - x.ndim for k in (axis if isinstance(axis, (tuple, list)) else (axis,)))
        normal_axes(axes, x.ndim)
    if len(axes) == 1:
        return _vector_norm(x, 2 if ord is None else ord, axes, keepdims)
    if len(axes) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    return _matrix_norm(x, "fro" if ord is None else ord, axes, keepdims)


def _kept(y: Any, x: Any, keepdims: bool) -> Any:
    from ..core.builder import recorded as np

    return np.reshape(y, (1,) * x.ndim) if keepdims else y


def euclidean(x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """The square root of the sum of squares, as NumPy's own function."""
    from ..core.builder import current

    params = {"axis": tuple(sorted(axes)), "keepdims": bool(keepdims)}
    return current().apply(find("numpy.linalg.norm"), [x], params)  # type: ignore[arg-type]


def _vector_norm(x: Any, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    from ..core.builder import recorded as np

    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    options = {"axis": axes, "keepdims": keepdims}
    if ord == 2:
        return euclidean(x, axes, keepdims)
    if ord == 1:
        return np.sum(np.abs(x), **options)
    if ord == 0:
        return np.sum(np.astype(x != 0, np.real(x).dtype), **options)
    if ord == float("inf"):
        return np.max(np.abs(x), **options)
    if ord == -float("inf"):
        return np.min(np.abs(x), **options)
    p = float(static(ord, "ord"))
    total = np.sum(np.abs(x) ** p, **options)
    # at 0 the root has no slope, the norm's is taken as 0
    y = np.where(total == 0, 0.0, np.where(total == 0, 1.0, total) ** (1.0 / p))
    return y[()] if value(total).type.scalar else y


def _matrix_norm(x: Any, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    from ..core.builder import recorded as np

    row, column = axes
    if row == column:
        raise ValueError("Duplicate axes given.")
    if ord in ("fro", "f"):
        return euclidean(x, axes, keepdims)
    if ord in (1, -1, float("inf"), -float("inf")):
        inner, outer = (row, column) if abs(ord) == 1 else (column, row)
        sums = np.sum(np.abs(x), axis=inner, keepdims=keepdims)
        return (np.max if ord > 0 else np.min)(sums, axis=outer + (outer < inner and not keepdims), keepdims=keepdims)
    if ord in (2, -2, "nuc"):
        s = svdvals(np.moveaxis(x, (row, column), (-2, -1)))
        y = np.sum(s, -1) if ord == "nuc" else np.max(s, -1) if ord == 2 else np.min(s, -1)
        return np.expand_dims(y, tuple(sorted(axes))) if keepdims else y
    raise ValueError("Invalid norm order for matrices.")


def _norm_type(types: list[Type], params: dict[str, Any]) -> Type:
    import numpy as np

    from ..core.types import Type

    shape = reduced(types[0].shape, params["axis"], params["keepdims"])
    return Type(np.empty(0, types[0].dtype).real.dtype, shape, scalar=not shape)


def _norm_text(types: list[Type], params: dict[str, Any], out: Any) -> str:
    text = axis_text(params, types[0].ndim)
    return f"np.linalg.norm(_0{', ' + text if text else ''})"


def _direction(d: Derivative) -> Any:
    from ..core.builder import recorded as np

    y = kept(d.y, d)
    return np.conjugate(d.x[0]) / np.where(y == 0, 1, y)


def _norm_jvp(d: Derivative) -> Any:
    from ..core.builder import recorded as np

    return np.real(np.sum(d.dx[0] * _direction(d), axis=d.params["axis"], keepdims=d.params["keepdims"]))


amend(
    "numpy.linalg.norm",
    family="linear algebra",
    infer=_norm_type,
    vjp=lambda d, i: kept(d.ct, d) * _direction(d),
    jvp=_norm_jvp,
    analytic=True,
    batch=same_batch,
    emit=_norm_text,
)


@compose("numpy.linalg.vector_norm", "x", samples="norm vector")
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """Over all axes, or those given, as one vector."""
    from ..core.builder import recorded as np
    from ..core.types import normal_axes

    if x.dtype.kind not in "fc":
        x = np.astype(x, float)
    axes = normal_axes(axis, x.ndim)
    if len(axes) == 1:
        return _vector_norm(x, ord, axes, keepdims)
    others = [k for k in range(-x.ndim, 0) if k not in axes]
    flat = np.reshape(np.transpose(x, (*others, *axes)) if others else x, (*(x.shape[k] for k in others), -1))
    y = _vector_norm(flat, ord, (-1,), False)
    return np.expand_dims(y, axes) if keepdims and axes else y


@compose("numpy.linalg.matrix_norm", "x", samples="norm matrix")
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    from ..core.builder import recorded as np

    return _matrix_norm(x if x.dtype.kind in "fc" else np.astype(x, float), ord, (-2, -1), keepdims)


@compose("numpy.linalg.cond", "x", samples="invertible")
def cond(x: Any, p: Any = None) -> Any:
    from ..core.builder import recorded as np

    if p is None or p in (2, -2):
        s = svdvals(x)
        high, low = s[..., 0], s[..., -1]
        return low / high if p == -2 else high / low
    return norm(x, p, (-2, -1)) * norm(np.linalg.inv(x), p, (-2, -1))


@compose("numpy.linalg.matrix_power", samples="matrix_power")
def matrix_power(a: Any, n: int) -> Any:
    """Squared and multiplied."""
    import operator

    from ..core.builder import recorded as np

    n = operator.index(static(n, "exponent"))
    if n == 0:
        eye = np.eye(a.shape[-1], dtype=a.dtype)
        return np.broadcast_to(eye, a.shape)
    if n < 0:
        a, n = np.linalg.inv(a), -n
    y, square = None, a
    while n:
        n, bit = divmod(n, 2)
        if bit:
            y = square if y is None else y @ square
        square = square @ square if n else square
    return y


@compose("numpy.linalg.multi_dot", "*arrays", samples="multi_dot")
def multi_dot(arrays: Any, *, out: Any = None) -> Any:
    """One contraction: its order is planned with the rest of the program."""
    from .contraction import LETTERS, contract

    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    terms, at = [], 0
    for k, a in enumerate(arrays):
        if a.ndim == 1 and k in (0, len(arrays) - 1):
            terms.append(LETTERS[at])
        elif a.ndim == 2:
            terms.append(LETTERS[at : at + 2])
            at += 1
        else:
            import numpy

            raise numpy.linalg.LinAlgError(f"{a.ndim}-dimensional array given. Array must be two-dimensional")
    out_letters = (terms[0][0] if len(terms[0]) == 2 else "") + (terms[-1][-1] if len(terms[-1]) == 2 else "")
    return contract(f"{','.join(terms)}->{out_letters}", *arrays)


@compose("numpy.linalg.matrix_rank", "A", samples="rectangular")
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    import numpy

    from ..core.builder import recorded as np

    if hermitian:
        refuse("numpy.linalg.matrix_rank", "hermitian")
    s = svdvals(A)
    if tol is None:
        tol = np.max(s, -1, keepdims=True) * (max(A.shape[-2:]) * float(numpy.finfo(s.dtype).eps) if rtol is None else rtol)
    return np.sum(s > tol, -1)


@compose("numpy.linalg.lstsq", "a", "b", samples="lstsq")
def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """For a tall matrix of full rank: (solution, squared residuals, rank, singular values)."""
    from ..core.builder import recorded as np

    real_only("numpy.linalg.lstsq", a, b)
    m, n = a.shape
    x = np.linalg.pinv(a, rcond) @ b
    rest = b - a @ x
    residuals = np.sum(np.square(rest), 0) if m > n else np.zeros((0,), x.dtype)
    if m > n and b.ndim == 1:
        residuals = np.reshape(residuals, (1,))
    return x, residuals, np.astype(matrix_rank(a), "i4"), svdvals(a)


@compose("numpy.kron", "a", "b", samples="kron")
def kron(a: Any, b: Any) -> Any:
    """An outer product whose axes alternate, then merged in pairs."""
    from ..core.builder import recorded as np
    from .contraction import LETTERS, contract

    n = max(a.ndim, b.ndim)
    if n == 0:
        return a * b
    a, b = (expand(v, range(n - v.ndim)) for v in (a, b))
    left, right = LETTERS[:n], LETTERS[n : 2 * n]
    y = contract(f"{left},{right}->{''.join(p + q for p, q in zip(left, right))}", a, b)
    return np.reshape(y, tuple(p * q for p, q in zip(a.shape, b.shape)))


def _cross(a: Any, b: Any, axisa: int, axisb: int, axisc: int) -> Any:
    from ..core.builder import recorded as np

    a, b = np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1)
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise ValueError("incompatible dimensions for cross product (dimension must be 3)")
    a1, a2, a3 = (a[..., k] for k in range(3))
    b1, b2, b3 = (b[..., k] for k in range(3))
    return np.stack([a2 * b3 - a3 * b2, a3 * b1 - a1 * b3, a1 * b2 - a2 * b1], axisc)


@compose("numpy.cross", "a", "b", samples="cross")
def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    return _cross(a, b, axisa, axisb, axisc)


@compose("numpy.linalg.cross", "x1", "x2", samples="cross")
def linalg_cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    return _cross(x1, x2, axis, axis, axis)
