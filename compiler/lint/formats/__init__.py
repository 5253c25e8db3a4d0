"""Report formats: each a module with ``render(diagnostics, options) -> str``."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..diagnostics import Diagnostic

NAMES = ("full", "concise", "json", "sarif", "github")


class Options(NamedTuple):
    """How reports look. ``texts`` holds the text of what is not on disk (stdin)."""

    color: bool = False
    full_trail: bool = False
    texts: dict[str, str] | None = None


def render(name: str, diagnostics: Sequence[Diagnostic], options: Options) -> str:
    """The report in a format, without a final line break."""
    module = importlib.import_module(f".{name}_format", __name__)
    return module.render(diagnostics, options)


def place(d: Diagnostic) -> str:
    """``file:line:column``, with the cell in a notebook."""
    return d.place
