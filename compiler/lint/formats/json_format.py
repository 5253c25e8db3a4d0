"""One JSON array of findings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from . import Options

if TYPE_CHECKING:
    from ..diagnostics import Diagnostic


def render(diagnostics: Sequence[Diagnostic], options: Options) -> str:
    return json.dumps([d.as_dict(options.full_trail) for d in diagnostics], indent=2)
