"""What a loop of the Program carries from turn to turn."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.builder import Value, atom_of, call, current
from ..core.program import Atom, Const, Var
from ..core.types import Type, loop_sized
from ..errors import Unsupported
from .cells import Array, Cell, Scalar
from .frames import Conflict, Frame, flag_of, is_flag, loads
from .joins import Side, Status, carriable, constant, zero
from .session import OpenContainers, session
from .source import span_of

if TYPE_CHECKING:
    from .walker import Walker


class Carried:
    """What a loop carries: names and memory that its body changes, and whether it was left early.

    A slot is a place that holds a number or array: (kind, holder, key); containers are taken apart.
    """

    def __init__(
        self,
        walker: Walker,
        frame: Frame,
        trial: Side,
        node: ast.While | ast.For,
        birth: int,
        known: set[int],
        skipped: frozenset[str] = frozenset(),
    ) -> None:
        self.skipped = skipped
        self.birth, self.known = birth, known
        self.walker = walker
        self.frame = frame
        self.node = node
        self.slots: dict[Any, tuple[Any, Any]] = {}
        self.flags: list[Any] = []
        self.current: dict[Any, Atom] = {}
        self.returned = Returned(None, self)
        self.returned_types: list[Type] = []
        self.endless = False  # whether the loop's test is always true
        self.unbound: dict[str, tuple[Frame, Any]] = {}  # names that the body binds first, and to what
        self.standing: set[Any] = set()  # the slots of those among them that are read after the loop
        self.types: dict[Any, Type] = {}
        self.entered: dict[Any, tuple[Array, Array]] = {}  # what came in, and what stood for it in the body
        self.parameters: dict[Any, Atom] = {}
        self.left: dict[Any, Array] = {}
        self.extend(trial)
        self._status(trial.status)

    def _status(self, status: Status) -> None:
        for kind in status or {}:
            if kind in ("break", "return") and ("flag", kind) not in self.flags:
                self.flags.append(("flag", kind))

    def extend(self, side: Side) -> bool:
        """Add what a walk of the body changed; whether anything was new."""
        before = (len(self.slots), len(self.unbound), len(self.flags))
        for obj, old, new in side.changed.values():
            if isinstance(obj, OpenContainers):
                continue
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
            if name in self.skipped and frame is self.frame:
                continue
            if name not in old and not is_flag(name):
                if frame is self.frame or id(frame) in self.known:
                    self.unbound[name] = frame, value
            elif name not in old:
                if name[:-1] in old:
                    self.slots.setdefault(("name", id(frame), name), (frame, name))
            elif value is not old[name] and not _same(value, old[name]):
                if not isinstance(old[name], (Value, bool, int, float, complex)) and not _is_number(old[name]):
                    self._structure(frame, name, old[name], value)
                self.slots.setdefault(("name", id(frame), name), (frame, name))
        for name in old:
            if is_flag(name) and name not in new:
                self.slots.setdefault(("name", id(frame), name), (frame, name))

    def stand_in(self, read: frozenset[str]) -> bool:
        """Carry the names that the body binds and that are ``read``, from placeholders on, and whether they are bound by now; whether
        that is possible."""
        possible = True
        for name in [n for n in self.unbound if n in read]:
            frame, value = self.unbound[name]
            items = value if type(value) is tuple else (value,)
            if frame is not self.frame or not carriable(value):
                possible = False
                continue
            del self.unbound[name]
            placeholders = tuple(_standing_for(zero(atom_of(v).type), v) for v in items)
            self._stands(name, placeholders if items is value else placeholders[0])
            self._stands(flag_of(name), False)
        return possible

    def _stands(self, name: str, placeholder: Any) -> None:
        slot = ("name", id(self.frame), name)
        self.standing.add(slot)
        self.slots[slot] = (self.frame, name)
        self._write(slot, placeholder)

    def withdraw(self) -> None:
        """Unbind the placeholders again."""
        for _, _, name in self.standing:
            self.frame.locals.pop(name, None)

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
        if slot[0] == "name":
            return obj.locals.get(key, True) if is_flag(key) else obj.locals[key]
        return obj[key] if not hasattr(obj, "__dict__") or isinstance(obj, (list, dict)) else vars(obj)[key]

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
        return [*atoms, *(Const(False) for _ in self.flags), *map(zero, self.returned_types)]

    def _converted(self, place: Any, atom: Atom) -> Atom:
        wanted = self.types.get(place)
        if wanted is None or atom.type == wanted:
            return atom
        if isinstance(atom, Const):
            return constant(atom.value, wanted)
        return atom_of(call("numpy.astype", Scalar(atom), wanted.dtype))

    def widen(self, inits: list[Atom], results: list[Atom]) -> bool:
        """A Python number takes the type that the loop gives it: the same number, as an array's scalar; so does a placeholder. Whether that
        settles it."""
        changed = False
        for place, i, r in zip(self.leaves(), inits, results, strict=False):
            if i.type == r.type:
                continue
            if place[0] in self.standing:
                self._replace({place: zero(r.type)})
                changed = True
                continue
            if not i.type.weak or r.type.shape or np.result_type(i.type.dtype, r.type.dtype) != r.type.dtype and i.type.dtype.kind != "f":
                return False
            if self.types.get(place) == r.type:
                return False
            self.types[place] = r.type
            changed = True
        return changed

    def names(self) -> list[str | None]:
        def word(slot: Any, k: Any) -> Any:
            if slot[0] == "cell":
                return self.slots[slot][0].name
            return slot[2].replace("?", "_bound") if slot[0] == "name" and k is None else None

        return [
            *(word(*place) for place in self.leaves()),
            *("done" if kind == "break" else "returned" for _, kind in self.flags),
            *("result" for _ in self.returned_types),
        ]

    def enter(self) -> list[Var]:
        """Put parameters where the carried values are; the parameters."""
        inits = self.inits()
        params = [Var(a.type, n) for a, n in zip(inits, self.names(), strict=True)]
        before = self._arrays()
        elsewhere = {place for place, old in before.items() if self._seen_elsewhere(place, old)}
        self._place(params)
        fresh = self._arrays()
        for place in elsewhere:
            fresh[place].cell.elsewhere = True
        self.entered = {place: (old, fresh[place]) for place, old in before.items() if place in fresh}
        self.parameters = {place: fresh[place].cell.atom for place in self.entered}
        self._flagged(params)
        return params

    def _seen_elsewhere(self, place: Any, old: Array) -> bool:
        """Whether what comes into the loop may be reached by another name than the one that carries it, now or after the loop."""
        read = frozenset().union(*self.frame.live, self.frame.scope.shared)
        return any(self._leads(c, place, read) for c in _may_be(old))

    def _leads(self, cell: Cell, place: Any, read: frozenset[str]) -> bool:
        """Whether anything but a carried place, among the names that are ``read``, leads to memory from before the loop."""
        if cell.owner.kind == "captured" or cell.owner.mapped is not None:
            return True
        return self.walker.references(cell, self.frame, read, self._own_name(place)) > 0

    def _own_name(self, place: Any) -> str | None:
        slot = place[0]
        return slot[2] if slot[0] == "name" and slot[1] == id(self.frame) else None

    def _flagged(self, atoms: Sequence[Atom]) -> Sequence[Atom]:
        """Take the flags and what is returned from what is carried; those of the values returned."""
        first = len(atoms) - len(self.flags) - len(self.returned_types)
        self.current.update(zip(self.flags, atoms[first:]))
        return atoms[first + len(self.flags) :]

    def _place(self, atoms: Sequence[Atom]) -> None:
        self._replace(dict(zip(self.leaves(), atoms)))

    def _replace(self, atoms: dict[Any, Atom]) -> None:
        tuples: dict[Any, list[Any]] = {}
        for (slot, k), atom in atoms.items():
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
        if ("flag", "return") in self.flags:
            if status is None or "return" not in status:
                return None
            self.returned = Returned(status["return"][1], self)
            results = self.returned.atoms()
            before, self.returned_types = self.returned_types, [a.type for a in results]
            if before != self.returned_types:
                return None
            atoms.extend(results)
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

    def aliases(
        self, after: frozenset[str], birth: int, used: set[Any], rows: Sequence[tuple[Array, Array]] = ()
    ) -> list[tuple[Any, Any]] | None:
        """Pairs of (carried place, place or cell) that may be one memory after the loop; None where the body writes what may be shared.

        ``used`` are the variables that the loop reads: a carried name that is bound anew before it is read shares nothing inside. ``rows``
        are the arrays that a loop runs over, with what stands for a row of each.
        """
        inside = after | loads(self.node)

        turns = Memories.at_entry(self.entered)
        of_row = {id(row.cell): array.cell for array, row in rows}
        while True:
            after_turn = turns.after_turn(self.entered, self.left, birth, of_row)
            more = turns.joined(after_turn)
            if more == turns:
                break
            turns = more
        written = [place for place, (_, fresh) in self.entered.items() if fresh.cell.version > 0]
        read = [place for place in self.entered if self.parameters[place] in used or place in written]
        cells = {id(obj) for slot, (obj, _) in self.slots.items() if slot[0] == "cell"}
        if any(id(c) in cells for p in read for c in turns.outside[p].values()) or any(id(a.cell) in cells for a, _ in rows):
            return None
        for p in written:
            if any(self._leads(c, p, inside) for c in turns.outside[p].values()) or any((p, q) in turns.pairs for q in read if q != p):
                return None
        final = turns if isinstance(self.node, ast.While) else after_turn
        living = [p for p in self.entered if self._own_name(p) is None or self._own_name(p) in after]
        shared: list[tuple[Any, Any]] = []
        for p in living:
            shared += [(p, c) for c in final.outside[p].values() if self._leads(c, p, after)]
            shared += [(p, q) for q in living if (p, q) in final.pairs]
        return shared

    def link(self, shared: list[tuple[Any, Any]]) -> None:
        """Note after the loop what may be one memory."""
        arrays = self._arrays()
        for place, other in shared:
            cell = other if isinstance(other, Cell) else arrays[other].cell
            if place in arrays:
                arrays[place].cell.may_share(cell, "after a loop decided by a value")

    def finish(self, outs: tuple[Var, ...]) -> Status:
        """Put the loop's results where the carried values are; the status that the loop leaves behind."""
        results = self._flagged(outs)
        self._place(outs[: len(outs) - len(self.flags) - len(results)])
        for name, (frame, _) in self.unbound.items():
            session().touch(frame)
            frame.locals[name] = Conflict("is bound only inside a loop that may not run")
        if ("flag", "return") not in self.flags:
            return None
        surely = self.endless and self.broken is None
        return {"return": (True if surely else Scalar(self.current["flag", "return"]), self.returned.rebuilt(results))}

    @property
    def broken(self) -> Scalar | None:
        """Whether the loop was left by break; None where it has none."""
        return Scalar(self.current["flag", "break"]) if ("flag", "break") in self.flags else None


class Returned:
    """What a loop returns in the turn that leaves the function. Numbers and the memory that the turn made are carried; what was there
    before the loop is itself."""

    def __init__(self, value: Any, carried: Carried) -> None:
        self.value = value
        self.carried = carried
        self.sources: dict[Any, Any] = {}  # what has to be carried: a cell, or a number or view
        self.keys: dict[int, Any] = {}  # the source of each array
        self._find(value)

    def _find(self, x: Any) -> None:
        if isinstance(x, Array):
            if x.cell.birth > self.carried.birth or not x.reachable:
                source = x.cell if x.reachable else x
                self.keys[id(x)] = id(source)
                self.sources[id(source)] = source
        elif isinstance(x, Value):
            self.sources[id(x)] = x
        elif id(x) in self.carried.known:
            return
        elif isinstance(x, (list, tuple)):
            for v in x:
                self._find(v)
        elif isinstance(x, dict):
            for v in x.values():
                self._find(v)
        elif isinstance(x, Conflict) or hasattr(x, "__dict__"):
            reason = x.reason if isinstance(x, Conflict) else f"is a {type(x).__name__}"
            raise Unsupported(
                f"what is returned inside a loop decided by a value {reason}",
                span=current().span,
                hint="break out of the loop and return after it",
            )

    def atoms(self) -> list[Atom]:
        """What is carried of it."""
        found = [x.atom for x in self.sources.values()]
        if any(loop_sized(a.type) for a in found):
            raise Unsupported(
                "what is returned inside a loop decided by a value has a shape that only the values know",
                code="PGR702",
                span=current().span,
                hint="reduce it first: np.sum(x[mask])",
            )
        return found

    def rebuilt(self, atoms: Sequence[Atom]) -> Any:
        """The value after the loop."""
        arrays = self.carried._arrays()
        entered = {id(fresh.cell): place for place, (_, fresh) in self.carried.entered.items()}
        made: dict[Any, Any] = {}
        for (key, x), atom in zip(self.sources.items(), atoms, strict=True):
            if not isinstance(x, (Cell, Array)):
                made[key] = Scalar(atom)
                continue
            made[key] = cell = Cell(atom, current())
            cell.name = atom.name
            own = x if isinstance(x, Cell) else x.cell
            places = [place for place, left in self.carried.left.items() if left.cell is own]
            places += [entered[id(own)]] if id(own) in entered else []
            for place in places:
                if place in arrays:
                    cell.may_share(arrays[place].cell, "after a loop decided by a value")
            if own.birth <= self.carried.birth:
                cell.may_share(own, "after a loop decided by a value")
        return self._with(self.value, made)

    def _with(self, x: Any, made: dict[Any, Any]) -> Any:
        if isinstance(x, Array):
            key = self.keys.get(id(x))
            return x if key is None else Array(made[key], x.path if key == id(x.cell) else ())
        if isinstance(x, Value):
            return made[id(x)]
        if id(x) in self.carried.known:
            return x
        if isinstance(x, (list, tuple)):
            items = [self._with(v, made) for v in x]
            return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
        return {k: self._with(v, made) for k, v in x.items()} if isinstance(x, dict) else x


@dataclass
class Memories:
    """Which memory carried arrays may be: cells from before the loop (``outside``), or each other's (``pairs``)."""

    outside: dict[Any, dict[int, Cell]]
    pairs: set[tuple[Any, Any]]

    @classmethod
    def at_entry(cls, entered: dict[Any, tuple[Array, Array]]) -> Memories:
        outside = {place: {id(c): c for c in _may_be(old)} for place, (old, _) in entered.items()}
        return cls(outside, {(p, q) for p in entered for q in entered if p != q and outside[p].keys() & outside[q].keys()})

    def after_turn(self, entered: dict[Any, tuple[Array, Array]], left: dict[Any, Array], birth: int, of_row: dict[int, Cell]) -> Memories:
        """What holds after a turn if this holds before it; ``of_row`` says which array's row a cell stands for."""
        parameters = {id(fresh.cell): place for place, (_, fresh) in entered.items()}
        given = {place: {parameters.get(id(c)) for c in _may_be(left[place])} - {None} for place in entered}
        new = {place: [of_row.get(id(c), c) for c in _may_be(left[place]) if id(c) not in parameters] for place in entered}
        own = {place: {id(c): c for c in cells} for place, cells in new.items()}
        outside = {}
        for place, cells in own.items():
            outside[place] = {k: c for k, c in cells.items() if c.birth <= birth or c.owner.kind != "local"}
            for r in given[place]:
                outside[place].update(self.outside[r])

        def one(p: Any, q: Any) -> bool:
            return bool(
                own[p].keys() & own[q].keys()
                or any(r == t or (r, t) in self.pairs for r in given[p] for t in given[q])
                or any(own[p].keys() & self.outside[t].keys() for t in given[q])
                or any(own[q].keys() & self.outside[r].keys() for r in given[p])
            )

        return Memories(outside, {(p, q) for p in entered for q in entered if p != q and one(p, q)})

    def joined(self, other: Memories) -> Memories:
        return Memories({p: {**self.outside[p], **other.outside[p]} for p in self.outside}, self.pairs | other.pairs)


def _may_be(array: Array) -> list[Cell]:
    """The memory that an array may be: more than one after a branch that left it open."""
    return [array.cell, *(other for other, _ in array.cell.shares)]


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
