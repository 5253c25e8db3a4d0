"""Breaking a long line of code where an expert would: inside its last bracket, at commas; else before its weakest operators."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=", "in", "is")
_WEAKNESS = [("if", "else"), ("or",), ("and",), _COMPARISONS, ("|",), ("^",), ("&",), ("<<", ">>"), ("+", "-"), ("*", "/", "@", "%", "//")]
_NUMBER = re.compile(r"-?[\d.e+-]+j?,?|(np\.(inf|nan)|True|False),?")
_STATEMENTS = ("return ", "if ", "elif ", "while ", "assert ", "raise ")


@dataclass(frozen=True)
class _Token:
    text: str
    start: int
    stop: int
    depth: int
    binary: bool


def wrap(line: str, width: int) -> list[str]:
    """The lines of one logical line, which itself has no line break."""
    if len(line) <= width or line.lstrip().startswith("#"):
        return [line]
    indent = len(line) - len(line.lstrip())
    return _wrapped(line.strip(), indent, width, statement=True)


def _wrapped(text: str, indent: int, width: int, *, statement: bool = False) -> list[str]:
    if indent + len(text) <= width:
        return [" " * indent + text]
    tokens = list(_tokens(text))
    if statement and text.startswith("return ") and any(t.depth == 0 and t.text == "," for t in tokens):
        text = f"return ({text.removeprefix('return ')})"
        tokens = list(_tokens(text))
    bare = _bare_operators(tokens, text, statement)
    if bare and statement:
        head, start, tail = _statement_parts(text, tokens)
        if start is not None:
            inner = _wrapped(text[start : len(text) - len(tail)], indent + 4, width)
            return [" " * indent + head + "(", *inner, " " * indent + ")" + tail]
    if bare:
        return _at_operators(text, bare, indent, width)
    return _in_brackets(text, tokens, indent, width)


def _tokens(text: str) -> Iterator[_Token]:
    depth = 0
    operand = False
    for t in tokenize.generate_tokens(io.StringIO(text).readline):
        if t.type in (tokenize.NEWLINE, tokenize.NL, tokenize.ENDMARKER, tokenize.INDENT, tokenize.DEDENT):
            continue
        if t.string in ")]}":
            depth -= 1
        yield _Token(t.string, t.start[1], t.end[1], depth, operand)
        if t.string in "([{":
            depth += 1
        keyword = t.string in ("if", "else", "or", "and", "not", "in", "is", "return", "lambda")
        operand = t.string in (")", "]", "}") or (t.type in (tokenize.NAME, tokenize.NUMBER, tokenize.STRING) and not keyword)


def _statement_parts(text: str, tokens: list[_Token]) -> tuple[str, int | None, str]:
    """What stands before the expression of a statement, where that begins, and what follows it."""
    for word in _STATEMENTS:
        if text.startswith(word):
            return word, len(word), ":" if text.endswith(":") else ""
    for t in tokens:
        if t.depth == 0 and (t.text == "=" or (len(t.text) > 1 and t.text.endswith("=") and t.text[:-1] not in ("<", ">", "=", "!"))):
            return text[: t.stop] + " ", t.stop + 1, ""
    return "", None, ""


def _bare_operators(tokens: list[_Token], text: str, statement: bool) -> list[int]:
    """Where the weakest operators outside all brackets stand, after a statement's own words."""
    _, start, _ = _statement_parts(text, tokens) if statement else ("", 0, "")
    if start is None or any(t.depth == 0 and t.text == "," and t.start >= start for t in tokens):
        return []
    top = [t for t in tokens if t.depth == 0 and t.binary and t.start >= start]
    for level in _WEAKNESS:
        found = [t.start for t in top if t.text in level]
        if found:
            return found
    return []


def _at_operators(text: str, places: list[int], indent: int, width: int) -> list[str]:
    bounds = [0, *places, len(text)]
    return [line for a, b in pairwise(bounds) for line in _wrapped(text[a:b].rstrip(), indent, width)]


def _in_brackets(text: str, tokens: list[_Token], indent: int, width: int) -> list[str]:
    """Open the last bracket that makes the line fit: its contents on lines of their own."""
    opened: list[_Token] = []
    pairs: list[tuple[_Token, _Token]] = []
    for t in tokens:
        if t.text in ("(", "[", "{"):
            opened.append(t)
        elif t.text in (")", "]", "}"):
            pairs.append((opened.pop(), t))
    outer = [(a, b) for a, b in pairs if a.depth == 0 and b.start > a.stop]
    if not outer:
        return [" " * indent + text]
    first, last = max(outer, key=lambda p: p[1].start - p[0].start)
    head, inside, tail = text[: first.stop], text[first.stop : last.start], text[last.start :]
    lines = [" " * indent + head]
    if indent + 4 + len(inside) <= width:
        lines.append(" " * (indent + 4) + inside)
    else:
        items = _items(inside)
        if len(items) > 2 and all(map(_NUMBER.fullmatch, items)):
            return [*lines, *_filled(items, indent + 4, width), " " * indent + tail]
        for item in items:
            comma = "," if item.endswith(",") or (len(items) > 1 and _takes_comma(text, first)) else ""
            broken = _wrapped(item.removesuffix(","), indent + 4, width - len(comma))
            lines.extend([*broken[:-1], broken[-1] + comma])
    return [*lines, " " * indent + tail]


def _filled(items: list[str], indent: int, width: int) -> list[str]:
    """As many items on each line as fit."""
    lines = [""]
    for item in [i.removesuffix(",") + "," for i in items]:
        if lines[-1] and indent + len(lines[-1]) + 1 + len(item) > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {item}".lstrip()
    return [" " * indent + line for line in lines]


def _takes_comma(text: str, bracket: _Token) -> bool:
    """Whether the contents of a bracket may end with a comma of their own: not after ``*`` or ``**`` alone, and not in a subscript."""
    return bracket.text != "[" or not (bracket.start and (text[bracket.start - 1].isalnum() or text[bracket.start - 1] in "_)]"))


def _items(inside: str) -> list[str]:
    """The parts of a bracket's contents between its commas, each with its comma."""
    commas = [t.stop for t in _tokens(inside) if t.depth == 0 and t.text == ","]
    bounds = [0, *commas, len(inside)]
    return [part for a, b in pairwise(bounds) if (part := inside[a:b].strip())]


__all__ = ["wrap"]
