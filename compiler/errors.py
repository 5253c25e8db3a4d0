"""Errors: a code, where, what, why, one way out.

Every error of ours is a ``PergradError`` and also the builtin that a NumPy or torch user would expect there. Imports no NumPy: the
linter's findings carry the same spans and trails.
"""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Span:
    """A stretch of source text: lines from 1, columns from 1, the end exclusive."""

    file: str
    line: int
    column: int
    end_line: int = 0
    end_column: int = 0

    def text(self) -> str:
        """The spanned text when it stands on one line, else the first line's part."""
        line = linecache.getline(self.file, self.line).rstrip("\n")
        end = self.end_column - 1 if self.end_line in (0, self.line) and self.end_column else len(line)
        return line[self.column - 1 : end].strip()


@dataclass(frozen=True)
class Step:
    """One step of a trail: where a value came to depend on a mapped argument."""

    span: Span
    message: str


class PergradError(Exception):
    """What went wrong, where, why, and one way out.

    Attributes: ``code``, ``message``, ``file``, ``line``, ``column`` (from 1; None when the fault is in the call), ``hint``, ``trail``.
    """

    code: str = ""

    def __init__(self, message: str, *, code: str = "", span: Span | None = None, hint: str = "", trail: Sequence[Step] = ()) -> None:
        self.message = message
        self.code = code or type(self).code
        self.span = span
        self.hint = hint
        self.trail = tuple(trail)
        self.file = span.file if span else None
        self.line = span.line if span else None
        self.column = span.column if span else None
        super().__init__(message)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """The whole text, line by line: message, place, trail and source with a caret, the way out."""
        head = f"{self.code} {self.message}" if self.code else self.message
        out = [head]
        if self.span:
            out.append(f"  {self.span.file}:{self.span.line}:{self.span.column}")
            rows = [(s.span.line, s.span, s.message) for s in self.trail if s.span.file == self.span.file and s.span.line != self.span.line]
            width = len(str(max([self.span.line, *(r[0] for r in rows)])))
            for line, span, message in sorted(rows, key=lambda r: r[0]):
                source = linecache.getline(span.file, line).rstrip()
                out.append(f"  {line:>{width}} | {source}    <- {message}")
            source = linecache.getline(self.span.file, self.span.line).rstrip()
            if source:
                end = self.span.end_column if self.span.end_line in (0, self.span.line) else len(source) + 1
                out.append(f"  {self.span.line:>{width}} | {source}")
                out.append(f"  {'':>{width}} | {' ' * (self.span.column - 1)}{'^' * max(1, end - self.span.column)}")
        elsewhere = [s for s in self.trail if self.span is None or s.span.file != self.span.file]
        out.extend(f"  {s.span.file}:{s.span.line}: {s.message}" for s in elsewhere)
        if self.hint:
            out.append(f"  instead: {self.hint}")
        return out


class ArgumentError(PergradError, ValueError):
    """A wrong in_dims, shape, size or structure in a call."""


class ArgumentTypeError(PergradError, TypeError):
    """A value of a wrong type in a call."""


class OptionError(ArgumentError, ArgumentTypeError):
    """An option of a wrong type, such as a list for in_dims: torch raises ValueError there, NumPy TypeError, so it is both."""


class Unsupported(PergradError, NotImplementedError):
    """Something the compiler has no rule for."""

    code = "PGR701"


class VmapViolation(PergradError, RuntimeError):
    """What a mapped value may not do."""


class Refused(PergradError, RuntimeError):
    """Something refused whether mapped or not, such as state written outside the function."""


def several(errors: Sequence[PergradError]) -> PergradError:
    """One error for all findings: code and place are those of the first in source order, the text has them all."""
    ordered = sorted(errors, key=lambda e: (e.file or "", e.line or 0, e.column or 0))
    first = ordered[0]
    if len(ordered) == 1:
        return first
    text = "\n".join([f"{len(ordered)} problems", *("\n".join(e.lines()) for e in ordered)])
    kind = type(first)

    class Several(kind):  # type: ignore[valid-type, misc]
        def __str__(self) -> str:
            return text

    Several.__name__ = Several.__qualname__ = kind.__name__
    return Several(first.message, code=first.code, span=first.span, hint=first.hint, trail=first.trail)
