"""From statements and names to Python's syntax tree."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..core.program import Const, Var
from ..core.text import Printed
from ..core.types import Type
from .literals import literal
from .names import left_of, tidy
from .printer import Comment
from .tree import (
    Act,
    Append,
    Bind,
    Branch,
    Loop,
    Move,
    Operand,
    Repeat,
    Statement,
    Store,
    Tree,
    Under,
    Write,
    template,
    variables,
)

_REDUCTIONS = frozenset({"sum", "mean", "max", "min", "prod", "any", "all", "var", "std"})
_LITERALS = (type(None), bool, int, float, complex, str, bytes)
_LOAD, _STORE = ast.Load(), ast.Store()
_INVERSE = {ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}


class Rendering:
    """``constants`` collects what the function must find in its namespace beside arrays: classes of exceptions and containers."""

    def __init__(self, names: Mapping[Var, str], constants: dict[str, Any]) -> None:
        self.names = names
        self.constants = constants
        self.locals: frozenset[str] = frozenset()

    def block(self, block: list[Statement], section: str = "", sections: bool = False) -> list[ast.stmt]:
        """The statements of a block, with a comment where a section or an inlined helper begins."""
        out: list[ast.stmt] = []
        helper = ""
        for s in block:
            rendered = self.statement(s)
            if not rendered:
                continue
            if sections and s.section and s.section != section:
                section = s.section
                out.append(Comment(text=section))
            if s.helper != helper:
                helper = s.helper
                if helper:
                    out.append(Comment(text=f"from {helper}()"))
            out.extend(rendered)
        return out

    # expressions

    def expr(self, x: Operand) -> ast.expr:
        if isinstance(x, Var):
            return ast.Name(self.names[x], _LOAD)
        if isinstance(x, Const):
            text = literal(x)
            assert text is not None
            return substitute(template(text).expr, {})
        e = substitute(x.template.expr, {name: self.expr(o) for name, o in x.operands.items()})
        if isinstance(e, ast.Call):
            return matrix(e)
        return kept_axis(e, x.type.ndim) if isinstance(e, ast.Subscript) and isinstance(x.type, Type) else e

    def target(self, v: Var) -> ast.expr:
        return ast.Name(self.names[v], _STORE)

    def place(self, x: Operand) -> ast.expr:
        e = self.expr(x)
        assert isinstance(e, ast.Subscript)
        return ast.Subscript(e.value, e.slice, _STORE)

    # statements

    def statement(self, s: Statement) -> list[ast.stmt]:
        match s:
            case Bind():
                return self.bind(s)
            case Move():
                return self.move(s)
            case Write():
                return [self.write(s)]
            case Store():
                stack, index, value = s.operands
                place = ast.Subscript(self.expr(stack), self.expr(index), _STORE)
                return [ast.Assign([place], self.expr(value))]
            case Append():
                append = ast.Attribute(self.expr(s.operands[0]), "append", _LOAD)
                return [ast.Expr(ast.Call(append, [self.expr(s.operands[1])], []))]
            case Branch():
                return self.branch(s)
            case Loop():
                return [self.loop(s)]
            case Repeat():
                return [self.repeat(s)]
            case Act():
                return self.act(s)
            case Under():
                keywords = [ast.keyword(k, self.known(v)) for k, v in s.payload.items()]
                call = ast.Call(template("np.errstate").expr, [], keywords)
                return [ast.With([ast.withitem(call)], self.block(s.body) or [ast.Pass()])]
        raise TypeError(type(s).__name__)

    def bind(self, s: Bind) -> list[ast.stmt]:
        value = s.operands[0]
        if len(s.targets) > 1:
            return [ast.Assign([ast.Tuple([self.target(t) for t in s.targets], _STORE)], self.expr(value))]
        (t,) = s.targets
        if s.update:
            assert isinstance(value, Tree)
            left = left_of(s)
            e = self.expr(value)
            assert isinstance(e, ast.BinOp) and self.names[left] == self.names[t]
            return [augmented(self.target(t), e.op, e.right)]
        return self.assign([t], [value])

    def assign(self, targets: list[Var], values: list[Operand]) -> list[ast.stmt]:
        """Parallel assignment, without what would assign a name to itself. Only Python numbers are sure not to change under ``+=``."""
        pairs = [(t, x) for t, x in zip(targets, values, strict=True) if not (isinstance(x, Var) and self.names[x] == self.names[t])]
        if not pairs:
            return []
        if len(pairs) == 1:
            ((t, x),) = pairs
            e = self.expr(x)
            if t.type.weak and isinstance(e, ast.BinOp) and isinstance(e.left, ast.Name) and e.left.id == self.names[t]:
                if isinstance(e.op, ast.MatMult):  # the name holds a vector until now
                    return [ast.Assign([self.target(t)], e)]
                return [augmented(self.target(t), e.op, e.right)]
            return [ast.Assign([self.target(t)], e)]
        targets_ = ast.Tuple([self.target(t) for t, _ in pairs], _STORE)
        return [ast.Assign([targets_], ast.Tuple([self.expr(x) for _, x in pairs], _LOAD))]

    def move(self, s: Move) -> list[ast.stmt]:
        """Independent assignments one by one, the others at once."""
        assigned = {self.names[t] for t in s.targets}
        independent = True
        for i, x in enumerate(s.operands):
            others = assigned - {self.names[s.targets[i]]}
            independent = independent and not any(self.names[v] in others for v in _leaves(x))
        if independent:
            return [st for t, x in zip(s.targets, s.operands, strict=True) for st in self.assign([t], [x])]
        return self.assign(s.targets, s.operands)

    def write(self, s: Write) -> ast.stmt:
        place, value = self.place(s.operands[0]), self.expr(s.operands[1])
        assert isinstance(place, ast.Subscript)
        if s.how == "set":
            return ast.Assign([place], value)
        if s.how == "add":
            return augmented(place, ast.Add(), value)
        index = as_value(place.slice)
        return ast.Expr(ast.Call(template("np.add.at").expr, [place.value, index, value], []))

    def branch(self, s: Branch) -> list[ast.stmt]:
        test = self.expr(s.operands[0])
        then, orelse = self.block(s.then), self.block(s.orelse)
        if not then and not orelse:
            return []
        if not then:
            return [ast.If(negated(test, s.operands[0]), orelse, [])]
        return [ast.If(test, then, orelse)]

    def loop(self, s: Loop) -> ast.stmt:
        targets = [self.target(t) for t in s.targets]
        steps = [self.expr(x) for x in s.operands]
        target: ast.expr = targets[0] if len(targets) == 1 else ast.Tuple(targets, _STORE)
        source = steps[0] if s.over else ast.Call(ast.Name("range", _LOAD), steps, [])
        if len(targets) > 1:
            source = ast.Call(ast.Name("zip", _LOAD), steps, [])
        if s.reverse:
            source = ast.Call(ast.Name("reversed", _LOAD), [source], [])
        return ast.For(target, source, self.block(s.body) or [ast.Pass()], [])

    def repeat(self, s: Repeat) -> ast.stmt:
        *head, test = s.head
        cond, body = self.expr(test.operands[0]), self.block(s.body)
        before = self.block(head)
        if not before:
            return ast.While(cond, body or [ast.Pass()], [])
        leave = ast.If(negated(cond, test.operands[0]), [ast.Break()], [])
        return ast.While(ast.Constant(True), [*before, leave, *body], [])

    # effects

    def act(self, s: Act) -> list[ast.stmt]:
        args = [self.expr(a) for a in s.operands]
        match s.kind:
            case "raise":
                return [ast.Raise(self.exception(s.payload))]
            case "assert":
                return [ast.Assert(args[0], None if s.payload is None else self.known(s.payload))]
            case "print":
                keywords = [ast.keyword(k, self.known(v)) for k, v in s.payload.keywords.items()]
                return [ast.Expr(ast.Call(ast.Name("print", _LOAD), list(printed(s.payload, args)), keywords))]
            case "write_back":
                place = ast.Subscript(args[0], ast.Constant(...), _STORE)
                return [ast.Assign([place], args[1])]
        raise NotImplementedError(f"effect {s.kind!r} is not printed")

    def exception(self, payload: BaseException) -> ast.expr:
        """The exception raised: made anew each time where its arguments can be printed."""
        kind = type(payload)
        own = [k for k in kind.__mro__ if k.__module__ != "builtins" and ("__init__" in vars(k) or "__new__" in vars(k))]
        if own or vars(payload) or not all(type(a) in _LITERALS for a in payload.args):
            return ast.Name(self.constant(f"{tidy(kind.__name__)}_instance", payload), _LOAD)
        if kind is np.linalg.LinAlgError:
            name: ast.expr = substitute(template("np.linalg.LinAlgError").expr, {})
        else:
            name = ast.Name(kind.__name__ if kind.__module__ == "builtins" else self.constant(kind.__name__, kind), _LOAD)
        return ast.Call(name, [self.known(a) for a in payload.args], [])

    def known(self, value: Any) -> ast.expr:
        """An object of the user's: written out if it is a literal, else by a name in the function's namespace."""
        if type(value) in _LITERALS:
            return ast.Constant(value)
        if isinstance(value, np.bool_):
            return substitute(template(f"np.bool_({bool(value)})").expr, {})
        if isinstance(value, np.generic) and (text := literal(Const(value))) is not None:
            return substitute(template(text).expr, {})
        if type(value) is tuple:
            return ast.Tuple([self.known(v) for v in value], _LOAD)
        return ast.Name(self.constant(tidy(getattr(value, "__name__", "")) or "value", value), _LOAD)

    def constant(self, name: str, value: Any) -> str:
        """A name in the function's namespace for a value."""
        n = 0
        unique = name
        while unique in self.locals or (unique in self.constants and self.constants[unique] is not value):
            n += 1
            unique = f"{name}_{n}"
        self.constants[unique] = value
        return unique


def printed(payload: Printed, args: list[ast.expr]) -> Iterator[ast.expr]:
    """The arguments of print: values as they are, texts, and f-strings where both are in one."""
    rest = iter(args)
    for parts in payload.arguments:
        if parts == (None,):
            yield next(rest)
        elif all(isinstance(p, str) for p in parts):
            yield ast.Constant("".join(map(str, parts)))
        else:
            pieces: list[ast.expr] = []
            for constant, run in itertools.groupby(parts, key=lambda p: isinstance(p, str)):
                if constant:
                    text = "".join(map(str, run))
                    pieces.extend([ast.Constant(text)] if text else [])
                else:
                    pieces.extend(_formatted(next(rest), *p) for p in run if isinstance(p, tuple))
            yield ast.JoinedStr(pieces)


def _formatted(value: ast.expr, conversion: int, spec: str) -> ast.FormattedValue:
    return ast.FormattedValue(value, conversion, ast.JoinedStr([ast.Constant(spec)]) if spec else None)


def substitute(e: Any, filled: Mapping[str, ast.expr]) -> Any:
    """A copy of a template's expression with names replaced."""
    if isinstance(e, ast.Name):
        found = filled.get(e.id)
        return ast.Name(e.id, _LOAD) if found is None else found
    if isinstance(e, ast.AST):
        return type(e)(**{f: substitute(v, filled) for f, v in ast.iter_fields(e)})
    if isinstance(e, list):
        return [substitute(v, filled) for v in e]
    return e


def augmented(target: Any, op: ast.operator, value: ast.expr) -> ast.stmt:
    """``target op= value``; adding what is negated is subtracting."""
    if isinstance(op, ast.Add) and isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        return ast.AugAssign(target, ast.Sub(), value.operand)
    return ast.AugAssign(target, op, value)


def kept_axis(e: ast.Subscript, ndim: int) -> ast.expr:
    """``np.sum(x, axis=-1)[:, None]`` as ``np.sum(x, axis=-1, keepdims=True)``."""
    call, index = e.value, e.slice
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr not in _REDUCTIONS:
        return e
    if [(k.arg, ast.unparse(k.value)) for k in call.keywords] != [("axis", "-1")] or not isinstance(index, ast.Tuple):
        return e
    *front, last = [ast.unparse(i) for i in index.elts]
    if last != "None" or not (front == ["..."] or front == [":"] * (ndim - 1)):
        return e
    return ast.Call(call.func, call.args, [*call.keywords, ast.keyword("keepdims", ast.Constant(True))])


def matrix(e: ast.Call) -> ast.Call:
    """``np.stack([np.array([a, b]), np.array([c, d])])`` as ``np.array([[a, b], [c, d]])``: rows of rows written as they are."""
    rows = _made_of(e, "stack")
    if rows is None:
        return e
    inner = [row for e in rows.elts if (row := _made_of(e, "array"))]
    return ast.Call(template("np.array").expr, [ast.List([*inner], _LOAD)], []) if len(inner) == len(rows.elts) else e


def _made_of(e: ast.expr, function: str) -> ast.List | None:
    """The list that ``np.function([...])`` is called with, if there is nothing else to the call."""
    if not isinstance(e, ast.Call) or e.keywords or len(e.args) != 1 or not isinstance(e.args[0], ast.List):
        return None
    return e.args[0] if isinstance(e.func, ast.Attribute) and ast.unparse(e.func) == f"np.{function}" else None


def negated(test: ast.expr, value: Operand) -> ast.expr:
    """``not test``; a comparison of scalars that NaN cannot enter is turned round."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(value, Tree) and _integers(value):
        opposite = _INVERSE.get(type(test.ops[0]))
        if opposite is not None:
            return ast.Compare(test.left, [opposite()], test.comparators)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    return ast.UnaryOp(ast.Not(), test)


def _integers(x: Tree) -> bool:
    return all(o.type is not None and o.type.dtype.kind in "iub" for o in x.operands.values())


def as_value(index: ast.expr) -> ast.expr:
    """An index as an argument: slices by name."""
    if isinstance(index, ast.Tuple):
        return ast.Tuple([as_value(e) for e in index.elts], _LOAD)
    if isinstance(index, ast.Slice):
        bounds = [b or ast.Constant(None) for b in (index.lower, index.upper, index.step)]
        if index.step is None:
            bounds.pop()
        if isinstance(bounds[0], ast.Constant) and bounds[0].value is None and len(bounds) == 2:
            bounds = bounds[1:]
        return ast.Call(ast.Name("slice", _LOAD), bounds, [])
    return index


def _leaves(x: Operand) -> list[Var]:
    return list(variables(x))


__all__ = ["Rendering"]
