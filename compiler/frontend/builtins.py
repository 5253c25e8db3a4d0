"""Functions that mean something else for arrays when walked: Python's builtins, `math`, and a few of NumPy."""

from __future__ import annotations

import builtins
import math
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.builder import Value, atom_of, call, current
from ..core.program import Effect
from ..core.sizes import Size, unseen
from ..core.text import Piece, Printed, Text, parts_of
from ..core.types import counted
from ..errors import Unsupported, VmapViolation
from ..ops import table
from .cells import Array, counts
from .expressions import is_symbolic
from .generators import Generator
from .session import session
from .turns import Combined, Span
from .writers import WRITERS

if TYPE_CHECKING:
    from .walker import Walker

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

Special = Callable[..., Any]
SPECIAL: dict[int, Special] = {}


def special(*functions: Any) -> Callable[[Special], Special]:
    """Register what a builtin does in walked code."""

    def add(rule: Special) -> Special:
        for f in functions:
            SPECIAL[id(f)] = rule
        return rule

    return add


def _write_rule(writer: Callable[..., None]) -> Special:
    return lambda walker, function, args, kwargs, node, frame: writer(*walker.lift_all(args), **kwargs)


for _name, _writer in WRITERS.items():
    SPECIAL[id(getattr(np, _name))] = _write_rule(_writer)


@special(isinstance)
def _isinstance(walker: Walker, f: Any, args: Any, kwargs: Any, node: Any, frame: Any) -> bool:
    obj, classes = args
    if isinstance(obj, Size):
        return issubclass(int, classes)
    if not isinstance(obj, Value):
        return isinstance(obj, classes)
    kinds = classes if isinstance(classes, tuple) else (classes,)
    return any(isinstance(k, type) and (issubclass(python_type(obj), k) or k is Value) for k in kinds)


@special(type)
def _type(walker: Walker, f: Any, args: Any, kwargs: Any, node: Any, frame: Any) -> Any:
    if len(args) == 1 and isinstance(args[0], Size):
        return int
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
        return counts(x, (0,)) if counted(x.shape[0]) else x.shape[0]
    if not isinstance(x, (list, tuple, dict, str)) and walker.walks(getattr(type(x), "__len__", None)):
        return walker.call(type(x).__len__, (x,), {})
    session().measured(x)
    return len(x)


@special(float, int, complex)
def _number(walker: Walker, f: Any, args: Any, kwargs: Any, node: Any, frame: Any) -> Any:
    if f is int and len(args) == 1 and isinstance(args[0], Size):
        return args[0]
    args = numbers(args)
    if len(args) != 1 or not is_symbolic(args[0]):
        return f(*args, **kwargs)
    return host_value(args[0], f, f"{f.__name__}()", "PGR202")


@special(bool)
def _bool(walker: Walker, f: Any, args: Any, kwargs: Any, node: Any, frame: Any) -> Any:
    if len(args) != 1 or not is_symbolic(args[0]):
        return walker.truthy(*args) if len(args) == 1 else bool(*args)
    return walker.truth(args[0], "bool()", "PGR202", node, frame)


def numbers(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Sizes that vary as the numbers that they are at run time."""
    return tuple(current().wrap(atom_of(unseen(a))) if isinstance(a, Size) else a for a in args)


def host_value(x: Value, kind: Any, how: str, code: str) -> Any:
    """A Python number of an array's value: keeps the derivative; refused for a mapped one."""
    if x.type.size != 1:
        raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
    return call("pergrad.host", x, kind={float: "f", int: "i", complex: "c", bool: "b"}.get(kind), how=how, code=code)


@special(*(f for n, f in _HOST.items() if n not in ("prod", "fsum", "comb", "perm", "gcd", "lcm", "factorial", "isqrt", "dist")))
def _math(walker: Walker, f: Any, args: Any, kwargs: Any, node: Any, frame: Any) -> Any:
    args = numbers(args)
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
    keys = _keys(walker, items, kwargs.get("key"))
    if not items or not any(is_symbolic(k) for k in keys):
        return items[f(range(len(items)), key=keys.__getitem__)] if items else f(items, **kwargs)
    best, best_key = items[0], keys[0]
    for v, key in zip(items[1:], keys[1:], strict=True):
        test = key > best_key if f is max else key < best_key
        if is_symbolic(test):
            test = walker.truth(test, f"the builtin {f.__name__}", "PGR106", node, frame)
            if not all(isinstance(x, (Value, bool, int, float, complex, np.generic)) for x in (v, best)):
                raise Unsupported(
                    f"the builtin {f.__name__} chooses between objects by a value that is known only at run time",
                    span=current().span,
                    hint="np.argmax of the keys, and arrays instead of objects",
                )
            best_key = _select(test, key, best_key)
            best = best_key if "key" not in kwargs else _select(test, v, best)
        elif test:
            best, best_key = v, key
    return best


def _keys(walker: Walker, items: list[Any], key: Any) -> list[Any]:
    return items if key is None else [walker.call(key, (v,), {}) for v in items]


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
            if walker.truthy(v) is (f is any):
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
    keys = _keys(walker, items, kwargs.get("key"))
    if any(is_symbolic(k) for k in keys):
        span = current().span
        batched = any(session().depends_on_mapped(k.atom) for k in keys if is_symbolic(k))
        if batched:
            raise VmapViolation(
                "data-dependent control flow: the builtin sorted orders by values",
                code="PGR106",
                span=span,
                hint="np.sort(np.stack(values))",
            )
        if kwargs.get("key") is None:
            y = call("numpy.sort", call("numpy.stack", items))
            return list(y[::-1] if kwargs.get("reverse") else y)
        stacked = call("numpy.stack", keys)
        order = call("numpy.argsort", -stacked if kwargs.get("reverse") else stacked, kind="stable")
        return list(call("numpy.stack", items)[order])
    order = sorted(range(len(items)), key=keys.__getitem__, reverse=bool(kwargs.get("reverse", False)))
    return [items[k] for k in order]


@special(round)
def _round(walker: Walker, f: Any, args: Any, kwargs: Any, node: Any, frame: Any) -> Any:
    x, digits = (*args, None)[:2] if args else (kwargs.get("number"), None)
    digits = kwargs.get("ndigits", digits)
    if isinstance(x, Size):
        return x if digits is None else walker.call(round, (*numbers((x,)), digits), {})
    if not is_symbolic(x) or isinstance(x, Array):
        return f(*args, **kwargs)
    if digits is None:
        return host_value(call("numpy.rint", x), int, "round()", "PGR202")
    y = call("numpy.round", x, digits)
    return call("pergrad.host", y, kind=None, how="", code="") if x.type.weak else y


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
    session().whole(args)
    return dict(*args, **kwargs)


@special(enumerate, zip, iter, reversed, map, filter)
def _iterator(walker: Walker, f: Any, args: Any, kwargs: Any, node: Any, frame: Any) -> Any:
    if f in (map, filter) and args:
        function = args[0]
        each = (lambda *xs: walker.call(function, xs, {})) if function is not None else None
        if f is filter:
            return (x for x in walker.iterate(args[1]) if bool(each(x) if each else x))
        return map(each, *(walker.iterate(a) for a in args[1:]))  # type: ignore[arg-type]
    session().whole(tuple(a for a in args if not isinstance(a, (list, tuple))))
    if f is not iter and args and any(isinstance(a, (Array, Span, Combined)) or (f is reversed and isinstance(a, range)) for a in args):
        return Combined(f, args, kwargs, walker.iterate)
    return f(*(list(walker.iterate(a)) if isinstance(a, (list, tuple, np.ndarray)) else a for a in args), **kwargs)


@special(range)
def _range(walker: Walker, f: Any, args: Any, kwargs: Any, node: Any, frame: Any) -> Any:
    for a in args:
        if is_symbolic(a) and session().depends_on_mapped(a.atom):
            walker.refuse_batched(a, "PGR107", "a loop's bound", node, frame)
    if any(isinstance(a, Size) for a in args):
        return Span(*args)
    return range(*(a.__index__() if isinstance(a, Value) else a for a in args))


@special(print)
def _print(walker: Walker, f: Any, args: Any, kwargs: Any, node: Any, frame: Any) -> None:
    args = numbers(args)
    if any(is_symbolic(a) or isinstance(a, Text) for a in args):
        texts: list[tuple[Any, ...]] = []
        values: list[Any] = []
        for a in args:
            if is_symbolic(a):
                texts.append((None,))
                values.append(a)
                continue
            parts = parts_of(a if isinstance(a, str) else str(a))
            texts.append(tuple(p if isinstance(p, str) else (p.conversion, p.spec) for p in parts))
            values.extend(p.value for p in parts if isinstance(p, Piece))
        payload = Printed(tuple(texts), kwargs)
        current().append(Effect(outs=(), kind="print", args=tuple(map(atom_of, values)), payload=payload, span=current().span))
        return
    session().whole(args)
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
