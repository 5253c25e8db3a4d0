"""Suppressions: ``# noqa: PGR101`` on the line of a finding, and those that suppress nothing."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable

from ..errors import Span
from .diagnostics import Diagnostic

NOQA = re.compile(r"#\s*noqa(?P<codes>\s*:\s*[A-Za-z]+[0-9]+(?:[\s,]+[A-Za-z]+[0-9]+)*)?", re.IGNORECASE)


class Suppression:
    """One comment: the codes it names (none: all), and which of them were needed."""

    def __init__(self, line: int, column: int, end: int, codes: tuple[str, ...]) -> None:
        self.line, self.column, self.end, self.codes = line, column, end, codes
        self.used: set[str] = set()

    def covers(self, code: str) -> bool:
        if not self.codes:
            return True
        hit = [c for c in self.codes if code.startswith(c)]
        self.used.update(hit)
        return bool(hit)


def suppressions(text: str) -> dict[int, Suppression]:
    """The suppressions of a file by line; a ``noqa`` in a string is none."""
    if "noqa" not in text.lower():
        return {}
    out: dict[int, Suppression] = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type != tokenize.COMMENT:
                continue
            match = NOQA.search(token.string)
            if match:
                codes = tuple(c.upper() for c in re.findall(r"[A-Za-z]+[0-9]+", match["codes"] or ""))
                column = token.start[1] + match.start() + 1
                out[token.start[0]] = Suppression(token.start[0], column, column + len(match[0]), codes)
    except (tokenize.TokenError, SyntaxError, IndentationError):
        pass
    return out


def apply(file: str, text: str, found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The findings that remain, and one for each code of ours that suppressed nothing."""
    found = list(found)
    # Telling comments from strings takes longer than all the rest: only where a comment can matter.
    if not found and "PGR" not in text.upper():
        return []
    comments = suppressions(text)
    if not comments:
        return found
    kept = []
    for d in found:
        lines = range(d.span.line, max(d.span.line, d.span.end_line) + 1)
        if not any(n in comments and comments[n].covers(d.code) for n in lines):
            kept.append(d)
    for s in comments.values():
        for code in s.codes:
            if code.startswith("PGR") and code not in s.used and code != "PGR903":
                span = Span(file, s.line, s.column, s.line, s.end)
                kept.append(
                    Diagnostic(
                        "PGR903",
                        "unused-suppression",
                        "warning",
                        f"`noqa: {code}` suppresses nothing",
                        span,
                        help=f"remove {code} from the comment",
                    )
                )
    return sorted(kept, key=lambda d: d.key)
