"""A stand-in for an array where only its shape and dtype matter."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from .compiler.errors import ArgumentError, OptionError


class ShapeDtype:
    """The shape and dtype of an array without its data.

    Accepted wherever only source is asked for: ``f.source``, ``f.stages``, ``f.save``. ``shape`` is an int or a tuple of ints, ``dtype``
    anything that NumPy takes as one. Raises ArgumentError for a negative size, OptionError for what is no shape or dtype.

    >>> ShapeDtype((64, 10), "f4")
    ShapeDtype((64, 10), float32)
    """

    __slots__ = ("dtype", "shape")

    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    def __init__(self, shape: int | Iterable[int], dtype: npt.DTypeLike = np.float64) -> None:
        try:
            sizes = tuple(operator.index(n) for n in shape) if isinstance(shape, Iterable) else (operator.index(shape),)
        except TypeError:
            raise OptionError(
                f"ShapeDtype: shape={shape!r} must be an int or a tuple of ints", hint="ShapeDtype((64, 10)), or ShapeDtype.of(array)"
            ) from None
        if any(n < 0 for n in sizes):
            raise ArgumentError(f"ShapeDtype: a shape has no negative sizes, got {sizes}", hint="ShapeDtype((64, 10))")
        try:
            named = np.dtype(dtype)
        except TypeError:
            raise OptionError(f"ShapeDtype: dtype={dtype!r} is no dtype of NumPy's", hint='"f8", "f4", "i8", np.float64, …') from None
        object.__setattr__(self, "shape", sizes)
        object.__setattr__(self, "dtype", named)

    @classmethod
    def of(cls, array: npt.ArrayLike) -> ShapeDtype:
        """The stand-in for an array."""
        a = np.asarray(array)
        return cls(a.shape, a.dtype)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a ShapeDtype does not change: {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a ShapeDtype does not change: {name}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShapeDtype):
            return NotImplemented
        return self.shape == other.shape and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def __reduce__(self) -> tuple[Any, ...]:
        return ShapeDtype, (self.shape, self.dtype)

    def __repr__(self) -> str:
        return f"ShapeDtype({self.shape}, {self.dtype})"


__all__ = ["ShapeDtype"]
