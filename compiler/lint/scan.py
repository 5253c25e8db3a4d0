"""One file's text: parsed, and handed to the engine only if it can hold a map site. Nearly no file does, so the engine is imported late."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .project import Project

if TYPE_CHECKING:
    from .diagnostics import Diagnostic

MARKS = ("vmap", "per_sample_grad", "clipped_grad_sum")
# Words that mean something else in most programs: only beside an import of a library that has such a transform.
COMMON_MARKS = ("jacfwd", "hessian")
LIBRARIES = r"^\s*(?:import|from)\s[^#\n]*\b(?:pergrad|torch|functorch|jax|equinox)\b"


class Result(NamedTuple):
    """What one file gave: its findings, how many map sites it has, how many of them were analysed, and what else was read or looked for."""

    diagnostics: tuple[Diagnostic, ...]
    sites: int = 0
    analysed: int = 0
    read: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def may_map(text: str) -> bool:
    """Whether a file can hold a map site at all; nearly every file cannot, and needs no more than this."""
    if any(mark in text for mark in MARKS):
        return True
    return any(mark in text for mark in COMMON_MARKS) and re.search(LIBRARIES, text, re.MULTILINE) is not None


def parse_error(file: str, error: BaseException) -> Diagnostic:
    """PGR901: a file that cannot be parsed."""
    line = getattr(error, "lineno", None) or 1
    column = getattr(error, "offset", None) or 1
    message = getattr(error, "msg", None) or str(error) or type(error).__name__
    return unparsable(file, f"cannot parse: {message}", line, column)


def unparsable(file: str, message: str, line: int = 1, column: int = 1, cell: int = 0) -> Diagnostic:
    from ..errors import Span
    from .diagnostics import Diagnostic

    return Diagnostic("PGR901", "cannot-parse", "error", message, Span(file, line, column, line, column + 1), cell=cell)


def lint_text(file: str, text: str, project: Project | None = None, path: Path | None = None, assume_batched: bool = False) -> Result:
    """Lint one file's text. The file is neither imported nor run."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Result((parse_error(file, error),))
    if not (assume_batched or may_map(text)):
        return Result(())
    from .engine import lint_module
    from .modules import Module

    module = Module(file, text, tree, path)
    project = project or Project()
    project.start(module)
    return lint_module(module, project, assume_batched)
