"""What one compilation remembers beside the Program: what was captured, what it depends on, which Python objects were changed.

A session spans all traces of one call, nested transforms included. It belongs to one thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core.builder import Builder, Value, atom_of, current
from ..core.program import Atom, Const, Var, blocks_of, node_vars
from ..errors import PergradError, Refused, Step, Unsupported, VmapViolation
from .cells import Array, Cell, Memory, Owner, note_order
from .generators import KINDS, TYPE, Generator
from .guards import CONTAINERS, Contents, Guard
from .sharing import Sharing

_local = threading.local()


@dataclass(eq=False)
class Path:
    """How to read a captured object again: a global, a closure variable, an attribute, an item, or the object itself."""

    kind: str
    holder: Any
    key: Any
    text: str

    def get(self) -> Any:
        match self.kind:
            case "global":
                return self.holder[self.key]
            case "closure":
                return self.holder.cell_contents
            case "attribute":
                return getattr(self.holder.get(), self.key)
            case "item":
                return self.holder.get()[self.key]
            case "keys":
                now = self.holder.get()
                return list(now) if isinstance(now, dict) else len(now)
        return self.holder

    @property
    def root(self) -> Path:
        return self.holder.root if isinstance(self.holder, Path) else self


class NeedsStatic(Exception):
    """Python needs the value of an argument: walk again with it static."""

    def __init__(self, indices: frozenset[Any], error: PergradError) -> None:
        super().__init__(str(error))
        self.indices = indices
        self.error = error


class Undecided(PergradError, RuntimeError):
    """Python needs a value that only exists at run time."""

    code = "PGR701"
    batched = False
    subject = ""


class OpenContainers(Memory):
    """Lists, dicts and dataclasses of which a branch left open which one a name means, and why: they may be read, not written."""

    def __init__(self) -> None:
        self.reasons: dict[int, tuple[Any, str]] = {}

    def snapshot(self) -> dict[int, tuple[Any, str]]:
        return dict(self.reasons)

    def restore(self, before: dict[int, tuple[Any, str]]) -> None:
        self.reasons = dict(before)


_PLAIN = (int, float, complex, str, bytes, bool, type(None), type(Ellipsis))


@dataclass(eq=False)
class Session:
    """One compilation. ``captures`` are hidden parameters: path, variable; ``scalars`` the parameters that may be asked to be static."""

    builder: Builder
    captures: list[tuple[Path, Var]] = field(default_factory=list)
    guards: list[Guard] = field(default_factory=list)
    scalars: dict[Var, Any] = field(default_factory=dict)
    statics: frozenset[Any] = frozenset()
    _arrays: dict[Any, Array] = field(default_factory=dict)
    _generators: dict[Any, Generator] = field(default_factory=dict)
    _paths: dict[int, tuple[Any, Path]] = field(default_factory=dict)
    _guarded: set[Any] = field(default_factory=set)
    _journals: list[dict[Any, Any]] = field(default_factory=list)
    mapped: dict[Var, str] = field(default_factory=dict)
    vmaps: int = 0
    derivatives: int = 0  # those whose function is being walked
    sharing: Sharing = field(default_factory=Sharing)
    stages: list[tuple[str, Any]] = field(default_factory=list)
    outer: dict[Var, Atom] = field(default_factory=dict)
    staged: int = 0
    ordered: set[str] = field(default_factory=set)  # arguments whose memory must be in C order
    open: OpenContainers = field(default_factory=OpenContainers)

    # captures

    def capture(self, path: Path, value: Any) -> Any:
        """What a captured object is inside: an array a hidden parameter, a plain value itself under a guard, anything else by path."""
        if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
            return self._hidden(path, value)
        if isinstance(value, KINDS):
            return self._generator(path, value)
        if path.root.kind == "argument":
            if not isinstance(value, (*_PLAIN, Value)):
                self.remember(value, path)
            return value
        if isinstance(value, _PLAIN) or isinstance(value, np.generic):
            self._guard(path, value, equal=True)
        elif isinstance(value, tuple) and all(isinstance(v, _PLAIN) for v in value):
            self._guard(path, value, equal=True)
        else:
            self._guard(path, value, equal=False)
            self.remember(value, path)
        return value

    def _key(self, path: Path) -> Any:
        holder = self._key(path.holder) if isinstance(path.holder, Path) else id(path.holder)
        key = path.key if isinstance(path.key, (str, int)) else id(path.key)
        return (path.kind, holder, key)

    def _hidden(self, path: Path, value: np.ndarray[Any, Any]) -> Any:
        key = self._key(path)
        if ("static", key) in self.statics:
            self._guard(path, value.copy(), equal=True)
            from .cells import wrap

            return wrap(Const(np.array(value)))
        if key not in self._arrays:
            var = Var(Const(value).type, path.text.rpartition(".")[2].strip("[]'\"") or None)
            if not (var.name or "").isidentifier():
                var.name = None
            self.captures.append((path, var))
            cell = Cell(var, None, Owner("captured", path.text))
            cell.name = path.text
            self._arrays[key] = Array(cell)
        return self._arrays[key]

    def _generator(self, path: Path, value: Any) -> Any:
        key = self._key(path)
        if key not in self._generators:
            name = path.text.rpartition(".")[2]
            var = Var(TYPE, name.lower() if name.isidentifier() else "generator")
            self.captures.append((path, var))
            self._generators[key] = Generator(var, type(value))
        return self._generators[key]

    def _guard(self, path: Path, value: Any, *, equal: bool) -> None:
        if path.kind == "object" or path.root.kind == "argument":
            return
        key = self._key(path)
        if key not in self._guarded:
            self._guarded.add(key)
            self.guards.append(Guard(path, value, equal))

    def remember(self, value: Any, path: Path) -> None:
        """Note that an object existed before the walk and how to reach it."""
        self._paths.setdefault(id(value), (value, path))

    def path_of(self, value: Any) -> Path | None:
        """The path of an object that existed before the walk."""
        found = self._paths.get(id(value))
        return found[1] if found and found[0] is value else None

    def attribute(self, holder: Any, name: str, value: Any) -> Any:
        """An attribute that was read from an object: captured when the object was. A method of a container is bound anew whenever it is
        read."""
        path = self.path_of(holder)
        if path is None or getattr(value, "__self__", None) is holder:
            return value
        return self.capture(Path("attribute", path, name, f"{path.text}.{name}"), value)

    def item(self, holder: Any, key: Any, value: Any) -> Any:
        """An item that was read from a container: captured when the container was."""
        path = self.path_of(holder)
        if path is None:
            return value
        return self.capture(Path("item", path, key, f"{path.text}[{key!r}]"), value)

    def items(self, holder: Any) -> list[Any]:
        """The contents of a captured list, tuple or dict, captured one by one; its length or keys are guarded."""
        self.measured(holder)
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        return [self.item(holder, k, holder[k]) for k in keys]

    def whole(self, x: Any) -> None:
        """Guard all that a captured container holds, also one in a tuple or list: something has read it that does not say what it read."""
        path = self.path_of(x) if isinstance(x, CONTAINERS) else None
        if path is None:
            for v in x if type(x) in (tuple, list) else ():
                if isinstance(v, CONTAINERS) and self.path_of(v) is not None:
                    self.whole(v)
        elif path.root.kind != "argument" and ("contents", self._key(path)) not in self._guarded:
            self._guarded.add(("contents", self._key(path)))
            self.guards.append(Contents.of(path, x))

    def measured(self, holder: Any) -> None:
        """Guard the length of a captured list or tuple, the keys of a captured dict: the walk has asked for them."""
        if not isinstance(holder, (list, tuple, dict)):
            self.whole(holder)
        path = self.path_of(holder) if isinstance(holder, (list, tuple, dict)) else None
        if path is not None and path.root.kind != "argument":
            self._guard(Path("keys", path, "", path.text), list(holder) if isinstance(holder, dict) else len(holder), equal=True)

    # writes

    def write(self, cell: Cell, new: Atom) -> None:
        """Put a new value into a cell, if the policy allows it."""
        self.check_write(cell, new)
        if cell.owner.kind == "argument":
            note_order(cell.owner, written=True)
        self.touch(cell)
        cell.atom = new
        cell.version += 1
        if isinstance(new, Var) and new.name is None:
            new.name = cell.name

    def check_write(self, cell: Cell, new: Atom) -> None:
        """API policy: mapped arguments and local arrays may be written; unmapped arguments under vmap and captured arrays may not."""
        span = current().span
        if cell.frozen:
            raise Refused(f"cannot write here: {cell.frozen}", code="PGR701", span=span, hint="take a copy first: a = a.copy()")
        owner = cell.owner
        if owner.kind == "argument":
            self.sharing.write(cell)
        if owner.kind == "local" or (owner.kind == "argument" and owner.mapped is not False):
            if cell.level is not None and cell.level is not current() and owner.kind == "local":
                name = cell.name or "an array"
                raise Refused(
                    f"a transformed function writes {name}, which belongs to the function around it",
                    code="PGR602",
                    span=span,
                    hint="return the new value instead",
                )
            return
        batched = self.depends_on_mapped(new)
        where = (
            "it came as an argument with in_dims None: unbatched, one array for all samples"
            if owner.kind == "argument"
            else "it is captured from outside the function: unbatched, one array for all samples"
        )
        hint = (
            f"work on a copy ({owner.name} = {owner.name}.copy()) and return it, or map it with in_dims"
            if owner.kind == "argument"
            else "return the new value (has_aux) instead"
        )
        if batched:
            raise VmapViolation(
                f"write into the unbatched array `{owner.name}`: {where}; in_dims decides",
                code="PGR301",
                span=span,
                hint=hint,
                trail=self.trail(new),
            )
        raise Refused(
            f"write into `{owner.name}`: {where}; in_dims decides, and a loop would repeat the write", code="PGR602", span=span, hint=hint
        )

    def check_object(self, obj: Any, what: str, *, batch_norm: str = "") -> None:
        """Refuse to change an object that existed before the walk, or one that may be another too."""
        if id(obj) in self.open.reasons:
            raise Refused(
                f"cannot write here: {self.open.reasons[id(obj)][1]}",
                code="PGR701",
                span=current().span,
                hint="write before the branch, or take a copy after it",
            )
        path = self.path_of(obj)
        if path is None:
            return
        code = "PGR603" if any(w in what + batch_norm for w in ("running_mean", "running_var", "running_", "moving_")) else "PGR602"
        raise Refused(
            f"`{what}` changes `{path.text}`, which exists outside the function: compiled code would do it once, not once per sample",
            code=code,
            span=current().span,
            hint=f"return the new value instead of storing it in {path.text} (has_aux=True)",
        )

    def leave_open(self, container: Any, reason: str) -> None:
        """Note that a container may be another one too."""
        self.touch(self.open)
        self.open.reasons.setdefault(id(container), (container, reason))

    # the journal: what a branch changed, so that it can be undone

    def record(self, obj: Any, key: Any, snapshot: Callable[[Any], Any]) -> None:
        """Before a change: remember how the object was, once per open branch."""
        for journal in self._journals:
            if key not in journal:
                journal[key] = (obj, snapshot(obj))

    @contextmanager
    def branch(self) -> Iterator[dict[Any, Any]]:
        """Collect the changes made inside."""
        journal: dict[Any, Any] = {}
        self._journals.append(journal)
        try:
            yield journal
        finally:
            self._journals.pop()

    def touch(self, container: Any) -> None:
        """Before a change of a list, dict, set or object made during the walk."""
        self.record(container, ("object", id(container)), snapshot)

    # values that Python asks for

    def needs_value(self, value: Value, wanted: str) -> Any:
        """Python needs this value: it becomes known if it depends on scalar arguments or small captured arrays alone."""
        span = current().span
        text = span.text() if span else ""
        error = Undecided(
            f"{wanted} needs a value that is known only at run time: `{text}`",
            span=span,
            hint="compute with arrays: np.where, np.maximum, indexing with arrays",
            trail=self.trail(value.atom),
        )
        error.batched = self.depends_on_mapped(value.atom)
        error.subject = value.atom.name or text
        sources = [v for v in self.sources(value.atom) if v not in self.mapped]
        if sources and not error.batched and all(v in self.scalars or self._capture_key(v) for v in sources):
            wanted_values = frozenset(self.scalars[v] if v in self.scalars else ("static", self._capture_key(v)) for v in sources)
            if not wanted_values <= self.statics:
                raise NeedsStatic(wanted_values, error)
        raise error

    def _capture_key(self, var: Var) -> Any:
        for path, v in self.captures:
            if v is var and v.type.size <= 64:
                return self._key(path)
        return None

    def sources(self, atom: Atom) -> list[Var]:
        """The parameters that a value depends on; its producers are searched in all open bodies of all open traces."""
        producers: dict[Var, Any] = {}
        for builder in _open_builders():
            for body in builder._bodies:
                for made in body:
                    producers.update((out, made) for out in made.outs)
        found: dict[Var, None] = {}
        stack, seen = [atom], set()
        while stack:
            a = stack.pop()
            if not isinstance(a, Var) or a in seen:
                continue
            seen.add(a)
            node = producers.get(a)
            if node is None and a in self.outer and a not in self.mapped:
                stack.append(self.outer[a])
            elif node is None:
                found[a] = None
            else:
                stack.extend(node_vars(node))
        return list(found)

    def depends_on_mapped(self, atom: Atom) -> bool:
        """Whether a value differs between the samples of an open vmap."""
        return any(v in self.mapped for v in self.sources(atom))

    def trail(self, atom: Atom) -> list[Step]:
        """Where a value came to depend on a mapped argument."""
        for v in self.sources(atom):
            if v in self.mapped and v.span is not None:
                return [Step(v.span, f"{self.mapped[v]} is mapped")]
        return []


def snapshot(container: Any) -> Any:
    """A shallow copy of what a container, an object, a cell or a frame holds."""
    if isinstance(container, Memory):
        return container.snapshot()
    if isinstance(container, dict):
        return dict(container)
    if isinstance(container, list):
        return list(container)
    if isinstance(container, set):
        return set(container)
    return dict(vars(container)) if hasattr(container, "__dict__") else None


def restore(container: Any, before: Any) -> None:
    """Put a snapshot back."""
    if isinstance(container, Memory):
        container.restore(before)
    elif isinstance(container, (dict, set)):
        container.clear()
        container.update(before)
    elif isinstance(container, list):
        container[:] = before
    elif before is not None:
        vars(container).clear()
        vars(container).update(before)


def _open_builders() -> list[Builder]:
    from ..core import builder as module

    return module._builders()


def session() -> Session:
    """The compilation at work in this thread."""
    stack = getattr(_local, "sessions", None)
    if not stack:
        raise Unsupported("a value of a compiled function was used after its compilation")
    return stack[-1]


@contextmanager
def opened(new: Session) -> Iterator[Session]:
    """Make a session the one at work."""
    stack = getattr(_local, "sessions", None)
    if stack is None:
        stack = _local.sessions = []
    stack.append(new)
    try:
        yield new
    finally:
        stack.pop()


__all__ = ["Guard", "NeedsStatic", "Path", "Session", "Undecided", "atom_of", "blocks_of", "opened", "restore", "session", "snapshot"]
