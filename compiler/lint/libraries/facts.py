"""A fact: what one call does, in the words that the rules ask in."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

NONE: Mapping[str, str] = MappingProxyType({})


class Fact(NamedTuple):
    """What one function or method does.

    ``static``: parameter -> the code of a batched value there. ``writes``: parameters written in place ("self" for a method's own array).
    ``rejected``: the code when the operand is batched, ``unless`` one of those parameters is given. ``returns``: "array", "bool" (an
    array of truth values), "static", "none", "self", "view" or "build" (a new array of Python's values). ``key``: the parameter that holds
    a jax key. ``random``: it draws; ``when``: only where that parameter is given and true.
    """

    name: str
    parameters: tuple[str, ...] = ()
    static: Mapping[str, str] = NONE
    writes: tuple[str, ...] = ()
    rejected: str = ""
    unless: tuple[str, ...] = ()
    random: bool = False
    returns: str = "array"
    hint: str = ""
    key: str = ""
    when: str = ""


def signature(text: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """Parameters, and those that must not be batched: ``"shape!404, dtype"`` says that a batched shape is PGR404."""
    parameters, static = [], {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        name, _, code = part.partition("!")
        parameters.append(name)
        if code:
            static[name.lstrip("*")] = f"PGR{code}"
    return tuple(parameters), static


def table(text: str) -> dict[str, tuple[str, str]]:
    """``name(parameters) -> returns`` lines as a mapping; the facts are made when they are asked for."""
    out = {}
    for line in filter(None, (x.strip() for x in text.splitlines())):
        head, _, returns = line.partition(" -> ")
        names, _, parameters = head.partition("(")
        for name in names.split("|"):
            out[name.strip()] = (parameters.rstrip(") "), returns.strip() or "array")
    return out


def make(name: str, entry: tuple[str, str]) -> Fact:
    """The fact of one line of a table.

    Marks after the arrow, separated by spaces: a kind of result, a code (rejected), ``random``, ``writes=a+b``, ``unless=a+b``, ``key=a``,
    ``if=a``.
    """
    parameters, static = signature(entry[0])
    fields: dict[str, object] = {}
    for mark in entry[1].split():
        if mark == "random":
            fields["random"] = True
        elif mark.startswith("PGR"):
            fields["rejected"] = mark
        elif "=" in mark:
            field, value = mark.split("=")
            fields[{"if": "when"}.get(field, field)] = value if field in ("key", "if") else tuple(value.split("+"))
        else:
            fields["returns"] = mark
    return Fact(name, parameters, static, **fields)  # type: ignore[arg-type]
