"""How messages speak of a function, its arguments and what they hold. Called only when something is wrong."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .compiler.core.trees import Index, Path, Tree, path_text, write
from .compiler.core.types import Type


def function_name(func: Any) -> str:
    """What the user calls a function: its own name, that inside a partial, or the class of a callable object."""
    while isinstance(func, functools.partial):
        func = func.func
    name = getattr(func, "__name__", None)
    return name if isinstance(name, str) else type(func).__name__


def parameter_names(func: Any, count: int) -> tuple[str, ...]:
    """The names of the parameters that take ``count`` positional arguments; "" where Python cannot tell."""
    names, star = _parameters(func)
    if star:
        names = [*names, *(f"{star}[{i}]" for i in range(count - len(names)))]
    return tuple([*names, *[""] * count][:count])


def _parameters(func: Any) -> tuple[list[str], str]:
    """The names of the positional parameters and that of the star-arguments, as far as they are known."""
    written = getattr(getattr(func, "node", None), "args", None)
    if isinstance(written, ast.arguments):  # a function defined inside the one that is walked
        return [a.arg for a in (*written.posonlyargs, *written.args)], written.vararg.arg if written.vararg else ""
    try:
        parameters = inspect.signature(func).parameters.values()
    except (TypeError, ValueError):
        return [], ""
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return names, next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "")


def argument(func: Any, path: Path, count: int) -> str:
    """One of ``count`` positional arguments, or a part of it: argument `params['W1']`; argument 1 where it has no name."""
    return quoted(func, path, count, "argument")


def quoted(func: Any, path: Path, count: int, word: str) -> str:
    """As ``argument`` with another word: tangent of `x`."""
    first, rest = path[0], path[1:]
    assert isinstance(first, Index)
    index = first.index
    name = parameter_names(func, count)[index]
    if name:
        return f"{word} `{path_text(name, rest)}`"
    return f"{word} {index}" + (f", item `{path_text('', rest)}`" if rest else "")


def output(path: Path) -> str:
    """A part of what the function returned."""
    return f"`{path_text('output', path)}`" if path else "the output"


def is_array(value: Any) -> bool:
    """Whether a value is an array or NumPy scalar, real or symbolic; a Python number is not."""
    if isinstance(value, (np.ndarray, np.generic)):
        return True
    return isinstance(getattr(value, "dtype", None), np.dtype) and hasattr(value, "shape") and weak_kind(value) is None


def weak_kind(value: Any) -> str | None:
    """The dtype kind ("b", "i", "f", "c") of a Python number, also of a symbolic one or a type, else None."""
    for cls, kind in ((bool, "b"), (int, "i"), (float, "f"), (complex, "c")):
        if isinstance(value, cls) and not isinstance(value, np.generic):
            return kind
    type_ = value if isinstance(value, Type) else getattr(value, "type", None)
    return type_.dtype.kind if isinstance(type_, Type) and type_.weak else None


def kind_of(value: Any) -> str:
    """The class of a value, without its contents: a list, a float, a string."""
    if value is None:
        return "None"
    return "a string" if isinstance(value, str) else "an array" if is_array(value) else _article(type(value).__name__)


def describe(value: Any) -> str:
    """What a value is, as a user would say it: an array of shape (3,), a Python float, a string, None, a list of 2 items."""
    if value is None:
        return "None"
    kind = weak_kind(value)
    if kind is not None:
        word = {"b": "bool", "i": "int", "f": "float", "c": "complex"}[kind]
        return f"a Python {word}" if not isinstance(value, (bool, int, float, complex)) else f"a Python {word} ({value!r})"
    if is_array(value):
        return f"an array of shape {shape_text(value.shape)} and dtype {value.dtype}"
    if isinstance(value, str):
        return f"a string ({short(value)})"
    if isinstance(value, (tuple, list, dict, set, frozenset)):
        return f"{_article(type(value).__name__)} of {len(value)} item{'s' if len(value) != 1 else ''}"
    return _article(type(value).__name__)


def _article(word: str) -> str:
    return f"{'an' if word[:1].lower() in 'aeiou' else 'a'} {word}"


def shape_text(shape: Sequence[Any]) -> str:
    """A shape as NumPy writes it, with symbolic sizes by name."""
    return f"({shape[0]},)" if len(shape) == 1 else f"({', '.join(map(str, shape))})"


def short(value: Any, width: int = 80) -> str:
    """``repr``, cut where it gets long."""
    text = repr(value)
    return text if len(text) <= width else text[: width - 1] + "…"


def counted(count: int, noun: str) -> str:
    """1 positional argument, 2 positional arguments."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def structure(tree: Tree, leaf: Callable[[int], str]) -> str:
    """A structure in Python's words, with a text for each value."""
    return write(tree.node, [leaf(i) for i in range(tree.count)])


__all__ = [
    "argument",
    "counted",
    "describe",
    "function_name",
    "is_array",
    "kind_of",
    "output",
    "parameter_names",
    "quoted",
    "shape_text",
    "short",
    "structure",
    "weak_kind",
]
