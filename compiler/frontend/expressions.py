"""Evaluating expressions: Python runs, arrays are recorded."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.builder import Value, call, current
from ..core.program import Const
from ..core.text import Piece, Text, parts_of
from ..core.types import Size, counted, seen
from ..errors import PergradError, Unsupported, VmapViolation
from .cells import measured, wrap
from .frames import Frame, Scope, Walked
from .guards import CONTAINERS
from .session import Undecided, session
from .source import span_of

if TYPE_CHECKING:
    from .walker import Walker

_BINARY: dict[type[ast.operator], Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
_UNARY: dict[type[ast.unaryop], Any] = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}
_COMPARE: dict[type[ast.cmpop], Any] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}


def is_symbolic(x: Any) -> bool:
    """Whether a value is an array or number that is not known yet."""
    return isinstance(x, Value) and not isinstance(x.atom, Const)


def spelled() -> str:
    """The text of what is walked now."""
    span = current().span
    return span.text() if span else ""


class Expressions:
    """Mixed into the walker: one method per kind of expression."""

    def eval(self: Walker, node: ast.expr, frame: Frame) -> Any:
        """The value of an expression; the span of what it records is the expression's."""
        method = getattr(self, "eval_" + type(node).__name__, None)
        if method is None:
            raise Unsupported(f"{type(node).__name__} is not supported", span=span_of(node, frame.file))
        return method(node, frame)

    def at(self: Walker, node: ast.AST, frame: Frame) -> None:
        """Stamp what is recorded next with a node's place."""
        current().span = span_of(node, frame.file)

    def eval_Constant(self: Walker, node: ast.Constant, frame: Frame) -> Any:
        return node.value

    def eval_Name(self: Walker, node: ast.Name, frame: Frame) -> Any:
        self.at(node, frame)
        return frame.lookup(node.id)

    def eval_Attribute(self: Walker, node: ast.Attribute, frame: Frame) -> Any:
        obj = self.eval(node.value, frame)
        self.at(node, frame)
        return seen(self.attribute(obj, node.attr))

    def attribute(self: Walker, obj: Any, name: str) -> Any:
        """An attribute, properties of user classes walked, what belongs to a captured object captured."""
        if isinstance(obj, Value) and name in ("shape", "size") and any(map(counted, obj.shape)):
            return measured(obj, name)
        if isinstance(obj, (Value, type(np))):
            return getattr(obj, name)
        kind = type(obj)
        found = next((vars(k)[name] for k in kind.__mro__ if name in vars(k)), None)
        if isinstance(found, property) and found.fget is not None and self.walks(found.fget):
            return self.call(found.fget, (obj,), {})
        value = getattr(obj, name)
        if isinstance(value, type(self.attribute)) or isinstance(found, (staticmethod, classmethod)):
            return value
        if isinstance(obj, type) or name not in getattr(obj, "__dict__", {name: None}):
            path = session().path_of(obj)
            if path is None and isinstance(obj, type):
                return value
        return session().attribute(obj, name, value)

    def eval_Subscript(self: Walker, node: ast.Subscript, frame: Frame) -> Any:
        obj = self.eval(node.value, frame)
        index = self.eval(node.slice, frame)
        self.at(node, frame)
        return self.item(obj, index)

    def item(self: Walker, obj: Any, index: Any) -> Any:
        """``obj[index]``; a symbolic index into a list of arrays needs its value."""
        if isinstance(obj, Value):
            try:
                return obj[self.lift(index)] if not isinstance(index, (tuple, slice)) else obj[index]
            except Undecided as error:
                raise bounded(error) from None
            except IndexError as error:
                note(error)
                raise
        if isinstance(obj, np.ndarray):
            return wrap(Const(obj))[index] if _holds_value(index) else wrap_known(obj[index])
        if (obj is np.r_ or obj is np.c_) and _holds_value(index):
            return _joined(obj, index)
        if hasattr(type(obj), "__getitem__") and self.walks(type(obj).__getitem__):
            return self.call(type(obj).__getitem__, (obj, index), {})
        if isinstance(index, slice) or not isinstance(obj, (list, tuple, dict)):
            obj = self.contents(obj)
        value = obj[index]
        key = index if isinstance(index, (int, str)) and not isinstance(index, bool) else None
        if key is None or not isinstance(obj, (list, tuple, dict)):
            return session().item(obj, index, value) if isinstance(obj, dict) and not _holds_value(index) else value
        return session().item(obj, key, value)

    def eval_Slice(self: Walker, node: ast.Slice, frame: Frame) -> slice:
        return slice(*(None if part is None else self.eval(part, frame) for part in (node.lower, node.upper, node.step)))

    def eval_Tuple(self: Walker, node: ast.Tuple, frame: Frame) -> tuple[Any, ...]:
        return tuple(self.elements(node.elts, frame))

    def eval_List(self: Walker, node: ast.List, frame: Frame) -> list[Any]:
        return list(self.elements(node.elts, frame))

    def eval_Set(self: Walker, node: ast.Set, frame: Frame) -> set[Any]:
        return set(self.elements(node.elts, frame))

    def elements(self: Walker, nodes: list[ast.expr], frame: Frame) -> Iterator[Any]:
        for n in nodes:
            if isinstance(n, ast.Starred):
                yield from self.iterate(self.eval(n.value, frame))
            else:
                yield self.eval(n, frame)

    def eval_Dict(self: Walker, node: ast.Dict, frame: Frame) -> dict[Any, Any]:
        out: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                mapping = self.eval(value, frame)
                out.update(self.mapping(mapping))
            else:
                k = self.eval(key, frame)
                out[k] = self.eval(value, frame)
        return out

    def mapping(self: Walker, m: Any) -> dict[Any, Any]:
        """A mapping's contents, captured ones included."""
        if isinstance(m, dict) and session().path_of(m) is not None:
            return dict(zip(m, session().items(m), strict=True))
        return dict(m)

    def eval_BinOp(self: Walker, node: ast.BinOp, frame: Frame) -> Any:
        left, right = self.eval(node.left, frame), self.eval(node.right, frame)
        self.at(node, frame)
        return self.binary(type(node.op), left, right)

    def binary(self: Walker, op: type[ast.operator], left: Any, right: Any) -> Any:
        if isinstance(left, (list, tuple)) and isinstance(right, Value) and op is ast.Mult and right.type.weak:
            right = right.__index__()
        return _noted(_BINARY[op], self.contents(left), self.contents(right))

    def eval_UnaryOp(self: Walker, node: ast.UnaryOp, frame: Frame) -> Any:
        value = self.eval(node.operand, frame)
        self.at(node, frame)
        if isinstance(node.op, ast.Not):
            if not is_symbolic(value):
                return not self.truthy(value)
            return call("numpy.logical_not", self.truth(value, "not", "PGR104", node, frame))
        return _noted(_UNARY[type(node.op)], value)

    def eval_BoolOp(self: Walker, node: ast.BoolOp, frame: Frame) -> Any:
        return self.bool_op(node, list(node.values), frame)

    def bool_op(self: Walker, node: ast.BoolOp, rest: list[ast.expr], frame: Frame) -> Any:
        value = self.eval(rest[0], frame)
        if len(rest) == 1:
            return value
        is_and = isinstance(node.op, ast.And)
        if not is_symbolic(value):
            return self.bool_op(node, rest[1:], frame) if self.truthy(value) == is_and else value
        word = "and" if is_and else "or"
        test = self.truth(value, word, "PGR104", rest[0], frame)
        more = lambda: self.bool_op(node, rest[1:], frame)  # noqa: E731
        return self.choose(test, more if is_and else (lambda: value), (lambda: value) if is_and else more, frame, f"`{word}`")

    def eval_Compare(self: Walker, node: ast.Compare, frame: Frame) -> Any:
        left = self.eval(node.left, frame)
        return self.comparison(node, left, list(zip(node.ops, node.comparators, strict=True)), frame)

    def comparison(self: Walker, node: ast.Compare, left: Any, rest: list[tuple[ast.cmpop, ast.expr]], frame: Frame) -> Any:
        op, right_node = rest[0]
        right = self.eval(right_node, frame)
        self.at(node, frame)
        result = self.compare(type(op), left, right, node, frame)
        if len(rest) == 1:
            return result
        if not is_symbolic(result):
            return self.comparison(node, right, rest[1:], frame) if self.truthy(result) else result
        test = self.truth(result, "a chained comparison", "PGR104", node, frame)
        return self.choose(test, lambda: self.comparison(node, right, rest[1:], frame), lambda: result, frame, "a chained comparison")

    def compare(self: Walker, op: type[ast.cmpop], left: Any, right: Any, node: ast.AST, frame: Frame) -> Any:
        if op in (ast.Is, ast.IsNot) and any(isinstance(v, Size) for v in (left, right)) and left is not None and right is not None:
            raise Unsupported("Python asks which object a size that varies is", span=current().span)
        if op in (ast.In, ast.NotIn):
            found = self.contains(right, left, node, frame)
            if op is ast.In:
                return found
            return call("numpy.logical_not", found) if is_symbolic(found) else not found
        if op in (ast.Eq, ast.NotEq) and (_foreign(left) or _foreign(right)):
            return (op is ast.NotEq) if isinstance(left, Value) or isinstance(right, Value) else _COMPARE[op](left, right)
        if op not in (ast.Is, ast.IsNot):
            left, right = self.contents(left), self.contents(right)
        return _noted(_COMPARE[op], left, right)

    def contains(self: Walker, container: Any, x: Any, node: ast.AST, frame: Frame) -> Any:
        if isinstance(container, Value):
            return self.truth(call("numpy.any", container == x), "in", "PGR104", node, frame)
        if is_symbolic(x) and isinstance(container, (list, tuple, set, range)):
            hits = [x == v for v in container if not _foreign(v)]
            if not hits:
                return False
            found = hits[0]
            for h in hits[1:]:
                found = call("numpy.logical_or", found, h)
            return self.truth(found, "in", "PGR104", node, frame)
        if isinstance(container, (list, tuple)) and session().path_of(container) is not None:
            return x in session().items(container)
        session().measured(container)
        return x in container

    def eval_IfExp(self: Walker, node: ast.IfExp, frame: Frame) -> Any:
        test = self.eval(node.test, frame)
        if not is_symbolic(test):
            return self.eval(node.body if self.truthy(test) else node.orelse, frame)
        test = self.truth(test, "if", "PGR101", node.test, frame)
        return self.choose(
            test, lambda: self.eval(node.body, frame), lambda: self.eval(node.orelse, frame), frame, "a conditional expression"
        )

    def eval_Call(self: Walker, node: ast.Call, frame: Frame) -> Any:
        if (
            isinstance(node.func, ast.Name)
            and node.func.id == "super"
            and not node.args
            and frame.owner is not None
            and frame.owner.made is not None
        ):
            return super(frame.owner.made, next(iter(frame.locals.values())))
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args and "__class__" in frame.closure:
            first = next(iter(frame.locals.values()))
            return super(frame.closure["__class__"].cell_contents, first)
        function = self.eval(node.func, frame)
        args = tuple(self.elements(node.args, frame))
        kwargs: dict[str, Any] = {}
        for k in node.keywords:
            value = self.eval(k.value, frame)
            if k.arg is None:
                kwargs.update(self.mapping(value))
            else:
                kwargs[k.arg] = value
        self.at(node, frame)
        span = current().span
        try:
            return seen(self.call(function, args, kwargs, node=node, frame=frame))
        finally:
            current().span = span

    def eval_Lambda(self: Walker, node: ast.Lambda, frame: Frame) -> Walked:
        return self.function(node, frame)

    def function(self: Walker, node: ast.FunctionDef | ast.Lambda, frame: Frame) -> Walked:
        """A function defined inside walked code."""
        defaults = [self.eval(d, frame) for d in node.args.defaults]
        kw = {a.arg: self.eval(d, frame) for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if d is not None}
        return Walked(node, frame, defaults, kw, self.call_walked)

    def eval_NamedExpr(self: Walker, node: ast.NamedExpr, frame: Frame) -> Any:
        value = self.eval(node.value, frame)
        target = frame
        while getattr(target.scope, "comprehension", False) and target.parent is not None:
            target = target.parent
        self.bind(node.target.id, value, target)
        return value

    def eval_JoinedStr(self: Walker, node: ast.JoinedStr, frame: Frame) -> str:
        parts = [p for v in node.values for p in parts_of(self.eval(v, frame))]
        return "".join(map(str, parts)) if all(isinstance(p, str) for p in parts) else Text(parts)

    def eval_FormattedValue(self: Walker, node: ast.FormattedValue, frame: Frame) -> str:
        value = self.eval(node.value, frame)
        spec = self.eval(node.format_spec, frame) if node.format_spec else ""
        if is_symbolic(value):
            return Text([Piece(value, node.conversion, spec)])
        conversions: dict[int, Callable[[object], str]] = {115: str, 114: repr, 97: ascii}
        convert = conversions.get(node.conversion)
        return format(value if convert is None else convert(value), spec)

    def eval_Starred(self: Walker, node: ast.Starred, frame: Frame) -> Any:
        return tuple(self.iterate(self.eval(node.value, frame)))

    # comprehensions: Python's own generators over the walk

    def eval_ListComp(self: Walker, node: ast.ListComp, frame: Frame) -> list[Any]:
        return list(self.generate(node, frame, lambda f: self.eval(node.elt, f)))

    def eval_SetComp(self: Walker, node: ast.SetComp, frame: Frame) -> set[Any]:
        return set(self.generate(node, frame, lambda f: self.eval(node.elt, f)))

    def eval_DictComp(self: Walker, node: ast.DictComp, frame: Frame) -> dict[Any, Any]:
        return dict(self.generate(node, frame, lambda f: (self.eval(node.key, f), self.eval(node.value, f))))

    def eval_GeneratorExp(self: Walker, node: ast.GeneratorExp, frame: Frame) -> Iterator[Any]:
        return self.generate(node, frame, lambda f: self.eval(node.elt, f))

    def generate(self: Walker, node: Any, frame: Frame, element: Any) -> Iterator[Any]:
        inner = Frame(_Comprehension, frame.file, frame.globals, parent=frame, closure=frame.closure, name=frame.name, helper=frame.helper)
        first = self.eval(node.generators[0].iter, frame)

        def level(k: int) -> Iterator[Any]:
            if k == len(node.generators):
                yield element(inner)
                return
            g = node.generators[k]
            for item in self.iterate(first if k == 0 else self.eval(g.iter, inner)):
                self.unpack(g.target, item, inner)
                if all(self.filtered(test, inner) for test in g.ifs):
                    yield from level(k + 1)

        return level(0)

    def filtered(self: Walker, test: ast.expr, frame: Frame) -> bool:
        value = self.eval(test, frame)
        if is_symbolic(value) and session().depends_on_mapped(value.atom):
            self.refuse_batched(value, "PGR105", "a comprehension's filter", test, frame)
        self.at(test, frame)
        return self.truthy(value)

    def iterate(self: Walker, x: Any) -> Iterator[Any]:
        """Iterate as Python does; what a captured container holds is captured."""
        if isinstance(x, (list, tuple, dict)) and session().path_of(x) is not None:
            session().measured(x)
            return iter(list(x)) if isinstance(x, dict) else iter(session().items(x))
        if isinstance(x, np.ndarray):
            return iter(wrap(Const(x)))
        if is_user_iterator(x, self):
            return self.call(type(x).__iter__, (x,), {})
        session().whole(x)
        return iter(x)

    def contents(self: Walker, x: Any) -> Any:
        """A captured container as something reads it that may read all of it: what it holds is captured, or guarded as a whole."""
        if not isinstance(x, CONTAINERS) or session().path_of(x) is None:
            return x
        if type(x) is list or type(x) is tuple:
            return type(x)(session().items(x))
        if type(x) is dict:
            return self.mapping(x)
        session().whole(x)
        return x

    def truthy(self: Walker, value: Any) -> bool:
        """The truth of what is known."""
        method = getattr(type(value), "__bool__", None)
        if method is not None and self.walks(method):
            return bool(self.call(method, (value,), {}))
        session().measured(value)
        return bool(value)


class _ComprehensionScope(Scope):
    __slots__ = ("comprehension",)

    def __init__(self) -> None:
        super().__init__(frozenset(), frozenset(), frozenset(), frozenset(), False)
        self.comprehension = True


_Comprehension = _ComprehensionScope()


def is_user_iterator(x: Any, walker: Walker) -> bool:
    """Whether the object's class iterates by a function that is walked."""
    method = getattr(type(x), "__iter__", None)
    return method is not None and walker.walks(method)


def wrap_known(value: Any) -> Any:
    """A known array inside the walk; numbers are themselves."""
    return wrap(Const(value)) if isinstance(value, np.ndarray) else value


def bounded(error: Undecided) -> PergradError:
    """A slice bound that is not known: for a mapped one the samples would have different lengths."""
    span = error.span
    text = span.text() if span else ""
    hint = "start + np.arange(k) as an index: a window of fixed length, or np.where(np.arange(n) < stop, x, 0.0)"
    if error.batched:
        message = f"data-dependent shape: the slice bound `{error.subject}` in `{text}` differs between samples"
        return VmapViolation(message, code="PGR403", span=span, hint=hint, trail=error.trail)
    return Unsupported(f"a slice bound is known only at run time: `{text}`", code="PGR701", span=span, hint=hint)


def _joined(obj: Any, items: Any) -> Any:
    """``np.r_[items]`` and ``np.c_[items]``: what is no array becomes one, and all are joined along the first or last axis."""
    parts = []
    for item in items if isinstance(items, tuple) else (items,):
        if isinstance(item, str):
            raise Unsupported("a directive in np.r_ beside arrays", span=current().span, hint="np.concatenate or np.stack along an axis")
        part = call("numpy.atleast_1d", np.r_[item] if isinstance(item, slice) else item)
        parts.append(part if obj is np.r_ or part.ndim > 1 else part[:, None])
    return call("numpy.concatenate", parts, 0 if obj is np.r_ else -1)


def _holds_value(index: Any) -> bool:
    if isinstance(index, (tuple, list)):
        return any(_holds_value(i) for i in index)
    if isinstance(index, slice):
        return any(isinstance(v, Value) for v in (index.start, index.stop, index.step))
    return isinstance(index, Value)


def _foreign(x: Any) -> bool:
    """What never equals an array elementwise: strings, None, functions."""
    return x is None or isinstance(x, (str, bytes, type, dict)) or (callable(x) and not isinstance(x, Value))


def _noted(function: Any, *operands: Any) -> Any:
    """Apply an operator; what NumPy would raise says where."""
    try:
        return function(*(wrap(Const(x)) if isinstance(x, np.ndarray) and x.ndim and len(operands) > 1 else x for x in operands))
    except PergradError:
        raise
    except (ValueError, TypeError, IndexError) as error:
        note(error)
        raise


def note(error: BaseException) -> None:
    """Add the place in the user's code to an error that NumPy would raise too."""
    span = current().span
    if span is not None and not getattr(error, "__notes__", None):
        error.add_note(f"in the compiled function, {span.file}:{span.line}: {span.text()}")
