"""One line for each finding."""

from __future__ import annotations

from collections.abc import Sequence

from ..diagnostics import Diagnostic
from . import Options, place


def render(diagnostics: Sequence[Diagnostic], options: Options) -> str:
    return "\n".join(f"{place(d)}: {d.code} {d.severity}: {d.message}" for d in diagnostics)
