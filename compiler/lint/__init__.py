"""The linter: what a mapped function may not do, found in its source without running it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .diagnostics import Diagnostic as Diagnostic
    from .diagnostics import to_error as to_error
    from .live import lint_function as lint_function

_PLACES = {"Diagnostic": "diagnostics", "to_error": "diagnostics", "lint_function": "live", "lint_text": "scan", "all_rules": "engine"}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f".{_PLACES[name]}", __name__), name)


__all__ = ["Diagnostic", "lint_function", "to_error"]
