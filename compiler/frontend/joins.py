"""What names, memory and containers are after a branch: one value for what the two sides made of each."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.builder import Builder, Value, atom_of, call
from ..core.program import Atom, Const, Var
from ..core.types import Type
from ..errors import Span
from .cells import Array, Cell, Scalar, read
from .frames import Conflict, Frame, Walked
from .session import session

Status = dict[str, tuple[Any, Any]] | None


@dataclasses.dataclass(eq=False)
class Side:
    """What walking one side of a branch gave: its nodes, status, and the state of everything it changed."""

    nodes: list[Any]
    status: Status
    changed: dict[Any, tuple[Any, Any, Any]]
    results: list[Atom] = dataclasses.field(default_factory=list)

    @property
    def leaves(self) -> bool:
        """Whether this side surely leaves the function."""
        return self.status is not None and list(self.status) in (["return"], ["raise"]) and next(iter(self.status.values()))[0] is True

    @property
    def raises(self) -> bool:
        return self.status is not None and "raise" in self.status

    def held(self, cell: Cell) -> Atom:
        """What memory holds at the end of this side: it has been put back since."""
        found = self.changed.get(("object", id(cell)))
        return found[2] if found is not None else cell.atom

    def makes(self, atom: Atom) -> bool:
        return any(atom in node.outs for node in self.nodes)


class Join:
    """Joins the values of two sides. Pairs of one place share one result: memory that is one on both sides is one afterwards.

    Where memory is one on one side only, or is also somebody else's, names *may* share it (``shares``); lists, dicts and dataclasses
    likewise (``unclear``). ``seen(thing, name)`` counts who else leads to a cell or container that was there before the branch.
    """

    def __init__(
        self, builder: Builder, a: Side, b: Side, birth: int, known: set[int], seen: Callable[[Any, str | None], int], span: Span | None
    ) -> None:
        self.builder = builder
        self.a, self.b = a, b
        self.birth = birth
        self.known = known
        self.seen = seen
        self.span = span
        self.outs: list[Var] = []
        self._pairs: dict[Any, Var] = {}
        self._memory: dict[tuple[int, int], Cell] = {}  # what stands for two memories
        self._brought: dict[int, Any] = {}  # what stands for memory made on the only side that goes on; containers seen there
        self._places: list[tuple[Array, Array, Array]] = []
        self._shares: list[tuple[Cell, Cell, bool]] = []  # joined memory, what it may be, and whether that was written since they met
        self._became: dict[int, list[Cell]] = {}  # memory made on a side, and what stands for it
        self._containers: dict[tuple[int, int], tuple[Any, Any, Any, str | None]] = {}

    # atoms

    def content(self, x: Any, side: Side) -> Atom:
        """What a value is at the end of a side."""
        if not isinstance(x, Array):
            return atom_of(x)
        held = side.held(x.cell)
        if not x.path:
            return held
        self.builder._bodies.append(side.nodes)
        try:
            return read(held, x.path)
        finally:
            self.builder._bodies.pop()

    def atoms(self, x: Atom, y: Atom, name: str | None = None) -> Atom:
        """One atom for two."""
        if x is y:
            return x
        if isinstance(x, Const) and isinstance(y, Const) and x.type == y.type and np.array_equal(x.value, y.value):
            return x
        key = tuple(a if isinstance(a, Var) else ("const", id(a)) for a in (x, y))
        if key in self._pairs:
            return self._pairs[key]
        t = joined_type(x.type, y.type)
        self.a.results.append(self._converted(x, t, self.a))
        self.b.results.append(self._converted(y, t, self.b))
        out = Var(t, name or x.name or y.name, self.span)
        self._pairs[key] = out
        self.outs.append(out)
        return out

    def _converted(self, x: Atom, t: Type, side: Side) -> Atom:
        if x.type == t:
            return x
        if isinstance(x, Const):
            return constant(x.value, t)
        self.builder._bodies.append(side.nodes)
        try:
            if x.type.dtype == t.dtype and x.type.weak == t.weak:
                return x
            return atom_of(call("numpy.astype", Value(x), t.dtype))
        finally:
            self.builder._bodies.pop()

    # values

    def values(self, x: Any, y: Any, name: str | None = None) -> Any:
        """One value for two: arrays and numbers by a result of the branch, containers item by item, anything else must be equal."""
        if isinstance(x, Array) and isinstance(y, Array) and x.cell is y.cell and x.path == y.path:
            self._places.append((x, y, x))
            return x
        if x is y or isinstance(x, Conflict):
            return x
        if isinstance(y, Conflict):
            return y
        if _numeric(x) and _numeric(y):
            return self._numbers(x, y, name)
        if type(x) is type(y) and (isinstance(x, (list, tuple, dict)) or (dataclasses.is_dataclass(x) and not isinstance(x, type))):
            key = (id(x), id(y))
            if key not in self._containers:
                joined = self._joined_container(x, y)
                if joined is None:
                    return Conflict(f"is {_described(x)} on one side of a branch and {_described(y)} on the other")
                self._containers[key] = (x, y, joined, name)
            return self._containers[key][2]
        try:
            if type(x) is type(y) and bool(x == y):
                return x
        except Exception:  # noqa: BLE001  a comparison of the user's own may raise anything
            pass
        return Conflict(f"is {_described(x)} on one side of a branch and {_described(y)} on the other")

    def _joined_container(self, x: Any, y: Any) -> Any:
        if isinstance(x, dict):
            return {k: self.values(x[k], y[k], None) for k in x} if list(x) == list(y) else None
        if isinstance(x, (list, tuple)):
            if len(x) != len(y):
                return None
            items = [self.values(p, q, None) for p, q in zip(x, y, strict=True)]
            return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
        return type(x)(**{f.name: self.values(getattr(x, f.name), getattr(y, f.name)) for f in dataclasses.fields(x)})

    def _numbers(self, x: Any, y: Any, name: str | None) -> Any:
        plain = (bool, int, float, complex, np.generic)
        if isinstance(x, plain) and isinstance(y, plain) and type(x) is type(y) and (x == y or x != x and y != y):
            return x
        if not isinstance(x, Array) or not isinstance(y, Array):
            p, q = self.content(x, self.a), self.content(y, self.b)
            if p.type.shape != q.type.shape:
                return _shapes_differ(p.type, q.type)
            atom = self.atoms(p, q, name)
            if not isinstance(x, Array) and not isinstance(y, Array):
                return atom.value if isinstance(atom, Const) else Scalar(atom)
            return Array(self._cell(x, y, atom, name))
        for a, b, known in self._places:
            if _one_place(a, x) and _one_place(b, y):
                return known
        path = x.path if x.path == y.path and self._made(x.cell) and self._made(y.cell) else ()
        if path and x.reachable and self.a.held(x.cell).type.shape == self.b.held(y.cell).type.shape:
            x_base, y_base = Array(x.cell), Array(y.cell)
        else:
            path, x_base, y_base = (), x, y
        p, q = self.content(x_base, self.a), self.content(y_base, self.b)
        if p.type.shape != q.type.shape:
            return _shapes_differ(p.type, q.type)
        key = (id(x.cell), id(y.cell))
        whole = not x_base.path and not y_base.path
        if not whole or key not in self._memory:
            cell = self._cell(x_base, y_base, self.atoms(p, q, name if not path else None), name if not path else None)
            if whole:
                self._memory[key] = cell
        else:
            cell = self._memory[key]
        joined = Array(cell, path)
        self._places.append((x, y, joined))
        return joined

    def _cell(self, x: Any, y: Any, atom: Atom, name: str | None) -> Cell:
        cell = Cell(atom, self.builder)
        cell.name = name
        for v, side in ((x, self.a), (y, self.b)):
            if isinstance(v, Array):
                self._stands_for(cell, v, side, name)
        return cell

    def _stands_for(self, cell: Cell, v: Array, side: Side, name: str | None) -> None:
        if self._made(v.cell):
            self._became.setdefault(id(v.cell), []).append(cell)
        elif v.cell.owner.kind == "captured" or v.cell.owner.mapped is not None or self.seen(v.cell, name) > 0:
            self._shares.append((cell, v.cell, False))
        # what an inner branch left open stays open
        self._shares += [(cell, other, held is not side.held(other)) for other, held in v.cell.shares]

    def _made(self, cell: Cell) -> bool:
        """Whether memory was made on a side."""
        return cell.birth > self.birth and cell.owner.kind == "local"

    # a side that goes on alone

    def brought(self, value: Any, side: Side, name: str | None = None) -> Any:
        """A value of the one side on which it is seen afterwards; the other side gives a placeholder."""
        if isinstance(value, Array):
            return self._brought_array(value, side, name)
        if isinstance(value, Value):
            return Scalar(self._across(value.atom, side, name))
        if isinstance(value, tuple):
            items = [self.brought(v, side) for v in value]
            if all(p is q for p, q in zip(items, value, strict=True)):
                return value
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        if id(value) not in self.known and id(value) not in self._brought:
            self._brought[id(value)] = value
            if isinstance(value, Walked):
                self.brought(value.frame, side)
                return value
            content: Any = value if isinstance(value, (list, dict)) else _attributes(value)
            for k in range(len(content)) if isinstance(content, list) else list(content):
                content[k] = self.brought(content[k], side)
        return value

    def _brought_array(self, value: Array, side: Side, name: str | None) -> Array:
        if not self._made(value.cell):
            if value.reachable:
                return value
            cell = Cell(self._across(self.content(value, side), side, name), self.builder)
            self._stands_for(cell, value, side, name)
            return Array(cell)
        if not value.reachable:
            cell = Cell(self._across(self.content(value, side), side, name), self.builder)
            self._became.setdefault(id(value.cell), []).append(cell)
            return Array(cell)
        if id(value.cell) not in self._brought:
            cell = Cell(self._across(side.held(value.cell), side, None if value.path else name), self.builder)
            cell.name = value.cell.name
            self._brought[id(value.cell)] = (value.cell, cell)
            self._stands_for(cell, Array(value.cell), side, name)
        return Array(self._brought[id(value.cell)][1], value.path)

    def _across(self, atom: Atom, side: Side, name: str | None) -> Atom:
        if isinstance(atom, Const) or not side.makes(atom):
            return atom
        placeholder = zero(atom.type)
        return self.atoms(atom, placeholder, name) if side is self.a else self.atoms(placeholder, atom, name)

    # what is left open

    def finish(self) -> None:
        """Note what may be one after the branch."""
        what = "after a branch decided by a value"
        shares: dict[tuple[int, int], tuple[Cell, Cell, bool]] = {}

        def add(cell: Cell, other: Cell, stale: bool) -> None:
            if cell is not other:
                key = (id(cell), id(other))
                shares[key] = (cell, other, stale or (key in shares and shares[key][2]))

        for cell, other, stale in self._shares:
            for now in self._became.get(id(other), []) if self._made(other) else [other]:
                add(cell, now, stale)
            if stale:
                add(cell, other, True)
        groups: dict[int, dict[int, Cell]] = {}
        for x, y, joined in self._places:
            for v in (x, y):
                groups.setdefault(id(v.cell), {})[id(joined.cell)] = joined.cell
        for made in self._became.values():
            for cell in made:
                groups.setdefault(id(made), {})[id(cell)] = cell
        for group in groups.values():
            for cell in group.values():
                for other in group.values():
                    if cell.birth > self.birth and cell.level is self.builder:
                        add(cell, other, False)
        for cell, other, stale in shares.values():
            cell.may_share(other, what, written=stale)
        self._containers_left_open(what)

    def _containers_left_open(self, what: str) -> None:
        """A joined list stands for two: if one of them is seen otherwise, writing any of them would not be seen by the others."""
        pairs = [pair for pair in self._containers.values() if not isinstance(pair[0], tuple)]
        for x, y, joined, name in pairs:
            ambiguous = any((x is p) != (y is q) for p, q, *_ in pairs)
            for old in (x, y):
                ambiguous = ambiguous or (id(old) in self.known and self.seen(old, name) > 0)
            if ambiguous:
                kind = type(joined).__name__
                for one in (x, y, joined):
                    session().leave_open(one, f"{what}, `{name or f'a {kind}'}` may be the same {kind} as another")


def _attributes(x: Any) -> dict[str, Any]:
    """What an object or a frame of the walk's holds."""
    if isinstance(x, Frame):
        return x.locals
    return (
        vars(x) if hasattr(x, "__dict__") and type(x).__module__ not in ("builtins", "types", "numpy") and not isinstance(x, type) else {}
    )


def _shapes_differ(p: Type, q: Type) -> Conflict:
    return Conflict(f"has shape {p.shape} on one side of a branch and {q.shape} on the other")


def _one_place(a: Array, b: Array) -> bool:
    return a.cell is b.cell and a.path == b.path


def joined_type(a: Type, b: Type) -> Type:
    """The type that holds either: a Python number adapts to the other side."""
    if a.dtype == b.dtype:
        dtype = a.dtype
    else:
        dtype = np.result_type(*(t.dtype.type(0).item() if t.weak else t.dtype for t in (a, b)))
    return Type(dtype, a.shape, weak=a.weak and b.weak, scalar=a.scalar and b.scalar)


def constant(value: Any, t: Type) -> Const:
    """A known value in another type."""
    if t.weak:
        return Const(np.asarray(value).astype(t.dtype).item(), t)
    return Const(np.asarray(value).astype(t.dtype)[()] if not t.shape else np.asarray(value, t.dtype), t)


def zero(t: Type) -> Const:
    """A placeholder of a type, for a side whose value is never looked at."""
    if t.weak:
        return Const(t.dtype.type(0).item(), t)
    shape = tuple(d if isinstance(d, int) else 1 for d in t.shape)
    return Const(
        np.broadcast_to(np.zeros((), t.dtype), shape) if shape else t.dtype.type(0),
        t,
        recipe=("numpy.zeros", (shape,), {} if t.dtype == np.float64 else {"dtype": t.dtype}) if shape else None,
    )


def carriable(x: Any) -> bool:
    """Whether a placeholder can stand for a value: an array, a number or a tuple of them."""
    return all(map(carriable, x)) if type(x) is tuple else _numeric(x)


def _numeric(x: Any) -> bool:
    return isinstance(x, (Value, bool, int, float, complex, np.generic, np.ndarray))


def _described(x: Any) -> str:
    if isinstance(x, Value):
        return f"an array of type {x.type}"
    if isinstance(x, (list, tuple, dict, set)):
        return f"a {type(x).__name__} of {len(x)}"
    return repr(x)[:40]
