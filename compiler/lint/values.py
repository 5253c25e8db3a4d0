"""What the linter knows of a value: never what it is, only whether it differs between samples, and what may be done with it.

Values are immutable. What can be written to lives in a *cell* of the heap and is named by a ``Ref``; a branch of the program copies the
heap, a join of two branches joins the two heaps. Batchedness is a set of bits, one for each enclosing ``vmap``: an argument that the inner
``vmap`` does not map may be mapped by the outer one.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import Span

if TYPE_CHECKING:
    from .modules import Module


class _Unknown:
    def __repr__(self) -> str:
        return "?"


UNKNOWN = _Unknown()


class Trail:
    """How a name came to be mapped: a step, and the steps before it."""

    __slots__ = ("message", "name", "previous", "span")

    def __init__(self, span: Span, message: str, name: str, previous: Trail | None = None) -> None:
        self.span, self.message, self.name, self.previous = span, message, name, previous

    def steps(self) -> list[Trail]:
        out: list[Trail] = []
        node: Trail | None = self
        while node is not None:
            out.append(node)
            node = node.previous
        return out[::-1]


class Batch(NamedTuple):
    """Which enclosing maps a value surely differs over, and which it may."""

    yes: int
    may: int

    def __or__(self, other: Batch) -> Batch:
        return Batch(self.yes | other.yes, self.may | other.may)

    def softened(self) -> Batch:
        """The same, but no more than possible."""
        return Batch(0, self.yes | self.may)

    def without(self, bits: int) -> Batch:
        return Batch(self.yes & ~bits, self.may & ~bits)

    @property
    def any(self) -> int:
        return self.yes | self.may


CLEAN = Batch(0, 0)


class Value:
    """Any value of the program."""

    __slots__ = ()


class Static(Value):
    """An ordinary Python value, the same for every sample; ``const`` when it is known."""

    __slots__ = ("const",)

    def __init__(self, const: Any) -> None:
        self.const = const

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Static):
            return False
        a, b = self.const, other.const
        return a is b or (type(a) is type(b) and bool(a == b))

    def __hash__(self) -> int:
        return hash(("static", type(self.const)))

    def __repr__(self) -> str:
        return f"Static({self.const!r})"


ANY = Static(UNKNOWN)
NONE = Static(None)


class _Record(Value):
    """A value that is a tuple of its fields."""

    __slots__ = ("_fields",)

    def _key(self) -> tuple[Any, ...]:
        return tuple(getattr(self, s) for s in type(self).__slots__)

    def __eq__(self, other: object) -> bool:
        return self is other or (type(self) is type(other) and self._key() == other._key())

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._key()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._key()!r}"


class Ref(_Record):
    """A cell of the heap."""

    __slots__ = ("id",)

    def __init__(self, id: Hashable) -> None:
        self.id = id


class Tuple(_Record):
    """A tuple whose entries are known; ``names`` for a named tuple."""

    __slots__ = ("items", "names")

    def __init__(self, items: tuple[Value, ...], names: tuple[str, ...] = ()) -> None:
        self.items, self.names = items, names


# What `slice(...)` gives: its bounds, under their names.
SLICE = ("start", "stop", "step")


class Func(_Record):
    """A function, method or lambda of the user. ``frame`` is the scope it was made in; ``sure`` is False under an unknown decorator."""

    __slots__ = ("defaults", "frame", "kwdefaults", "module", "node", "owner", "sure")

    def __init__(
        self,
        node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
        module: Module,
        frame: Hashable,
        defaults: tuple[Value, ...] = (),
        kwdefaults: tuple[tuple[str, Value], ...] = (),
        owner: ClassOf | None = None,
        sure: bool = True,
    ) -> None:
        self.node, self.module, self.frame = node, module, frame
        self.defaults, self.kwdefaults, self.owner, self.sure = defaults, kwdefaults, owner, sure

    @property
    def name(self) -> str:
        return getattr(self.node, "name", "lambda")

    def guessed(self) -> Func:
        """The same, where what is found in it is likely, not proven."""
        return Func(self.node, self.module, self.frame, self.defaults, self.kwdefaults, self.owner, sure=False)

    def _key(self) -> tuple[Any, ...]:
        return (self.node, self.frame, self.defaults, self.kwdefaults, self.sure)


class ClassOf(_Record):
    """A class of the user; ``frame`` holds its body's names."""

    __slots__ = ("bases", "frame", "marks", "module", "node")

    def __init__(self, node: ast.ClassDef, module: Module, frame: Hashable, bases: tuple[Value, ...], marks: tuple[str, ...]) -> None:
        self.node, self.module, self.frame, self.bases, self.marks = node, module, frame, bases, marks

    def _key(self) -> tuple[Any, ...]:
        return (self.node, self.frame)


class Bound(_Record):
    """A method and the object it was taken from."""

    __slots__ = ("func", "owner")

    def __init__(self, func: Value, owner: Value) -> None:
        self.func, self.owner = func, owner


class Method(_Record):
    """A method, by name, of a value that is no object of a user's class: ``x.sum``."""

    __slots__ = ("name", "owner")

    def __init__(self, owner: Value, name: str) -> None:
        self.owner, self.name = owner, name


class Lib(_Record):
    """Something of a library or of Python itself, by its qualified name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class ModuleOf(_Record):
    """A module of the user."""

    __slots__ = ("module",)

    def __init__(self, module: Module) -> None:
        self.module = module


class Partial(_Record):
    __slots__ = ("args", "func", "kwargs")

    def __init__(self, func: Value, args: tuple[Value, ...], kwargs: tuple[tuple[str, Value], ...]) -> None:
        self.func, self.args, self.kwargs = func, args, kwargs


class Transformed(_Record):
    """What ``vmap(f)``, ``grad(f)`` and their like return. ``options`` are the values of their parameters by name."""

    __slots__ = ("func", "kind", "library", "module", "options", "site")

    def __init__(self, kind: str, library: str, func: Value, options: Mapping[str, Value], site: ast.AST, module: Module) -> None:
        self.kind, self.library, self.func = kind, library, func
        self.options, self.site, self.module = dict(options), site, module

    def _key(self) -> tuple[Any, ...]:
        return (self.kind, self.library, self.func, tuple(sorted(self.options)), self.site)


class Union(_Record):
    """One of several values, by the path taken."""

    __slots__ = ("items",)

    def __init__(self, items: tuple[Value, ...]) -> None:
        self.items = items


class Root(NamedTuple):
    """Where a cell came from: ``how`` is "fresh", "argument" or "captured"."""

    how: str
    name: str = ""
    span: Span | None = None


FRESH = Root("fresh")
EMPTY: Mapping[Any, Value] = MappingProxyType({})


class Cell(NamedTuple):
    """The contents of something that can be written to.

    ``kind``: "array", "any" (an argument: an array, a tree of arrays or an object), "list", "dict", "set", "object", "lib" (an
    instance of a
    library's class, named by ``cls``). ``depth``: how many maps were active when it was made. ``base``: the cell that it is a view of.
    """

    kind: str
    batch: Batch = CLEAN
    depth: int = 0
    root: Root = FRESH
    boolean: bool = False
    scalar: bool = False
    items: Mapping[Any, Value] = EMPTY
    rest: Value | None = None
    cls: Value | None = None
    base: Hashable = None
    const_seed: bool = False
    library: str = ""


MOST_ALTERNATIVES = 6


def alternatives(value: Value) -> tuple[Value, ...]:
    return value.items if isinstance(value, Union) else (value,)


def join(a: Value, b: Value) -> Value:
    """What a value is after two paths meet."""
    if a is b or a == b:
        return a
    if isinstance(a, Static) and isinstance(b, Static):
        # None is kept apart: `is None` is how programs ask which path was taken.
        if (a.const is None) == (b.const is None):
            return ANY
    out: list[Value] = []
    for v in (*alternatives(a), *alternatives(b)):
        if v in out:
            continue
        if isinstance(v, Static):
            same = [i for i, o in enumerate(out) if isinstance(o, Static) and (o.const is None) == (v.const is None)]
            if same:
                out[same[0]] = ANY if v.const is not None else NONE
                continue
        if isinstance(v, Tuple):
            at = next((i for i, o in enumerate(out) if isinstance(o, Tuple) and len(o.items) == len(v.items) and o.names == v.names), None)
            if at is not None:
                other = out[at]
                assert isinstance(other, Tuple)
                out[at] = Tuple(tuple(join(x, y) for x, y in zip(other.items, v.items)), v.names)
                continue
        out.append(v)
    if len(out) > MOST_ALTERNATIVES:
        refs = [v for v in out if isinstance(v, Ref)]
        out = [*[v for v in out if not isinstance(v, Ref)][:2], *refs[:2], *refs[-2:]]
    return out[0] if len(out) == 1 else Union(tuple(out))


def join_cells(a: Cell, b: Cell) -> Cell:
    """The contents of a cell after two paths meet."""
    if a is b:
        return a
    items: dict[Any, Value] = dict(a.items)
    for key, value in b.items.items():
        items[key] = join(items[key], value) if key in items else value
    rest = a.rest if b.rest is None else b.rest if a.rest is None else join(a.rest, b.rest)
    if items == a.items and rest == a.rest and b.batch == a.batch and a.boolean == b.boolean:
        return a
    return a._replace(batch=a.batch | b.batch, items=items, rest=rest, boolean=a.boolean or b.boolean, scalar=a.scalar and b.scalar)
