"""Parsing and compiling, one thread at a time: CPython 3.11 loses count of the recursion depth when several threads build trees at once."""

from __future__ import annotations

import ast
import threading
from types import CodeType
from typing import Any

_one_at_a_time = threading.RLock()


def parse(text: str, mode: str = "exec") -> Any:
    """As ``ast.parse``."""
    with _one_at_a_time:
        return ast.parse(text, mode=mode)


def compiled(text: str, filename: str, mode: str = "exec") -> CodeType:
    """As ``compile`` of a text."""
    with _one_at_a_time:
        return compile(text, filename, mode)


__all__ = ["compiled", "parse"]
