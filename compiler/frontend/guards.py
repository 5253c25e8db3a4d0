"""What a compilation depends on beside the arguments: captured Python values, compared at every call."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .session import Path

CONTAINERS = (list, tuple, dict, set, frozenset, deque)
_DEPTH = 8  # containers deeper inside one another are compared by identity


@dataclass
class Guard:
    """A captured Python value that the compilation depends on."""

    path: Path
    value: Any
    equal: bool

    def holds(self) -> bool:
        try:
            now = self.path.get()
        except Exception:  # noqa: BLE001  a capture that cannot be read any more has changed
            return False
        if isinstance(self.value, np.ndarray):
            return isinstance(now, np.ndarray) and now.dtype == self.value.dtype and np.array_equal(now, self.value)
        if now is self.value:
            return True
        return self.equal and type(now) is type(self.value) and bool(now == self.value)


class Contents(Guard):
    """All that a captured container holds."""

    @classmethod
    def of(cls, path: Path, container: Any) -> Contents:
        return cls(path, _copied(container, _DEPTH), True)

    def holds(self) -> bool:
        try:
            return _unchanged(self.value, self.path.get(), _DEPTH)
        except Exception:  # noqa: BLE001  a capture that cannot be read any more has changed
            return False


def _copied(x: Any, depth: int) -> Any:
    """Containers and arrays as they are now."""
    if isinstance(x, np.ndarray):
        return x.copy()
    if depth and isinstance(x, dict):
        return _Held(type(x), list(x), [_copied(v, depth - 1) for v in x.values()])
    if depth and isinstance(x, (set, frozenset)):
        return _Held(type(x), frozenset(x), [])
    if depth and isinstance(x, CONTAINERS):
        return _Held(type(x), None, [_copied(v, depth - 1) for v in x])
    return x


@dataclass
class _Held:
    """A container: its class, its keys or elements, its values in order."""

    kind: type
    keys: Any
    values: list[Any]


def _unchanged(old: Any, now: Any, depth: int) -> bool:
    if isinstance(old, _Held):
        if type(now) is not old.kind:
            return False
        if isinstance(now, (set, frozenset)):
            return bool(now == old.keys)
        items: Any = now.values() if isinstance(now, dict) else now
        values = list(items)
        return (
            (not isinstance(now, dict) or list(now) == old.keys)
            and len(values) == len(old.values)
            and all(_unchanged(p, q, depth - 1) for p, q in zip(old.values, values, strict=True))
        )
    if isinstance(old, np.ndarray):
        return type(now) is type(old) and now.dtype == old.dtype and np.array_equal(now, old)
    return now is old or (type(now) is type(old) and isinstance(old, _COMPARED) and bool(now == old))


_COMPARED = (int, float, complex, str, bytes, np.generic)

__all__ = ["CONTAINERS", "Contents", "Guard"]
