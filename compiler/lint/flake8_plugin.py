"""The linter as a flake8 plugin: the same findings, under flake8's own selection and suppression."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Plugin:
    """flake8's interface: it hands over a tree and the file's lines, and takes (line, column from 0, text, type)."""

    name = "pergrad"
    version = "0.1"

    def __init__(self, tree: ast.AST, filename: str = "<stdin>", lines: list[str] | None = None) -> None:
        self.filename, self.lines = filename, lines

    def run(self) -> Iterator[tuple[int, int, str, type[Any]]]:
        from .scan import lint_text

        text = "".join(self.lines) if self.lines is not None else Path(self.filename).read_text(encoding="utf-8")
        on_disk = self.filename not in ("<stdin>", "stdin", "-")
        result = lint_text(self.filename, text, None, Path(self.filename).resolve() if on_disk else None)
        for d in result.diagnostics:
            if d.severity != "note" and d.code != "PGR901" and d.span.file == self.filename:
                yield d.line, d.column - 1, f"{d.code} {d.message}", type(self)
