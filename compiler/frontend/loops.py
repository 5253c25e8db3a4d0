"""Loops. Over what is known Python's own; a ``while`` whose test is symbolic becomes a loop of the Program."""

from __future__ import annotations

import ast
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.builder import Value, atom_of, call, current
from ..core.program import Atom, Block, Const, For, Var, While
from ..core.types import Type
from ..errors import Unsupported
from .cells import Array, Cell, Scalar
from .expressions import is_symbolic
from .frames import Conflict, Frame, loads
from .session import NeedsStatic, session
from .source import span_of
from .staging import Side, Status, constant

if TYPE_CHECKING:
    from .walker import Run, Walker


class Loops:
    """Mixed into the walker."""

    def run_For(self: Walker, node: ast.For, frame: Frame) -> Run:
        iterable = self.eval(node.iter, frame)
        self.at(node.iter, frame)
        frame.live.append(loads(node))
        try:
            if self.may_keep(node, iterable, frame):
                kept = yield from self.kept_for(node, iterable, frame)
                if kept:
                    return (yield from self.block(node.orelse, frame)) if node.orelse else None
            return (yield from self.iterations(node, self.iterate(iterable), frame))
        finally:
            frame.live.pop()

    # a for of the Program

    def may_keep(self: Walker, node: ast.For, iterable: Any, frame: Frame) -> bool:
        """Whether a loop is worth an attempt to keep it: long enough, over numbers or an array's rows, and left at its end only."""
        if frame.scope.generator or not isinstance(node.target, ast.Name) or _leaves_early(node):
            return False
        if isinstance(iterable, range):
            return len(iterable) >= KEPT_LENGTH
        return (
            is_symbolic(iterable)
            and isinstance(iterable, Array)
            and iterable.ndim > 0
            and isinstance(iterable.shape[0], int)
            and iterable.shape[0] >= KEPT_LENGTH
        )

    def kept_for(self: Walker, node: ast.For, iterable: Any, frame: Frame) -> Generator[Any, Any, bool]:
        """Keep a loop whose carried values have the same types at every turn; False where Python needs each turn by itself."""
        birth = Cell(Const(0)).birth
        known = {id(o) for o in self.reachable(frame)}
        builder = current()
        span, place = span_of(node, frame.file), builder.span
        turns = Turns(iterable)
        after = frozenset().union(*frame.live[:-1], frame.scope.shared)
        try:
            trial = yield from self.side(lambda: self.turn(node, turns, frame), birth, known)
            carried = Carried(self, frame, trial, node, skipped=node.target.id)  # type: ignore[attr-defined]
            for _ in range(8):
                if carried.flags or any(name in after for name in carried.unbound):
                    return False
                holder: dict[str, Any] = {}

                def body(holder: dict[str, Any] = holder) -> Run:
                    holder["params"] = carried.enter()
                    status = yield from self.turn(node, turns, frame)
                    holder["turn"] = turns.params
                    holder["results"] = carried.leave(status)
                    return status

                side = yield from self.side(body, birth, known)
                if turns.written():
                    return False
                if carried.extend(side) or holder["results"] is None:
                    continue
                inits, results = carried.inits(), holder["results"]
                if any(i.type != r.type for i, r in zip(inits, results, strict=True)):
                    if carried.widen(inits, results):
                        continue
                    return False
                if carried.aliases(after, birth) != []:
                    return False
                break
            else:
                return False
        except NeedsStatic:
            raise
        except Exception:  # noqa: BLE001  whatever it was, the loop turn by turn says it better or does not meet it
            builder.span = place
            return False
        index, *rows = holder["turn"]
        outs = tuple(Var(i.type, n) for i, n in zip(inits, carried.names(), strict=True))
        builder.append(
            For(
                outs=outs,
                length=turns.length,
                inits=tuple(inits),
                xs=tuple(turns.xs()),
                body=Block((index, *holder["params"], *rows), tuple(side.nodes), tuple(results)),
                span=span,
                section=builder.section,
                helper=builder.helper,
            )
        )
        carried.finish(outs)
        self.bind(node.target.id, turns.last(), frame)  # type: ignore[attr-defined]
        return True

    def turn(self: Walker, node: ast.For, turns: Turns, frame: Frame) -> Run:
        """One turn of a kept loop."""
        self.bind(node.target.id, turns.enter(), frame)  # type: ignore[attr-defined]
        status = yield from self.block(node.body, frame)
        if status is not None and set(status) - {"continue"}:
            raise Unsupported("leaving a kept loop", span=span_of(node, frame.file))
        return None

    def iterations(self: Walker, node: ast.For, items: Any, frame: Frame) -> Run:
        """Run the body for each item; after a break that depends on a value the rest of the loop runs only where it was not taken."""
        for item in items:
            self.unpack(node.target, item, frame)
            status = yield from self.block(node.body, frame)
            status, left = self.left(status)
            if left is None:
                continue
            if left is True:
                return status
            flag, kind, value, others = left

            def leave(kind: str = kind, value: Any = value) -> Run:
                return {kind: (True, value)}
                yield

            def go_on(others: Status = others) -> Run:
                return (yield from self.rest_of_loop(node, items, others, frame))

            status = yield from self.stage_if(flag, leave, go_on, frame, frozenset())
            return _without_break(status)
        if node.orelse:
            return (yield from self.block(node.orelse, frame))
        return None

    def rest_of_loop(self: Walker, node: ast.For, items: Any, others: Status, frame: Frame) -> Run:
        if not others:
            return (yield from self.iterations(node, items, frame))
        kind, (flag, value) = next(iter(others.items()))
        rest = {k: v for k, v in others.items() if k != kind}

        def leave() -> Run:
            return {kind: (True, value)}
            yield

        return (yield from self.stage_if(flag, leave, lambda: self.rest_of_loop(node, items, rest, frame), frame, frozenset()))

    def left(self: Walker, status: Status) -> tuple[Status, Any]:
        """What an iteration's status means for the loop: (status of the loop, None to go on, True to leave, or a condition to leave)."""
        if status is None:
            return None, None
        status = {k: v for k, v in status.items() if k != "continue"}
        if not status:
            return None, None
        kind, (flag, value) = next(iter(status.items()))
        if flag is True:
            return (None if kind == "break" else status), True
        return None, (flag, kind, value, {k: v for k, v in status.items() if k != kind})

    def run_While(self: Walker, node: ast.While, frame: Frame) -> Run:
        frame.live.append(loads(node))
        try:
            while True:
                before = len(current().nodes)
                test = self.eval(node.test, frame)
                if is_symbolic(test):
                    del current().nodes[before:]
                    return (yield from self.staged_while(node, frame))
                if not test:
                    break
                status = yield from self.block(node.body, frame)
                status, left = self.left(status)
                if left is True:
                    return status
                if left is not None:
                    flag, kind, value, others = left
                    if others:
                        raise Unsupported("break and return that both depend on values in one while loop", span=span_of(node, frame.file))

                    def leave(kind: str = kind, value: Any = value) -> Run:
                        return {kind: (True, value)}
                        yield

                    return _without_break(
                        (yield from self.stage_if(flag, leave, lambda: self.staged_while(node, frame), frame, frozenset()))
                    )
            if node.orelse:
                return (yield from self.block(node.orelse, frame))
            return None
        finally:
            frame.live.pop()

    # a while of the Program

    def staged_while(self: Walker, node: ast.While, frame: Frame, peeled: int = 0) -> Run:
        """Find what the loop carries by walking its body once, then walk test and body with the carried values as parameters."""
        birth = Cell(Const(0)).birth
        known = {id(o) for o in self.reachable(frame)}
        trial = yield from self.side(lambda: self.loop_body(node, frame), birth, known)
        carried = Carried(self, frame, trial, node)
        for _ in range(8):
            attempt = yield from self.attempt(node, frame, carried, birth, known)
            if attempt is None:
                continue
            if attempt is False:
                if peeled >= 2:
                    raise Unsupported(
                        "what this while loop carries changes its type at every turn",
                        span=span_of(node.test, frame.file),
                        hint="start with values of the type that the loop computes",
                    )
                return (yield from self.peel(node, frame, peeled))
            if node.orelse:
                if carried.flags:
                    raise Unsupported(
                        "else after a while loop that breaks on a value",
                        span=span_of(node, frame.file),
                        hint="keep a flag and test it after the loop",
                    )
                return (yield from self.block(node.orelse, frame))
            return None
        raise Unsupported("what this while loop carries could not be found", span=span_of(node, frame.file))

    def peel(self: Walker, node: ast.While, frame: Frame, peeled: int) -> Run:
        """One turn of the loop as a branch, so that the loop starts with the types that it keeps."""
        test = self.eval(node.test, frame)
        if is_symbolic(test):
            test = self.truth(test, "while", "PGR102", node.test, frame)

        def turn() -> Run:
            status = yield from self.block(node.body, frame)
            if status is not None and set(status) - {"continue"}:
                raise Unsupported("leaving a while loop whose carried values change their type", span=span_of(node, frame.file))
            return (yield from self.staged_while(node, frame, peeled + 1))

        def stop() -> Run:
            return None
            yield

        if not isinstance(test, Value):
            return (yield from (turn() if test else stop()))
        return (yield from self.stage_if(test, turn, stop, frame, frozenset()))

    def loop_body(self: Walker, node: ast.While, frame: Frame) -> Run:
        self.eval(node.test, frame)
        return (yield from self.block(node.body, frame))

    def attempt(self: Walker, node: ast.While, frame: Frame, carried: Carried, birth: int, known: set[int]) -> Any:
        """Walk the loop with what is carried so far; None when more turned out to be carried, False when a type does not hold."""
        builder = current()
        span = span_of(node, frame.file)
        holder: dict[str, Any] = {}

        def test() -> Run:
            holder["params"] = carried.enter()
            value = self.eval(node.test, frame)
            if is_symbolic(value):
                value = self.truth(value, "while", "PGR102", node.test, frame)
            holder["pred"] = self.running(value, carried)
            return None
            yield

        cond = yield from self.side(test, birth, known)
        cond_params = holder["params"]

        def body() -> Run:
            holder["params"] = carried.enter()
            self.eval(node.test, frame)
            status = yield from self.block(node.body, frame)
            holder["results"] = carried.leave(status)
            return status

        turn = yield from self.side(body, birth, known)
        if carried.extend(turn):
            return None
        results = holder["results"]
        if results is None:
            return None
        inits = carried.inits()
        if any(i.type != r.type for i, r in zip(inits, results, strict=True)):
            return None if carried.widen(inits, results) else False
        shared = carried.aliases(frozenset().union(*frame.live[:-1], frame.scope.shared), birth)
        if shared is None:
            raise Unsupported(
                "this while loop writes into an array that another name shares in some turns only",
                span=span,
                hint="take a copy before the loop, or write into one array by its own name",
            )
        outs = tuple(Var(i.type, n) for i, n in zip(inits, carried.names(), strict=True))
        builder.append(
            While(
                outs=outs,
                inits=tuple(inits),
                cond=Block(tuple(cond_params), tuple(cond.nodes), (atom_of(holder["pred"]),)),
                body=Block(tuple(holder["params"]), tuple(turn.nodes), tuple(results)),
                span=span,
                section=builder.section,
                helper=builder.helper,
            )
        )
        carried.finish(outs)
        carried.link(shared)
        return _DONE

    def running(self: Walker, test: Any, carried: Carried) -> Any:
        """The loop's test, and that it was not left."""
        test = test if isinstance(test, Value) else bool(test)
        for flag in carried.flags:
            going = call("numpy.logical_not", Scalar(carried.current[flag]))
            test = going if test is True else call("numpy.logical_and", going, test)
        return test


KEPT_LENGTH = 8  # shorter loops are written out turn by turn


class Turns:
    """What a kept loop runs over: a range, or the rows of an array."""

    def __init__(self, iterable: Any) -> None:
        self.iterable = iterable
        self.length = len(iterable) if isinstance(iterable, range) else int(iterable.shape[0])
        self.params: list[Var] = []
        self.row: Any = None

    def enter(self) -> Any:
        """The loop variable of one turn."""
        index = Var(Type(np.dtype(np.int64), (), weak=True, scalar=True), "i")
        self.params = [index]
        if isinstance(self.iterable, range):
            i: Any = Scalar(index)
            step, start = self.iterable.step, self.iterable.start
            i = i if step == 1 else i * step
            return i if start == 0 else i + start
        t = self.iterable.type
        shape = t.shape[1:]
        row = Var(Type(t.dtype, shape, scalar=not shape))
        self.params.append(row)
        self.row = _standing_for(row, self.iterable) if shape else Scalar(row)
        return self.row

    def written(self) -> bool:
        """Whether the body writes into the row, which is a view of the array."""
        return isinstance(self.row, Array) and self.row.cell.version > 0

    def xs(self) -> list[Atom]:
        return [] if isinstance(self.iterable, range) else [self.iterable.atom]

    def last(self) -> Any:
        """What the loop variable is after the loop."""
        return self.iterable[-1]


def _leaves_early(node: ast.For) -> bool:
    """Whether the body may break, return or yield."""
    stack: list[ast.AST] = list(node.body)
    while stack:
        n = stack.pop()
        if isinstance(n, (ast.Break, ast.Return, ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(n, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            stack.extend(ast.iter_child_nodes(n))
    return False


_DONE: Any = object()


def _without_break(status: Status) -> Status:
    if status is None:
        return None
    rest = {k: v for k, v in status.items() if k not in ("break", "continue")}
    return rest or None


class Carried:
    """What a loop carries: names and memory that its body changes, and whether it was left early.

    A slot is a place that holds a number or array: (kind, holder, key); containers are taken apart.
    """

    def __init__(self, walker: Walker, frame: Frame, trial: Side, node: ast.While | ast.For, skipped: str = "") -> None:
        self.skipped = skipped
        self.walker = walker
        self.frame = frame
        self.node = node
        self.slots: dict[Any, tuple[Any, Any]] = {}
        self.flags: list[Any] = []
        self.current: dict[Any, Atom] = {}
        self.returned: Any = None
        self.unbound: list[str] = []
        self.types: dict[Any, Type] = {}
        self.entered: dict[Any, tuple[Array, Array]] = {}  # what came in, and what stood for it in the body
        self.left: dict[Any, Array] = {}
        self.extend(trial)
        self._status(trial.status)

    def _status(self, status: Status) -> None:
        for kind in status or {}:
            if kind == "break" and ("flag", kind) not in self.flags:
                self.flags.append(("flag", kind))
            elif kind == "return":
                raise Unsupported(
                    "return inside a while loop decided by a value",
                    span=span_of(self.node, self.frame.file),
                    hint="break out of the loop and return after it",
                )

    def extend(self, side: Side) -> bool:
        """Add what a walk of the body changed; whether anything was new."""
        before = (len(self.slots), len(self.unbound), len(self.flags))
        for obj, old, new in side.changed.values():
            if isinstance(obj, Cell):
                self.slots.setdefault(("cell", id(obj)), (obj, None))
            elif isinstance(obj, Frame):
                self._names(obj, old, new)
            else:
                self._container(obj, old, new)
        self._status(side.status)
        return (len(self.slots), len(self.unbound), len(self.flags)) != before

    def _names(self, frame: Frame, old: dict[str, Any], new: dict[str, Any]) -> None:
        for name, value in new.items():
            if name == self.skipped and frame is self.frame:
                continue
            if name not in old:
                if name not in self.unbound:
                    self.unbound.append(name)
            elif value is not old[name] and not _same(value, old[name]):
                if not isinstance(old[name], (Value, bool, int, float, complex)) and not _is_number(old[name]):
                    self._structure(frame, name, old[name], value)
                self.slots.setdefault(("name", id(frame), name), (frame, name))

    def _structure(self, frame: Frame, name: str, old: Any, new: Any) -> None:
        if isinstance(old, tuple) and isinstance(new, tuple) and len(old) == len(new):
            return
        raise Unsupported(
            f"`{name}` changes from {type(old).__name__} to {type(new).__name__} in a while loop decided by a value",
            span=span_of(self.node, frame.file),
            hint="carry arrays and numbers",
        )

    def _container(self, obj: Any, old: Any, new: Any) -> None:
        keys = range(len(old)) if isinstance(old, list) else old
        if len(old) != len(new):
            raise Unsupported(
                f"a {type(obj).__name__} grows in a while loop decided by a value: its length would not be known",
                span=span_of(self.node, self.frame.file),
                hint="keep a fixed buffer, or a running result",
            )
        for k in keys:
            if old[k] is not new[k]:
                self.slots.setdefault(("item", id(obj), k), (obj, k))

    def _read(self, slot: Any) -> Any:
        obj, key = self.slots[slot]
        if slot[0] == "cell":
            return obj.atom
        return (
            obj.locals[key]
            if slot[0] == "name"
            else obj[key]
            if not hasattr(obj, "__dict__") or isinstance(obj, (list, dict))
            else vars(obj)[key]
        )

    def _write(self, slot: Any, value: Any) -> None:
        obj, key = self.slots[slot]
        session().touch(obj)
        if slot[0] == "cell":
            obj.atom = value
            obj.version += 1
        elif slot[0] == "name":
            obj.locals[key] = value
        elif isinstance(obj, (list, dict)):
            obj[key] = value
        else:
            vars(obj)[key] = value

    def leaves(self) -> list[tuple[Any, Any]]:
        """(slot, position in a tuple or None) for everything carried."""
        out: list[tuple[Any, Any]] = []
        for slot in self.slots:
            value = self._read(slot)
            if isinstance(value, tuple):
                out.extend((slot, k) for k in range(len(value)))
            else:
                out.append((slot, None))
        return out

    def _atom(self, slot: Any, k: Any) -> Atom:
        value = self._read(slot)
        return atom_of(value if k is None else value[k])

    def inits(self) -> list[Atom]:
        """What is carried into the loop, in the types that it keeps."""
        atoms = [self._converted(place, self._atom(*place)) for place in self.leaves()]
        return [*atoms, *(Const(False) for _ in self.flags)]

    def _converted(self, place: Any, atom: Atom) -> Atom:
        wanted = self.types.get(place)
        if wanted is None or atom.type == wanted:
            return atom
        if isinstance(atom, Const):
            return constant(atom.value, wanted)
        return atom_of(call("numpy.astype", Scalar(atom), wanted.dtype))

    def widen(self, inits: list[Atom], results: list[Atom]) -> bool:
        """A Python number takes the type that the loop gives it: the same number, as an array's scalar. Whether that settles it."""
        changed = False
        for place, i, r in zip(self.leaves(), inits, results, strict=False):
            if i.type == r.type:
                continue
            if not i.type.weak or r.type.shape or np.result_type(i.type.dtype, r.type.dtype) != r.type.dtype and i.type.dtype.kind != "f":
                return False
            if self.types.get(place) == r.type:
                return False
            self.types[place] = r.type
            changed = True
        return changed

    def names(self) -> list[str | None]:
        return [
            *(s[2] if s[0] == "name" and k is None else self.slots[s][0].name if s[0] == "cell" else None for s, k in self.leaves()),
            *("done" for _ in self.flags),
        ]

    def enter(self) -> list[Var]:
        """Put parameters where the carried values are; the parameters."""
        inits = self.inits()
        params = [Var(a.type, n) for a, n in zip(inits, self.names(), strict=True)]
        before = self._arrays()
        self._place(params)
        fresh = self._arrays()
        self.entered = {place: (old, fresh[place]) for place, old in before.items() if place in fresh}
        for flag, p in zip(self.flags, params[len(params) - len(self.flags) :], strict=True):
            self.current[flag] = p
        return params

    def _place(self, atoms: Any) -> None:
        places = self.leaves()
        tuples: dict[Any, list[Any]] = {}
        for (slot, k), atom in zip(places, atoms, strict=False):
            old = self._read(slot)
            if slot[0] == "cell":
                self._write(slot, atom)
            elif k is None:
                self._write(slot, _standing_for(atom, old))
            else:
                tuples.setdefault(slot, list(old))[k] = _standing_for(atom, old[k])
        for slot, items in tuples.items():
            self._write(slot, tuple(items))

    def leave(self, status: Status) -> list[Atom] | None:
        """The carried values at the end of the body."""
        self.left = self._arrays()
        try:
            atoms = [
                self._converted(place, self._atom(*place)) if self._atom(*place).type.weak else self._atom(*place)
                for place in self.leaves()
            ]
        except (TypeError, IndexError):
            return None
        for _, kind in self.flags:
            flag = (status or {}).get(kind, (False, None))[0]
            atoms.append(flag.atom if isinstance(flag, Value) else Const(bool(flag)))
        return atoms

    def _arrays(self) -> dict[Any, Array]:
        """The arrays among what names and containers carry: each turn has them in memory of its own."""
        found = {}
        for slot, k in self.leaves():
            if slot[0] != "cell":
                value = self._read(slot)
                value = value if k is None else value[k]
                if isinstance(value, Array):
                    found[slot, k] = value
        return found

    def aliases(self, after: frozenset[str], birth: int) -> list[tuple[Any, Any]] | None:
        """Pairs of (carried place, place or cell) that may be one memory after the loop; None where the body writes what may be shared."""
        alive = after | loads(self.node)

        def name(place: Any) -> str | None:
            slot = place[0]
            return slot[2] if slot[0] == "name" and slot[1] == id(self.frame) else None

        def lives(place: Any) -> bool:
            return name(place) is None or name(place) in after

        def aliased(array: Array, place: Any) -> bool:
            cell = array.cell
            seen_outside = cell.owner.kind == "argument" and cell.owner.mapped is not None
            return bool(array.path) or seen_outside or self.walker.references(cell, self.frame, alive, name(place)) > 0

        written = {place for place, (_, fresh) in self.entered.items() if fresh.cell.version > 0}
        if any(aliased(old, place) for place, (old, _) in self.entered.items() if place in written):
            return None
        origin = {id(fresh.cell): (place, old) for place, (old, fresh) in self.entered.items()}
        shared: list[tuple[Any, Any]] = []
        holders: dict[int, list[Any]] = {}
        for place, value in self.left.items():
            holders.setdefault(id(value.cell), []).append(place)
            source = origin.get(id(value.cell))
            if source is not None and source[0] != place and aliased(source[1], source[0]):
                other = source[1].cell
            elif source is None and value.cell.birth <= birth and self.walker.references(value.cell, self.frame, alive, name(place)) > 0:
                other = value.cell
            else:
                continue
            if place in written:
                return None
            if lives(place):
                shared.append((place, other))
        for places in holders.values():
            if len(places) > 1 and any(p in written for p in places):
                return None
            living = [p for p in places if lives(p)]
            shared.extend((p, q) for p in living for q in living if p != q)
        return shared

    def link(self, shared: list[tuple[Any, Any]]) -> None:
        """Note after the loop what may be one memory."""
        arrays = self._arrays()
        for place, other in shared:
            cell = other if isinstance(other, Cell) else arrays[other].cell
            if place in arrays:
                arrays[place].cell.may_share(cell, "after a loop decided by a value")

    def finish(self, outs: tuple[Var, ...]) -> Status:
        """Put the loop's results where the carried values are."""
        self._place(outs[: len(outs) - len(self.flags)] if self.flags else outs)
        for name in self.unbound:
            session().touch(self.frame)
            self.frame.locals[name] = Conflict("is bound only inside a while loop that may not run")
        return None


def _standing_for(atom: Atom, old: Any) -> Any:
    if isinstance(old, Array) or (isinstance(old, Value) and not atom.type.scalar):
        cell = Cell(atom, current())
        cell.name = atom.name
        return Array(cell)
    return Scalar(atom)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, Array) and isinstance(b, Array):
        return a.cell is b.cell and a.path == b.path
    try:
        return type(a) is type(b) and not isinstance(a, Value) and bool(a == b)
    except Exception:  # noqa: BLE001  a comparison of the user's own may raise anything
        return False


def _is_number(x: Any) -> bool:
    return hasattr(x, "dtype")
