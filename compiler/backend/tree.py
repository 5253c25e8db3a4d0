"""Statements and expressions of an emitted function: what stands between the Program and its text.

An expression is a Var, a Const or a ``Tree``: a template with an expression for each placeholder. Statements keep the expressions that
they read in ``operands`` and the variables that they assign in ``targets``, so that folding, liveness and naming need no special cases.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ..core.program import Const, Var
from ..core.syntax import parse

_PLACEHOLDER = re.compile(r"_\d+\Z")
_OF_LIST = re.compile(r"([\w.]+)\(\[_\d+(, _\d+)*\]\)\Z")
_KNOWN = frozenset({"np", "bool", "int", "float", "complex", "slice", "len", "range", "list", "tuple", "min", "max", "abs", "sum"})


@dataclass(frozen=True, eq=False)
class Template:
    """A parsed expression; ``counts`` says how often each placeholder or size name occurs; ``length`` is that of the text without them;
    ``bases`` are the names that are subscripted or whose attribute is taken; ``function`` is what a list of placeholders alone is given
    to, as in ``np.array([_0, _1])``."""

    expr: ast.expr
    counts: Mapping[str, int]
    length: int
    bases: frozenset[str] = frozenset()
    function: str = ""


@lru_cache(maxsize=8192)
def template(source: str) -> Template:
    """The template of an expression as the op table prints it."""
    expr = parse(source, mode="eval").body
    counts: dict[str, int] = {}
    bases: set[str] = set()
    for node in ast.walk(expr):
        if isinstance(node, ast.Name) and node.id not in _KNOWN:
            counts[node.id] = counts.get(node.id, 0) + 1
        if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.value, ast.Name):
            bases.add(node.value.id)
    of_list = _OF_LIST.match(source)
    length = len(source) - sum(len(n) * c for n, c in counts.items())
    return Template(expr, counts, length, frozenset(bases), of_list[1] if of_list else "")


def is_placeholder(name: str) -> bool:
    return _PLACEHOLDER.match(name) is not None


class Tree:
    """An expression. ``aliases`` names the placeholders whose memory the value may share, ``readonly`` a view that cannot be written.
    ``cheap`` marks views, which may be printed again rather than kept. ``hint`` is a name for the value if it needs one."""

    __slots__ = ("aliases", "cheap", "hint", "operands", "readonly", "template", "type")

    def __init__(
        self,
        template: Template,
        operands: dict[str, Operand],
        type: Any = None,
        *,
        aliases: tuple[str, ...] = (),
        readonly: bool = False,
        cheap: bool = False,
        hint: str = "",
    ) -> None:
        self.template = template
        self.operands = operands
        self.type = type
        self.aliases = aliases
        self.readonly = readonly
        self.cheap = cheap
        self.hint = hint


Operand = Var | Const | Tree


def variables(x: Operand) -> Iterator[Var]:
    """The variables that an expression reads, once per occurrence in the text."""
    if isinstance(x, Var):
        yield x
    elif isinstance(x, Tree):
        counts = x.template.counts
        for name, operand in x.operands.items():
            for _ in range(counts.get(name, 0)):
                yield from variables(operand)


def shared(x: Operand) -> Iterator[Var | Const]:
    """The variables and constants whose memory an expression's value may share."""
    if isinstance(x, Tree):
        for name in x.aliases:
            yield from shared(x.operands[name])
    else:
        yield x


def is_readonly(x: Operand) -> bool:
    """Whether an expression's value may be a view that cannot be written."""
    return isinstance(x, Tree) and (x.readonly or any(is_readonly(x.operands[n]) for n in x.aliases))


@dataclass(eq=False, kw_only=True)
class Statement:
    """``section`` and ``helper`` are those of the Program's node."""

    operands: list[Operand] = field(default_factory=list)
    targets: list[Var] = field(default_factory=list)
    section: str = ""
    helper: str = ""

    def blocks(self) -> tuple[list[Statement], ...]:
        return ()


@dataclass(eq=False, kw_only=True)
class Bind(Statement):
    """``targets = operands[0]``; several targets for an op with several results. ``fixed``: never folded into its reader.
    ``update``: the target is the buffer of the expression's first operand, updated by an augmented assignment."""

    fixed: bool = False
    update: bool = False


class Move(Statement):
    """Parallel assignment of ``operands`` to ``targets``: into a loop's carried variables, or what the branches of an ``if`` join."""


@dataclass(eq=False, kw_only=True)
class Write(Statement):
    """``targets[0]``, a new version of the array indexed by ``operands[0]``, with ``operands[1]`` written (or added) there.
    ``how`` is "set", "add", or "at" for an addition where an index may repeat."""

    how: str = "set"

    @property
    def base(self) -> Var:
        place = self.operands[0]
        assert isinstance(place, Tree)
        base = place.operands["_0"]
        assert isinstance(base, Var)
        return base

    @base.setter
    def base(self, value: Var) -> None:
        place = self.operands[0]
        assert isinstance(place, Tree)
        self.operands[0] = Tree(place.template, {**place.operands, "_0": value}, place.type)


@dataclass(eq=False, kw_only=True)
class Store(Statement):
    """``operands[0][operands[1]] = operands[2]``: one element of a stack that a loop fills; ``holds`` if the stack is a list, which
    keeps the element itself."""

    holds: bool = False


class Append(Statement):
    """``operands[0].append(operands[1])``."""


@dataclass(eq=False, kw_only=True)
class Branch(Statement):
    """``if operands[0]``."""

    then: list[Statement]
    orelse: list[Statement]

    def blocks(self) -> tuple[list[Statement], ...]:
        return (self.then, self.orelse)


@dataclass(eq=False, kw_only=True)
class Loop(Statement):
    """``for targets[0] in range(operands[0])``, or with ``over`` the elements of the operands themselves; ``carried`` are assigned
    before and at the end of the body."""

    body: list[Statement]
    carried: list[Var]
    reverse: bool = False
    over: bool = False

    def blocks(self) -> tuple[list[Statement], ...]:
        return (self.body,)


@dataclass(eq=False, kw_only=True)
class Repeat(Statement):
    """``while``: ``head`` computes the test, the operand of its last statement."""

    head: list[Statement]
    body: list[Statement]
    carried: list[Var]

    def blocks(self) -> tuple[list[Statement], ...]:
        return (self.head, self.body)


class Test(Statement):
    """The end of a ``while``'s head: leave unless ``operands[0]``."""


@dataclass(eq=False, kw_only=True)
class Act(Statement):
    """An effect."""

    kind: str
    payload: Any = None


@dataclass(eq=False, kw_only=True)
class Under(Statement):
    """``with np.errstate(**payload)``: variables assigned inside are seen after it."""

    payload: Any
    body: list[Statement] = field(default_factory=list)

    def blocks(self) -> tuple[list[Statement], ...]:
        return (self.body,)


class Return(Statement):
    """The Program's results, in order."""


def kept(s: Statement) -> int | None:
    """The place among the operands of what a statement puts into a list."""
    if isinstance(s, Append):
        return 1
    return 2 if isinstance(s, Store) and s.holds else None


def assigned(s: Statement) -> list[tuple[Var, Operand]]:
    """The variables to which a statement gives a value or a part of it, with that value."""
    if isinstance(s, Bind):
        return [(t, s.operands[0]) for t in s.targets]
    if isinstance(s, Move) or (isinstance(s, Loop) and s.over):
        return list(zip(s.targets, s.operands, strict=True))
    return []


def each(block: list[Statement]) -> Iterator[Statement]:
    """Every statement, nested ones after the one that holds them."""
    for s in block:
        yield s
        for inner in s.blocks():
            yield from each(inner)
