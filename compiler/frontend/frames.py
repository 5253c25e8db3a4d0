"""Frames: the local names of a function being walked, and where its other names come from."""

from __future__ import annotations

import ast
import builtins
import functools
import types
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ..core.builder import atom_of, current
from ..core.program import Block, Effect, If
from ..errors import PergradError, Refused
from .cells import Memory
from .session import Path, session
from .source import FunctionNode


class Missing(PergradError, RuntimeError):
    """A name whose value differs between branches in a way that no array can hold."""

    code = "PGR701"


class Conflict:
    """What a name holds after a branch gave it values that cannot be one: an error only when it is used."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


def flag_of(name: str) -> str:
    """Where a frame notes whether a name is bound, if that depends on values: among its locals, under what is no identifier."""
    return f"{name}?"


def is_flag(name: str) -> bool:
    return name.endswith("?")


class Frame(Memory):
    """One activation of a function. ``parent`` is the frame of the enclosing walked function; ``live`` the names read later on."""

    def __init__(
        self,
        scope: Scope,
        file: str,
        namespace: dict[str, Any],
        *,
        parent: Frame | None = None,
        closure: dict[str, Any] | None = None,
        name: str = "",
        helper: str = "",
    ) -> None:
        self.scope = scope
        self.file = file
        self.globals = namespace
        self.parent = parent
        self.closure = closure or {}
        self.name = name
        self.helper = helper
        self.locals: dict[str, Any] = {}
        self.live: list[frozenset[str]] = []
        self.handled: list[Exception] = []  # what its except clauses are at work on
        self.owner: ClassFrame | None = None  # the class body that the function was defined in

    def snapshot(self) -> dict[str, Any]:
        return dict(self.locals)

    def restore(self, before: dict[str, Any]) -> None:
        self.locals = dict(before)

    def lookup(self, name: str) -> Any:
        """The value of a name by Python's rules; what lies outside the walk is captured."""
        if name in self.scope.globals:
            return self._global(name)
        if name in self.locals:
            value = self.locals[name]
            if isinstance(value, Conflict):
                raise Missing(f"`{name}` {value.reason}", span=_span(), hint=f"give `{name}` a value of one kind in both branches")
            self._check(name)
            return value
        if name in self.scope.bound and name not in self.scope.nonlocals:
            raise _unbound(name)
        return self._outer(name)

    def _check(self, name: str) -> None:
        """Have the program check that a name is bound, where that depends on values; from here on it is."""
        flag = self.locals.get(flag_of(name))
        if flag is None:
            return
        session().touch(self)
        del self.locals[flag_of(name)]
        span = _span()
        raised = Effect(outs=(), kind="raise", payload=_unbound(name), span=span)
        nothing = Block((), (), ())
        current().append(If(outs=(), pred=atom_of(flag), then=nothing, orelse=replace(nothing, body=(raised,)), span=span))

    def _outer(self, name: str) -> Any:
        if self.parent is not None:
            return self.parent.lookup(name)
        if name in self.closure:
            cell = self.closure[name]
            try:
                value = cell.cell_contents
            except ValueError:
                raise NameError(
                    f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
                ) from None
            return session().capture(Path("closure", cell, name, name), value)
        return self._global(name)

    def _global(self, name: str) -> Any:
        if name in self.globals:
            return session().capture(Path("global", self.globals, name, name), self.globals[name])
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise NameError(f"name '{name}' is not defined")

    def assign(self, name: str, value: Any) -> None:
        """Bind a name; binding one outside the walk is refused."""
        if name in self.scope.globals:
            raise Refused(
                f"`global {name}` is written: compiled code would do it once, not once per sample",
                code="PGR601",
                span=_span(),
                hint=f"return {name} instead",
            )
        frame: Frame = self
        if name in self.scope.nonlocals:
            owner = self.parent
            while owner is not None and name not in owner.scope.bound:
                owner = owner.parent
            if owner is None:
                raise Refused(
                    f"`nonlocal {name}` is written: compiled code would do it once, not once per sample",
                    code="PGR601",
                    span=_span(),
                    hint=f"return {name} instead",
                )
            frame = owner
        session().touch(frame)
        frame.locals[name] = value
        frame.locals.pop(flag_of(name), None)

    def delete(self, name: str) -> None:
        session().touch(self)
        if name not in self.locals:
            raise NameError(f"name '{name}' is not defined")
        self._check(name)
        del self.locals[name]


def _unbound(name: str) -> UnboundLocalError:
    return UnboundLocalError(f"cannot access local variable '{name}' where it is not associated with a value")


class ClassFrame(Frame):
    """The body of a class: its names are read first here, then outside; functions inside do not see them."""

    made: type | None = None  # the class, once it is there


def _span() -> Any:
    from ..core.builder import current

    return current().span


class Scope:
    """The names that a function binds, declares global or nonlocal."""

    __slots__ = ("bound", "generator", "globals", "nonlocals", "shared")

    def __init__(
        self, bound: frozenset[str], globals: frozenset[str], nonlocals: frozenset[str], shared: frozenset[str], generator: bool
    ) -> None:
        self.bound = bound
        self.globals = globals
        self.nonlocals = nonlocals
        self.shared = shared
        self.generator = generator


class _Names(ast.NodeVisitor):
    def __init__(self) -> None:
        self.bound: set[str] = set()
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.shared: set[str] = set()
        self.generator = False

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, (ast.Store, ast.Del)):
            self.bound.add(node.id)

    def visit_Global(self, node: ast.Global) -> None:
        self.globals.update(node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.nonlocals.update(node.names)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.bound.add(node.name)
        self._inner(node)
        for outside in (*node.decorator_list, *node.args.defaults, *(d for d in node.args.kw_defaults if d)):
            self.visit(outside)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.bound.add(node.name)
        self._inner(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._inner(node)
        for outside in (*node.args.defaults, *(d for d in node.args.kw_defaults if d)):
            self.visit(outside)

    def _inner(self, node: ast.AST) -> None:
        self.shared.update(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
        self.shared.update(name for n in ast.walk(node) if isinstance(n, ast.Nonlocal) for name in n.names)

    def _comprehension(self, node: Any) -> None:
        # its loop variables are its own; a walrus inside binds outside
        for n in ast.walk(node):
            if isinstance(n, ast.NamedExpr):
                self.bound.add(n.target.id)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for a in node.names:
            self.bound.add((a.asname or a.name).split(".")[0])

    visit_ImportFrom = visit_Import

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.bound.add(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        if node.name:
            self.bound.add(node.name)
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        if node.name:
            self.bound.add(node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self.bound.add(node.rest)
        self.generic_visit(node)

    def visit_Yield(self, node: Any) -> None:
        self.generator = True
        self.generic_visit(node)

    visit_YieldFrom = visit_Yield


@functools.lru_cache(maxsize=1024)
def scope_of(node: FunctionNode) -> Scope:
    """The scope of a function or lambda."""
    names = _Names()
    a = node.args
    names.bound.update(p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs, *(v for v in (a.vararg, a.kwarg) if v)))
    for statement in node.body if isinstance(node, ast.FunctionDef) else [node.body]:
        names.visit(statement)
    names.bound -= names.globals | names.nonlocals
    bound, shared = frozenset(names.bound), frozenset(names.shared)
    return Scope(bound, frozenset(names.globals), frozenset(names.nonlocals), shared, names.generator)


@functools.lru_cache(maxsize=1024)
def class_scope(node: ast.ClassDef) -> Scope:
    """The scope of a class's body: a name that it has not bound yet is looked up outside."""
    names = _Names()
    for statement in node.body:
        names.visit(statement)
    return Scope(frozenset(), frozenset(names.globals), frozenset(names.nonlocals), frozenset(names.shared), False)


@functools.lru_cache(maxsize=4096)
def loads(node: ast.AST) -> frozenset[str]:
    """The names that a statement reads anywhere inside."""
    return frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Store)) | frozenset(
        n.target.id for n in ast.walk(node) if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)
    )


def exposed(body: Sequence[ast.stmt]) -> frozenset[str]:
    """The names that statements may read before they have bound them."""
    found: set[str] = set()
    bound: set[str] = set()
    for statement in body:
        found |= _reads_first(statement) - bound
        bound |= _binds(statement)
    return frozenset(found)


@functools.lru_cache(maxsize=4096)
def _reads_first(node: ast.stmt) -> frozenset[str]:
    match node:
        case ast.If() | ast.While():
            return loads(node.test) | exposed(node.body) | exposed(node.orelse)
        case ast.For():
            return loads(node.iter) | loads(node.target) | (exposed(node.body) - stored(node.target)) | exposed(node.orelse)
        case ast.With():
            return exposed(node.body).union(*map(loads, node.items))
    return loads(node)


@functools.lru_cache(maxsize=4096)
def _binds(node: ast.stmt) -> frozenset[str]:
    """The names that a statement surely binds."""
    match node:
        case ast.Assign():
            return stored(*node.targets)
        case ast.AugAssign():
            return stored(node.target)
        case ast.AnnAssign() if node.value is not None:
            return stored(node.target)
        case ast.If():
            return frozenset().union(*map(_binds, node.body)) & frozenset().union(*map(_binds, node.orelse))
        case ast.With():
            return frozenset().union(*map(_binds, node.body))
        case ast.FunctionDef() | ast.ClassDef():
            return frozenset({node.name})
    return frozenset()


def stored(*nodes: ast.AST) -> frozenset[str]:
    """The names that are bound anywhere inside."""
    return frozenset(n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


class Walked:
    """A function or lambda defined inside walked code: called by the walk, or from outside it like any function.

    What makes it up stands in slots: ``functools.wraps`` copies what is in ``__dict__``.
    """

    __slots__ = ("__dict__", "__weakref__", "_call", "defaults", "frame", "kw_defaults", "node", "owner")

    def __init__(
        self, node: FunctionNode, frame: Frame, defaults: list[Any], kw_defaults: dict[str, Any], call: Callable[..., Any]
    ) -> None:
        self.node = node
        self.owner = frame if isinstance(frame, ClassFrame) else None
        while isinstance(frame, ClassFrame) and frame.parent is not None:
            frame = frame.parent
        self.frame = frame
        self.defaults = defaults
        self.kw_defaults = kw_defaults
        self._call = call
        self.__name__ = node.name if isinstance(node, ast.FunctionDef) else "<lambda>"
        self.__qualname__ = self.__name__
        self.__doc__ = ast.get_docstring(node) if isinstance(node, ast.FunctionDef) else None
        self.__module__ = str(frame.globals.get("__name__", ""))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(self, args, kwargs)

    def __get__(self, obj: Any, owner: Any = None) -> Any:
        return self if obj is None else types.MethodType(self, obj)


def closure_of(function: types.FunctionType) -> dict[str, Any]:
    """A function's closure cells by name."""
    return dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
