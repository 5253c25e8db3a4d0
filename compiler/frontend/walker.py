"""Walking statements. A function's body runs as Python runs it; a branch or loop decided by a symbolic value becomes part of the Program.

Executing statements is written as generators, so that a user's generator function is one too. The status of a block is None when it runs
to its end, else what leaves it: ``{"return": (flag, value)}`` and the like, where a flag is True or the symbolic condition.
"""

from __future__ import annotations

import ast
import importlib
import operator
from collections.abc import Generator
from typing import Any

import numpy as np

from ..core.builder import Value, atom_of, call, current
from ..core.program import Effect, Var
from ..core.text import plain
from ..errors import Refused, Unsupported, VmapViolation
from .calls import Calls
from .cells import Array, assign, augment_where, augmented
from .expressions import Expressions, is_symbolic, spelled, wrap_known
from .frames import ClassFrame, Frame, class_scope, exposed
from .handling import Handling, stopped
from .joins import Status
from .loops import Loops
from .patterns import Patterns
from .session import session
from .source import FunctionNode, span_of
from .staging import Staging
from .whiles import Whiles

Run = Generator[Any, Any, Status]

_AUGMENTED = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder",
    ast.Pow: "power",
    ast.MatMult: "matmul",
    ast.BitAnd: "bitwise_and",
    ast.BitOr: "bitwise_or",
    ast.BitXor: "bitwise_xor",
    ast.LShift: "left_shift",
    ast.RShift: "right_shift",
}

_DUNDER = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
}

_RECURSION = 200


class Raised(BaseException):
    """A function called by the walk raises on every path: what is left of the caller's block is not reached."""


class Walker(Expressions, Calls, Loops, Whiles, Handling, Patterns, Staging):
    """Walks functions of one trace."""

    def __init__(self) -> None:
        self.depth = 0
        self.frames: list[Frame] = []
        self.raised = False  # whether the last function to end did so by an exception on every path

    def helper(self, name: str) -> str:
        """The name under which an inlined function's statements are marked; the function itself has none."""
        if not self.frames:
            return ""
        return self.frames[-1].helper or name

    def run(self, node: FunctionNode, frame: Frame) -> Any:
        """The value of a call whose parameters are bound."""
        if len(self.frames) > _RECURSION:
            raise RecursionError(
                "maximum recursion depth exceeded in a compiled function: recursion must end on values known while compiling"
            )
        if frame.scope.generator:
            return self.generator(node, frame)
        builder = current()
        self.frames.append(frame)
        try:
            with builder.stamped(helper=frame.helper):
                if isinstance(node, ast.Lambda):
                    return self.eval(node.body, frame)
                return self.result(_finish(self.block(node.body, frame)), frame)
        except RuntimeError as error:
            if stopped(error) is error:
                raise
            raise stopped(error) from None
        finally:
            self.frames.pop()

    def generator(self, node: FunctionNode, frame: Frame) -> Generator[Any, Any, Any]:
        """A generator function's generator: Python's own, over the walk."""
        assert isinstance(node, ast.FunctionDef)
        status = yield from self.block(node.body, frame)
        return self.result(status, frame)

    def result(self, status: Status, frame: Frame) -> Any:
        """The value returned, once the body's status is known."""
        self.raised = status is not None and status.get("raise", (False, None))[0] is True
        if self.raised and len(self.frames) > 1:
            raise Raised
        if status is None:
            return None
        if "raise" in status:
            return None
        flag, value = status["return"]
        if flag is True:
            return value
        return self.choose(flag, lambda: value, lambda: None, frame, "a return")

    # blocks

    def block(self, body: list[ast.stmt], frame: Frame) -> Run:
        """Run statements in order; what a branch may leave behind guards the rest."""
        try:
            return (yield from self.statements(body, frame))
        except Raised:
            return {"raise": (True, None)}

    def statements(self, body: list[ast.stmt], frame: Frame) -> Run:
        for k, statement in enumerate(body):
            rest = body[k + 1 :]
            if isinstance(statement, ast.If):
                status = yield from self.branch(statement, rest, frame)
                if status is not _CONTINUE:
                    return status
                continue
            frame.live.append(exposed(rest))
            try:
                status = yield from self.statement(statement, frame)
            finally:
                frame.live.pop()
            if status is not None:
                return (yield from self.after(status, rest, frame))
        return None

    def after(self, status: Status, rest: list[ast.stmt], frame: Frame) -> Run:
        """Go on after a statement that perhaps left the block: the rest runs only where it did not."""
        assert status is not None
        kind, (flag, value) = next(iter(status.items()))
        if flag is True or not rest:
            return status
        others = {k: v for k, v in status.items() if k != kind}

        def leave() -> Run:
            return {kind: (True, value)}
            yield

        def go_on() -> Run:
            if others:
                return (yield from self.after(others, rest, frame))
            return (yield from self.block(rest, frame))

        return (yield from self.stage_if(flag, leave, go_on, frame, frozenset()))

    def branch(self, node: ast.If, rest: list[ast.stmt], frame: Frame) -> Run:
        """An if statement. One that is decided while walking is Python's; a symbolic one is staged, and where one side surely leaves the
        block the other takes the rest of it."""
        test = self.eval(node.test, frame)
        if not is_symbolic(test):
            frame.live.append(exposed(rest))
            try:
                status = yield from self.block(node.body if self.truthy(test) else node.orelse, frame)
            finally:
                frame.live.pop()
            return _CONTINUE if status is None else (yield from self.after(status, rest, frame))
        self.at(node.test, frame)
        test = self.truth(test, "if", "PGR101", node.test, frame)
        body, orelse, absorbed = node.body, node.orelse, False
        if _leaves(body):
            orelse, absorbed = [*orelse, *rest], True
        elif _leaves(orelse):
            body, absorbed = [*body, *rest], True
        live = frozenset() if absorbed else exposed(rest)
        status = yield from self.stage_if(test, lambda: self.block(body, frame), lambda: self.block(orelse, frame), frame, live)
        if absorbed:
            return status
        return _CONTINUE if status is None else (yield from self.after(status, rest, frame))

    def statement(self, node: ast.stmt, frame: Frame) -> Run:
        method = getattr(self, "run_" + type(node).__name__, None)
        if method is None:
            raise Unsupported(f"{type(node).__name__} is not supported", span=span_of(node, frame.file))
        result = method(node, frame)
        if isinstance(result, Generator):
            return (yield from result)
        return result

    # simple statements

    def run_Expr(self, node: ast.Expr, frame: Frame) -> Any:
        if isinstance(node.value, (ast.Yield, ast.YieldFrom)):
            return self.yielded(node.value, frame, None)
        self.eval(node.value, frame)
        return None

    def yielded(self, node: ast.Yield | ast.YieldFrom, frame: Frame, target: ast.expr | None) -> Run:
        value = self.eval(node.value, frame) if node.value is not None else None
        if isinstance(node, ast.YieldFrom):
            inner: Any = self.iterate(value)
            received = yield from inner
        else:
            received = yield value
        if target is not None:
            self.unpack(target, received, frame)
        return None

    def run_Pass(self, node: ast.Pass, frame: Frame) -> None:
        return None

    def run_Assign(self, node: ast.Assign, frame: Frame) -> Any:
        if isinstance(node.value, (ast.Yield, ast.YieldFrom)):
            return self.yielded(node.value, frame, node.targets[0])
        value = self.eval(node.value, frame)
        self.at(node, frame)
        for target in node.targets:
            self.unpack(target, value, frame)
        return None

    def run_AnnAssign(self, node: ast.AnnAssign, frame: Frame) -> None:
        if node.value is not None:
            self.unpack(node.target, self.eval(node.value, frame), frame)

    def run_AugAssign(self, node: ast.AugAssign, frame: Frame) -> None:
        target = node.target
        if isinstance(target, ast.Name):
            old = frame.lookup(target.id)
            value = self.eval(node.value, frame)
            self.at(node, frame)
            self.bind(target.id, self.augment(node.op, old, value, target.id), frame)
        elif isinstance(target, ast.Subscript):
            obj = self.eval(target.value, frame)
            index = self.eval(target.slice, frame)
            self.at(target, frame)
            if isinstance(obj, Array) and is_symbolic(index) and index.dtype == bool:
                augment_where(obj, index, f"numpy.{_AUGMENTED[type(node.op)]}", self.lift(self.eval(node.value, frame)))
                return
            old = self.item(obj, index)
            value = self.eval(node.value, frame)
            self.at(node, frame)
            self.set_item(obj, index, self.augment(node.op, old, value, ""))
        elif isinstance(target, ast.Attribute):
            obj = self.eval(target.value, frame)
            old = self.attribute(obj, target.attr)
            value = self.eval(node.value, frame)
            self.at(node, frame)
            session().check_object(obj, span_of(node, frame.file).text())
            self.set_attribute(obj, target.attr, self.augment(node.op, old, value, target.attr))

    def augment(self, op: ast.operator, old: Any, value: Any, name: str) -> Any:
        """``old op= value``: in place for arrays and lists, a new value for numbers."""
        if isinstance(old, np.ndarray):
            old = wrap_known(old)
        if isinstance(old, Array):
            if old.cell.name is None:
                old.cell.name = name or None
            return augmented(old, f"numpy.{_AUGMENTED[type(op)]}", self.lift(value))
        if isinstance(old, (list, dict, set)):
            session().check_object(old, spelled())
            session().touch(old)
            if isinstance(op, ast.Add) and isinstance(old, list):
                old.extend(self.iterate(value))
                return old
        name = f"__i{_DUNDER[type(op)]}__"
        method = getattr(type(old), name, None)
        if method is None or isinstance(old, Value):
            return self.binary(type(op), old, value)
        if self.walks(method):
            result = self.call(method, (old, value), {})
            return self.binary(type(op), old, value) if result is NotImplemented else result
        if isinstance(value, Value) and isinstance(old, list):
            value = value.__index__()  # a list times a number
        if not isinstance(old, (list, dict, set)):
            session().check_object(old, name)
            session().touch(old)
        return getattr(operator, name)(old, value)

    def run_Return(self, node: ast.Return, frame: Frame) -> Status:
        return {"return": (True, None if node.value is None else self.eval(node.value, frame))}

    def run_Break(self, node: ast.Break, frame: Frame) -> Status:
        return {"break": (True, None)}

    def run_Continue(self, node: ast.Continue, frame: Frame) -> Status:
        return {"continue": (True, None)}

    def run_Delete(self, node: ast.Delete, frame: Frame) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                frame.delete(target.id)
            elif isinstance(target, ast.Subscript):
                obj = self.eval(target.value, frame)
                session().check_object(obj, span_of(node, frame.file).text())
                session().touch(obj)
                del obj[self.eval(target.slice, frame)]
            elif isinstance(target, ast.Attribute):
                obj = self.eval(target.value, frame)
                session().check_object(obj, span_of(node, frame.file).text())
                session().touch(obj)
                delattr(obj, target.attr)

    def run_Global(self, node: ast.Global, frame: Frame) -> None:
        return None

    run_Nonlocal = run_Global

    def run_Import(self, node: ast.Import, frame: Frame) -> None:
        for a in node.names:
            module = importlib.import_module(a.name)
            self.bind(a.asname or a.name.split(".")[0], module if a.asname else importlib.import_module(a.name.split(".")[0]), frame)

    def run_ImportFrom(self, node: ast.ImportFrom, frame: Frame) -> None:
        module = importlib.import_module("." * node.level + (node.module or ""), frame.globals.get("__package__"))
        for a in node.names:
            self.bind(a.asname or a.name, getattr(module, a.name), frame)

    def run_FunctionDef(self, node: ast.FunctionDef, frame: Frame) -> None:
        value: Any = self.function(node, frame)
        for d in reversed(node.decorator_list):
            value = self.call(self.eval(d, frame), (value,), {})
        self.bind(node.name, value, frame)

    def run_ClassDef(self, node: ast.ClassDef, frame: Frame) -> None:
        bases = tuple(self.eval(b, frame) for b in node.bases)
        body = ClassFrame(
            class_scope(node), frame.file, frame.globals, parent=frame, closure=frame.closure, name=node.name, helper=frame.helper
        )
        _finish(self.block(node.body, body))
        kwargs = {k.arg: self.eval(k.value, frame) for k in node.keywords if k.arg}
        annotations = {
            s.target.id: self.eval(s.annotation, frame)
            for s in node.body
            if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)
        }
        namespace = {**body.locals, "__module__": frame.globals.get("__name__", ""), "__annotations__": annotations}
        value: Any = type(bases[0] if bases else object)(node.name, bases, namespace, **kwargs)
        body.made = value
        for d in reversed(node.decorator_list):
            value = self.call(self.eval(d, frame), (value,), {})
        self.bind(node.name, value, frame)

    def run_Assert(self, node: ast.Assert, frame: Frame) -> None:
        test = self.eval(node.test, frame)
        if not is_symbolic(test):
            if not self.truthy(test):
                raise AssertionError(*([self.eval(node.msg, frame)] if node.msg else []))
            return
        self.at(node.test, frame)
        message = plain(self.eval(node.msg, frame)) if node.msg else None
        test = self.truth(test, "assert", "PGR103", node.test, frame)
        current().append(Effect(outs=(), kind="assert", args=(atom_of(test),), payload=message, span=span_of(node, frame.file)))

    def run_Raise(self, node: ast.Raise, frame: Frame) -> Status:
        if node.exc is None and frame.handled and not session().staged:
            raise frame.handled[-1]
        if node.exc is None:
            raise Unsupported("a bare raise is not supported here", span=span_of(node, frame.file))
        error = self.eval(node.exc, frame)
        error = error() if isinstance(error, type) else error
        if not session().staged:
            cause = self.eval(node.cause, frame) if node.cause else None
            raise error from cause
        error.args = tuple(map(plain, error.args))
        current().append(Effect(outs=(), kind="raise", payload=error, span=span_of(node, frame.file)))
        return {"raise": (True, None)}

    # binding

    def bind(self, name: str, value: Any, frame: Frame) -> None:
        """Give a value a name, and what is recorded for it the user's word."""
        if isinstance(value, np.ndarray):
            value = wrap_known(value)
        if isinstance(value, Array):
            if value.cell.name is None and not value.path:
                value.cell.name = name
            atom = value.atom
        elif isinstance(value, Value):
            atom = value.atom
        else:
            atom = None
        if atom is not None and atom.name is None and (isinstance(atom, Var) or atom.type.ndim):
            atom.name = name
        frame.assign(name, value)

    def unpack(self, target: ast.expr, value: Any, frame: Frame) -> None:
        """Assign to a target of any form."""
        match target:
            case ast.Name():
                self.at(target, frame) if target.id in frame.scope.globals or target.id in frame.scope.nonlocals else None
                self.bind(target.id, value, frame)
            case ast.Tuple() | ast.List():
                self.unpack_sequence(target, value, frame)
            case ast.Subscript():
                obj = self.eval(target.value, frame)
                index = self.eval(target.slice, frame)
                self.at(target, frame)
                self.set_item(obj, index, value)
            case ast.Attribute():
                obj = self.eval(target.value, frame)
                self.at(target, frame)
                session().check_object(obj, span_of(target, frame.file).text())
                self.set_attribute(obj, target.attr, value)
            case ast.Starred():
                self.unpack(target.value, list(self.iterate(value)), frame)
            case _:
                raise Unsupported(f"assignment to {type(target).__name__}", span=span_of(target, frame.file))

    def unpack_sequence(self, target: ast.Tuple | ast.List, value: Any, frame: Frame) -> None:
        items = list(self.iterate(value))
        star = next((k for k, t in enumerate(target.elts) if isinstance(t, ast.Starred)), None)
        n = len(target.elts)
        if star is None:
            if len(items) != n:
                few = len(items) < n
                raise ValueError(
                    f"not enough values to unpack (expected {n}, got {len(items)})" if few else f"too many values to unpack (expected {n})"
                )
            parts: list[Any] = items
        else:
            tail = n - star - 1
            if len(items) < n - 1:
                raise ValueError(f"not enough values to unpack (expected at least {n - 1}, got {len(items)})")
            parts = [*items[:star], items[star : len(items) - tail], *items[len(items) - tail :]]
        for t, v in zip(target.elts, parts, strict=True):
            self.unpack(t.value if isinstance(t, ast.Starred) else t, v, frame)

    def set_item(self, obj: Any, index: Any, value: Any) -> None:
        """``obj[index] = value``."""
        if isinstance(obj, Array):
            assign(obj, self.lift(index) if not isinstance(index, slice) else index, self.lift(value))
            return
        if isinstance(obj, Value):
            raise TypeError(f"'numpy.{obj.dtype.name}' object does not support item assignment")
        if isinstance(obj, np.ndarray):
            raise Refused(
                "an array made outside the walk is written", code="PGR602", span=current().span, hint="copy it inside the function first"
            )
        session().check_object(obj, spelled())
        method = getattr(type(obj), "__setitem__", None)
        if method is not None and self.walks(method):
            self.call(method, (obj, index, value), {})
            return
        session().touch(obj)
        obj[index] = value

    def set_attribute(self, obj: Any, name: str, value: Any) -> None:
        session().check_object(obj, f"{type(obj).__name__}.{name}")
        if isinstance(obj, Array) and name == "shape":
            raise Unsupported("assignment to .shape: use reshape", span=current().span)
        found = next((vars(k)[name] for k in type(obj).__mro__ if name in vars(k)), None)
        if isinstance(found, property) and found.fset is not None and self.walks(found.fset):
            self.call(found.fset, (obj, value), {})
            return
        session().touch(obj)
        setattr(obj, name, value)

    # what decides

    def truth(self, test: Value, word: str, code: str, node: ast.AST | None, frame: Frame | None) -> Value:
        """The truth value of a symbolic number: marked, so that batching refuses it with its own code."""
        t = test.type
        if t.size != 1:
            raise ValueError("The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()")
        if node is not None and frame is not None:
            self.at(node, frame)
        return call("pergrad.truth", test, word=word, code=code)

    def refuse_batched(self, value: Value, code: str, what: str, node: ast.AST | None, frame: Frame | None) -> None:
        if node is not None and frame is not None:
            self.at(node, frame)
        span = current().span
        text = span.text() if span else ""
        raise VmapViolation(
            f"data-dependent control flow: {what} is decided by `{text}`, which differs between samples",
            code=code,
            span=span,
            hint="np.where over a fixed range, e.g. np.where(np.arange(k) < n, x, 0.0)",
            trail=session().trail(value.atom),
        )


_CONTINUE: Any = object()


def _finish(run: Run) -> Status:
    """Run a block that does not yield."""
    try:
        while True:
            next(run)
    except StopIteration as stop:
        return stop.value


def _leaves(body: list[ast.stmt]) -> bool:
    """Whether a block surely leaves what is around it."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
        return True
    return isinstance(last, ast.If) and _leaves(last.body) and _leaves(last.orelse)
