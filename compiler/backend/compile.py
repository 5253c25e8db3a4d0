"""From source to a function: executed in a namespace of its own, and known to tracebacks by its text."""

from __future__ import annotations

import itertools
import linecache
import weakref
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..core.program import Program
from ..core.syntax import compiled
from .emit import emit_module
from .signature import Signature

_numbers = itertools.count(1)


def compile_source(source: str, name: str, constants: Mapping[str, Any] | None = None) -> Callable[..., Any]:
    """The function ``name`` that ``source`` defines, with NumPy as ``np`` and ``constants`` in its namespace. Tracebacks show its text."""
    filename = f"<pergrad {name} {next(_numbers)}>"
    namespace: dict[str, Any] = {"np": np, "__name__": f"pergrad.emitted.{name}", **(constants or {})}
    exec(compiled(source, filename), namespace)
    function: Callable[..., Any] = namespace[name]
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    weakref.finalize(function, linecache.cache.pop, filename, None)
    return function


def compile_program(program: Program, signature: Signature, **options: bool) -> tuple[Callable[..., Any], str]:
    """The function of a Program, and its source."""
    emitted = emit_module(program, signature, **options)
    return compile_source(emitted.source, emitted.name, emitted.constants), emitted.source


__all__ = ["compile_program", "compile_source"]
