"""Notebooks: the code cells of an .ipynb as one program, and findings put back into their cells."""

from __future__ import annotations

import ast
import json
from dataclasses import replace
from typing import NamedTuple

from ..errors import Span
from .diagnostics import Diagnostic
from .scan import unparsable


class Notebook(NamedTuple):
    """The program of a notebook; ``starts`` holds (first line, cell number) of each cell."""

    text: str
    starts: list[tuple[int, int]]
    broken: list[Diagnostic]

    def place(self, line: int) -> tuple[int, int]:
        """Cell number and line inside it."""
        first, cell = self.starts[0] if self.starts else (1, 1)
        for start, number in self.starts:
            if start > line:
                break
            first, cell = start, number
        return cell, line - first + 1


def read(file: str, text: str) -> Notebook:
    """A notebook's code cells in order. Magics are blanked; a cell that cannot be parsed is left out and reported.

    Raises ValueError when the file is no notebook.
    """
    lines: list[str] = []
    starts: list[tuple[int, int]] = []
    broken: list[Diagnostic] = []
    for number, source in enumerate(code_cells(text), 1):
        rows = [without_magic(row) for row in source.split("\n")]
        if rows and source.lstrip().startswith("%%") and not source.lstrip().startswith(("%%time", "%%capture", "%%timeit")):
            rows = ["" for _ in rows]
        try:
            ast.parse("\n".join(rows))
        except SyntaxError as error:
            broken.append(unparsable(file, f"cannot parse: {error.msg}", error.lineno or 1, error.offset or 1, number))
            rows = ["" for _ in rows]
        starts.append((len(lines) + 1, number))
        lines += rows
    return Notebook("\n".join(lines) + "\n", starts, broken)


def code_cells(text: str) -> list[str]:
    """The sources of a notebook's code cells.

    Raises ValueError when the text is no notebook.
    """
    data = json.loads(text)
    if not isinstance(data, dict) or not isinstance(data.get("cells"), list):
        raise ValueError("not a notebook: no list of cells")
    cells = [c for c in data["cells"] if isinstance(c, dict) and c.get("cell_type") == "code"]
    sources = [c.get("source") or "" for c in cells]
    return ["".join(map(str, s)) if isinstance(s, list) else str(s) for s in sources]


def without_magic(row: str) -> str:
    stripped = row.lstrip()
    if stripped.startswith(("%", "!", "?")) or (stripped.endswith("?") and not stripped.startswith("#")):
        return row[: len(row) - len(stripped)] + "pass"
    return row


def put_back(notebook: Notebook, d: Diagnostic) -> Diagnostic:
    """A finding of the program as a finding of its cell."""

    def moved(span: Span) -> Span:
        if span.file != d.span.file:
            return span
        _, line = notebook.place(span.line)
        return Span(span.file, line, span.column, line + span.end_line - span.line, span.end_column)

    cell, _ = notebook.place(d.span.line)
    return replace(d, span=moved(d.span), cell=cell, trail=tuple(replace(s, span=moved(s.span)) for s in d.trail))
