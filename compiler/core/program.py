"""The Program: what a user's function is between the front end and the emitted source.

Values are assigned once. Loops and branches are functional: carried values go in and out, and what a later loop needs of each iteration
is a stacked output. A block may read any variable of the blocks around it. There is no mutation: a write is a new value of its base.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import Span, Unsupported
from .types import Dim, Type, type_of

_serial = itertools.count()


class Var:
    """A value assigned once. ``name`` is the user's name for it, if any; ``span`` where it was computed."""

    __slots__ = ("name", "serial", "span", "type")

    def __init__(self, type: Type, name: str | None = None, span: Span | None = None) -> None:
        self.type = type
        self.name = name
        self.span = span
        self.serial = next(_serial)

    def __repr__(self) -> str:
        return f"{self.name or '_'}#{self.serial}:{self.type}"

    def __reduce__(self) -> Any:
        return _loaded, (self.type, self.name, self.span, self.serial)


def _loaded(type: Type, name: str | None, span: Span | None, serial: int) -> Var:
    """A pickled variable: those made from here on have later numbers."""
    global _serial
    var = Var(type, name, span)
    _serial = itertools.count(max(var.serial, serial) + 1)
    var.serial = serial
    return var


class Const:
    """A value known when the program is built: a Python scalar, a NumPy scalar or a read-only array.

    ``recipe`` is how the user wrote it when that is more readable than its digits: ``("numpy.eye", (3,), {})``; ``made`` is the op on other
    constants that gave it.
    """

    __slots__ = ("made", "name", "recipe", "type", "value")

    def __init__(self, value: Any, type: Type | None = None, recipe: tuple[str, tuple[Any, ...], dict[str, Any]] | None = None) -> None:
        if isinstance(value, np.ndarray) and value.dtype.kind == "O":
            # as of a size that varies among numbers
            raise Unsupported("an array of objects is not an array of numbers")
        if isinstance(value, np.ndarray) and value.flags.writeable:
            value = value.copy()
            value.flags.writeable = False
        self.value = value
        self.type = type or type_of(value)
        self.recipe = recipe
        self.made: Made | None = None
        self.name: str | None = None

    def copy(self) -> Const:
        """The same value without its name."""
        new = Const(self.value, self.type, self.recipe)
        new.made = self.made
        return new

    def __repr__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True, eq=False)
class Made:
    """One op of the table on constants; ``steps`` are the ops that it takes altogether."""

    op: str
    args: tuple[Const, ...]
    params: Mapping[str, Any]
    steps: int


Atom = Var | Const


@dataclass(frozen=True, eq=False)
class Block:
    """A sequence of nodes with parameters and results."""

    params: tuple[Var, ...]
    body: tuple[Node, ...]
    results: tuple[Atom, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Node:
    """What all nodes have: the variables they assign, and where they come from.

    ``section`` is "forward", "backward" or "tangent" once a derivative was taken; ``helper`` the inlined function's name.
    """

    outs: tuple[Var, ...]
    span: Span | None = None
    section: str = ""
    helper: str = ""


@dataclass(frozen=True, eq=False, kw_only=True)
class Apply(Node):
    """One op of the table: ``op`` its qualified name, ``args`` its operands, ``params`` its static parameters."""

    op: str
    args: tuple[Atom, ...]
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, kw_only=True)
class If(Node):
    """Two blocks without parameters; their results have the types of ``outs``."""

    pred: Atom
    then: Block
    orelse: Block


@dataclass(frozen=True, eq=False, kw_only=True)
class For(Node):
    """``length`` iterations. ``body`` takes (index, *carries, *slices of xs) and gives (*carries, *ys);
    ``outs`` are (*final carries, *stacked ys). With ``reverse`` the index runs down, xs and ys are still indexed by it."""

    length: Dim | Atom
    inits: tuple[Atom, ...]
    xs: tuple[Atom, ...]
    body: Block
    reverse: bool = False

    @property
    def carried(self) -> int:
        return len(self.inits)


@dataclass(frozen=True, eq=False, kw_only=True)
class While(Node):
    """``cond`` takes (*carries) and gives the test; ``body`` takes (*carries) and gives (*carries, *ys);
    ``outs`` are (*final carries, *stacked ys, trip count if ``counted``)."""

    inits: tuple[Atom, ...]
    cond: Block
    body: Block
    counted: bool = False

    @property
    def carried(self) -> int:
        return len(self.inits)


@dataclass(frozen=True, eq=False, kw_only=True)
class Effect(Node):
    """An ordered statement that is never moved, merged or dropped: ``kind`` is "raise", "assert", "print", ...; ``payload`` is static."""

    kind: str
    args: tuple[Atom, ...] = ()
    payload: Any = None


@dataclass(frozen=True, eq=False)
class Program(Block):
    """A whole function over a flat list of arrays.

    ``sizes`` says for each symbolic size where it can be read: parameter index and axis.
    """

    name: str = "f"
    sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict)


def blocks_of(node: Node) -> tuple[Block, ...]:
    """The blocks inside a node."""
    match node:
        case If():
            return (node.then, node.orelse)
        case For():
            return (node.body,)
        case While():
            return (node.cond, node.body)
    return ()


def reads(node: Node) -> tuple[Atom, ...]:
    """The atoms that a node itself reads, without those read inside its blocks."""
    match node:
        case Apply() | Effect():
            return node.args
        case If():
            return (node.pred,)
        case For():
            length = (node.length,) if isinstance(node.length, (Var, Const)) else ()
            return (*length, *node.inits, *node.xs)
        case While():
            return node.inits
    raise TypeError(type(node).__name__)


def free_vars(block: Block) -> tuple[Var, ...]:
    """The variables that a block reads and does not assign, in order of first use."""
    bound: set[Var] = set(block.params)
    free: dict[Var, None] = {}

    def use(atoms: Sequence[Atom]) -> None:
        free.update((a, None) for a in atoms if isinstance(a, Var) and a not in bound)

    for node in block.body:
        use(node_vars(node))
        bound.update(node.outs)
    use(block.results)
    return tuple(free)


def node_vars(node: Node) -> tuple[Atom, ...]:
    """All that a node reads from outside itself, blocks included."""
    inner = [v for b in blocks_of(node) for v in free_vars(b)]
    return (*reads(node), *inner)


def walk(block: Block) -> Iterator[Node]:
    """Every node, nested ones after the node that holds them."""
    for node in block.body:
        yield node
        for inner in blocks_of(node):
            yield from walk(inner)
