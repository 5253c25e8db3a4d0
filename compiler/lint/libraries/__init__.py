"""What the calls of each library do, as data: one file per library."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any


@cache
def library(name: str) -> Any:
    """The module of facts of ``"numpy"``, ``"torch"`` or ``"jax"``, imported when it is first asked for."""
    return importlib.import_module(f".{name}", __name__)


def owner_of(qualified: str) -> str:
    """The library that a qualified name belongs to: ``"numpy"``, ``"torch"``, ``"jax"``, ``"python"`` or ``""``."""
    head = qualified.partition(".")[0]
    if head in ("numpy", "torch", "jax"):
        return head
    if head in ("functorch", "torchvision"):
        return "torch"
    return "python" if head in PYTHON else ""


PYTHON = frozenset(
    {"builtins", "math", "cmath", "statistics", "random", "operator", "functools", "itertools", "copy", "collections", "typing"}
)
