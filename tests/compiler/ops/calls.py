"""Calls of every op: the arguments that its battery of tests uses.

An entry names its samples; here the name becomes a list of calls. ``X(array)`` marks an argument that a Program has as a parameter;
everything else is known while compiling. Sizes are pairwise distinct: 2, 3, 4 and rarely 5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pergrad.compiler.ops.table import Op


class X:
    """An argument that is a parameter of the Program."""

    def __init__(self, value: Any) -> None:
        self.value = value if isinstance(value, np.generic) else np.asarray(value)


@dataclass
class Sample:
    """One call. ``before(np, *arrays)`` prepares the arrays (makes them symmetric, puts NaN in), ``after(np, y)`` takes out of the result
    what is unique (a sign of eigenvectors).
    ``order`` is how often central differences may differentiate it."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    before: Callable[..., Any] | None = None
    after: Callable[..., Any] | None = None
    order: int = 2


def call(*args: Any, before: Any = None, after: Any = None, order: int = 2, **kwargs: Any) -> Sample:
    return Sample(args, kwargs, before, after, order)


SAMPLES: dict[str, Callable[[Op], list[Sample]]] = {}


def samples(*names: str) -> Any:
    def add(make: Callable[[Op], list[Sample]]) -> Any:
        for name in names:
            SAMPLES[name] = make
        return make

    return add


def of(entry: Op) -> list[Sample]:
    """The calls of an entry; none where it names none."""
    if entry.samples is None:
        return []
    if not isinstance(entry.samples, str):
        return list(entry.samples)
    return SAMPLES[entry.samples](entry)


# numbers


def reals(*shape: int, seed: int = 0) -> Any:
    """Distinct, away from 0, from multiples of 1/2, and from each other's values under another seed."""
    rng = np.random.default_rng([seed, *shape])
    size = int(np.prod(shape))
    values = (rng.permutation(size) - size // 2 + 0.27 + 0.31 * seed / (seed + 1)) * (3.1 / max(size, 4))
    return (values + rng.uniform(-0.1, 0.1, size) / max(size, 4)).reshape(shape)


def positive(*shape: int, seed: int = 0) -> Any:
    return np.abs(reals(*shape, seed=seed)) + 0.2 + 0.1 * seed


def integers(*shape: int, low: int = -4, high: int = 9, seed: int = 0) -> Any:
    return np.random.default_rng([seed, *shape]).integers(low, high, shape)


def booleans(*shape: int, seed: int = 0) -> Any:
    return integers(*shape, low=0, high=2, seed=seed).astype(bool)


def with_zeros(*shape: int) -> Any:
    return np.where(np.random.default_rng([9, *shape]).random(shape) < 0.3, 0.0, reals(*shape))


def square(*shape: int, seed: int = 0) -> Any:
    """Well-conditioned matrices."""
    return 0.6 * reals(*shape, seed=seed) + 3.0 * np.eye(shape[-1])
