"""GitHub's workflow commands: annotations on the lines of a pull request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from . import Options

if TYPE_CHECKING:
    from ..diagnostics import Diagnostic

COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def property_(text: str) -> str:
    return data(text).replace(":", "%3A").replace(",", "%2C")


def render(diagnostics: Sequence[Diagnostic], options: Options) -> str:
    out = []
    for d in diagnostics:
        message = d.message + (f"\ninstead: {d.help}" if d.help else "")
        place = f"file={property_(d.file)},line={d.line},endLine={d.span.end_line},col={d.column},endColumn={d.span.end_column}"
        out.append(f"::{COMMANDS[d.severity]} {place},title={property_(f'{d.code} {d.name}')}::{data(message)}")
    return "\n".join(out)
