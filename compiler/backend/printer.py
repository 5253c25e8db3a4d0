"""From Python's syntax tree to text. The only module that knows astor.

astor writes the code; it drops comments, breaks lines badly and trusts the tree. So the tree is made regular first (a negative number is
a minus and a number), comments are statements of their own, long lines are broken here, and the text is parsed again and compared.
"""

from __future__ import annotations

import ast
import copy
import math
import warnings
from typing import Any

from ..core.syntax import parse
from .wrap import wrap

with warnings.catch_warnings():
    # astor names the node classes of Python 3.7 when it is imported
    warnings.simplefilter("ignore", DeprecationWarning)
    import astor


class Comment(ast.stmt):
    """``# text`` on a line of its own."""

    _fields = ("text",)

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class PrintingError(AssertionError):
    """The printed text does not mean the tree that it was printed from."""


class _Generator(astor.SourceGenerator):
    def visit_Comment(self, node: Comment) -> None:
        self.statement(node, f"# {node.text}")

    def _handle_string_constant(self, node: Any, value: str, is_joined: bool = False) -> None:
        self.write(quoted(value))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        text = ast.unparse(node)
        self.write(f'f"{text[2:-1]}"' if text.startswith("f'") and '"' not in text else text)

    def visit_Starred(self, node: ast.Starred) -> None:
        self.write("*", node.value)


def quoted(text: str) -> str:
    """A string in double quotes, unless that takes more escapes."""
    single = repr(text)
    if single[0] == '"' or '"' in single:
        return single
    return '"' + single[1:-1].replace("\\'", "'") + '"'


def print_module(body: list[ast.stmt], width: int = 88) -> str:
    """The text of a module; raises PrintingError if it does not parse back to the same tree."""
    tree = ast.Module([_regular(s) for s in body], [])
    text: str = astor.to_source(tree, source_generator_class=_Generator, pretty_source="".join)
    lines = [line for line in text.split("\n") if line.strip()]
    out = "\n".join(w for line in lines for w in wrap(line, width)) + "\n"
    difference = _difference(_stripped(tree), parse(out))
    if difference:
        raise PrintingError(f"{difference} in\n{out}")
    return out


def _regular(node: Any) -> Any:
    """A fresh copy of a tree (astor leaves marks on its nodes) with numbers as the parser would make them."""
    if isinstance(node, ast.Constant):
        return _number(node.value) if type(node.value) in (int, float, complex) else ast.Constant(node.value)
    if isinstance(node, Comment):
        return Comment(text=node.text)
    if isinstance(node, ast.AST):
        fields = {}
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                value = [_regular(v) for v in value]
            elif isinstance(value, ast.AST) and not isinstance(value, (ast.expr_context, ast.operator, ast.unaryop)):
                value = _regular(value)
            fields[name] = value
        return type(node)(**fields)
    return copy.copy(node)


def _number(value: Any) -> ast.expr:
    if isinstance(value, complex):
        imaginary = ast.Constant(complex(0, abs(value.imag)))
        if value.real == 0 and value.imag >= 0:
            return imaginary
        sign = ast.Add() if math.copysign(1, value.imag) > 0 else ast.Sub()
        return ast.BinOp(_number(value.real), sign, imaginary)
    if isinstance(value, float) and not math.isfinite(value):
        name = ast.Attribute(ast.Name("np", ast.Load()), "nan" if math.isnan(value) else "inf", ast.Load())
        return ast.UnaryOp(ast.USub(), name) if value < 0 else name
    if value < 0 or (value == 0 and math.copysign(1, value) < 0):
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    return ast.Constant(value)


def _stripped(node: Any) -> Any:
    """The tree without comments."""
    for name in ("body", "orelse"):
        inner = getattr(node, name, None)
        if isinstance(inner, list):
            setattr(node, name, [_stripped(s) for s in inner if not isinstance(s, Comment)])
    return node


_IGNORED = frozenset({"ctx", "kind", "type_comment", "type_ignores", "type_params"})


def _difference(a: Any, b: Any) -> str:
    """Where two trees differ; empty if nowhere."""
    if isinstance(a, ast.AST):
        if type(a) is not type(b):
            return f"{type(a).__name__} came back as {type(b).__name__}"
        for name in a._fields:
            if name not in _IGNORED and (found := _difference(getattr(a, name, None), getattr(b, name, None))):
                return found
        return ""
    if isinstance(a, list):
        if not isinstance(b, list) or len(a) != len(b):
            return "a list changed its length"
        return next((found for x, y in zip(a, b) if (found := _difference(x, y))), "")
    if isinstance(a, (float, complex)):
        return "" if type(a) is type(b) and repr(a) == repr(b) else f"{a!r} came back as {b!r}"
    return "" if type(a) is type(b) and a == b else f"{a!r} came back as {b!r}"


__all__ = ["Comment", "PrintingError", "print_module", "quoted"]
