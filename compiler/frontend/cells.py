"""Arrays as NumPy has them, with memory: a cell holds a value, names and views look into it, a write changes what all of them see."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.builder import Value, atom_of, call, current, evaluate
from ..core.program import Atom, Const, Var
from ..core.types import Dim, Type, broadcast, counted, known, product, type_of
from ..errors import Refused
from ..ops import table
from ..ops.counts import extent
from ..ops.table import Op


@dataclass
class Owner:
    """Whose memory a cell is: "local", "argument" or "captured"; the name it came under; whether a vmap maps it (None: no vmap).
    ``reshaped`` and ``written``: an argument that is both must be in C order, or NumPy would write into a copy."""

    kind: str = "local"
    name: str = ""
    mapped: bool | None = None
    reshaped: bool = False
    written: bool = False


class Memory:
    """Something of the walk's own that a branch may change and must be able to put back."""

    __slots__ = ()

    def snapshot(self) -> Any:
        raise NotImplementedError

    def restore(self, before: Any) -> None:
        raise NotImplementedError


_births = itertools.count()


class Cell(Memory):
    """A place that holds an array. ``frozen`` says why it may not be written; ``level`` is its trace, ``birth`` orders cells; ``elsewhere``
    marks what stands inside a loop for memory that has another name outside."""

    __slots__ = ("atom", "birth", "elsewhere", "frozen", "level", "name", "owner", "shares", "version")

    def __init__(self, atom: Atom, level: Any = None, owner: Owner | None = None) -> None:
        self.atom = atom
        self.level = level
        self.owner = owner or Owner()
        self.version = 0
        self.frozen = ""
        self.elsewhere = False
        self.shares: tuple[tuple[Cell, Atom | None], ...] = ()  # memory that this may be, what it held when they met; None: written since
        self.name: str | None = None
        self.birth = next(_births)

    def snapshot(self) -> Atom:
        return self.atom

    def restore(self, before: Atom) -> None:
        self.atom = before
        self.version += 1

    def may_share(self, other: Cell, what: str, *, written: bool = False) -> None:
        """After a branch or loop that leaves it open which memory a name means: it can be read while the other is not written."""
        name = f"`{other.name}`" if other.name and other.name != self.name else "another array"
        self.frozen = self.frozen or f"{what}, `{self.name or 'an array'}` may share memory with {name}"
        self.shares = (*self.shares, (other, None if written else other.atom))

    def check_shares(self) -> None:
        for other, held in self.shares:
            if other.atom is not held:
                raise Refused(
                    f"cannot read here: {self.frozen}, which was written since",
                    code="PGR701",
                    span=current().span or getattr(other.atom, "span", None),
                    hint="take a copy first: a = a.copy()",
                )


class Place:
    """The integers known only at run time that a view stands at, and the body in which they are known."""

    __slots__ = ("atoms", "body")

    def __init__(self, atoms: tuple[Atom, ...]) -> None:
        self.atoms = atoms
        self.body: Any = current().nodes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and self.atoms == other.atoms

    __hash__ = None  # type: ignore[assignment]


Step = tuple[Op, dict[str, Any], Place | None]


class Array(Value):
    """A symbolic ndarray: a cell and the path of views from it. Reading gives the cell's present value through the path."""

    __slots__ = ("_memo", "cell", "path")

    def __init__(self, cell: Cell, path: tuple[Step, ...] = ()) -> None:
        self.cell = cell
        self.path = path
        self._memo: tuple[int, Any, Atom] | None = None

    @property
    def atom(self) -> Atom:
        if self.cell.shares:
            self.cell.check_shares()
        if not self.path:
            return self.cell.atom
        if self._memo and self._memo[0] == self.cell.version and (_open(self._memo[1]) or not self.reachable):
            return self._memo[2]
        atom = read(self.cell.atom, self.path)
        self._memo = (self.cell.version, current().nodes, atom)
        return atom

    @property
    def reachable(self) -> bool:
        """Whether the places of this view are known where the walk is: not after the loop or branch that they belong to."""
        return all(place is None or _open(place.body) for *_, place in self.path)

    def _concrete(self, wanted: str) -> Any:
        if isinstance(self.atom, Const):
            return self.atom.value
        return needs_value(self, wanted)

    def viewed(self, entry: Op, params: dict[str, Any], places: tuple[Atom, ...] = ()) -> Any:
        """The view that a view op gives of this array; None where NumPy would copy."""
        if entry.short == "reshape":
            if self.cell.owner.kind == "argument":
                note_order(self.cell.owner, reshaped=True)
            if not reshapes_in_place(self, params["shape"]):
                return None
        return view_of(entry, self, params, places)

    def write(self, value: Value) -> None:
        """Replace the whole content: what all names and views of this memory see from now on. Shape and dtype stay."""
        store(self.cell, self.path, atom_of(value))

    def flatten(self, order: str = "C") -> Any:
        return call("numpy.copy", call("numpy.ravel", self, order))

    def fill(self, value: Any) -> None:
        assign(self, Ellipsis, value)

    def sort(self, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> None:
        self.write(call("numpy.sort", Value(self.atom), axis))

    def compress(self, condition: Any, axis: Any = None, out: Any = None) -> Any:
        y = call("numpy.compress", condition, self, axis)
        if out is None:
            return y
        from .calls import into

        return into(out, y)

    def put(self, indices: Any, values: Any, mode: str = "raise") -> None:
        assign(call("numpy.reshape", self, -1), indices, values)

    def item(self, *index: Any) -> Any:
        x = self.ravel()[index[0]] if len(index) == 1 else self[tuple(index)] if index else self
        return host(x, ".item()", "PGR201")

    def tolist(self) -> Any:
        if not self.shape:
            return host(self, ".tolist()", "PGR203")
        return [x.tolist() if isinstance(x, Array) else host(x, ".tolist()", "PGR203") for x in self]

    def __getitem__(self, index: Any) -> Any:
        y = super().__getitem__(index)
        # an integer that is an array without axes copies, where a plain integer views
        copies = (
            isinstance(y, Array) and y.cell is self.cell and any(_is_array0(i) for i in (index if isinstance(index, tuple) else (index,)))
        )
        return call("numpy.copy", y) if copies else y

    def __getattr__(self, name: str) -> Any:
        method = super().__getattr__(name)

        def called(*args: Any, **kwargs: Any) -> Any:
            from .calls import into, split_out

            entry = table.find_method(name)
            assert entry is not None
            given, kwargs, out = split_out(entry, (self, *args), kwargs)
            result = method(*given[1:], **kwargs)
            return result if out is None else into(out, result)

        return called

    @property
    def known(self) -> bool:
        return isinstance(self.atom, Const)

    def _set_part(self, part: Any, value: Any) -> None:
        if not (isinstance(value, Array) and value.cell is part.cell and value.path == part.path):
            assign(part, Ellipsis, value)

    # after `z.real += x` Python assigns what the sum in place gave
    real = property(lambda self: call("numpy.real", self), lambda self, value: self._set_part(self.real, value))
    imag = property(lambda self: call("numpy.imag", self), lambda self, value: self._set_part(self.imag, value))

    @property
    def flat(self) -> Any:
        return self.ravel()

    @flat.setter
    def flat(self, value: Any) -> None:
        assign(self, Ellipsis, value)

    def astype(self, dtype: Any, *args: Any, copy: bool = True, **options: Any) -> Any:
        return self if not copy and self.dtype == np.dtype(dtype) else call("numpy.astype", self, dtype)

    def view(self, *args: Any) -> Any:
        """Another name of the same memory; one of another type has no rule."""
        if args:
            raise Refused(
                "a view of another type or class has no rule",
                code="PGR702",
                span=current().span,
                hint="astype gives a copy of another type",
            )
        return Array(self.cell, self.path)

    @property
    def base(self) -> Any:
        return None

    @property
    def nbytes(self) -> Any:
        return self.size * self.itemsize


class Scalar(Value):
    """A symbolic NumPy or Python scalar: immutable."""

    __slots__ = ()

    def _concrete(self, wanted: str) -> Any:
        return needs_value(self, wanted)

    def item(self) -> Any:
        return host(self, ".item()", "PGR201")

    def tolist(self) -> Any:
        return host(self, ".tolist()", "PGR203")


class Count(Scalar):
    """How many elements a mask selects: a number, and the size that stands for it in shapes."""

    __slots__ = ("size_of_count",)

    def __init__(self, atom: Atom, size: Dim) -> None:
        super().__init__(atom)
        self.size_of_count = size


def counts(x: Value, axes: tuple[int, ...]) -> Any:
    """How many elements axes have together, as the user's code gets it."""
    y = extent(x, axes)
    return Count(y.atom, product(x.shape[a] for a in axes)) if isinstance(y, Value) else y


def measured(x: Value, name: str) -> Any:
    """``x.shape`` or ``x.size`` where only the values know it."""
    if name == "size":
        return counts(x, tuple(range(x.ndim)))
    return tuple(counts(x, (k,)) for k in range(x.ndim))


def host(x: Any, how: str, code: str) -> Any:
    """The Python number that one element is: free for one value, refused for a mapped one."""
    if not isinstance(x, Value):
        return x.item() if hasattr(x, "item") else x
    if isinstance(x.atom, Const):
        return np.asarray(x.atom.value).item()
    if x.type.size != 1:
        raise ValueError("can only convert an array of size 1 to a Python scalar")
    return call("pergrad.host", x, kind=None, how=how, code=code)


def needs_value(value: Value, wanted: str) -> Any:
    """Python asks for a value that is not known yet."""
    from .session import session

    return session().needs_value(value, wanted)


def _is_array0(x: Any) -> bool:
    return isinstance(x, (Array, np.ndarray)) and x.ndim == 0


def _open(body: Any) -> bool:
    return any(b is body for b in current()._bodies)


def read(atom: Atom, path: tuple[Step, ...]) -> Atom:
    """A cell's value through a path of views."""
    value: Any = Value(atom)
    builder = current()
    wrap, builder.wrap = builder.wrap, Value
    try:
        for entry, params, place in path:
            if entry.lower is not None:
                value = entry.lower(value, *params["args"], **params["kwargs"])
            else:
                value = builder.apply(entry, [value, *_places(place)], params)
        return atom_of(value)
    finally:
        builder.wrap = wrap


def store(cell: Cell, path: tuple[Step, ...], new: Atom) -> None:
    """Put a new value at the end of a path: each view's entry says how its base changes."""
    builder = current()
    wrap, builder.wrap = builder.wrap, Value
    try:
        for k in reversed(range(len(path))):
            entry, params, place = path[k]
            base = Value(read(cell.atom, path[:k]))
            assert entry.view is not None
            new = atom_of(entry.view(base, Value(new), params, *_places(place)))
    finally:
        builder.wrap = wrap
    from .session import session

    session().write(cell, new)


def wrap(atom: Atom) -> Any:
    """What stands for a freshly computed atom: known scalars are themselves, symbolic scalars immutable, arrays have their own memory."""
    t = atom.type
    if t.scalar:
        return atom.value if isinstance(atom, Const) else Scalar(atom)
    return Array(Cell(atom, current()))


def note_order(owner: Owner, *, reshaped: bool = False, written: bool = False) -> None:
    """Note what is done to an argument's memory: reshaping and writing it together need its order."""
    owner.reshaped |= reshaped
    owner.written |= written
    if owner.reshaped and owner.written:
        from .session import session

        session().ordered.add(owner.name)


def _places(place: Place | None) -> list[Value]:
    if place is None:
        return []
    if not _open(place.body):
        raise Refused(
            "a view at an index that is known only inside a loop or branch is used after it",
            code="PGR701",
            span=current().span,
            hint="index again, or take a copy inside",
        )
    return [Value(a) for a in place.atoms]


def view_of(entry: Op, x: Array, params: dict[str, Any], places: tuple[Atom, ...] = ()) -> Any:
    """The result of a view op on an array with memory."""
    y = Array(x.cell, (*x.path, (entry, params, Place(places) if places else None)))
    if y.atom.type.scalar:
        atom = y.atom
        return atom.value[()] if isinstance(atom, Const) else Scalar(atom)
    return y


def augment_where(target: Array, mask: Value, name: str, value: Any) -> None:
    """``target[mask] op= value`` for a symbolic mask: one value for all, or one per row, is computed everywhere and chosen by the mask;
    else there are as many values as the mask selects."""
    shape = atom_of(value).type.shape
    if not shape or shape == target.shape[mask.ndim :]:
        _assign_where(target, mask, call(name, Value(target.atom), value))
        return
    new = call(name, target[mask], value)
    if not np.can_cast(atom_of(new).type.dtype, target.dtype, "same_kind"):
        probe = np.ones(1, atom_of(new).type.dtype)
        getattr(np, name.removeprefix("numpy."))(probe, probe, out=probe.astype(target.dtype))  # raises what NumPy raises here
    assign(target, mask, value if name == "numpy.add" else new, add=name == "numpy.add")


def reshapes_in_place(x: Array, shape: tuple[Any, ...]) -> bool:
    """Whether NumPy's reshape of this view gives a view: asked of NumPy itself, with an array that has strides and no memory."""
    base = x.cell.atom.type
    if not known(base.shape) or not known(shape):
        return True
    strides = [base.dtype.itemsize] * base.ndim
    for k in range(base.ndim - 2, -1, -1):
        strides[k] = strides[k + 1] * max(int(base.shape[k + 1]), 1)  # type: ignore[arg-type]
    probe = np.lib.stride_tricks.as_strided(np.empty(1, base.dtype), base.shape, strides)  # type: ignore[arg-type]
    for entry, params, place in x.path:
        probe = step(probe, entry, params, [0 for _ in place.atoms] if place else [])
    if x.path:
        base_of = probe.view()
        try:
            base_of.shape = shape
        except AttributeError:
            return False
    return True


def step(base: np.ndarray, entry: Op, params: dict[str, Any], places: Sequence[int] = ()) -> Any:
    """A view of an array itself, as one step of a path gives it."""
    if entry.lower is not None:
        function: Any = functools.reduce(getattr, entry.name.split(".")[1:], np)
        return function(base, *params["args"], **params["kwargs"])
    return evaluate(entry, [base, *places], params, [type_of(base), *map(type_of, places)], None)


def assign(target: Array, index: Any, value: Any, *, add: bool = False) -> None:
    """``target[index] = value`` as NumPy does it: broadcast, cast to the target's dtype; boolean masks by selection."""
    mask = _mask(index)
    if mask is not None and not add:
        _assign_mask(target, mask, value)
        return
    value = _castable(value)
    if (
        not target.shape
        and not add
        and not isinstance(index, Value)
        and index in ((), Ellipsis, (Ellipsis,))
        and not atom_of(value).type.shape
    ):
        target.write(cast(Value(atom_of(value)), target.type))
        return
    new = call("pergrad.additem" if add else "pergrad.setitem", Value(target.atom), index, value)
    target.write(new)


def _mask(index: Any) -> Value | None:
    if isinstance(index, Value) and index.dtype == np.dtype(bool) and not isinstance(index.atom, Const):
        return index
    return None


def _assign_mask(target: Array, mask: Value, value: Any) -> None:
    shape = target.shape
    if mask.shape != shape[: mask.ndim]:
        raise IndexError(f"boolean index did not match indexed array: mask {mask.shape}, array {shape}")
    value = _castable(value)
    own = atom_of(value).type
    rest = shape[mask.ndim :]
    try:
        fits = broadcast(own.shape, rest) == rest
    except ValueError:
        fits = False
    if not fits and any(counted(d) for d in own.shape):
        target.write(call("pergrad.setitem", Value(target.atom), mask, value))
        return
    if not fits:
        raise Refused(
            "data-dependent shape: as many values as the mask selects are needed here",
            code="PGR402",
            span=current().span,
            hint="assign a scalar, or np.where(mask, values, array) with values of the array's shape",
        )
    _assign_where(target, mask, value)


def _assign_where(target: Array, mask: Value, value: Any) -> None:
    for _ in target.shape[mask.ndim :]:
        mask = mask[..., None]
    own = atom_of(value).type
    if own.dtype != target.dtype and not own.weak:
        value = call("numpy.astype", value, target.dtype)
    new = call("numpy.where", Value(mask.atom), value, Value(target.atom))
    target.write(cast(new, target.type))


def _castable(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return call("numpy.array", value)
    return value


def cast(value: Value, type: Type) -> Value:
    """A value in the target's dtype and shape, for a write."""
    atom = atom_of(value)
    if atom.type.dtype != type.dtype:
        value = call("numpy.astype", value, type.dtype)
    if atom.type.shape != type.shape:
        value = call("numpy.broadcast_to", value, type.shape)
    if atom_of(value).type.scalar and not type.scalar:
        value = call("numpy.reshape", value, ())  # memory stays an array, where NumPy's operators give scalars
    return value


def augmented(target: Array, name: str, value: Any) -> Array:
    """``target op= value`` in place; the same errors as NumPy for shapes and kinds that do not fit."""
    new = call(name, Value(target.atom), value)
    t = atom_of(new).type
    if t.shape != target.shape:
        raise ValueError(f"non-broadcastable output operand with shape {target.shape} doesn't match the broadcast shape {t.shape}")
    if not np.can_cast(t.dtype, target.dtype, "same_kind"):
        probe = np.ones((1, 1), t.dtype)
        getattr(np, name.removeprefix("numpy."))(probe, probe, out=probe.astype(target.dtype))  # raises what NumPy raises here
    target.write(cast(new, target.type))
    return target


def is_view(entry: Op) -> bool:
    """Whether an op's result shares memory with its first operand."""
    return entry.view is not None


__all__ = ["Array", "Cell", "Owner", "Scalar", "Var", "assign", "augmented", "cast", "read", "store", "table", "view_of", "wrap"]
