"""Calling: user functions are walked, NumPy functions recorded, everything else called as it is."""

from __future__ import annotations

import ast
import functools
import types
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.builder import Value, atom_of, call, current
from ..core.program import Const
from ..errors import PergradError, Refused, Unsupported, VmapViolation
from ..ops import table
from . import source
from .builtins import SPECIAL
from .cells import Array, cast, wrap
from .expressions import is_symbolic, note, spelled, wrap_known
from .frames import Frame, Walked, closure_of, scope_of
from .generators import KINDS
from .session import NeedsStatic, Path, Undecided, session
from .source import FunctionNode
from .writers import ufunc_at

if TYPE_CHECKING:
    from .walker import Walker

_MUTATORS = frozenset(
    "append extend insert pop remove clear sort reverse update setdefault popitem add discard "
    "__setitem__ __delitem__ appendleft popleft intersection_update difference_update".split()
)


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
        special = SPECIAL.get(id(function))
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
        user_call = getattr(type(function), "__call__", None)  # noqa: B004  its source is wanted
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
        self.bind_parameters(node, function.__name__, defaults, kw_defaults, args, kwargs, frame)
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
        self.bind_parameters(node, function.__name__, function.defaults, function.kw_defaults, args, kwargs, frame)
        return self.run(node, frame)

    def bind_parameters(
        self: Walker,
        node: FunctionNode,
        name: str,
        defaults: list[Any],
        kw_defaults: dict[str, Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        frame: Frame,
    ) -> None:
        """Bind arguments to parameters by Python's rules; TypeError as Python."""
        a = node.args

        def misfit(text: str) -> TypeError:
            error = TypeError(f"{name}() {text}")
            error.add_note(f"its parameters, {frame.file}:{node.lineno}: {name}({ast.unparse(a)})")
            return error

        positional = [p.arg for p in (*a.posonlyargs, *a.args)]
        only = {p.arg for p in a.posonlyargs}
        bound: dict[str, Any] = dict(zip(positional, args))
        extra = args[len(positional) :]
        if extra and a.vararg is None:
            were = "was" if len(args) == 1 else "were"
            raise misfit(f"takes {len(positional)} positional argument{'s' * (len(positional) != 1)} but {len(args)} {were} given")
        if a.vararg is not None:
            bound[a.vararg.arg] = tuple(extra)
        names = {p for p in positional if p not in only} | {p.arg for p in a.kwonlyargs}
        rest: dict[str, Any] = {}
        for key, value in kwargs.items():
            if key in names:
                if key in bound:
                    raise misfit(f"got multiple values for argument '{key}'")
                bound[key] = value
            elif a.kwarg is not None:
                rest[key] = value
            else:
                raise misfit(f"got an unexpected keyword argument '{key}'")
        if a.kwarg is not None:
            bound[a.kwarg.arg] = rest
        for parameter, default in zip(positional[len(positional) - len(defaults) :], defaults, strict=True):
            bound.setdefault(parameter, default)
        for p in a.kwonlyargs:
            if p.arg not in bound and p.arg in kw_defaults:
                bound[p.arg] = kw_defaults[p.arg]
        missing = [p for p in (*positional, *(p.arg for p in a.kwonlyargs)) if p not in bound]
        if missing:
            raise misfit(f"missing {len(missing)} required argument{'s' * (len(missing) > 1)}: {', '.join(map(repr, missing))}")
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
            session().check_object(owner, spelled() or name)
            session().touch(owner)
            if name == "sort" and isinstance(owner, list):
                owner[:] = self.call(sorted, (owner,), kwargs)
                return None
            return self.call_plain(function, args, kwargs)
        if isinstance(owner, (list, tuple, dict)) and session().path_of(owner) is not None and name in ("get", "items", "values", "copy"):
            if name == "get" and args and not isinstance(args[0], Value) and args[0] in owner:
                return self.item(owner, args[0])
            captured = self.mapping(owner) if isinstance(owner, dict) else session().items(owner)
            return self.call_plain(getattr(captured, name), args, kwargs)
        session().whole(owner)
        return self.call_native(function, args, kwargs)

    # NumPy

    def call_numpy(self: Walker, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record a NumPy function; ``out=`` is a write."""
        entry = table.find(name)
        assert entry is not None
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
        """A ufunc's ``where=``: what it does not choose stays in ``out``, and is computed of ones: no NaN of it comes into a derivative."""
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
            return ufunc_at(ufunc, *args)
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
        before: Any = np.random.get_state()
        result = self.call_plain(function, args, kwargs)
        after: Any = np.random.get_state()
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
            session().whole(x)
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
        subject = f"`{error.subject}`" if error.subject else "a value"
        decided = f"{what} in {spelled} is decided by {subject}, which is batched"
        message = f"data-dependent shape: `{text}` gives each sample another size: {decided}"
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
