"""From a function object to its syntax tree, by the file's text and the position in it; lambdas by column."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import os
import sysconfig
import types
from typing import Any

from ..core.syntax import parse
from ..errors import PergradError, Span, Unsupported, several

FunctionNode = ast.FunctionDef | ast.Lambda

_LIBRARIES = tuple(
    os.path.normpath(p) + os.sep
    for p in {sysconfig.get_paths().get(k, "") for k in ("stdlib", "platstdlib", "purelib", "platlib")} | {os.path.dirname(os.__file__)}
    if p
)
_OWN = tuple(
    os.path.normpath(os.path.join(os.path.dirname(__file__), *up)) + os.sep
    for up in (("..",), ("..", "..", "pergrad"), ("..", "..", "runtime"))
)


class File:
    """A parsed file."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.tree = parse(text)
        self._found: dict[int, list[ast.AST]] = {}

    def functions(self, line: int) -> list[ast.AST]:
        """The functions and lambdas whose first line this is, outer ones first. Only what stands around that line is looked at."""
        if line not in self._found:
            found: list[ast.AST] = []
            around = [self.tree]
            for node in around:
                for inner in ast.iter_child_nodes(node):
                    first = min([getattr(inner, "lineno", 0), *(d.lineno for d in getattr(inner, "decorator_list", ()))])
                    if first <= line <= (getattr(inner, "end_lineno", None) or line):
                        around.append(inner)
                        if first == line and isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                            found.append(inner)
            self._found[line] = found
        return self._found[line]


@functools.lru_cache(maxsize=256)
def _parsed(name: str, text: str) -> File:
    return File(name, text)


def file_of(name: str) -> File | None:
    """The parsed file, or None where there is no text."""
    linecache.checkcache(name)
    text = "".join(linecache.getlines(name))
    if not text:
        return None
    try:
        return _parsed(name, text)
    except SyntaxError:
        return None


def find(function: types.FunctionType) -> tuple[FunctionNode, str]:
    """The node of a function and its file's name; Unsupported where there is no source."""
    code = function.__code__
    file = file_of(code.co_filename)
    candidates = file.functions(code.co_firstlineno) if file else []
    wanted = [n for n in candidates if _matches(n, code)]
    if len(wanted) > 1:
        # the innermost of those around the code: a lambda inside a lambda begins after it
        wanted = sorted((n for n in wanted if _contains(n, code)), key=lambda n: -n.col_offset) or wanted  # type: ignore[attr-defined]
    if not wanted:
        raise Unsupported(
            f"the source of {function.__qualname__} was not found",
            code="PGR702",
            hint="define it in a file: functions made by exec or typed at a prompt have no source to read",
        )
    node = wanted[0]
    assert isinstance(node, (ast.FunctionDef, ast.Lambda, ast.AsyncFunctionDef))
    refuse_unsupported(node, code.co_filename)
    return node, code.co_filename  # type: ignore[return-value]


def has_source(function: types.FunctionType) -> bool:
    """Whether the function's own text can be found."""
    code = function.__code__
    file = file_of(code.co_filename)
    return file is not None and any(_matches(n, code) for n in file.functions(code.co_firstlineno))


def is_user_code(function: types.FunctionType) -> bool:
    """Whether a function stands outside the standard library, installed packages and this package."""
    name = function.__code__.co_filename
    if name.startswith("<"):
        return not name.startswith("<frozen")
    path = os.path.normpath(os.path.abspath(name))
    return not path.startswith(_LIBRARIES) and not path.startswith(_OWN)


def _matches(node: ast.AST, code: types.CodeType) -> bool:
    name = "<lambda>" if isinstance(node, ast.Lambda) else getattr(node, "name", "")
    if name != code.co_name:
        return False
    a = node.args  # type: ignore[attr-defined]
    names = [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg)))]
    stars = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return names == list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + stars])


def _contains(node: ast.AST, code: types.CodeType) -> bool:
    """Whether the code's positions lie inside the node's body: tells two lambdas on a line apart."""
    body = node.body if isinstance(node, ast.Lambda) else node
    spans = [(p[0], p[2]) for p in code.co_positions() if p[0] is not None and p[2] is not None and p[3] != p[2]]
    start, end = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)  # type: ignore[attr-defined]
    return bool(spans) and all(start <= s <= end for s in spans)


def span_of(node: ast.AST, file: str) -> Span:
    """The span of a node; columns count characters."""
    line = node.lineno  # type: ignore[attr-defined]
    text = linecache.getline(file, line)
    return Span(file, line, _column(text, node.col_offset), node.end_lineno or line, _end_column(node, file))  # type: ignore[attr-defined]


def _column(text: str, offset: int) -> int:
    return offset + 1 if text.isascii() else len(text.encode()[:offset].decode(errors="ignore")) + 1


def _end_column(node: ast.AST, file: str) -> int:
    line, offset = node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]
    return _column(linecache.getline(file, line), offset) if line else 0


_REFUSED: dict[type[ast.AST], tuple[str, str]] = {
    ast.AsyncFunctionDef: ("an async function", "compute in an ordinary function and await outside it"),
    ast.AsyncFor: ("async for", "iterate outside the compiled function"),
    ast.AsyncWith: ("async with", "enter the context outside the compiled function"),
    ast.Await: ("await", "await outside the compiled function"),
}
if hasattr(ast, "TryStar"):
    _REFUSED[ast.TryStar] = ("except*", "use except")


@functools.lru_cache(maxsize=1024)
def _refusals(node: ast.AST, file: str) -> tuple[PergradError, ...]:
    found: list[PergradError] = []
    for inner in ast.walk(node):
        if type(inner) in _REFUSED:
            what, hint = _REFUSED[type(inner)]
            found.append(Unsupported(f"{what} is not supported in a compiled function", span=span_of(inner, file), hint=hint))
    return tuple(found)


def refuse_unsupported(node: ast.AST, file: str) -> None:
    """Raise one error for all constructs of a function that have no meaning here."""
    found = _refusals(node, file)
    if found:
        raise several(found)


def parameters(node: FunctionNode) -> Any:
    """The arguments node of a def or lambda."""
    return node.args
