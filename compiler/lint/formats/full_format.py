"""For people: the message, the path by which the value became batched, the line with carets, what to write instead."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..modules import source_lines
from . import Options, place

if TYPE_CHECKING:
    from ..diagnostics import Diagnostic

COLORS = {"error": "31;1", "warning": "33;1", "note": "36;1"}


class Painter:
    def __init__(self, on: bool) -> None:
        self.on = on

    def __call__(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.on and text else text


def render(diagnostics: Sequence[Diagnostic], options: Options) -> str:
    lines = Lines(options.texts or {})
    return "\n\n".join(one(d, options, lines) for d in diagnostics)


def one(d: Diagnostic, options: Options, lines: Lines) -> str:
    paint = Painter(options.color)
    out = [f"{paint('1', place(d))}: {paint(COLORS[d.severity], f'{d.code} {d.severity}')}: {d.message}"]
    steps = d.trail if options.full_trail else d.short_trail()
    here = [s for s in steps if s.span.file == d.file and s.span.line != d.line]
    elsewhere = [s for s in steps if s.span.file != d.file]
    width = len(str(max([d.line, *[s.span.line for s in here]])))
    for s in elsewhere:
        out.append(f"  {s.span.file}:{s.span.line}: {paint('36', s.message)}")
    rows: dict[int, list[str]] = {}
    for s in here:
        rows.setdefault(s.span.line, []).append(s.message)
    body = []
    for line, messages in sorted(rows.items()):
        body.append((line, lines.line(d.file, line, d.cell), "; ".join(messages)))
    longest = min(70, max([len(t) for _, t, _ in body], default=0))
    bar = paint("34;1", "|")
    before = [b for b in body if b[0] < d.line]
    after = [b for b in body if b[0] > d.line]
    for number, text, message in before:
        out.append(f"  {paint('34;1', f'{number:>{width}}')} {bar} {text:<{longest}}   {paint('36', message)}")
    source = lines.line(d.file, d.line, d.cell)
    if source:
        out.append(f"  {paint('34;1', f'{d.line:>{width}}')} {bar} {source}")
        end = d.span.end_column if d.span.end_line == d.line else len(source) + 1
        carets = "^" * max(1, end - d.column)
        out.append(f"  {'':>{width}} {bar} {' ' * (d.column - 1)}{paint(COLORS[d.severity], carets)}")
    for number, text, message in after:
        out.append(f"  {paint('34;1', f'{number:>{width}}')} {bar} {text:<{longest}}   {paint('36', message)}")
    if d.help:
        out.append(f"  instead: {paint('32', d.help)}")
    return "\n".join(out)


class Lines:
    """The lines of the files reported on; of a notebook, those of its cells."""

    def __init__(self, texts: dict[str, str]) -> None:
        self._files: dict[tuple[str, int], list[str]] = {(f, 0): source_lines(t) for f, t in texts.items()}

    def line(self, file: str, number: int, cell: int) -> str:
        key = (file, cell)
        if key not in self._files:
            self._files[key] = self._read(file, cell)
        rows = self._files[key]
        return rows[number - 1].rstrip() if 0 < number <= len(rows) else ""

    @staticmethod
    def _read(file: str, cell: int) -> list[str]:
        try:
            text = Path(file).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return []
        if not cell:
            return source_lines(text)
        from ..notebook import code_cells

        return source_lines(code_cells(text)[cell - 1])
