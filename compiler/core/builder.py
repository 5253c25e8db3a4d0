"""Building Programs: nodes are appended by calling NumPy functions on symbolic values.

``Value`` stands for an array. Its operators, methods and the NumPy functions called on it look up the op table and append nodes to the
builder that is at work in this thread. The front end's arrays, the transforms and the rules of the table all record in this one way.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..errors import PergradError, Span, Unsupported
from ..ops import table
from .program import Apply, Atom, Block, Const, Made, Node, Var
from .text import Piece, Text
from .types import Dim, Size, Type, known, local, type_of, unseen

_stack = threading.local()


class Builder:
    """Collects nodes. ``wrap`` makes the value that stands for an atom; ``span``, ``section`` and ``helper`` are stamped on new nodes."""

    def __init__(self, wrap: Callable[[Atom], Value] | None = None) -> None:
        self._bodies: list[list[Node]] = [[]]
        self.wrap: Callable[[Atom], Value] = wrap or Value
        self.span: Span | None = None
        self.section = ""
        self.helper = ""

    @contextmanager
    def active(self) -> Iterator[Builder]:
        """Make this the builder that values record into."""
        stack = _builders()
        stack.append(self)
        try:
            yield self
        finally:
            stack.pop()

    @contextmanager
    def block(self) -> Iterator[list[Node]]:
        """Collect the nodes appended inside into a list of their own."""
        self._bodies.append([])
        try:
            yield self._bodies[-1]
        finally:
            self._bodies.pop()

    @contextmanager
    def stamped(self, *, span: Span | None = None, section: str | None = None, helper: str | None = None) -> Iterator[None]:
        """Stamp nodes appended inside with where they come from."""
        before = self.span, self.section, self.helper
        self.span = span or self.span
        self.section = self.section if section is None else section
        self.helper = self.helper if helper is None else helper
        try:
            yield
        finally:
            self.span, self.section, self.helper = before

    @property
    def nodes(self) -> list[Node]:
        return self._bodies[-1]

    def append(self, node: Node) -> Node:
        self.nodes.append(node)
        return node

    def apply(self, entry: table.Op, operands: Sequence[Any], params: dict[str, Any], *, weak: bool = False) -> Any:
        """Append one op; the value of its result, or a tuple of values for several results.

        Errors: NumPy's own (ValueError, TypeError, AxisError) when types do not fit, as the call on arrays would raise.
        """
        if entry.view is not None and isinstance(operands[0], Value) and all(_is_place(x) for x in operands[1:]):
            viewed = operands[0].viewed(entry, params, tuple(atom_of(x) for x in operands[1:]))
            if viewed is not None:
                return viewed
        args = tuple(atom_of(x) for x in operands)
        if entry.infer is None:
            raise Unsupported(f"{entry.name} has no rule", code="PGR702", span=self.span, hint=entry.hint)
        inferred = entry.infer([a.type for a in args], params)
        if weak and isinstance(inferred, Type) and inferred.dtype.kind in "ifc":
            inferred = Type(inferred.dtype, (), weak=True, scalar=True)
        if args and all(isinstance(a, Const) for a in args) and not entry.random and isinstance(inferred, Type):
            folded = fold(entry, args, params, inferred)
            if folded is not None:
                return self.wrap(folded)
        types = inferred if isinstance(inferred, tuple) else (inferred,)
        outs = tuple(Var(t, span=self.span) for t in types)
        self.append(Apply(outs=outs, op=entry.name, args=args, params=params, span=self.span, section=self.section, helper=self.helper))
        values = tuple(self.wrap(v) for v in outs)
        return values if isinstance(inferred, tuple) else values[0]

    def inline(self, block: Block, args: Sequence[Any]) -> tuple[Atom, ...]:
        """Append a block's nodes with its parameters replaced; the atoms of its results. A size that only the values knew may be a number
        in an argument: it is that one throughout."""
        from .rewrite import Substitution

        atoms = dict(zip(block.params, (atom_of(a) for a in args), strict=True))
        for param, atom in atoms.items():
            if isinstance(atom, Var) and atom.name is None:
                atom.name = param.name
        s = Substitution(atoms, _sizes_given(atoms))
        for node in block.body:
            self.append(s.node(node))
        return tuple(s.atom(r) for r in block.results)


def _sizes_given(atoms: Mapping[Var, Atom]) -> dict[str, Dim]:
    found: dict[str, Dim] = {}
    for param, atom in atoms.items():
        for d, given in zip(param.type.shape, atom.type.shape):
            if isinstance(d, Size) and d.symbol and d != given and local(d):
                found[d.symbol] = given
    return found


def _builders() -> list[Builder]:
    stack: list[Builder] | None = getattr(_stack, "builders", None)
    if stack is None:
        stack = _stack.builders = []
    return stack


def current() -> Builder:
    """The builder at work in this thread."""
    stack = _builders()
    if not stack:
        raise PergradError("a value of a compiled function was used after its compilation", code="PGR701")
    return stack[-1]


def building() -> bool:
    """Whether a builder is at work in this thread."""
    return bool(getattr(_stack, "builders", None))


_FOLDED_SIZE = 4096


def fold(entry: table.Op, args: Sequence[Atom], params: dict[str, Any], type: Type) -> Const | None:
    """The known result of an op on known values, if it is small and NumPy computes it without a warning."""
    if not known(type.shape) or int(type.size) > _FOLDED_SIZE:  # type: ignore[arg-type]
        return None
    constants = tuple(a for a in args if isinstance(a, Const))
    try:
        with np.errstate(all="raise"):
            value = evaluate(entry, [c.value for c in constants], params, [c.type for c in constants], type)
    except (ArithmeticError, ValueError, TypeError, IndexError):
        return None
    if type.weak:
        return Const(type.dtype.type(value).item(), type)
    if type.scalar:
        return Const(type.dtype.type(value), type)
    folded = Const(np.asarray(value, dtype=type.dtype).reshape(type.shape), type)
    folded.made = Made(entry.name, constants, params, 1 + sum(c.made.steps for c in constants if c.made is not None))
    return folded


def evaluate(entry: table.Op, values: Sequence[Any], params: dict[str, Any], types: Sequence[Type], out: Any) -> Any:
    """What the printed form of an op gives on real values."""
    source = expression(entry, types, params, out)
    values = [np.bool_(v) if isinstance(v, bool) else v for v in values]
    return eval(source, {"np": np, "_setitem": _setitem, "_additem": _additem, **{f"_{i}": v for i, v in enumerate(values)}})


def _setitem(base: Any, index: Any, value: Any) -> Any:
    out = np.array(base)
    out[index] = value
    return out


def _additem(base: Any, index: Any, value: Any) -> Any:
    out = np.array(base)
    np.add.at(out, index, value)
    return out


def expression(entry: table.Op, types: Sequence[Type], params: dict[str, Any], out: Any) -> str:
    """The printed form of an op, with its operands as the names ``_0``, ``_1``, …"""
    if entry.emit is not None:
        return str(entry.emit(types, params, out))
    operands = ", ".join(f"_{i}" for i in range(len(types)))
    keywords = "".join(f", {k}={v!r}" for k, v in params.items())
    return f"np.{entry.short}({operands}{keywords})"


def call(name: str, *args: Any, **kwargs: Any) -> Any:
    """Record a call of a NumPy function by its qualified name, with NumPy's own arguments."""
    entry = table.find(name)
    if entry is None or (entry.lower is None and entry.infer is None):
        hint = (entry and entry.hint) or "write it with functions that have a rule, or register one"
        raise Unsupported(f"{name.replace('numpy.', 'np.', 1)} has no rule", code="PGR702", span=current().span, hint=hint)
    args, kwargs = tuple(map(unseen, args)), {k: unseen(v) for k, v in kwargs.items()}
    if entry.lower is not None:
        viewed = (
            args[0].viewed(entry, {"args": args[1:], "kwargs": kwargs}) if entry.view is not None and _array_first(args, kwargs) else None
        )
        return entry.lower(*args, **kwargs) if viewed is None else viewed
    made = entry.prepare(*args, **kwargs) if entry.prepare else bind(entry, args, kwargs)
    return made if isinstance(made, Value) else current().apply(entry, *made)


def _array_first(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether the first argument is an array and every other one known."""
    return bool(args) and isinstance(args[0], Value) and not any(isinstance(x, Value) for x in (*args[1:], *kwargs.values()))


def bind(entry: table.Op, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Split a call's arguments by the entry's signature into operands and static parameters."""
    names = entry.parameters
    if len(args) > len(names):
        raise TypeError(f"{entry.short}() takes {len(names)} arguments, {len(args)} given")
    bound = dict(zip(names, args))
    for key, value in kwargs.items():
        if key not in names or key in bound:
            raise TypeError(f"{entry.short}() got an unexpected or repeated argument {key!r}")
        bound[key] = value
    missing = [n for n in entry.operands if n not in bound]
    if missing:
        raise TypeError(f"{entry.short}() is missing argument {missing[0]!r}")
    return [bound[n] for n in entry.operands], {k: v for k, v in bound.items() if k not in entry.operands}


def atom_of(x: Any) -> Atom:
    """The atom of a value, an array or a number."""
    if isinstance(x, Value):
        return x.atom
    if isinstance(x, (Var, Const)):
        return x
    if isinstance(x, (list, tuple, range)):
        if any(isinstance(v, (Value, Size)) for v in _flatten(x)):
            return atom_of(call("numpy.array", x))
        x = np.asarray(x)
    return call("pergrad.size", x).atom if isinstance(x, Size) else Const(x)


def _flatten(x: Any) -> Iterator[Any]:
    if isinstance(x, (list, tuple)):
        for v in x:
            yield from _flatten(v)
    else:
        yield x


def _operator(name: str, swapped: bool = False) -> Callable[[Value, Any], Any]:
    def method(self: Value, other: Any) -> Any:
        if not _is_operand(other):
            return _refused(name, self, other, swapped)
        return operated(name, *((other, self) if swapped else (self, other)))

    return method


def _refused(name: str, value: Value, other: Any, swapped: bool) -> Any:
    """Python asks an operand of another class next; where that has no answer it is refused in NumPy's words."""
    if type(other).__module__ != "builtins" or name in ("numpy.equal", "numpy.not_equal"):
        return NotImplemented
    left, right = ("ndarray" if value.shape else str(value.dtype)), type(other).__name__
    if swapped:
        left, right = right, left
    raise TypeError(f"unsupported operand type(s) for {name.replace('numpy.', 'np.', 1)}: {left!r} and {right!r}")


def operated(name: str, x: Any, y: Any) -> Any:
    """Record an operator: of two Python numbers the result is one."""
    entry = table.find(name)
    assert entry is not None
    if entry.lower is not None:
        return entry.lower(x, y)
    atoms = [atom_of(v) for v in (x, y)]
    return current().apply(entry, atoms, {}, weak=all(a.type.weak for a in atoms))


def _is_place(x: Any) -> bool:
    """Whether an index's operand is an integer: the index is a basic one, though known only at run time."""
    return isinstance(x, Value) and x.type.scalar and x.dtype.kind in "iu"


def _is_operand(x: Any) -> bool:
    return isinstance(x, (Value, Size, np.ndarray, np.generic, bool, int, float, complex, list, tuple))


class Value:
    """A symbolic array of known dtype and shape: answers operators, methods and NumPy functions by recording."""

    __slots__ = ("_atom",)
    __array_priority__ = 1000

    def __init__(self, atom: Atom) -> None:
        self._atom = atom

    def __str__(self) -> str:
        return str(self.atom.value) if isinstance(self.atom, Const) else Text([Piece(self)])

    def __repr__(self) -> str:
        return repr(self.atom.value) if isinstance(self.atom, Const) else Text([Piece(self, ord("r"))])

    def __format__(self, spec: str) -> str:
        return format(self.atom.value, spec) if isinstance(self.atom, Const) else Text([Piece(self, -1, spec)])

    @property
    def atom(self) -> Atom:
        return self._atom

    @property
    def type(self) -> Type:
        return self.atom.type

    @property
    def shape(self) -> tuple[Dim, ...]:
        return self.type.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.type.dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> Dim:
        return self.type.size

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def T(self) -> Any:
        return call("numpy.transpose", self)

    @property
    def mT(self) -> Any:
        return call("numpy.swapaxes", self, -1, -2)

    @property
    def real(self) -> Any:
        return call("numpy.real", self)

    @property
    def imag(self) -> Any:
        return call("numpy.imag", self)

    def __getattr__(self, name: str) -> Any:
        entry = None if name.startswith("__") else table.find_method(name)
        if entry is None:
            raise AttributeError(f"'numpy.ndarray' object has no attribute {name!r}")
        return lambda *args, **kwargs: call(entry.name, self, *args, **kwargs)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]  # type: ignore[return-value]

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        n = self.shape[0]
        if isinstance(n, Size) and n:
            raise Unsupported(
                "Python needs each row of an array whose length is known only at run time",
                code="PGR702",
                span=current().span,
                hint="compute with the whole array: np.sum, np.cumsum, np.where(mask, x, 0.0)",
            )
        return (self[i] for i in range(0 if isinstance(n, Size) else n))

    def __getitem__(self, index: Any) -> Any:
        return call("pergrad.getitem", self, index)

    def __bool__(self) -> bool:
        return bool(self._concrete("bool()"))

    def __float__(self) -> float:
        return float(self._concrete("float()"))

    def __int__(self) -> int:
        return int(self._concrete("int()"))

    def __complex__(self) -> complex:
        return complex(self._concrete("complex()"))

    def __index__(self) -> int:
        return self._concrete("an index").__index__()

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self._concrete("np.array()"), dtype=dtype)

    def viewed(self, entry: table.Op, params: dict[str, Any], places: tuple[Atom, ...] = ()) -> Any:
        """The result of a view op that shares this value's memory; None for values without memory of their own."""
        return None

    def item(self) -> Any:
        return self._concrete(".item()").item()

    def _concrete(self, wanted: str) -> Any:
        """The known value behind this one; the front end's arrays answer more cleverly."""
        if isinstance(self.atom, Const):
            return self.atom.value
        raise Unsupported(f"{wanted} of an array's value is not known while compiling", span=current().span)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        kwargs = {k: v for k, v in kwargs.items() if v is not None or k == "axis"}
        if "out" in kwargs and isinstance(kwargs["out"], tuple):
            kwargs["out"] = kwargs["out"][0]
        if method == "__call__":
            return call(f"numpy.{ufunc.__name__}", *inputs, **kwargs)
        return call(f"numpy.ufunc.{method}", ufunc, *inputs, **kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return call(f"{func.__module__}.{func.__name__}", *args, **kwargs)

    def __hash__(self) -> int:
        return id(self)

    def __copy__(self) -> Any:
        return self if self.type.scalar else call("numpy.copy", self)

    def __deepcopy__(self, memo: Any) -> Any:
        return self.__copy__()

    def __neg__(self) -> Any:
        return self._unary("numpy.negative")

    def __pos__(self) -> Any:
        return self._unary("numpy.positive")

    def __abs__(self) -> Any:
        return self._unary("numpy.absolute")

    def __invert__(self) -> Any:
        return self._unary("numpy.invert")

    def _unary(self, name: str) -> Any:
        entry = table.find(name)
        assert entry is not None
        return current().apply(entry, [self], {}, weak=self.type.weak)

    __add__, __radd__ = _operator("numpy.add"), _operator("numpy.add", True)
    __sub__, __rsub__ = _operator("numpy.subtract"), _operator("numpy.subtract", True)
    __mul__, __rmul__ = _operator("numpy.multiply"), _operator("numpy.multiply", True)
    __truediv__, __rtruediv__ = _operator("numpy.divide"), _operator("numpy.divide", True)
    __floordiv__, __rfloordiv__ = _operator("numpy.floor_divide"), _operator("numpy.floor_divide", True)
    __mod__, __rmod__ = _operator("numpy.remainder"), _operator("numpy.remainder", True)
    __rpow__ = _operator("numpy.power", True)
    __matmul__, __rmatmul__ = _operator("numpy.matmul"), _operator("numpy.matmul", True)
    __and__, __rand__ = _operator("numpy.bitwise_and"), _operator("numpy.bitwise_and", True)
    __or__, __ror__ = _operator("numpy.bitwise_or"), _operator("numpy.bitwise_or", True)
    __xor__, __rxor__ = _operator("numpy.bitwise_xor"), _operator("numpy.bitwise_xor", True)
    __lshift__, __rlshift__ = _operator("numpy.left_shift"), _operator("numpy.left_shift", True)
    __rshift__, __rrshift__ = _operator("numpy.right_shift"), _operator("numpy.right_shift", True)
    __lt__, __le__ = _operator("numpy.less"), _operator("numpy.less_equal")
    __gt__, __ge__ = _operator("numpy.greater"), _operator("numpy.greater_equal")
    __eq__ = _operator("numpy.equal")
    __ne__ = _operator("numpy.not_equal")

    def __pow__(self, other: Any) -> Any:
        if type(other) is int and other == 2 and self.dtype.kind == "b":
            return call("numpy.square", self)  # NumPy's operator is, its function takes the int's dtype
        return operated("numpy.power", self, other) if _is_operand(other) else NotImplemented

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other


class _Namespace:
    """``np`` for rules and compositions: every function is recorded through the table, also where NumPy would not ask its arguments."""

    def __init__(self, prefix: str, module: Any) -> None:
        self._prefix = prefix
        self._module = module

    def __getattr__(self, name: str) -> Any:
        qualified = f"{self._prefix}.{name}"
        if table.find(qualified) is not None:
            value: Any = lambda *args, **kwargs: call(qualified, *args, **kwargs)  # noqa: E731
        else:
            value = getattr(self._module, name)
            if type(value) is type(np):
                value = _Namespace(qualified, value)
        self.__dict__[name] = value
        return value


recorded: Any = _Namespace("numpy", np)

__all__ = ["Builder", "Value", "atom_of", "bind", "building", "call", "current", "evaluate", "expression", "fold", "recorded", "type_of"]
