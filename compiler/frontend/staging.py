"""Branches on symbolic values become nodes of the Program: both sides are walked, what they changed is joined."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.builder import Builder, Value, atom_of, call, current
from ..core.program import Atom, Block, Const, If, Var
from ..core.types import Type
from ..errors import Span, Unsupported
from .cells import Array, Cell, Scalar, read
from .frames import Conflict, Frame, Walked
from .session import restore, session, snapshot

if TYPE_CHECKING:
    from .walker import Run, Walker

Status = dict[str, tuple[Any, Any]] | None


@dataclasses.dataclass(eq=False)
class Side:
    """What walking one side of a branch gave: its nodes, status, and the state of everything it changed."""

    nodes: list[Any]
    status: Status
    changed: dict[Any, tuple[Any, Any, Any]]
    results: list[Atom] = dataclasses.field(default_factory=list)

    @property
    def gone(self) -> bool:
        """Whether nothing after the branch sees this side's names."""
        return (
            self.status is not None
            and len(self.status) == 1
            and next(iter(self.status.items()))[0] in ("return", "raise")
            and next(iter(self.status.values()))[0] is True
        )

    @property
    def raises(self) -> bool:
        return self.status is not None and "raise" in self.status


class Join:
    """Joins the values of two sides; equal pairs share one result."""

    def __init__(self, builder: Builder, a: Side, b: Side, birth: int, seen: Callable[[Cell, str | None], int], span: Span | None) -> None:
        self.builder = builder
        self.a, self.b = a, b
        self.birth = birth
        self.seen = seen
        self.span = span
        self.outs: list[Var] = []
        self._pairs: dict[Any, Var] = {}
        self._cells: list[tuple[Array, Array, Array]] = []
        self.shares: list[tuple[Cell, Cell]] = []  # joined memory, and what it may be

    def content(self, x: Any, side: Side) -> Atom:
        """What a value is at the end of a side: its memory has been put back since."""
        if not isinstance(x, Array):
            return atom_of(x)
        held = next((after for obj, _, after in side.changed.values() if obj is x.cell), x.cell.atom)
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

    def values(self, x: Any, y: Any, name: str | None = None) -> Any:
        """One value for two: arrays and numbers by a result of the branch, containers item by item, anything else must be equal."""
        if x is y:
            return x
        if self.a.raises or (self.a.gone and not _numeric(y)):
            return y
        if self.b.raises or (self.b.gone and not _numeric(x)):
            return x
        if isinstance(x, Array) and isinstance(y, Array) and x.cell is y.cell and x.path == y.path:
            return x
        if _numeric(x) and _numeric(y):
            return self._numbers(x, y, name)
        if type(x) is type(y) and isinstance(x, (list, tuple)) and len(x) == len(y):
            items = [self.values(p, q, None) for p, q in zip(x, y, strict=True)]
            return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
        if isinstance(x, dict) and isinstance(y, dict) and list(x) == list(y):
            return {k: self.values(x[k], y[k], None) for k in x}
        if dataclasses.is_dataclass(x) and type(x) is type(y) and not isinstance(x, type):
            return type(x)(**{f.name: self.values(getattr(x, f.name), getattr(y, f.name)) for f in dataclasses.fields(x)})
        try:
            if type(x) is type(y) and bool(x == y):
                return x
        except Exception:  # noqa: BLE001  a comparison of the user's own may raise anything
            pass
        return Conflict(f"is {_described(x)} on one side of a branch and {_described(y)} on the other")

    def _numbers(self, x: Any, y: Any, name: str | None) -> Any:
        plain = (bool, int, float, complex, np.generic)
        if isinstance(x, plain) and isinstance(y, plain) and type(x) is type(y) and (x == y or x != x and y != y):
            return x
        p, q = self.content(x, self.a), self.content(y, self.b)
        if p.type.shape != q.type.shape:
            return Conflict(f"has shape {p.type.shape} on one side of a branch and {q.type.shape} on the other")
        both = isinstance(x, Array) and isinstance(y, Array)
        if both:
            for a, b, known in self._cells:
                if _one_place(a, x) and _one_place(b, y):
                    return known
        atom = self.atoms(p, q, name)
        if not isinstance(x, Array) and not isinstance(y, Array):
            return atom.value if isinstance(atom, Const) else Scalar(atom)
        cell = Cell(atom, self.builder)
        cell.name = name
        for v in (x, y):
            if isinstance(v, Array) and (
                v.path
                or (v.cell.birth <= self.birth and self.seen(v.cell, name) > 0)
                or v.cell.owner.kind == "captured"
                or v.cell.owner.mapped is not None
            ):
                self.shares.append((cell, v.cell))
            if isinstance(v, Array):
                # what an inner branch left open stays open
                self.shares += [(cell, other) for other, _ in v.cell.shares]
        joined = Array(cell)
        if both:
            for a, b, known in self._cells:
                if a.cell is x.cell or b.cell is y.cell:  # one memory on one side, two on the other
                    self.shares += [(cell, known.cell), (known.cell, cell)]
            self._cells.append((x, y, joined))
        return joined


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
        recipe=("numpy.zeros", (shape,), {"dtype": t.dtype}) if shape else None,
    )


def _numeric(x: Any) -> bool:
    return isinstance(x, (Value, bool, int, float, complex, np.generic, np.ndarray))


def _described(x: Any) -> str:
    if isinstance(x, Value):
        return f"an array of type {x.type}"
    if isinstance(x, (list, tuple, dict, set)):
        return f"a {type(x).__name__} of {len(x)}"
    return repr(x)[:40]


class Staging:
    """Mixed into the walker."""

    def choose(self: Walker, test: Value, then: Callable[[], Any], orelse: Callable[[], Any], frame: Frame, what: str) -> Any:
        """A conditional expression whose test is symbolic."""
        holder: dict[str, Any] = {}

        def side(thunk: Callable[[], Any]) -> Callable[[], Run]:
            def run() -> Run:
                return {"return": (True, thunk())}
                yield

            return run

        status = _drain(self.stage_if(test, side(then), side(orelse), frame, frozenset(), expression=True))
        assert status is not None
        value = status["return"][1]
        if isinstance(value, Conflict):
            raise Unsupported(f"{what} decided by a value: {value.reason}", span=current().span, hint="make both sides arrays of one shape")
        holder.clear()
        return value

    def side(self: Walker, thunk: Callable[[], Run], birth: int, known: set[int]) -> Generator[Any, Any, Side]:
        """Walk one side and put everything it changed back."""
        builder, s = current(), session()
        with s.branch() as journal, builder.block() as nodes:
            s.staged += 1
            try:
                status = yield from thunk()
            except BaseException:
                # an attempt that may be given up: everything is as it was before it
                for obj, before in journal.values():
                    restore(obj, before)
                raise
            finally:
                s.staged -= 1
        changed: dict[Any, tuple[Any, Any, Any]] = {}
        for key, (obj, before) in journal.items():
            if (isinstance(obj, Cell) and obj.birth > birth) or (not isinstance(obj, (Cell, Frame)) and id(obj) not in known):
                continue
            changed[key] = (obj, before, snapshot(obj))
            restore(obj, before)
        return Side(nodes, status, changed)

    def stage_if(
        self: Walker,
        test: Value,
        then: Callable[[], Run],
        orelse: Callable[[], Run],
        frame: Frame,
        live: frozenset[str],
        *,
        expression: bool = False,
    ) -> Run:
        """Walk both sides of a branch; join names, memory, containers and status."""
        builder = current()
        span, helper = builder.span, builder.helper
        birth = Cell(Const(0)).birth
        known = {id(o) for o in self.reachable(frame)}
        frame.live.append(live)
        try:
            a = yield from self.side(then, birth, known)
            b = yield from self.side(orelse, birth, known)
        finally:
            frame.live.pop()
        if a.raises != b.raises:
            return self.guarded(test, a, b, span, helper)
        alive = live.union(*frame.live, frame.scope.shared)
        join = Join(builder, a, b, birth, lambda cell, name: self.references(cell, frame, alive, name), span)
        updates: list[tuple[Any, Any]] = []
        for key in dict.fromkeys([*a.changed, *b.changed]):
            obj, before = (a.changed.get(key) or b.changed[key])[:2]
            after_a = a.changed[key][2] if key in a.changed else before
            after_b = b.changed[key][2] if key in b.changed else before
            updates.append((obj, self.joined(obj, before, after_a, after_b, join, alive if obj is frame else None)))
        status = self.joined_status(a, b, join)
        for obj, after in updates:
            session().touch(obj)
            restore(obj, after)
        node = If(
            outs=tuple(join.outs),
            pred=test.atom,
            then=Block((), tuple(a.nodes), tuple(a.results)),
            orelse=Block((), tuple(b.nodes), tuple(b.results)),
            span=span,
            section=builder.section,
            helper=helper,
        )
        builder.append(node)
        for cell, other in join.shares:
            cell.may_share(other, "after a branch decided by a value")
        return status

    def guarded(self: Walker, test: Value, a: Side, b: Side, span: Span | None, helper: str) -> Status:
        """A branch that raises on one side guards what follows: the other side simply goes on."""
        builder = current()
        sides = [Block((), tuple(s.nodes), ()) if s.raises else Block((), (), ()) for s in (a, b)]
        builder.append(If(outs=(), pred=test.atom, then=sides[0], orelse=sides[1], span=span, section=builder.section, helper=helper))
        on = b if a.raises else a
        builder.nodes.extend(on.nodes)
        for obj, _, after in on.changed.values():
            session().touch(obj)
            restore(obj, after)
        return on.status

    def joined(self: Walker, obj: Any, before: Any, x: Any, y: Any, join: Join, alive: frozenset[str] | None) -> Any:
        """The state of one changed thing after the branch."""
        if isinstance(obj, Cell):
            return join.atoms(x, y, obj.name)
        if isinstance(obj, Frame):
            out = {}
            for name in dict.fromkeys([*x, *y]):
                if alive is not None and name not in alive and not (name in x and name in y and x[name] is y[name]):
                    continue
                if name in x and name in y:
                    out[name] = join.values(x[name], y[name], name)
                elif (join.a.gone and name in y) or (join.b.gone and name in x):
                    out[name] = y[name] if name in y else x[name]
                    if isinstance(out[name], Value):
                        out[name] = _across(out[name], join, name, name in x)
                else:
                    out[name] = Conflict("is bound on one side of a branch only")
            return out
        if isinstance(x, list) and len(x) == len(y):
            return [join.values(p, q) for p, q in zip(x, y, strict=True)]
        if isinstance(x, dict) and list(x) == list(y):
            return {k: join.values(x[k], y[k], k if isinstance(k, str) and k.isidentifier() else None) for k in x}
        if join.a.gone or join.b.gone:
            return y if join.a.gone else x
        raise Unsupported(
            f"a {type(obj).__name__} gets another size on one side of a branch decided by a value",
            span=current().span,
            hint="store on both sides, or store a value chosen with np.where",
        )

    def joined_status(self: Walker, a: Side, b: Side, join: Join) -> Status:
        if a.status is None and b.status is None:
            return None
        if a.raises and b.raises:
            return {"raise": (True, None)}
        kinds = list(dict.fromkeys([*(a.status or {}), *(b.status or {})]))
        out: dict[str, tuple[Any, Any]] = {}
        for kind in kinds:
            flag_a, value_a = (a.status or {}).get(kind, (False, _ABSENT))
            flag_b, value_b = (b.status or {}).get(kind, (False, _ABSENT))
            if flag_a is True and flag_b is True:
                flag: Any = True
            else:
                flag = Scalar(join.atoms(_flag(flag_a), _flag(flag_b), None))
            out[kind] = (flag, self.joined_result(value_a, value_b, join))
        return out

    def joined_result(self: Walker, x: Any, y: Any, join: Join) -> Any:
        """A returned value, on a side that does not return a placeholder."""
        if x is _ABSENT or y is _ABSENT:
            present, missing_in_a = (y, True) if x is _ABSENT else (x, False)
            return _map_values(present, lambda v: _across(v, join, None, not missing_in_a))
        a, b = join.a, join.b
        status_a, status_b = a.status, b.status
        a.status = b.status = None
        try:
            return join.values(x, y)
        finally:
            a.status, b.status = status_a, status_b

    # what can be reached

    def reachable(self: Walker, frame: Frame) -> list[Any]:
        """The containers and objects that names of all active frames lead to."""
        seen: dict[int, Any] = {}
        frames: list[Any] = [*self.frames, frame]
        stack: list[Any] = []
        while frames:
            f = frames.pop()
            if f is None or id(f) in seen:
                continue
            seen[id(f)] = f
            frames.append(f.parent)
            stack.extend(f.locals.values())
        while stack:
            x = stack.pop()
            if id(x) in seen or isinstance(x, (Value, str, int, float, bool, type(None), np.ndarray, type)):
                continue
            if isinstance(x, (list, tuple, set, frozenset)):
                seen[id(x)] = x
                stack.extend(x)
            elif isinstance(x, dict):
                seen[id(x)] = x
                stack.extend(x.values())
            elif isinstance(x, Walked):
                seen[id(x)] = x
                stack.extend(x.frame.locals.values())
            elif hasattr(x, "__dict__") and type(x).__module__ not in ("builtins", "types", "numpy"):
                seen[id(x)] = x
                stack.extend(vars(x).values())
        return list(seen.values())

    def references(self: Walker, cell: Cell, frame: Frame, alive: frozenset[str], skip: str | None = None) -> int:
        """How many names that are read later, and places in containers, lead to a cell; ``skip`` is the name that is asked for."""
        count = 0
        for obj in self.reachable(frame):
            if isinstance(obj, Frame):
                read = alive if obj is frame else frozenset().union(*obj.live, obj.scope.shared) if obj.live else None
                values: Any = [v for n, v in obj.locals.items() if (read is None or n in read) and not (obj is frame and n == skip)]
            elif isinstance(obj, dict):
                values = obj.values()
            elif isinstance(obj, (list, tuple)):
                values = obj
            else:
                values = vars(obj).values() if hasattr(obj, "__dict__") else ()
            count += sum(1 for v in values if isinstance(v, Array) and v.cell is cell)
        return count


_ABSENT: Any = object()


def _flag(flag: Any) -> Atom:
    return flag.atom if isinstance(flag, Value) else Const(bool(flag))


def _across(value: Any, join: Join, name: str | None, from_a: bool) -> Any:
    """A value made on one side, brought out of the branch; the other side gives a placeholder."""
    if not isinstance(value, Value):
        return value
    atom = join.content(value, join.a if from_a else join.b)
    if isinstance(value, Array) and atom is not value.cell.atom and not value.path and isinstance(atom, Const):
        return Array(Cell(atom, join.builder))
    if isinstance(atom, Const) or not any(atom in n.outs for n in (join.a if from_a else join.b).nodes):
        return value
    placeholder = zero(atom.type)
    out = join.atoms(atom, placeholder, name) if from_a else join.atoms(placeholder, atom, name)
    return Array(Cell(out, join.builder)) if isinstance(value, Array) else Scalar(out)


def _map_values(x: Any, f: Callable[[Any], Any]) -> Any:
    if isinstance(x, (list, tuple)):
        items = [_map_values(v, f) for v in x]
        return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    if isinstance(x, dict):
        return {k: _map_values(v, f) for k, v in x.items()}
    return f(x)


def _drain(run: Run) -> Status:
    try:
        while True:
            next(run)
    except StopIteration as stop:
        return stop.value
