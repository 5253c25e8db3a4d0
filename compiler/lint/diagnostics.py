"""What the linter reports: one diagnostic per violation, with the path by which its value came to be mapped."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from ..errors import Refused, Span, Step, VmapViolation, several

SEVERITIES = ("error", "warning", "note")
SHOWN_STEPS = 4


@dataclass(frozen=True)
class Diagnostic:
    """One finding.

    ``cell`` numbers the code cell of a notebook, whose lines the spans count. ``severity`` is ``"error"`` (proven), ``"warning"``
    (likely) or ``"note"``; ``trail`` leads from the mapped argument to the violation;
    ``help`` is the rewrite of that very line where one is known. ``line`` and the other properties are those of ``span``.
    """

    code: str
    name: str
    severity: str
    message: str
    span: Span
    trail: tuple[Step, ...] = ()
    help: str = ""
    cell: int = 0

    @property
    def file(self) -> str:
        return self.span.file

    @property
    def line(self) -> int:
        return self.span.line

    @property
    def column(self) -> int:
        return self.span.column

    @property
    def place(self) -> str:
        """``file:line:column``, with the cell in a notebook."""
        cell = f"cell {self.cell}:" if self.cell else ""
        return f"{self.file}:{cell}{self.line}:{self.column}"

    def __str__(self) -> str:
        return f"{self.place}: {self.code} {self.severity}: {self.message}"

    @property
    def key(self) -> tuple[str, int, int, int, str]:
        """Where it stands: the order of reports."""
        return (self.span.file, self.cell, self.span.line, self.span.column, self.code)

    def at(self, span: Span) -> Diagnostic:
        return replace(self, span=span)

    def short_trail(self, steps: int = SHOWN_STEPS) -> tuple[Step, ...]:
        """The first step, where the mapping is, and the last ones before the violation."""
        if len(self.trail) <= steps:
            return self.trail
        return (self.trail[0], *self.trail[len(self.trail) - steps + 1 :])

    def as_dict(self, full: bool = False) -> dict[str, Any]:
        """Plain data, as ``--output-format json`` prints it."""
        trail = self.trail if full else self.short_trail()
        out: dict[str, Any] = {
            "code": self.code,
            "name": self.name,
            "severity": self.severity,
            "message": self.message,
            "file": self.span.file,
            "line": self.span.line,
            "column": self.span.column,
            "end_line": self.span.end_line,
            "end_column": self.span.end_column,
            "trail": [{"file": s.span.file, "line": s.span.line, "column": s.span.column, "message": s.message} for s in trail],
            "help": self.help,
        }
        if self.cell:
            out["cell"] = self.cell
        return out


def to_error(diagnostics: Iterable[Diagnostic]) -> Exception | None:
    """One error that holds every proven finding, or None where nothing is proven."""
    proven = sorted((d for d in diagnostics if d.severity == "error"), key=lambda d: d.key)
    if not proven:
        return None
    kinds = [Refused if d.code.startswith("PGR6") else VmapViolation for d in proven]
    return several([k(d.message, code=d.code, span=d.span, hint=d.help, trail=d.short_trail()) for k, d in zip(kinds, proven)])
