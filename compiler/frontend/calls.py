"""Calling: user functions are walked, NumPy functions recorded, everything else called as it is."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import math
import types
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.builder import Value, atom_of, call, current
from ..core.program import Const, Effect
from ..core.types import Type
from ..errors import PergradError, Refused, Unsupported, VmapViolation
from ..ops import table
from . import source
from .cells import Array, Cell, Owner, assign, augmented, cast, wrap
from .expressions import is_symbolic, note, wrap_known
from .frames import Frame, Walked, closure_of, scope_of
from .generators import KINDS, Generator
from .session import NeedsStatic, Path, Undecided, session

if TYPE_CHECKING:
    from .walker import Walker

_MUTATORS = frozenset(
    "append extend insert pop remove clear sort reverse update setdefault popitem add discard "
    "__setitem__ __delitem__ appendleft popleft intersection_update difference_update".split()
)
_HOST = {name: getattr(math, name) for name in dir(math) if callable(getattr(math, name)) and not name.startswith("_")}
_HOST_NAMES = {f: n for n, f in _HOST.items()}
_MATH = {"fabs": "absolute", "pow": "power", "fmod": "fmod", "gamma": None, "lgamma": None, "erf": None, "erfc": None}
_MATH |= {
    "acos": "arccos",
    "asin": "arcsin",
    "atan": "arctan",
    "atan2": "arctan2",
    "acosh": "arccosh",
    "asinh": "arcsinh",
    "atanh": "arctanh",
}


@functools.lru_cache(maxsize=1)
def numpy_functions() -> dict[int, tuple[Any, str]]:
    """NumPy's functions that the table knows, by identity."""
    found: dict[int, tuple[Any, str]] = {}
    for name, _ in table.names():
        if name.startswith("numpy."):
            value: Any = np
            for part in name.split(".")[1:]:
                value = getattr(value, part, None)
            if value is not None and not isinstance(value, type):
                found.setdefault(id(value), (value, name))
    return found


def numpy_name(function: Any) -> str | None:
    """The qualified name of a NumPy function, or None."""
    entry = numpy_functions().get(id(function))
    if entry is not None and entry[0] is function:
        return entry[1]
    return None


class Calls:
    """Mixed into the walker."""

    def walks(self: Walker, function: Any) -> bool:
        """Whether a function is user code whose source is walked."""
        return isinstance(function, types.FunctionType) and source.is_user_code(function) and source.has_source(function)

    def call(
        self: Walker, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], node: ast.AST | None = None, frame: Frame | None = None
    ) -> Any:
        """Call anything."""
        if isinstance(function, Walked):
            return self.call_walked(function, args, kwargs)
        if isinstance(function, types.MethodType):
            name = numpy_name(function)
            return self.call_method(function, args, kwargs) if name is None else self.call_numpy(name, args, kwargs)
        special = _SPECIAL.get(id(function))
        if special is not None:
            return special(self, function, args, kwargs, node, frame)
        trace = getattr(type(function), "__pergrad_trace__", None)
        if trace is not None:
            return trace(function, args, kwargs)
        if isinstance(function, functools.partial):
            return self.call(function.func, (*function.args, *args), {**function.keywords, **kwargs}, node, frame)
        if isinstance(function, types.FunctionType) and self.walks(function):
            return self.call_function(function, args, kwargs)
        if isinstance(function, type):
            return self.construct(function, args, kwargs)
        name = numpy_name(function)
        if name is not None:
            return self.call_numpy(name, args, kwargs)
        owner = getattr(function, "__self__", None)
        if owner is not None and not isinstance(owner, types.ModuleType):
            return self.call_bound(function, owner, args, kwargs)
        user_call = getattr(type(function), "__call__", None)
        if not isinstance(function, (types.FunctionType, types.BuiltinFunctionType, type)) and self.walks(user_call):
            return self.call(user_call, (function, *args), kwargs)
        return self.call_native(function, args, kwargs)

    # user functions

    def call_method(self: Walker, method: types.MethodType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if isinstance(method.__func__, Walked) or self.walks(method.__func__):
            return self.call(method.__func__, (method.__self__, *args), kwargs)
        trace = getattr(type(method.__func__), "__pergrad_trace__", None)
        if trace is not None:
            return trace(method.__func__, (method.__self__, *args), kwargs)
        return self.call_bound(method, method.__self__, args, kwargs)

    def call_function(self: Walker, function: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Walk a user's function."""
        node, file = source.find(function)
        closure = closure_of(function)
        frame = Frame(
            scope_of(node), file, function.__globals__, closure=closure, name=function.__name__, helper=self.helper(function.__name__)
        )
        defaults = [self.default(function, i, v) for i, v in enumerate(function.__defaults__ or ())]
        kw_defaults = {k: self.default(function, k, v) for k, v in (function.__kwdefaults__ or {}).items()}
        self.bind_parameters(node.args, function.__name__, defaults, kw_defaults, args, kwargs, frame)
        return self.run(node, frame)

    def default(self: Walker, function: types.FunctionType, key: Any, value: Any) -> Any:
        """A default value: an object that lives as long as the function."""
        if isinstance(value, np.ndarray):
            holder = Path("object", function, None, function.__name__)
            attribute = "__defaults__" if isinstance(key, int) else "__kwdefaults__"
            return session().capture(Path("item", Path("attribute", holder, attribute, attribute), key, f"default {key}"), value)
        if isinstance(value, (list, dict, set)):
            session().remember(value, Path("object", value, None, f"a default of {function.__name__}"))
        return value

    def call_walked(self: Walker, function: Walked, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        node, outer = function.node, function.frame
        frame = Frame(
            scope_of(node),
            outer.file,
            outer.globals,
            parent=outer,
            closure=outer.closure,
            name=function.__name__,
            helper=self.helper(function.__name__),
        )
        frame.owner = function.owner
        self.bind_parameters(node.args, function.__name__, function.defaults, function.kw_defaults, args, kwargs, frame)
        return self.run(node, frame)

    def bind_parameters(
        self: Walker,
        a: ast.arguments,
        name: str,
        defaults: list[Any],
        kw_defaults: dict[str, Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        frame: Frame,
    ) -> None:
        """Bind arguments to parameters by Python's rules; TypeError as Python."""
        positional = [p.arg for p in (*a.posonlyargs, *a.args)]
        only = {p.arg for p in a.posonlyargs}
        bound: dict[str, Any] = dict(zip(positional, args))
        extra = args[len(positional) :]
        if extra and a.vararg is None:
            raise TypeError(
                f"{name}() takes {len(positional)} positional argument{'s' * (len(positional) != 1)} but {len(args)} were given"
            )
        if a.vararg is not None:
            bound[a.vararg.arg] = tuple(extra)
        names = {p for p in positional if p not in only} | {p.arg for p in a.kwonlyargs}
        rest: dict[str, Any] = {}
        for key, value in kwargs.items():
            if key in names:
                if key in bound:
                    raise TypeError(f"{name}() got multiple values for argument '{key}'")
                bound[key] = value
            elif a.kwarg is not None:
                rest[key] = value
            else:
                raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")
        if a.kwarg is not None:
            bound[a.kwarg.arg] = rest
        for parameter, default in zip(positional[len(positional) - len(defaults) :], defaults, strict=True):
            bound.setdefault(parameter, default)
        for p in a.kwonlyargs:
            if p.arg not in bound and p.arg in kw_defaults:
                bound[p.arg] = kw_defaults[p.arg]
        missing = [p for p in (*positional, *(p.arg for p in a.kwonlyargs)) if p not in bound]
        if missing:
            raise TypeError(f"{name}() missing required argument{'s' * (len(missing) > 1)}: {', '.join(map(repr, missing))}")
        places = {p.arg: p for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)}
        for key, value in bound.items():
            if key in places:
                _placed(value, places[key], frame.file)
            self.bind(key, value, frame)

    # classes and objects

    def construct(self: Walker, cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Make an object: its __init__ is walked when it is user code."""
        if issubclass(cls, BaseException):
            return cls(*args, **kwargs)
        if getattr(cls.__init__, "__qualname__", "") and self.walks(cls.__init__) and cls.__new__ is object.__new__:
            obj = cls.__new__(cls)
            self.call(cls.__init__, (obj, *args), kwargs)
            return obj
        if issubclass(cls, np.generic) and args and isinstance(args[0], Value):
            return call("numpy.astype", args[0], np.dtype(cls))
        return self.call_native(cls, args, kwargs)

    def call_bound(self: Walker, function: Any, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A bound method that is not walked: of a container, an array, a ufunc, a library's object."""
        name = getattr(function, "__name__", "")
        if isinstance(owner, np.ndarray):
            return (
                getattr(wrap(Const(owner)), name)(*args, **kwargs) if table.find_method(name) else self.call_native(function, args, kwargs)
            )
        if isinstance(owner, np.ufunc):
            return self.call_ufunc_method(owner, name, args, kwargs)
        if isinstance(owner, KINDS) and session().path_of(owner) is not None:
            held = session().capture(Path("object", owner, None, "generator"), owner)
            return getattr(held, name)(*self.lift_all(args), **kwargs)
        if name in _MUTATORS and isinstance(owner, (list, dict, set)):
            session().check_object(owner, current().span.text() if current().span else name)
            session().touch(owner)
            return self.call_plain(function, args, kwargs)
        if isinstance(owner, (list, tuple, dict)) and session().path_of(owner) is not None and name in ("get", "items", "values", "copy"):
            captured = self.mapping(owner) if isinstance(owner, dict) else session().items(owner)
            return self.call_plain(getattr(captured, name), args, kwargs)
        return self.call_native(function, args, kwargs)

    # NumPy

    def call_numpy(self: Walker, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record a NumPy function; ``out=`` is a write."""
        entry = table.find(name)
        assert entry is not None
        writer = _WRITERS.get(name)
        if writer is not None:
            return writer(*self.lift_all(args), **kwargs)
        args, kwargs, out = split_out(entry, self.lift_all(args), kwargs)
        where = kwargs.pop("where", True) if entry.family == "elementwise" else True
        if where is not True:
            return self.where_chosen(name, args, kwargs, self.lift(where), out)
        try:
            result = call(name, *args, **{k: self.lift(v) for k, v in kwargs.items()})
        except Undecided as error:
            raise sized(error, entry, name) from None
        except (PergradError, NeedsStatic):
            raise
        except (ValueError, TypeError, IndexError) as error:
            note(error)
            raise
        return result if out is None else into(out, result)

    def where_chosen(self: Walker, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], where: Any, out: Any) -> Any:
        """A ufunc's ``where=``: what it does not choose stays in ``out``, and is computed of ones, so that no NaN of it comes into a derivative."""
        if not isinstance(out, Array):
            raise Unsupported(
                f"{name.replace('numpy.', 'np.', 1)} with where= and without out= leaves memory as it was: unknown values",
                code="PGR702",
                span=current().span,
                hint="give out=, or np.where(mask, ..., 0.0)",
            )
        kwargs = {k: self.lift(v) for k, v in kwargs.items()}
        safe = tuple(call("numpy.where", where, a, 1) if isinstance(a, Value) and not isinstance(a.atom, Const) else a for a in args)
        return into(out, call("numpy.where", where, call(name, *safe, **kwargs), Value(out.atom)))

    def call_ufunc_method(self: Walker, ufunc: np.ufunc, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        args = self.lift_all(args)
        if method == "at":
            return _ufunc_at(ufunc, *args)
        return call(f"numpy.ufunc.{method}", ufunc, *args, **kwargs)

    def lift(self: Walker, x: Any) -> Any:
        """Known arrays become part of the walk, captured containers' arrays hidden parameters."""
        if isinstance(x, np.ndarray):
            return wrap_known(x)
        if isinstance(x, (list, tuple)) and not hasattr(x, "_fields"):
            if session().path_of(x) is not None:
                x = type(x)(session().items(x))
            return type(x)(self.lift(v) for v in x)
        return x

    def lift_all(self: Walker, args: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(self.lift(a) for a in args)

    # everything else

    def call_native(self: Walker, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call what has no source to walk; arrays inside captured containers are handed over as symbolic ones."""
        if isinstance(function, types.FunctionType) and getattr(function, "__pergrad_front__", False):
            return function(*args, **kwargs)
        name = _dotted(function)
        if isinstance(function, types.FunctionType) and source.is_user_code(function):
            return self.call_unseen(function, args, kwargs)
        try:
            return self.call_plain(function, self.lift_native(args), {k: self.lift_native((v,))[0] for k, v in kwargs.items()})
        except (PergradError, NeedsStatic, StopIteration):
            raise
        except (AttributeError, TypeError, NotImplementedError) as error:
            if any(is_symbolic(a) for a in (*args, *kwargs.values())):
                raise Unsupported(
                    f"{name} has no rule and does not take symbolic arrays ({error})",
                    code="PGR702",
                    span=current().span,
                    hint="write it in NumPy, register a rule, or define it in a file",
                ) from error
            raise

    def call_unseen(self: Walker, function: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A user's function whose source was not found: called with symbolic arrays; a draw in it would be made while compiling."""
        before = np.random.get_state()
        result = self.call_plain(function, args, kwargs)
        after = np.random.get_state()
        if before[2] != after[2] or not np.array_equal(before[1], after[1]):
            np.random.set_state(before)
            raise Unsupported(
                f"{_dotted(function)} draws random numbers and its source was not found",
                code="PGR702",
                span=current().span,
                hint="define it in a file: functions made by exec or typed at a prompt have no source to read",
            )
        return result

    def call_plain(self: Walker, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return function(*args, **kwargs)

    def lift_native(self: Walker, args: tuple[Any, ...]) -> tuple[Any, ...]:
        def each(x: Any) -> Any:
            if isinstance(x, (list, tuple)) and session().path_of(x) is not None and any(isinstance(v, np.ndarray) for v in x):
                return type(x)(session().items(x)) if not hasattr(x, "_fields") else x
            if isinstance(x, Array) and isinstance(x.atom, Const):
                return x
            return x

        return tuple(each(a) for a in args)


def _placed(value: Any, parameter: ast.arg, file: str) -> None:
    """Arguments come into a trail by the parameter that takes them."""
    if isinstance(value, Value):
        atom = value.atom
        if not isinstance(atom, Const) and atom.span is None:
            atom.span = source.span_of(parameter, file)
    elif isinstance(value, dict):
        for v in value.values():
            _placed(v, parameter, file)
    elif isinstance(value, (list, tuple)):
        for v in value:
            _placed(v, parameter, file)


def _dotted(function: Any) -> str:
    module = getattr(function, "__module__", None) or ""
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None) or type(function).__name__
    return f"{module}.{name}" if module and module != "builtins" else str(name)


def split_out(entry: table.Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any], Any]:
    """Take ``out=`` out of a call, also when it stands as a positional argument."""
    kwargs = dict(kwargs)
    out = kwargs.pop("out", None)
    if isinstance(out, tuple):
        out = out[0]
    starred = "*" in entry.signature.partition("out")[0].replace("*,", "")
    if "out" in entry.parameters and out is None and not starred:
        k = entry.parameters.index("out")
        if len(args) > k and isinstance(args[k], Value):
            out = args[k]
            args = (*args[:k], *args[k + 1 :])
    return args, kwargs, out


def sized(error: Undecided, entry: table.Op, name: str) -> PergradError:
    """A size that is not known: for a mapped one the samples would have different shapes."""
    if not entry.static:
        return error
    code = next(iter(entry.static.values()))
    spelled = name.replace("numpy.", "np.", 1)
    span = error.span
    text = span.text() if span else spelled
    what = "the number of repeats" if code == "PGR405" else "the shape"
    if error.batched:
        message = f"data-dependent shape: `{text}` gives each sample another size: {what} in {spelled} is decided by `{error.subject}`, which is batched"
        hint = "a fixed size k with np.where(np.arange(k) < n, x, 0.0), or in_dims None for the size"
        return VmapViolation(message, code=code, span=span, hint=hint, trail=error.trail)
    return Unsupported(
        f"{what} in {spelled} is decided by a value that is known only at run time: `{text}`",
        code="PGR702",
        span=span,
        hint="pass the size as a Python int",
    )


def into(out: Any, result: Any) -> Any:
    """Write a result into ``out=``: its shape must be the buffer's."""
    if not isinstance(out, Array):
        raise TypeError("return arrays must be of ArrayType")
    t = atom_of(result).type
    if t.shape != out.shape:
        raise ValueError(f"output array has shape {out.shape}, the result {t.shape}")
    if not np.can_cast(t.dtype, out.dtype, "same_kind"):
        raise TypeError(f"cannot cast the result from {t.dtype} to {out.dtype} with casting rule 'same_kind'")
    owner = out.cell.owner
    if owner.kind == "captured" or owner.mapped is False:
        batched = session().depends_on_mapped(atom_of(result))
        where = "its in_dims is None" if owner.kind == "argument" else "it is captured"
        message = f"`out=` writes into the unbatched array `{owner.name}`: {where}"
        kind: Any = VmapViolation if batched else Refused
        raise kind(message, code="PGR302" if batched else "PGR602", span=current().span, hint=f"{owner.name} = the call without out=")
    out.write(cast(result, out.type))
    return out


# functions that write


def _copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    if isinstance(where, Value):
        dst.write(cast(call("numpy.where", where, src, Value(dst.atom)), dst.type))
        return
    assign(dst, Ellipsis, src)


def _fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    n = min(a.shape)
    rows = np.arange(n)
    assign(a, (rows,) * len(a.shape), val)


def _put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    flat = a.reshape(-1)
    assign(flat, ind, v)


def _putmask(a: Any, mask: Any, values: Any) -> None:
    _copyto(a, values, where=mask)


def _put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    n = len(arr.shape)
    axis = axis % n
    index = []
    for k in range(n):
        if k == axis:
            index.append(indices)
        else:
            shape = [1] * n
            shape[k] = indices.shape[k]
            index.append(np.arange(indices.shape[k]).reshape(shape))
    assign(arr, tuple(index), values)


def _ufunc_at(ufunc: np.ufunc, a: Any, indices: Any, b: Any = None) -> None:
    if ufunc is np.add:
        assign(a, indices, b, add=True)
    elif ufunc is np.subtract:
        assign(a, indices, -b, add=True)
    else:
        _one_by_one(ufunc, a, indices if isinstance(indices, tuple) else (indices,), b)


_ONE_BY_ONE = 256  # more single updates than this are not written out


def _one_by_one(ufunc: np.ufunc, a: Any, indices: tuple[Any, ...], b: Any) -> None:
    """``ufunc.at``: every place is updated as often as it is named, in order."""
    arrays = [call("numpy.asarray", i) for i in indices if not isinstance(i, slice) and i is not None and i is not Ellipsis]
    arrays = [i if isinstance(i, Value) else Value(atom_of(i)) for i in arrays]
    shape = np.broadcast_shapes(*(i.shape for i in arrays)) if arrays else ()
    count = math.prod(shape)
    if len(arrays) != len(indices) or any(i.dtype.kind not in "iu" for i in arrays) or count > _ONE_BY_ONE:
        raise Unsupported(
            f"np.{ufunc.__name__}.at has a rule for at most {_ONE_BY_ONE} integer indices",
            code="PGR702",
            span=current().span,
            hint="np.add.at and np.subtract.at have one for any",
        )
    flat = [call("numpy.reshape", call("numpy.broadcast_to", i, shape), -1) for i in arrays]
    values = None
    if b is not None:
        rest = a.shape[len(arrays) :]
        values = call("numpy.reshape", call("numpy.broadcast_to", b, (*shape, *rest)), (count, *rest))
    for k in range(count):
        place = tuple(i[k] for i in flat)
        more = () if values is None else (values[k],)
        assign(a, place, call(f"numpy.{ufunc.__name__}", a[place], *more))


_WRITERS: dict[str, Callable[..., Any]] = {}
for _name, _writer in (
    ("copyto", _copyto),
    ("fill_diagonal", _fill_diagonal),
    ("put", _put),
    ("putmask", _putmask),
    ("place", _putmask),
    ("put_along_axis", _put_along_axis),
):
    _WRITERS[f"numpy.{_name}"] = _writer


# builtins that mean something else for arrays

Special = Callable[..., Any]
_SPECIAL: dict[int, Special] = {}


def special(*functions: Any) -> Callable[[Special], Special]:
    """Register what a builtin does in walked code."""

    def add(rule: Special) -> Special:
        for f in functions:
            _SPECIAL[id(f)] = rule
        return rule

    return add


for _name, _writer in (
    ("copyto", _copyto),
    ("fill_diagonal", _fill_diagonal),
    ("put", _put),
    ("putmask", _putmask),
    ("put_along_axis", _put_along_axis),
):

    def _write_rule(walker: Any, function: Any, args: Any, kwargs: Any, node: Any, frame: Any, writer: Any = _writer) -> Any:
        return writer(*walker.lift_all(args), **kwargs)

    _SPECIAL[id(getattr(np, _name))] = _write_rule


@special(isinstance)
def _isinstance(walker: Walker, f: Any, args: Any, kwargs: Any, node: Any, frame: Any) -> bool:
    obj, classes = args
    if not isinstance(obj, Value):
        return isinstance(obj, classes)
    kinds = classes if isinstance(classes, tuple) else (classes,)
    return any(isinstance(k, type) and (issubclass(python_type(obj), k) or k is Value) for k in kinds)


@special(type)
def _type(walker: Walker, f: Any, args: Any, kwargs: Any, node: Any, frame: Any) -> Any:
    return python_type(args[0]) if len(args) == 1 and isinstance(args[0], Value) else type(*args, **kwargs)


def python_type(x: Value) -> type:
    """The class that a symbolic value stands for."""
    t = x.type
    if isinstance(x, Generator):
        return x.kind
    if t.weak:
        return {"b": bool, "i": int, "f": float, "c": complex}[t.dtype.kind]
    return t.dtype.type if t.scalar else np.ndarray


@special(np.random.default_rng)
def _default_rng(walker: Walker, f: Any, args: Any, kwargs: Any, node: Any, frame: Any) -> Any:
    if not args and not kwargs or args == (None,):
        raise Unsupported(
            "np.random.default_rng() without a seed inside a compiled function would draw while compiling",
            code="PGR702",
            span=current().span,
            hint="make the generator outside, or give it a constant seed",
        )
    return f(*args, **kwargs)


@special(callable)
def _callable(walker: Walker, f: Any, args: Any, kwargs: Any, node: Any, frame: Any) -> bool:
    return not isinstance(args[0], Value) and callable(args[0])


@special(len)
def _len(walker: Walker, f: Any, args: Any, kwargs: Any, node: Any, frame: Any) -> Any:
    (x,) = args
    if isinstance(x, Value):
        if not x.shape:
            raise TypeError("len() of unsized object")
        return x.shape[0]
    if not isinstance(x, (list, tuple, dict, str)) and walker.walks(getattr(type(x), "__len__", None)):
        return walker.call(type(x).__len__, (x,), {})
    return len(x)


@special(float, int, complex)
def _number(walker: Walker, f: Any, args: Any, kwargs: Any, node: Any, frame: Any) -> Any:
    if len(args) != 1 or not is_symbolic(args[0]):
        return f(*args, **kwargs)
    return host_value(args[0], f, f"{f.__name__}()", "PGR202")


@special(bool)
def _bool(walker: Walker, f: Any, args: Any, kwargs: Any, node: Any, frame: Any) -> Any:
    if len(args) != 1 or not is_symbolic(args[0]):
        return bool(*args)
    return walker.truth(args[0], "bool()", "PGR202", node, frame)


def host_value(x: Value, kind: Any, how: str, code: str) -> Any:
    """A Python number of an array's value: keeps the derivative; refused for a mapped one."""
    if x.type.size != 1:
        raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
    return call("pergrad.host", x, kind={float: "f", int: "i", complex: "c", bool: "b"}.get(kind), how=how, code=code)


@special(*(f for n, f in _HOST.items() if n not in ("prod", "fsum", "comb", "perm", "gcd", "lcm", "factorial", "isqrt", "dist")))
def _math(walker: Walker, f: Any, args: Any, kwargs: Any, node: Any, frame: Any) -> Any:
    if not any(is_symbolic(a) for a in args):
        return f(*args, **kwargs)
    name = _HOST_NAMES[f]
    values = [host_value(a, float, f"math.{name}", "PGR204") if is_symbolic(a) else a for a in args]
    target = _MATH.get(name, name)
    if name == "log" and len(values) == 2:
        return call("numpy.log", values[0]) / call("numpy.log", values[1])
    if name == "hypot" and len(values) != 2:
        return call("numpy.sqrt", builtins.sum(v * v for v in values))
    if target is None or table.find(f"numpy.{target}") is None:
        raise Unsupported(f"math.{name} has no rule", code="PGR702", span=current().span, hint="write it with NumPy functions")
    y = call(f"numpy.{target}", *values)
    return call("pergrad.host", y, kind="i" if name in ("floor", "ceil", "trunc") else None, how=f"math.{name}", code="PGR204")


@special(min, max)
def _extremum(walker: Walker, f: Any, args: Any, kwargs: Any, node: Any, frame: Any) -> Any:
    items = list(walker.iterate(args[0])) if len(args) == 1 else list(args)
    if not any(is_symbolic(v) for v in items) or "key" in kwargs:
        return f(*args, **kwargs) if len(args) > 1 else f(items, **kwargs)
    best = items[0]
    for v in items[1:]:
        test = v > best if f is max else v < best
        if is_symbolic(test):
            test = walker.truth(test, f"the builtin {f.__name__}", "PGR106", node, frame)
            best = _select(test, v, best)
        elif test:
            best = v
    return best


def _select(test: Any, a: Any, b: Any) -> Any:
    y = call("numpy.where", test, a, b)
    t = atom_of(y).type
    if t.ndim:
        return y
    return call("pergrad.host", y, kind=None, how="", code="") if all(atom_of(v).type.weak for v in (a, b)) else y[()]


@special(any, all)
def _any_all(walker: Walker, f: Any, args: Any, kwargs: Any, node: Any, frame: Any) -> Any:
    out = None
    for v in walker.iterate(args[0]):
        if not is_symbolic(v):
            if bool(v) is (f is any):
                return f is any if out is None else (True if f is any else False)
            continue
        v = walker.truth(v, f"the builtin {f.__name__}", "PGR106", node, frame)
        out = v if out is None else call(f"numpy.logical_{'or' if f is any else 'and'}", out, v)
    return out if out is not None else f is all


@special(sum)
def _sum(walker: Walker, f: Any, args: Any, kwargs: Any, node: Any, frame: Any) -> Any:
    total = args[1] if len(args) > 1 else kwargs.get("start", 0)
    for v in walker.iterate(args[0]):
        total = v if isinstance(total, int) and total == 0 and type(total) is int and isinstance(v, Value) else total + v
    return total


@special(sorted)
def _sorted(walker: Walker, f: Any, args: Any, kwargs: Any, node: Any, frame: Any) -> Any:
    items = list(walker.iterate(args[0]))
    if any(is_symbolic(v) for v in items) and "key" not in kwargs:
        span = current().span
        batched = any(session().depends_on_mapped(v.atom) for v in items if is_symbolic(v))
        if batched:
            raise VmapViolation(
                "data-dependent control flow: the builtin sorted orders by values",
                code="PGR106",
                span=span,
                hint="np.sort(np.stack(values))",
            )
        y = call("numpy.sort", call("numpy.stack", items))
        return list(y[::-1] if kwargs.get("reverse") else y)
    return sorted(items, **kwargs)


@special(getattr)
def _getattr(walker: Walker, f: Any, args: Any, kwargs: Any, node: Any, frame: Any) -> Any:
    if len(args) == 3 and not hasattr(args[0], args[1]):
        return args[2]
    return walker.attribute(args[0], args[1])


@special(setattr)
def _setattr(walker: Walker, f: Any, args: Any, kwargs: Any, node: Any, frame: Any) -> None:
    walker.set_attribute(args[0], args[1], args[2])


@special(list, tuple, set, frozenset)
def _sequence(walker: Walker, f: Any, args: Any, kwargs: Any, node: Any, frame: Any) -> Any:
    return f(walker.iterate(args[0])) if len(args) == 1 and not kwargs else f(*args, **kwargs)


@special(dict)
def _dict(walker: Walker, f: Any, args: Any, kwargs: Any, node: Any, frame: Any) -> Any:
    if len(args) == 1 and isinstance(args[0], dict):
        return dict(walker.mapping(args[0]), **kwargs)
    return dict(*args, **kwargs)


@special(enumerate, zip, iter, reversed, map, filter)
def _iterator(walker: Walker, f: Any, args: Any, kwargs: Any, node: Any, frame: Any) -> Any:
    if f in (map, filter) and args:
        function = args[0]
        each = (lambda *xs: walker.call(function, xs, {})) if function is not None else None
        if f is filter:
            return (x for x in walker.iterate(args[1]) if bool(each(x) if each else x))
        return map(each, *(walker.iterate(a) for a in args[1:]))  # type: ignore[arg-type]
    lifted = tuple(
        list(walker.iterate(a)) if isinstance(a, (list, tuple, np.ndarray)) or (isinstance(a, Value) and f is reversed) else a for a in args
    )
    return f(*lifted, **kwargs)


@special(range)
def _range(walker: Walker, f: Any, args: Any, kwargs: Any, node: Any, frame: Any) -> Any:
    for a in args:
        if is_symbolic(a) and session().depends_on_mapped(a.atom):
            walker.refuse_batched(a, "PGR107", "a loop's bound", node, frame)
    return range(*(a.__index__() if isinstance(a, Value) else a for a in args))


@special(print)
def _print(walker: Walker, f: Any, args: Any, kwargs: Any, node: Any, frame: Any) -> None:
    if any(is_symbolic(a) for a in args):
        current().append(
            Effect(
                outs=(),
                kind="print",
                args=tuple(atom_of(a) for a in args if is_symbolic(a)),
                payload=tuple("{}" if is_symbolic(a) else str(a) for a in args),
                span=current().span,
            )
        )
        return
    warnings.warn("print of a known value runs once, while compiling", stacklevel=2)
    f(*args, **kwargs)


@special(np.errstate)
def _errstate(walker: Walker, f: Any, args: Any, kwargs: Any, node: Any, frame: Any) -> Any:
    return _Errstate(kwargs)


class _Errstate:
    """``with np.errstate(...)``: part of the emitted program."""

    def __init__(self, kwargs: dict[str, Any]) -> None:
        self.kwargs = kwargs
        self.native = np.errstate(**kwargs)

    def __enter__(self) -> _Errstate:
        self.native.__enter__()
        current().append(Effect(outs=(), kind="errstate_enter", payload=dict(self.kwargs), span=current().span))
        return self

    def __exit__(self, *exc: Any) -> None:
        current().append(Effect(outs=(), kind="errstate_exit", span=current().span))
        self.native.__exit__(*exc)


__all__ = ["Calls", "Cell", "Owner", "Type", "augmented", "host_value", "inspect", "numpy_name", "special"]
