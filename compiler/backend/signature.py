"""How an emitted function takes its arguments and gives back its results.

A Program is a function over a flat list of arrays. The signature says where each of them stands in the user's arguments, and how the
user's result is built from the Program's results.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Leaf:
    """A parameter of the Program in an argument, a result of the Program in a return value."""

    index: int


@dataclass(frozen=True)
class Fixed:
    """What is not of the Program: a static argument, a part of the return value that is always the same."""

    value: Any = None


@dataclass(frozen=True)
class Items:
    """A container. ``kind`` is tuple, list, dict, or a class whose parts are attributes (a namedtuple, a dataclass) or, with
    ``by_key``, items. ``keys`` are the keys of a mapping or the names of the attributes, unused for tuples and lists.
    ``build`` makes a container of a list of its parts, where calling the class with keywords does not."""

    kind: type
    parts: tuple[Template, ...]
    keys: tuple[Any, ...] = ()
    by_key: bool = False
    build: Callable[[Sequence[Any]], Any] | None = None

    @property
    def attributes(self) -> bool:
        return self.kind not in (tuple, list, dict) and not self.by_key


Template = Leaf | Fixed | Items


@dataclass(frozen=True)
class Parameter:
    """One parameter: ``kind`` is "positional", "positional_only", "var_positional", "keyword", "var_keyword", or "hidden" for what the
    function captured, given by keyword; ``default`` is source text."""

    name: str
    template: Template
    kind: str = "positional"
    default: str | None = None


@dataclass(frozen=True)
class Signature:
    """``written`` pairs a parameter of the Program with the result that is written back into it before the return."""

    name: str
    parameters: tuple[Parameter, ...]
    returns: Template
    written: tuple[tuple[int, int], ...] = ()

    @staticmethod
    def flat(name: str, names: Sequence[str], results: int) -> Signature:
        """One positional parameter per array; one result alone, several as a tuple."""
        leaves = tuple(Leaf(i) for i in range(results))
        returns: Template = leaves[0] if results == 1 else Items(tuple, leaves)
        return Signature(name, tuple(Parameter(n, Leaf(i)) for i, n in enumerate(names)), returns)


def leaves(template: Template) -> Iterator[int]:
    """The indices in a template, in order."""
    if isinstance(template, Leaf):
        yield template.index
    elif isinstance(template, Items):
        for part in template.parts:
            yield from leaves(part)


def paths(
    template: Template, at: ast.expr, written: Callable[[Any], ast.expr], keys_to: tuple[Any, ...] = ()
) -> Iterator[tuple[int, ast.expr, tuple[Any, ...]]]:
    """For each array in an argument: its index, the expression that reads it, and the keys of its path. ``written`` gives the
    expression of a key."""
    if isinstance(template, Leaf):
        yield template.index, at, keys_to
    elif isinstance(template, Items):
        keys = template.keys if template.keys else range(len(template.parts))
        for part_key, part in zip(keys, template.parts, strict=True):
            if template.attributes:
                inner: ast.expr = ast.Attribute(at, part_key, ast.Load())
            else:
                inner = ast.Subscript(at, written(part_key), ast.Load())
            yield from paths(part, inner, written, (*keys_to, part_key))


def fields_of(kind: type) -> tuple[str, ...]:
    """The names of the parts of a namedtuple or dataclass class."""
    if dataclasses.is_dataclass(kind):
        return tuple(f.name for f in dataclasses.fields(kind) if f.init)
    return tuple(getattr(kind, "_fields", ()))


__all__ = ["Fixed", "Items", "Leaf", "Parameter", "Signature", "Template", "fields_of", "leaves", "paths"]
