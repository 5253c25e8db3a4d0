"""One line for each finding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from . import Options

if TYPE_CHECKING:
    from ..diagnostics import Diagnostic


def render(diagnostics: Sequence[Diagnostic], options: Options) -> str:
    return "\n".join(str(d) for d in diagnostics)
