"""The type of a program value: dtype, shape, and how Python and NumPy see it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .sizes import Dim, Seen, Size, dim, seen, unseen

Shape = tuple[Dim, ...]


@dataclass(frozen=True)
class Type:
    """dtype and shape; ``weak`` for a Python scalar, which adapts to the arrays it meets (NEP 50); ``scalar`` for a NumPy or Python scalar
    as against a 0-d array."""

    dtype: np.dtype[Any]
    shape: Shape = ()
    weak: bool = False
    scalar: bool = False

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> Dim:
        return product(self.shape)

    @property
    def inexact(self) -> bool:
        """Whether values of this type have a derivative."""
        return self.dtype.kind in "fc"

    def with_shape(self, shape: Iterable[Dim]) -> Type:
        """The same dtype with another shape, as an array."""
        return Type(self.dtype, tuple(shape))

    def __str__(self) -> str:
        if self.weak:
            return {"b": "bool", "i": "int", "f": "float", "c": "complex"}[self.dtype.kind]
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


def product(dims: Iterable[Dim]) -> Dim:
    """The number of elements of a shape."""
    out: Dim = 1
    for d in dims:
        out = out * d
    return out


def known(shape: Iterable[Dim]) -> bool:
    """Whether every size is a number."""
    return all(isinstance(d, int) for d in shape)


def broadcast(*shapes: Sequence[Dim]) -> Shape:
    """NumPy's broadcast of shapes that may hold symbolic sizes; ValueError as NumPy."""
    out: list[Dim] = []
    for i in range(1, max((len(s) for s in shapes), default=0) + 1):
        dims = [s[-i] for s in shapes if len(s) >= i]
        wide = [d for d in dims if d != 1]
        if any(d != wide[0] for d in wide):
            texts = " ".join(f"({s[0]},)" if len(s) == 1 else f"({','.join(map(str, s))})" for s in shapes)
            raise ValueError(f"operands could not be broadcast together with shapes {texts}")
        out.append(wide[0] if wide else 1)
    return tuple(reversed(out))


def type_of(value: Any) -> Type:
    """The type of a Python scalar, NumPy scalar or array."""
    if isinstance(value, np.ndarray):
        return Type(value.dtype, value.shape)
    if isinstance(value, np.generic):
        return Type(value.dtype, (), scalar=True)
    if isinstance(value, bool):
        return Type(np.dtype(bool), (), scalar=True)
    for kind, dtype in ((int, np.int64), (float, np.float64), (complex, np.complex128)):
        if isinstance(value, kind):
            return Type(np.dtype(dtype), (), weak=True, scalar=True)
    raise TypeError(f"{type(value).__name__} is not an array or a number")


def promotion(t: Type) -> Any:
    """What NumPy's dtype resolution takes for a type: the Python class of a weak scalar, else the dtype."""
    if t.weak:
        return {"i": int, "f": float, "c": complex, "b": np.dtype(bool)}[t.dtype.kind]
    return t.dtype


def loop_size(serial: int) -> Size:
    """The number of iterations of a loop that ends when it ends."""
    return Size.named(f"steps{serial}")


def counted_size(serial: int) -> Size:
    """How many elements a mask selects, or how long a slice with bounds known only at run time is."""
    return Size.named(f"count{serial}")


def counted(d: Any) -> bool:
    """Whether a size is such a number."""
    return isinstance(d, Size) and any(_numbered(n, "count") for n in d.names)


def local(d: Any) -> bool:
    """Whether a size is known only where the values are: of what a loop stacked or a mask selected."""
    return isinstance(d, Size) and any(_numbered(n, "steps") or _numbered(n, "count") for n in d.names)


def loop_sized(t: Type) -> bool:
    """Whether a shape holds such a size."""
    return any(map(local, t.shape))


def ragged(t: Type) -> bool:
    """Whether such a number stands behind the first axis: the rows then differ in shape."""
    return any(map(local, t.shape[1:]))


def _numbered(name: str, word: str) -> bool:
    return name.startswith(word) and name[len(word) :].isdigit()


def normal_axis(axis: int, ndim: int) -> int:
    """An axis counted from the end, so that a leading batch axis does not move it."""
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(axis, ndim)
    return axis if axis < 0 else axis - ndim


def normal_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """Axes counted from the end in ascending order; None means all."""
    if axis is None:
        return tuple(range(-ndim, 0))
    axes = [axis] if not isinstance(axis, (tuple, list)) else list(axis)
    out = sorted(normal_axis(int(a), ndim) for a in axes)
    if len(set(out)) != len(out):
        raise ValueError("duplicate value in 'axis'")
    return tuple(out)


__all__ = [
    "Dim",
    "Seen",
    "Shape",
    "Size",
    "Type",
    "broadcast",
    "counted",
    "counted_size",
    "dim",
    "known",
    "local",
    "loop_size",
    "loop_sized",
    "normal_axes",
    "normal_axis",
    "product",
    "promotion",
    "ragged",
    "seen",
    "type_of",
    "unseen",
]
