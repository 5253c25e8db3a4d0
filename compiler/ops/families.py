"""Families of ops: what an entry's rules are made of, so that most entries are one line.

A rule meets the call through a context: ``Derivative`` for vjp and jvp, ``Batching`` for batch. Broadcasting of cotangents, their
accumulation, activity and dtype belong to the transforms; a rule only says the mathematics, in NumPy, on recorded values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from .table import Op, op

if TYPE_CHECKING:
    from ..core.types import Type


@dataclass
class Derivative:
    """What a vjp or jvp rule sees.

    ``x``: the operands; ``y``: the result (a tuple for several); ``ct``: the result's cotangent (vjp), of its shape, for several results
    a tuple; an elementwise op's may also be smaller and broadcast to ``y``;
    ``dx``: the operands' tangents, None where inactive (jvp); ``params``; ``type(i)`` of operand i.
    """

    entry: Op
    x: tuple[Any, ...]
    y: Any
    params: Mapping[str, Any]
    ct: Any = None
    dx: tuple[Any, ...] = ()


@dataclass
class Scatter:
    """A cotangent that stands at an index of an array of zeros: accumulated in place, never as a sum of whole arrays."""

    value: Any
    index: tuple[Any, ...]
    arrays: tuple[Any, ...]


@dataclass
class Batching:
    """What a batch rule sees: operands, of which the mapped ones carry the batch as axis 0; per-sample types; the batch size."""

    entry: Op
    x: tuple[Any, ...]
    mapped: tuple[bool, ...]
    types: tuple[Type, ...]
    params: dict[str, Any]
    size: Any

    def bind(self, operands: Sequence[Any], params: Mapping[str, Any] | None = None) -> Any:
        """The same op on other operands."""
        from ..core.builder import current

        return current().apply(self.entry, operands, dict(self.params if params is None else params))

    def aligned(self, i: int, rank: int) -> Any:
        """Operand i with its per-sample rank padded to ``rank``, so that NumPy aligns the batch axis with nothing else."""
        x, own = self.x[i], self.types[i].ndim
        if not self.mapped[i] or own == rank or own == 0 == rank:
            return x
        return expand(x, range(1, 1 + rank - own))

    def full(self, i: int) -> Any:
        """Operand i with a batch axis, broadcast if it is not mapped."""
        if self.mapped[i]:
            return self.x[i]
        from ..core.builder import call

        return call("numpy.broadcast_to", self.x[i], (self.size, *self.types[i].shape))


def expand(x: Any, axes: Any) -> Any:
    """np.expand_dims at axes counted from the front of the result."""
    from ..core.builder import call

    axes = tuple(axes)
    return call("numpy.expand_dims", x, axes) if axes else x


def partial(source: str) -> Callable[..., Any]:
    """A partial derivative as a function of x1, x2, … (x for one), y and the parameters."""
    return _compiled(source)


@cache
def _compiled(source: str) -> Callable[..., Any]:
    from ..core.builder import recorded
    from ..core.syntax import compiled

    code = compiled(source, f"<partial {source}>", "eval")

    def evaluate(x: Sequence[Any], y: Any, params: Mapping[str, Any]) -> Any:
        names = {f"x{i + 1}": v for i, v in enumerate(x)}
        return eval(code, {"np": recorded, "x": x[0], "y": y, **names, **params})

    return evaluate


# elementwise

Partial = str | Callable[[Derivative, Any], Any]


def elementwise(*partials: Partial, name: str = "", inputs: int | None = None, symbol: str = "") -> dict[str, Any]:
    """A ufunc. One partial per input, as NumPy source of x (or x1, x2, …) and y; "0" where the derivative is zero everywhere.

    A boolean partial selects: ``np.where(partial, ct, 0.0)``, so that what is not selected cannot bring a NaN. A partial that no
    expression says is a function ``(d, t)``: the tangent or cotangent t times it.
    """
    count = inputs or len(partials) or 1
    names = ["x"] if count == 1 else [f"x{i + 1}" for i in range(count)]
    return {
        "family": "elementwise",
        "signature": ", ".join([*names, "out=None", "where=True", "dtype=None"]),
        "operands": tuple(names),
        "writes": ("out",),
        "partials": partials,
        "prepare": _Ufunc(count),
        "infer": ufunc_type(name),
        "vjp": elementwise_vjp if partials else None,
        "jvp": elementwise_jvp if partials else None,
        "batch": elementwise_batch,
        "emit": _operator_text(symbol, count) if symbol else None,
    }


class _Ufunc:
    """Splits a ufunc call; ``where=`` and ``dtype=`` become operations of their own, ``out=`` is the front end's."""

    def __init__(self, inputs: int) -> None:
        self.inputs = inputs

    def __call__(
        self, *args: Any, dtype: Any = None, where: Any = True, out: Any = None, casting: Any = None
    ) -> tuple[list[Any], dict[str, Any]]:
        if len(args) != self.inputs or out is not None or where is not True:
            raise TypeError(f"takes {self.inputs} array arguments here, without out= and where=")
        if dtype is not None:
            from ..core.builder import call

            return [call("numpy.astype", a, dtype) for a in args], {}
        return list(args), {}


def ufunc_type(name: str) -> Callable[..., Any]:
    """The result type by NumPy's own resolution for the ufunc of that name, weak scalars included."""

    def infer(types: list[Type], params: Mapping[str, Any]) -> Any:
        import numpy as np

        from ..core.types import Type, broadcast, promotion

        ufunc = getattr(np, name)
        key = (ufunc, tuple(promotion(t) for t in types))
        if key not in _RESOLVED:
            wanted = [*key[1], *[None] * ufunc.nout]
            plain = [np.dtype({int: np.int64, float: np.float64, complex: np.complex128}[w]) if isinstance(w, type) else w for w in key[1]]
            if all(isinstance(w, type) for w in key[1]):
                wanted = [*plain, *[None] * ufunc.nout]
            _RESOLVED[key] = ufunc.resolve_dtypes(tuple(wanted))[ufunc.nin :]
        shape = broadcast(*(t.shape for t in types))
        outs = tuple(Type(d, shape, scalar=not shape) for d in _RESOLVED[key])
        return outs[0] if ufunc.nout == 1 else outs

    return infer


_RESOLVED: dict[Any, Any] = {}


def _operator_text(symbol: str, count: int) -> Callable[..., str]:
    text = f"_0 {symbol} _1" if count == 2 else f"{symbol}_0"
    return lambda types, params, out: text


def times_partial(d: Derivative, i: int, t: Any) -> Any:
    """A tangent or cotangent times the partial of input i; selected by it where the partial is a condition; None for zero."""
    from ..core.builder import recorded as np

    rule = d.entry.partials[i]
    if callable(rule):
        return rule(d, t)
    if rule == "0":
        return None
    if rule in ("1", "-1"):
        return t if rule == "1" else -t
    p = partial(rule)(d.x, d.y, d.params)
    if getattr(getattr(p, "dtype", None), "kind", "") == "b":
        return np.where(p, t, 0.0)
    return scaled(t, p)


def scaled(t: Any, p: Any) -> Any:
    """A tangent or cotangent times a partial: the partial itself where the cotangent is the 1 that a gradient starts from."""
    return p if is_one(t) and getattr(p, "dtype", None) == t.dtype and not p.type.weak else t * p


def is_one(x: Any) -> bool:
    """Whether a value is the known number 1, as the cotangent is from which a gradient starts."""
    from ..core.builder import atom_of
    from ..core.program import Const

    atom = atom_of(x)
    return isinstance(atom, Const) and not atom.type.shape and bool(atom.value == 1)


def real_only(name: str, *xs: Any) -> None:
    """Refuse complex values where NumPy does, or where no rule is for them."""
    from ..core.builder import current
    from ..errors import Unsupported

    if any(value(x).dtype.kind == "c" for x in xs):
        short = name.replace("numpy.", "np.", 1)
        hint = "keep real and imaginary parts in arrays of their own"
        raise Unsupported(f"{short} of complex values has no rule", code="PGR702", span=current().span, hint=hint)


def refuse_complex(entry: Any, values: Iterable[Any], span: Any) -> None:
    """Refuse the derivative of an op of complex values whose rules are for real ones."""
    from ..errors import Unsupported

    if not (entry.linear or entry.analytic) and any(v.type.dtype.kind == "c" for v in values):
        spelled = entry.name.replace("numpy.", "np.", 1)
        raise Unsupported(
            f"the derivative of {spelled} of complex values has no rule",
            code="PGR702",
            span=span,
            hint="keep real and imaginary parts in arrays of their own",
        )


def elementwise_vjp(d: Derivative, i: int) -> Any:
    """The cotangent times the partial."""
    return times_partial(d, i, d.ct)


def elementwise_jvp(d: Derivative) -> Any:
    """The sum over active inputs of partial times tangent."""
    total = None
    for i, dx in enumerate(d.dx):
        term = None if dx is None else times_partial(d, i, dx)
        if term is not None:
            total = term if total is None else total + term
    return total


def elementwise_batch(b: Batching) -> Any:
    """As it stands, once ranks are aligned."""
    rank = max(t.ndim for t in b.types)
    return b.bind([b.aligned(i, rank) for i in range(len(b.x))])


# linear in the first operand


def linear(transpose: Callable[[Derivative], Any] | str, **fields: Any) -> dict[str, Any]:
    """Linear in its first operand: the tangent goes through the op itself; ``transpose`` takes the cotangent back.

    As source it may use ct, x, y and the parameters.
    """
    if isinstance(transpose, str):
        source = transpose

        def back(d: Derivative, i: int = 0) -> Any:
            return partial(source)(d.x, d.y, {**d.params, "ct": d.ct})
    else:
        rule = transpose

        def back(d: Derivative, i: int = 0) -> Any:
            return rule(d)

    return {"family": "linear", "vjp": back, "jvp": linear_jvp, "linear": True, **fields}


def linear_jvp(d: Derivative) -> Any:
    """The op itself on the tangent of its first operand."""
    from ..core.builder import current

    if d.dx[0] is None:
        return None
    return current().apply(d.entry, [d.dx[0], *d.x[1:]], dict(d.params))


def same_batch(b: Batching) -> Any:
    """For ops whose axes are counted from the end: a leading axis changes nothing."""
    return b.bind(b.x)


# compositions


def read_only(base: Any, value: Any, params: Any, *places: Any) -> Any:
    """The ``view`` of an op whose result shares its operand's memory and cannot be written."""
    raise ValueError("assignment destination is read-only")


def compose(name: str, *operands: str, raw: bool = False, **fields: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """An op whose meaning is the decorated function, written in NumPy itself on recorded values.

    Its signature is the function's. ``operands`` names the parameters that are arrays (the first one unless said; ``"*arrays"`` for a
    sequence of arrays): they arrive as recorded values, with ``raw`` as they were given. ``out``, ``where`` and their like may stand in
    the signature for the linter's sake; a call that gives them is refused.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        code = function.__code__
        defaults = function.__defaults__ or ()
        positional = code.co_varnames[: code.co_argcount]
        keywords = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        given = {**dict(zip(positional[len(positional) - len(defaults) :], defaults)), **(function.__kwdefaults__ or {})}
        texts = [p if p not in given else f"{p}={getattr(given[p], '__name__', repr(given[p]))}" for p in (*positional, *keywords)]
        if code.co_flags & 4:  # *args
            texts.insert(len(positional), "*" + code.co_varnames[len(positional) + len(keywords)])
        own = operands or positional[:1]
        refused = {p: given[p] for p in given if p in _REFUSED and p not in own}
        entry = op(
            name,
            **{
                "family": "composed",
                "signature": ", ".join(texts),
                "operands": own,
                "lower": _Composition(name, function, positional, () if raw else own, refused),
                "writes": ("out",) if "out" in given else (),
                **fields,
            },
        )
        function.__dict__["entry"] = entry
        return function

    return register


_REFUSED = ("out", "where", "initial", "subok", "like", "casting", "device")


class _Composition:
    """Calls a composition with its array arguments as recorded values."""

    def __init__(
        self, name: str, function: Callable[..., Any], names: Sequence[str], operands: Sequence[str], refused: Mapping[str, Any]
    ) -> None:
        self.name = name
        self.function = function
        self.names = names
        self.single = frozenset(o for o in operands if not o.startswith("*"))
        self.several = frozenset(o[1:] for o in operands if o.startswith("*"))
        self.refused = refused

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        for parameter, default in self.refused.items():
            position = self.names.index(parameter) if parameter in self.names else len(args)
            x = args[position] if position < len(args) else kwargs.get(parameter, default)
            if x is not default and x is not None:
                refuse(self.name, parameter)
        args = tuple(self._argument(n, x) for n, x in zip(self.names, args)) + args[len(self.names) :]
        return self.function(*args, **{n: self._argument(n, x) for n, x in kwargs.items()})

    def _argument(self, name: str, x: Any) -> Any:
        if name in self.single:
            return x if x is None else value(x)
        if name in self.several:
            return [value(v) for v in x]
        return x


def value(x: Any) -> Any:
    """A number, an array or a nested list as a recorded value."""
    from ..core.builder import Value, atom_of, current

    if isinstance(x, Value):
        return x
    atom = atom_of(x)
    wrapped = current().wrap(atom)
    # the front end leaves known numbers Python's: here they must answer for a shape
    return wrapped if isinstance(wrapped, Value) else Value(atom)


def common_dtype(*values: Any) -> Any:
    """NumPy's result type; Python numbers adapt to the arrays."""
    import numpy as np

    from ..core.builder import atom_of

    types = [atom_of(v).type for v in values]
    return np.result_type(*(t.dtype.type(1).item() if t.weak else t.dtype for t in types))


def cast(x: Any, dtype: Any) -> Any:
    """x with this dtype, itself if it has it."""
    from ..core.builder import recorded as np

    x = value(x)
    return x if x.dtype == dtype and not x.type.weak else value(np.astype(x, dtype))


def constant_of(x: Any) -> Any:
    """The array or number behind a known value, None behind any other."""
    from ..core.builder import atom_of
    from ..core.program import Const

    atom = atom_of(x)
    return atom.value if isinstance(atom, Const) else None


def static(x: Any, what: str) -> Any:
    """An argument that must be known while compiling: a known value as NumPy's. For any other the front end finds out whether the function
    can be walked again with it known, or says why not."""
    from ..core.builder import Value

    return x._concrete(what) if isinstance(x, Value) else x


def whole(x: Any, what: str = "a count") -> Any:
    """A count as Python's own number; a size that varies is itself."""
    import operator

    from ..core.sizes import Size, unseen

    return unseen(x) if isinstance(x, Size) else operator.index(static(x, what))


def refuse(name: str, parameter: str, hint: str = "") -> Any:
    """Refuse an option of a NumPy function that has no rule."""
    from ..core.builder import current
    from ..errors import Unsupported

    short = name.replace("numpy.", "np.", 1)
    raise Unsupported(f"{short} with {parameter}= has no rule", code="PGR702", span=current().span, hint=hint or f"leave {parameter}= out")


def no_derivative() -> dict[str, Any]:
    """Rules of an op whose result has no derivative: integers, places, tests."""
    return {"vjp": lambda d, i: None, "jvp": lambda d: None}


# helpers of several families


def axis_of(axis: Any, x: Any) -> int:
    """An axis of x counted from its end."""
    import operator

    from ..core.types import normal_axis

    return normal_axis(operator.index(axis), len(x.shape))


def along(x: Any, axis: int, item: Any) -> Any:
    """x indexed at one axis."""
    index: list[Any] = [slice(None)] * len(x.shape)
    index[axis] = item
    return x[tuple(index)]


def shape_text(shape: Sequence[Any]) -> str:
    """A shape as source; one size stands alone."""
    dims = [str(d) for d in shape]
    return dims[0] if len(dims) == 1 else f"({', '.join(dims)})"


def tuple_text(values: Sequence[Any]) -> str:
    """A tuple as source; a single one as itself."""
    return str(values[0]) if len(values) == 1 else str(tuple(values))


__all__ = [
    "Batching",
    "Derivative",
    "Scatter",
    "along",
    "axis_of",
    "cast",
    "common_dtype",
    "compose",
    "constant_of",
    "elementwise",
    "expand",
    "linear",
    "no_derivative",
    "partial",
    "refuse",
    "same_batch",
    "scaled",
    "shape_text",
    "static",
    "tuple_text",
    "ufunc_type",
    "value",
]
