"""Discrete Fourier transforms. All are linear; a cotangent of complex values goes through the transposed sums, not the conjugated ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .families import Derivative, axis_of, cast, compose, linear, same_batch, whole
from .rearrange import roll
from .table import find, op

if TYPE_CHECKING:
    from ..core.types import Type


def _prepare(name: str) -> Any:
    def prepare(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> tuple[list[Any], dict[str, Any]]:
        axis = axis_of(axis, a)
        if n is None:
            n = 2 * (a.shape[axis] - 1) if name == "irfft" else a.shape[axis]
        n = whole(n, "n")
        if not n >= 1:
            raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
        if norm not in (None, "backward", "ortho", "forward"):
            raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
        return [a], {"n": n, "axis": axis, "norm": None if norm == "backward" else norm}

    return prepare


def _type(name: str) -> Any:
    def infer(types: list[Type], params: dict[str, Any]) -> Type:
        import numpy as np

        if name == "rfft" and types[0].dtype.kind == "c":
            raise TypeError("ufunc 'rfft_n_even' did not contain a loop with signature matching types")
        shape = list(types[0].shape)
        shape[params["axis"]] = params["n"] // 2 + 1 if name == "rfft" else params["n"]
        dtype = np.result_type(types[0].dtype, np.complex64)
        if types[0].dtype == np.float16:
            dtype = np.dtype(np.complex64)
        return types[0].with_shape(shape).__class__(np.empty(0, dtype).real.dtype if name == "irfft" else dtype, tuple(shape))

    return infer


def _text(name: str) -> Any:
    def emit(types: list[Type], params: dict[str, Any], out: Any) -> str:
        own, axis = types[0].shape[params["axis"]], params["axis"]
        usual = 2 * (own - 1) if name == "irfft" else own
        shown = {"n": params["n"] if params["n"] != usual else None, "axis": axis if axis != -1 else None, "norm": params["norm"]}
        return f"np.fft.{name}(_0" + "".join(f", {k}={v!r}" for k, v in shown.items() if v is not None) + ")"

    return emit


def _fitted(x: Any, n: Any, axis: int) -> Any:
    """The first n elements, zeros after the last."""
    from ..core.builder import recorded as np

    own = x.shape[axis]
    if own == n:
        return x
    index: list[Any] = [slice(None)] * x.ndim
    if n < own:
        index[axis] = slice(n)
        return x[tuple(index)]
    widths = [(0, 0)] * x.ndim
    widths[axis] = (0, n - own)
    return np.pad(x, widths)


def _again(d: Derivative, name: str, x: Any) -> Any:
    from ..core.builder import current

    return current().apply(find(f"numpy.fft.{name}"), [x], dict(d.params))  # type: ignore[arg-type]


def _symmetric(name: str) -> Any:
    """The sums of fft and ifft are their own transposes."""
    return lambda d: _fitted(_again(d, name, d.ct), d.x[0].shape[d.params["axis"]], d.params["axis"])


def _rfft_back(d: Derivative) -> Any:
    from ..core.builder import recorded as np

    n, axis = d.params["n"], d.params["axis"]
    return _fitted(np.real(_again(d, "fft", _fitted(d.ct, n, axis))), d.x[0].shape[axis], axis)


def _irfft_back(d: Derivative) -> Any:
    """Every frequency but the first and, of an even number, the last stands for its mirror image too."""
    import numpy

    from ..core.builder import recorded as np

    n, axis = d.params["n"], d.params["axis"]
    count = n // 2 + 1
    k = np.arange(count)
    alone = (k == 0) | (2 * k == n)
    weight = np.reshape(np.where(alone, 1.0, 2.0), (count, *(1,) * (-axis - 1)))
    norm = {None: "forward", "forward": None}.get(d.params["norm"], "ortho")
    y = np.conjugate(np.fft.rfft(d.ct, n, axis, norm))
    return _fitted(y * cast(weight, numpy.empty(0, y.dtype).real.dtype), d.x[0].shape[axis], axis)


for _name, _back in (("fft", _symmetric("fft")), ("ifft", _symmetric("ifft")), ("rfft", _rfft_back), ("irfft", _irfft_back)):
    op(
        f"numpy.fft.{_name}",
        {**linear(_back), "family": "fourier"},
        signature="a, n=None, axis=-1, norm=None, out=None",
        operands=("a",),
        prepare=_prepare(_name),
        infer=_type(_name),
        batch=same_batch,
        emit=_text(_name),
        static={"n": "PGR404"},
        samples="fourier",
    )


def _several(name: str, first: str = "") -> Any:
    """One axis after the other; a transform of reals takes the last axis first, its inverse last."""

    def transform(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
        from ..core.builder import recorded as np

        axes = tuple(range(-a.ndim if s is None else -len(s), 0)) if axes is None else tuple(axes)
        sizes = (None,) * len(axes) if s is None else tuple(s)
        steps = list(zip(axes, sizes, strict=True))
        rest, last = (steps[:-1], steps[-1:]) if first else (steps, [])
        y = a
        for axis, n in last if first == "rfft" else ():
            y = np.fft.rfft(y, n, axis, norm)
        for axis, n in reversed(rest):
            y = getattr(np.fft, name)(y, n, axis, norm)
        for axis, n in last if first == "irfft" else ():
            y = np.fft.irfft(y, n, axis, norm)
        return y

    return transform


def _two(name: str) -> Any:
    def transform(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
        from ..core.builder import recorded as np

        return getattr(np.fft, name)(a, s, (-2, -1) if axes is None else axes, norm)

    return transform


for _name, _one, _first in (("fftn", "fft", ""), ("ifftn", "ifft", ""), ("rfftn", "fft", "rfft"), ("irfftn", "ifft", "irfft")):
    compose(f"numpy.fft.{_name}", samples="fourier of several axes", static={"s": "PGR404"})(_several(_one, _first))
    compose(f"numpy.fft.{_name[:-1]}2", samples="fourier of several axes", static={"s": "PGR404"})(_two(_name))


def _shifted(x: Any, axes: Any, back: bool) -> Any:
    axes = tuple(range(x.ndim)) if axes is None else (axes,) if isinstance(axes, int) else tuple(axes)
    halves = [x.shape[k] // 2 for k in axes]
    return roll(x, tuple(-n for n in halves) if back else tuple(halves), axes)


@compose("numpy.fft.fftshift", samples="shifts of fourier")
def fftshift(x: Any, axes: Any = None) -> Any:
    return _shifted(x, axes, False)


@compose("numpy.fft.ifftshift", samples="shifts of fourier")
def ifftshift(x: Any, axes: Any = None) -> Any:
    return _shifted(x, axes, True)
