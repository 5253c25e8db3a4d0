"""Convolution, correlation, sliding windows and polynomials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .families import Batching, Derivative, axis_of, compose, read_only, refuse, static
from .table import amend, find

if TYPE_CHECKING:
    from ..core.types import Type


@compose("numpy.convolve", "a", "v", samples="convolve")
def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """ "same" is a slice of the full convolution."""
    from ..core.builder import recorded as np

    a, v = np.atleast_1d(a), np.atleast_1d(v)
    if a.ndim != 1 or v.ndim != 1:
        raise ValueError("object too deep for desired array")
    if v.shape[0] > a.shape[0]:
        a, v = v, a
    n, m = a.shape[0], v.shape[0]
    if m == 0:
        raise ValueError("v cannot be empty")
    if mode in ("full", "valid"):
        return _convolved(a, v, mode)
    if mode != "same":
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    return _convolved(a, v, "full")[(m - 1) // 2 : (m - 1) // 2 + n]


def _convolved(a: Any, v: Any, mode: str) -> Any:
    from ..core.builder import current

    return current().apply(find("numpy.convolve"), [a, v], {"mode": mode})  # type: ignore[arg-type]


def _convolve_type(types: list[Type], params: dict[str, Any]) -> Type:
    import numpy as np

    from ..core.types import Type

    n: Any
    m: Any
    n, m = types[0].shape[0], types[1].shape[0]
    size = n + m - 1 if params["mode"] == "full" else max(n, m) - min(n, m) + 1
    return Type(np.result_type(types[0].dtype, types[1].dtype), (size,))


def _convolve_vjp(d: Derivative, i: int) -> Any:
    """Correlation with the other operand, which is convolution with its flip."""
    from ..core.builder import recorded as np

    other = d.x[1 - i]
    if d.params["mode"] == "full":
        return _convolved(d.ct, np.flip(other), "valid")
    if i == 0:
        return _convolved(d.ct, np.flip(other), "full")
    return np.flip(_convolved(other, np.flip(d.ct), "valid"))


def _convolve_jvp(d: Derivative) -> Any:
    (a, v), (da, dv), mode = d.x, d.dx, d.params["mode"]
    terms = [_convolved(p, q, mode) for p, q in ((da, v), (a, dv)) if p is not None and q is not None]
    return terms[0] if len(terms) == 1 else terms[0] + terms[1]


def _convolve_batch(b: Batching) -> Any:
    """NumPy convolves vectors only: a stack is the product of sliding windows with the flipped kernel."""
    from ..core.builder import recorded as np
    from .contraction import contract

    n: Any
    m: Any
    n, m = b.types[0].shape[0], b.types[1].shape[0]
    a, v = b.x
    if b.params["mode"] == "full":
        a = np.pad(a, ((0, 0),) * b.mapped[0] + ((m - 1, m - 1),))
        n = n + 2 * (m - 1)
    first, second = ("b" if mapped else "" for mapped in b.mapped)
    return contract(f"{first}ij,{second}j->bi", _windows(a, n, m), np.flip(v, -1))


def _windows(x: Any, n: int, m: int) -> Any:
    """All stretches of m elements along the last axis of n elements."""
    import numpy

    return x[..., numpy.arange(n - m + 1)[:, None] + numpy.arange(m)]


amend(
    "numpy.convolve",
    infer=_convolve_type,
    vjp=_convolve_vjp,
    jvp=_convolve_jvp,
    batch=_convolve_batch,
    emit=lambda types, params, out: f"np.convolve(_0, _1{'' if params['mode'] == 'full' else ', mode=' + repr(params['mode'])})",
)


@compose("numpy.correlate", "a", "v", samples="convolve")
def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    from ..core.builder import recorded as np

    a, v = np.atleast_1d(a), np.atleast_1d(v)
    v = np.conjugate(v)
    flipped = np.flip(v)
    if mode == "same" and v.shape[0] > a.shape[0]:
        # NumPy swaps the operands and turns the result round
        return np.flip(convolve(v, np.flip(a), mode))
    return convolve(a, flipped, mode)


@compose(
    "numpy.lib.stride_tricks.sliding_window_view",
    "x",
    view=read_only,
    static={"window_shape": "PGR404"},
    samples="sliding_window_view",
)
def sliding_window_view(x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False) -> Any:
    """A read at known places: the windows' axes come last."""
    import numpy

    if writeable:
        refuse("numpy.lib.stride_tricks.sliding_window_view", "writeable")
    window = (
        tuple(static(window_shape, "window_shape")) if hasattr(window_shape, "__len__") else (int(static(window_shape, "window_shape")),)
    )
    axes = tuple(range(x.ndim)) if axis is None else tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    if len(axes) != len(window):
        raise ValueError(
            f"Must provide matching length window_shape and axis; got {len(window)} window_shape elements and {len(axes)} axes elements."
        )
    from ..core.builder import recorded as np

    for k, w in zip(axes, window):
        axis_k = axis_of(k, x) if k < 0 or axis is not None else k - x.ndim
        n = x.shape[axis_k]
        if w > n:
            raise ValueError("window shape cannot be larger than input array shape")
        place = len(x.shape) + axis_k
        x = x[(*[slice(None)] * place, numpy.arange(n - w + 1)[:, None] + numpy.arange(w))]
        x = np.moveaxis(x, place + 1, -1)
    return x


@compose("numpy.polyval", "p", "x", samples="polyval")
def polyval(p: Any, x: Any) -> Any:
    """Horner's rule."""
    from ..core.builder import recorded as np

    y = np.zeros_like(x)
    for k in range(p.shape[0]):
        y = p[k] if k == 0 and not x.ndim else y * x + p[k] if k else y + p[k]
    return y


@compose("numpy.vander", "x", static={"N": "PGR404"}, samples="vander")
def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    import numpy

    from ..core.builder import recorded as np

    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    n = x.shape[0] if N is None else int(N)
    x = np.astype(x, numpy.promote_types(x.dtype, int))
    powers = numpy.arange(n) if increasing else numpy.arange(n)[::-1]
    return x[:, None] ** powers
