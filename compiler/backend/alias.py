"""Which operands' memory the value of a printed expression may share: read off the printed form itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from .tree import Template, is_placeholder

_VIEW_ATTRIBUTES = frozenset({"T", "mT", "real", "imag", "flat"})
_VIEW_METHODS = frozenset({"reshape", "ravel", "transpose", "swapaxes", "squeeze", "diagonal", "view"})
_VIEW_FUNCTIONS = frozenset(
    """reshape ravel transpose matrix_transpose permute_dims swapaxes moveaxis rollaxis expand_dims squeeze broadcast_to
    broadcast_arrays atleast_1d atleast_2d atleast_3d asarray asanyarray ascontiguousarray asfortranarray require real imag
    real_if_close diagonal flip flipud fliplr rot90 split array_split hsplit vsplit dsplit unstack sliding_window_view
    as_strided linalg.diagonal linalg.matrix_transpose lib.stride_tricks.sliding_window_view lib.stride_tricks.as_strided
    nan_to_num astype""".split()
)
_READONLY = frozenset(
    """broadcast_to broadcast_arrays diagonal sliding_window_view linalg.diagonal lib.stride_tricks.sliding_window_view
    as_strided""".split()
)


@lru_cache(maxsize=8192)
def sharing(template: Template) -> tuple[tuple[tuple[str, tuple[str, ...]], ...], bool]:
    """The placeholders that a template's value may share memory with, each with the placeholders in the indices on the way (an index
    array makes a copy), and whether the value may be a view that cannot be written."""
    return tuple(_shared(template.expr, ())), _readonly(template.expr)


@lru_cache(maxsize=8192)
def is_cheap(template: Template) -> bool:
    """Whether the template is a view that takes no time and few characters: ``_0.T``, ``_0[:, None]``, ``_0[2]``."""
    expr = template.expr
    if isinstance(expr, ast.Attribute):
        return isinstance(expr.value, ast.Name) and expr.attr in _VIEW_ATTRIBUTES
    if isinstance(expr, ast.Subscript) and isinstance(expr.value, ast.Name):
        return template.length <= 16
    return False


def _shared(expr: ast.expr, indices: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    match expr:
        case ast.Name(id=name):
            if is_placeholder(name):
                yield name, indices
        case ast.Subscript(value=value, slice=index):
            inside = tuple(n.id for n in ast.walk(index) if isinstance(n, ast.Name) and is_placeholder(n.id))
            yield from _shared(value, (*indices, *inside))
        case ast.Attribute(value=value, attr=attr):
            if attr in _VIEW_ATTRIBUTES:
                yield from _shared(value, indices)
        case ast.IfExp(body=body, orelse=orelse):
            yield from _shared(body, indices)
            yield from _shared(orelse, indices)
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            for e in elts:
                yield from _shared(e, indices)
        case ast.Call(func=func, args=args):
            function = _function(func)
            if function is None:
                if isinstance(func, ast.Attribute) and func.attr in _VIEW_METHODS:
                    yield from _shared(func.value, indices)
                elif not isinstance(func, ast.Attribute) and not _builtin(func):
                    for e in args:
                        yield from _shared(e, indices)
            elif function in _VIEW_FUNCTIONS:
                for e in args:
                    yield from _shared(e, indices)


def _readonly(expr: ast.expr) -> bool:
    match expr:
        case ast.Subscript(value=value):
            return _readonly(value)
        case ast.Attribute(value=value, attr=attr):
            return attr in _VIEW_ATTRIBUTES and _readonly(value)
        case ast.Call(func=func, args=args):
            function = _function(func)
            if function in _READONLY:
                return True
            if function is not None:
                return function in _VIEW_FUNCTIONS and any(_readonly(e) for e in args)
            if isinstance(func, ast.Attribute):
                return func.attr == "diagonal" or (func.attr in _VIEW_METHODS and _readonly(func.value))
    return False


def _function(func: ast.expr) -> str | None:
    """The dotted name after ``np.``."""
    parts = []
    while isinstance(func, ast.Attribute):
        parts.append(func.attr)
        func = func.value
    return ".".join(reversed(parts)) if isinstance(func, ast.Name) and func.id == "np" and parts else None


def _builtin(func: ast.expr) -> bool:
    return isinstance(func, ast.Name) and func.id in ("int", "float", "bool", "complex", "len", "range", "abs")


__all__ = ["is_cheap", "sharing"]
