"""Branches on symbolic values become nodes of the Program: both sides are walked, what they changed is joined."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.builder import Value, atom_of, current
from ..core.program import Atom, Block, Const, If
from ..errors import Span, Unsupported
from .cells import Array, Cell, Scalar
from .frames import Conflict, Frame, Walked, flag_of, is_flag
from .joins import Join, Side, Status, carriable
from .session import OpenContainers, restore, session, snapshot

if TYPE_CHECKING:
    from .walker import Run, Walker


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
        known = self.known(frame)
        frame.live.append(live)
        try:
            a = yield from self.side(then, birth, known)
            b = yield from self.side(orelse, birth, known)
        finally:
            frame.live.pop()
        if a.raises != b.raises:
            return self.guarded(test, a, b, span, helper)
        alive = live.union(*frame.live, frame.scope.shared)
        join = Join(builder, a, b, birth, known, lambda thing, name: self.references(thing, frame, alive, name), span)
        updates: list[tuple[Any, Any]] = []
        for key in dict.fromkeys([*a.changed, *b.changed]):
            obj, before = (a.changed.get(key) or b.changed[key])[:2]
            after_a = a.changed[key][2] if key in a.changed else before
            after_b = b.changed[key][2] if key in b.changed else before
            if obj is frame:
                after = self.joined_names(after_a, after_b, join, alive, frame.scope.shared, leaving=not expression)
            else:
                after = self.joined(obj, after_a, after_b, join, frame)
            updates.append((obj, after))
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
        join.finish()
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

    def joined_names(
        self: Walker, x: dict[str, Any], y: dict[str, Any], join: Join, alive: frozenset[str], shared: frozenset[str], *, leaving: bool
    ) -> dict[str, Any]:
        """The names of the function after the branch. Those of a side that leaves the function are seen by closures at most."""
        out: dict[str, Any] = {}
        for name in dict.fromkeys([*x, *y]):
            if is_flag(name):
                continue
            if name not in alive:
                if name in x and name in y and x[name] is y[name]:
                    out[name] = x[name]
                continue
            only = None
            if leaving and name not in shared:
                only = join.b if join.a.leaves and name in y else join.a if join.b.leaves and name in x else None
            if only is not None:
                names = y if only is join.b else x
                out[name] = join.brought(names[name], only, name)
                if flag_of(name) in names:
                    out[flag_of(name)] = join.brought(names[flag_of(name)], only)
                continue
            if name in x and name in y:
                out[name] = join.values(x[name], y[name], name)
            elif carriable(x[name] if name in x else y[name]):
                out[name] = join.brought(*((x[name], join.a) if name in x else (y[name], join.b)), name)
            else:
                out[name] = Conflict("is bound on one side of a branch only")
            flags = [names.get(flag_of(name), name in names) for names in (x, y)]
            if any(flag is not True for flag in flags):
                out[flag_of(name)] = Scalar(join.atoms(atom_of(flags[0]), atom_of(flags[1]), f"{name}_bound"))
        return out

    def joined(self: Walker, obj: Any, x: Any, y: Any, join: Join, frame: Frame) -> Any:
        """The state of one changed thing after the branch, other than the names of the function itself."""
        if isinstance(obj, Cell):
            return join.atoms(x, y, obj.name)
        if isinstance(obj, OpenContainers):
            return {**x, **y}
        if isinstance(obj, Frame):
            unbound = Conflict("is bound on one side of a branch only")
            return {name: join.values(x[name], y[name], name) if name in x and name in y else unbound for name in dict.fromkeys([*x, *y])}
        if isinstance(x, list) and len(x) == len(y):
            return [join.values(p, q) for p, q in zip(x, y, strict=True)]
        if isinstance(x, dict) and list(x) == list(y):
            return {k: join.values(x[k], y[k], k if isinstance(k, str) and k.isidentifier() else None) for k in x}
        if (join.a.leaves or join.b.leaves) and not self.outlives(obj, join.a if join.a.leaves else join.b, frame):
            return y if join.a.leaves else x
        raise Unsupported(
            f"a {type(obj).__name__} gets another size on one side of a branch decided by a value",
            span=current().span,
            hint="store on both sides, or store a value chosen with np.where",
        )

    def outlives(self: Walker, obj: Any, side: Side, frame: Frame) -> bool:
        """Whether a container is still seen when a side has left the function: by a caller, or in what is returned."""
        returned = [value for _, value in (side.status or {}).values()]
        callers = [f for f in self.frames if f is not frame]
        return any(obj is o for o in self.reached([*callers, frame.parent], returned))

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
        if x is _ABSENT:
            return join.brought(y, join.b)
        return join.brought(x, join.a) if y is _ABSENT else join.values(x, y)

    # what can be reached

    def known(self: Walker, frame: Frame) -> set[int]:
        """What is there already: what changes of it on a side is put back."""
        return {id(o) for o in self.reachable(frame)} | {id(session().open)}

    def reachable(self: Walker, frame: Frame) -> list[Any]:
        """The containers and objects that names of all active frames lead to."""
        return self.reached([*self.frames, frame], [])

    def reached(self: Walker, frames: list[Any], values: list[Any]) -> list[Any]:
        """The frames, containers and objects that frames and values lead to."""
        seen: dict[int, Any] = {}
        stack = list(values)
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

    def references(self: Walker, thing: Any, frame: Frame, alive: frozenset[str], skip: str | None = None) -> int:
        """How many names that are read later, and places in containers, lead to a cell or container; ``skip`` is the name asked for."""

        def leads(v: Any) -> bool:
            return v is thing or (isinstance(v, Array) and v.cell is thing)

        count = int(isinstance(thing, Cell) and thing.elsewhere)
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
            count += sum(map(leads, values))
        return count


_ABSENT: Any = object()


def _flag(flag: Any) -> Atom:
    return flag.atom if isinstance(flag, Value) else Const(bool(flag))


def _drain(run: Run) -> Status:
    try:
        while True:
            next(run)
    except StopIteration as stop:
        return stop.value
