"""Text with values in it that are known only at run time: it can be printed, and it is no result."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple


class Piece(NamedTuple):
    """A value in a text: ``conversion`` is that of an f-string (-1, or the ordinal of s, r or a), ``spec`` what stands after the colon."""

    value: Any
    conversion: int = -1
    spec: str = ""


class Text(str):
    """What ``f"loss {x}"``, ``str(x)`` and their sums are. As plain text, in a message, a value is named by its type."""

    parts: tuple[str | Piece, ...]

    def __new__(cls, parts: Iterable[str | Piece]) -> Text:
        parts = tuple(parts)
        new = super().__new__(cls, "".join(p if isinstance(p, str) else f"<{p.value.type}>" for p in parts))
        new.parts = parts
        return new

    def __add__(self, other: str) -> Text:
        return Text((*self.parts, *parts_of(other)))

    def __radd__(self, other: str) -> Text:
        return Text((*parts_of(other), *self.parts))


def parts_of(text: str) -> tuple[str | Piece, ...]:
    """The parts of any text."""
    return text.parts if isinstance(text, Text) else (text,)


def plain(x: Any) -> Any:
    """A text as text alone."""
    return str(x) if isinstance(x, Text) else x


class Printed(NamedTuple):
    """What print was called with: for each argument the parts of its text, where None stands for the next value of the effect's and a
    conversion and a spec for the next value in text; and the keywords."""

    arguments: tuple[tuple[str | tuple[int, str] | None, ...], ...]
    keywords: dict[str, Any]

    def without_specs(self) -> Printed:
        """The same for values that have a batch axis: a format is for numbers."""
        return self._replace(arguments=tuple(tuple((-1, "") if isinstance(p, tuple) else p for p in a) for a in self.arguments))


__all__ = ["Piece", "Printed", "Text", "parts_of", "plain"]
