"""Statements: assignments, branches, loops, definitions. A branch copies the heap and a join merges it; a loop is walked until nothing
changes."""

from __future__ import annotations

import ast
from typing import Any

from .evaluate import decorator_names
from .heap import Args, Frame
from .maps import Maps
from .store import Layers
from .values import (
    ANY,
    NONE,
    Cell,
    ClassOf,
    Func,
    Lib,
    ModuleOf,
    Ref,
    Root,
    Static,
    Transformed,
    Tuple,
    Union,
    Value,
    alternatives,
    join,
)

MOST_ROUNDS = 3
UNROLLED = 8
OPAQUE_MARKS = frozenset({"pytest", "fixture", "parametrize"})


class Executor(Maps):
    """Walks statements."""

    def execute(self, body: list[ast.stmt]) -> bool:
        """Walk a block; False when its end is not reached."""
        for node in body:
            self.fuel -= 1
            handler = getattr(self, "do_" + type(node).__name__, None)
            if handler is not None and handler(node) is False:
                return False
        return True

    # Simple statements

    def do_Expr(self, node: ast.Expr) -> None:
        self.discarded = node.value
        self.eval(node.value)
        self.discarded = None

    def do_Assign(self, node: ast.Assign) -> None:
        value = self.eval(node.value)
        self.source = node.value
        for target in node.targets:
            self.assign(target, value, node.value)
        self.source = None

    def do_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign(node.target, self.eval(node.value), node.value)

    def assign(self, target: ast.expr, value: Value, source: ast.expr | None) -> None:
        if isinstance(target, ast.Name):
            self.assign_name(target, value, source)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self.unpack(target, value, source)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, value, source)
        elif isinstance(target, ast.Subscript):
            base, index = self.eval(target.value), self.eval(target.slice)
            self.fire("store", target)
            self.store_item(base, index, value, target, target)
            self.note_write(target.value, value, target)
        elif isinstance(target, ast.Attribute):
            self.store_attribute(self.eval(target.value), target.attr, value, target, target)

    def note_write(self, where: ast.expr, value: Value, node: ast.AST) -> None:
        """The step of a trail that a write into a buffer is."""
        while isinstance(where, (ast.Subscript, ast.Attribute)):
            where = where.value
        if self.levels and isinstance(where, ast.Name) and self.deep(value).any:
            key = (self.frames[-1].id, where.id)
            if key not in self.trails:
                name = where.id
                self.follow(name, node, getattr(node, "value", None), lambda d: f"{name} holds a batched value")

    def assign_name(self, target: ast.Name, value: Value, source: ast.expr | None) -> None:
        frame, name = self.frames[-1], target.id
        if name in frame.globals or name in frame.nonlocals:
            start = self.module_frame(frame.module) if name in frame.globals else self.parents.get(frame.id)
            holder = self.holder(start, name) if start is not None else None
            holder = holder if holder is not None else self.module_frame(frame.module)
            self.write_scope(name, holder, target, value)
            self.heap[holder] = {**self.heap[holder], name: value}
            return
        self.bind(name, value)
        if self.levels:
            if self.deep(value).any:
                self.follow(name, target, source, lambda d: f"{name} depends on {d}" if d and d != name else f"{name} is batched")
            else:
                self.trails.pop((frame.id, name), None)

    def unpack(self, target: ast.Tuple | ast.List, value: Value, source: ast.expr | None) -> None:
        values = list(alternatives(value))
        known = [self.known_items(v) for v in values if not (isinstance(v, Static) and v.const is None)]
        count = len(target.elts)
        star = next((i for i, e in enumerate(target.elts) if isinstance(e, ast.Starred)), None)
        if known and all(k is not None and (len(k) == count if star is None else len(k) >= count - 1) for k in known):
            for i, e in enumerate(target.elts):
                if star is None or i < star:
                    parts = [k[i] for k in known if k is not None]
                elif i > star:
                    parts = [k[i - count] for k in known if k is not None]
                else:
                    inner = [v for k in known if k is not None for v in k[star : len(k) - (count - star - 1)]]
                    parts = [self.new((e, "star"), Cell("list", depth=self.depth, rest=self.join_all(inner) if inner else None))]
                self.assign(e, self.join_all(parts), source)
            return
        for i, e in enumerate(target.elts):
            element = self.entry(value, i, target)
            if isinstance(e, ast.Starred):
                element = self.new((e, "star"), Cell("list", depth=self.depth, rest=element))
            self.assign(e, element, source)

    def entry(self, value: Value, i: int, node: ast.AST) -> Value:
        """The i-th entry of something unpacked whose length is not known."""
        if isinstance(value, Union):
            return self.join_all([self.entry(v, i, node) for v in value.items if not (isinstance(v, Static) and v.const is None)])
        c = self.cell(value)
        if c is not None and c.kind in ("any", "array") and isinstance(value, Ref):
            return self.part(value, c, (i,), node, scalar=True)
        return self.element(value, node)

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        value = self.eval(node.value)
        self.source, self.in_place = node.value, True
        self.augmented(node, value)
        self.source, self.in_place = None, False

    def augmented(self, node: ast.AugAssign, value: Value) -> None:
        target = node.target
        if isinstance(target, ast.Name):
            old = self.lookup(target.id)
            self.values[target] = old
            self.assign_in_place(target, old, value, node)
            return
        if isinstance(target, ast.Subscript):
            base, index = self.eval(target.value), self.eval(target.slice)
            self.fire("store", target)
            const = index.const if isinstance(index, Static) else None
            old = self.item(base, index, target)
            result = self.binary(node, node.op, old, value)
            fits = True
            for v in alternatives(old):
                c = self.cell(v)
                if (
                    c is not None
                    and c.kind in ("any", "array")
                    and (isinstance(const, str) or self.holds_entries(base))
                    and self.library != "jax"
                ):
                    # The entry itself is an array and takes the value in place; only then is it stored.
                    verdict, _ = self.judge(c, self.deep(value), "in place") if self.depth else ("", True)
                    if not (self.is_statistics(base, const)):
                        self.write_array(v, node, target, self.deep(value), "in place")
                        fits = fits and False if verdict or not self.holds_entries(base) else fits
                        fits = False if isinstance(const, str) and c.root.how == "argument" else fits
            if fits:
                self.store_item(base, index, result, node, target)
            self.note_write(target.value, value, target)
            return
        if isinstance(target, ast.Attribute):
            base = self.eval(target.value)
            old = self.attribute(base, target.attr, target)
            self.store_attribute(base, target.attr, self.binary(node, node.op, old, value), node, target)

    def holds_entries(self, base: Value) -> bool:
        return any(c.kind in ("list", "dict") for _, c in self.cells(base))

    def is_statistics(self, base: Value, key: object) -> bool:
        return False

    def assign_in_place(self, target: ast.Name, old: Value, value: Value, node: ast.AugAssign) -> None:
        """``name op= value``: a write into an array, a list's extension, or a new value of the name."""
        kept: list[Value] = []
        frame = self.frames[-1]
        result = self.binary(node, node.op, old, value)
        for v in alternatives(old):
            c = self.cell(v)
            if c is not None and c.kind in ("any", "array") and self.library != "jax" and not (c.library == "jax"):
                self.write_array(v, node, target, self.deep(value), "in place")
                rebinds = c.scalar or (c.kind == "any" and c.root.how == "fresh")
                kept.append(join(v, result) if rebinds and self.deep(value).any else v)
            elif c is not None and c.kind in ("list", "set", "dict"):
                self.write_object(v, node, target, self.deep(value), "method")
                self.heap[v.id] = self.heap[v.id]._replace(  # type: ignore[attr-defined]
                    rest=join(c.rest, self.element(value, node)) if c.rest is not None else self.element(value, node)
                )
                kept.append(v)
            else:
                kept.append(result)
        new = self.join_all(kept)
        if target.id in frame.globals or target.id in frame.nonlocals:
            self.assign_name(target, new, node.value)
            return
        self.bind(target.id, new)
        if self.levels and self.deep(value).any:
            name = target.id
            self.follow(name, node, node.value, lambda d: f"{name} depends on {d}" if d else f"{name} is batched")

    def do_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                base = self.eval(target.value)
                self.eval(target.slice)
                self.write_object(base, node, target.value, self.deep(NONE), "item")

    def do_Assert(self, node: ast.Assert) -> None:
        self.eval(node.test)
        self.fire("Assert", node)
        self.narrow(node.test, True)

    def do_Raise(self, node: ast.Raise) -> bool:
        for part in (node.exc, node.cause):
            if part is not None:
                self.eval(part)
        return False

    def do_Return(self, node: ast.Return) -> bool:
        value = self.eval(node.value) if node.value is not None else NONE
        self.frames[-1].returns.append((value, self.heap))
        self.heap = self.fork()
        return False

    def do_Global(self, node: ast.Global) -> None:
        self.frames[-1].globals.update(node.names)

    def do_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.frames[-1].nonlocals.update(node.names)

    # Branches

    def do_If(self, node: ast.If) -> bool:
        test = self.eval(node.test)
        self.fire("If", node)
        known = self.truth(test)
        ends = []
        before = self.fork()
        if known is not False:
            self.narrow(node.test, True)
            if self.execute(node.body):
                ends.append(self.heap)
        if known is not True:
            self.heap = before.fork()
            self.narrow(node.test, False)
            if self.execute(node.orelse):
                ends.append(self.heap)
        if ends:
            self.merge(ends)
        return bool(ends)

    def do_Match(self, node: ast.Match) -> bool:
        subject = self.eval(node.subject)
        self.fire("Match", node)
        ends = []
        before = self.fork()
        total = False
        for case in node.cases:
            self.heap = before.fork()
            self.bind_pattern(case.pattern, subject)
            if case.guard is not None:
                self.eval(case.guard)
                self.fire("guard", case.guard)
            elif isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None:
                total = True
            if self.execute(case.body):
                ends.append(self.heap)
        if not total:
            ends.append(before)
        if ends:
            self.merge(ends)
        return bool(ends)

    def bind_pattern(self, pattern: ast.pattern, subject: Value) -> None:
        if isinstance(pattern, ast.MatchAs):
            if pattern.pattern is not None:
                self.bind_pattern(pattern.pattern, subject)
            if pattern.name:
                self.bind(pattern.name, subject)
        elif isinstance(pattern, ast.MatchStar) and pattern.name:
            self.bind(pattern.name, self.new(pattern, Cell("list", depth=self.depth, rest=self.element(subject, pattern))))
        elif isinstance(pattern, ast.MatchSequence):
            items = self.known_items(subject)
            for i, p in enumerate(pattern.patterns):
                exact = items is not None and len(items) == len(pattern.patterns)
                self.bind_pattern(p, items[i] if exact and items is not None else self.entry(subject, i, pattern))
        elif isinstance(pattern, (ast.MatchMapping, ast.MatchClass, ast.MatchOr)):
            inner = [*pattern.patterns, *getattr(pattern, "kwd_patterns", ())]
            for p in inner:
                self.bind_pattern(p, subject if isinstance(pattern, ast.MatchOr) else self.element(subject, pattern))

    # Loops

    def do_For(self, node: ast.For | ast.AsyncFor) -> bool:
        iterable = self.eval(node.iter)
        self.fire("For", node)
        items = self.known_items(iterable)
        frame = self.frames[-1]
        frame.breaks.append([])
        frame.continues.append([])
        if items is not None and 0 < len(items) <= UNROLLED and len(frame.breaks) <= 3:
            ended = self.unrolled(node, items)
        else:
            element = self.join_all(items) if items else self.element(iterable, node)
            ended = self.rounds(node, lambda: self.assign(node.target, element, node.iter))
        frame.continues.pop()
        return self.after_loop(node, ended, frame.breaks.pop())

    do_AsyncFor = do_For

    def unrolled(self, node: ast.For | ast.AsyncFor, items: list[Value]) -> list[Layers]:
        frame = self.frames[-1]
        for v in items:
            self.assign(node.target, v, node.iter)
            alive = self.execute(node.body)
            ends = [*([self.heap] if alive else []), *frame.continues[-1]]
            frame.continues[-1] = []
            if not ends:
                return []
            self.merge(ends)
        return [self.heap]

    def rounds(self, node: ast.For | ast.AsyncFor | ast.While, start: Any) -> list[Layers]:
        """The paths that end a loop at its head, after enough rounds for what a round carries to the next to be known."""
        frame = self.frames[-1]
        for _ in range(MOST_ROUNDS):
            before = self.fork()
            start()
            alive = self.execute(node.body)
            ends = [*([self.heap] if alive else []), *frame.continues[-1]]
            frame.continues[-1] = []
            self.merge([before, *ends])
            if self.heap.top == before.top:
                break
        return [self.heap]

    def after_loop(self, node: ast.For | ast.AsyncFor | ast.While, ended: list[Layers], breaks: list[Layers]) -> bool:
        ends = list(breaks)
        if ended:
            self.heap = ended[0]
            if self.execute(node.orelse):
                ends.append(self.heap)
        if ends:
            self.merge(ends)
        return bool(ends)

    def do_While(self, node: ast.While) -> bool:
        frame = self.frames[-1]
        frame.breaks.append([])
        frame.continues.append([])
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)

        def test() -> None:
            self.eval(node.test)
            self.fire("While", node)

        ended = self.rounds(node, test)
        frame.continues.pop()
        breaks = frame.breaks.pop()
        return self.after_loop(node, [] if endless and breaks else ended, breaks)

    def do_Break(self, node: ast.Break) -> bool:
        if self.frames[-1].breaks:
            self.frames[-1].breaks[-1].append(self.heap)
        self.heap = self.fork()
        return False

    def do_Continue(self, node: ast.Continue) -> bool:
        if self.frames[-1].continues:
            self.frames[-1].continues[-1].append(self.heap)
        self.heap = self.fork()
        return False

    # Blocks

    def do_With(self, node: ast.With | ast.AsyncWith) -> bool:
        for item in node.items:
            value = self.eval(item.context_expr)
            if item.optional_vars is not None:
                c = self.cell(value)
                entered = self.join_all([v for v in (c.rest,) if v is not None]) if c is not None and c.kind == "list" else value
                self.assign(item.optional_vars, entered, item.context_expr)
        return self.execute(node.body)

    do_AsyncWith = do_With

    def do_Try(self, node: ast.Try) -> bool:
        before = self.fork()
        self.watched.append(set())
        alive = self.execute(node.body)
        ends = [self.heap] if alive and not node.orelse else []
        after = self.heap
        for handler in node.handlers:
            if handler.type is not None:
                self.eval(handler.type)
            self.fire("handler", (handler, self.watched[-1]))
        happened = self.watched.pop()
        if self.watched:
            self.watched[-1] |= happened
        if alive and node.orelse and self.execute(node.orelse):
            ends.append(self.heap)
        for handler in node.handlers:
            self.heap = before.fork()
            self.merge([before, after])
            if handler.name:
                self.bind(handler.name, ANY)
            if self.execute(handler.body):
                ends.append(self.heap)
        if not ends:
            self.heap = after.fork()
            self.execute(node.finalbody)
            return False
        self.merge(ends)
        return self.execute(node.finalbody)

    do_TryStar = do_Try

    # Definitions and imports

    def do_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        value: Value = self.function(node)
        frame = self.frames[-1]
        if not frame.is_class or decorator_names(node) - {"property", "staticmethod", "classmethod", "cached_property", "setter", "getter"}:
            for d in reversed(node.decorator_list):
                value = self.decorate(d, value, node)
        self.bind(node.name, value)

    do_AsyncFunctionDef = do_FunctionDef

    def decorate(self, decorator: ast.expr, value: Value, node: ast.AST) -> Value:
        name = decorator.func if isinstance(decorator, ast.Call) else decorator
        short = name.attr if isinstance(name, ast.Attribute) else getattr(name, "id", "")
        if short in (
            "property",
            "staticmethod",
            "classmethod",
            "setter",
            "getter",
            "cached_property",
            "overload",
            "abstractmethod",
            "override",
        ):
            return value
        func = self.eval(decorator)
        if isinstance(func, Lib) and func.name.endswith((".fixture", ".parametrize")):
            return value
        if self.resolve(func) is None and not isinstance(func, Lib) and not self.is_library_function(func):
            return self.unsure(value)
        result = self.call(func, Args([value]), decorator)
        if isinstance(result, Static) or not self.is_callable(result):
            return self.unsure(value)
        return result

    def is_callable(self, value: Value) -> bool:
        c = self.cell(value)
        if c is not None:
            return c.kind == "object"
        return not isinstance(value, (Static, Tuple))

    def unsure(self, value: Value) -> Value:
        """A function under a decorator that cannot be seen: most keep its meaning, so what is found in it is likely, not proven."""
        if isinstance(value, Func):
            return value.guessed()
        return value

    def do_ClassDef(self, node: ast.ClassDef) -> None:
        outer = self.frames[-1]
        bases = tuple(self.eval(b) for b in node.bases)
        marks = tuple(decorator_names(node))
        for b in bases:
            if isinstance(b, Lib):
                marks += ("NamedTuple",) if b.name.startswith("namedtuple.") else (b.name.rpartition(".")[2],)
        id = (self.context, "class", node)
        self.heap[id] = {}
        self.parents[id] = outer.id if not outer.is_class else self.parents.get(outer.id)
        self.depths[id] = self.depth
        cls = ClassOf(node, outer.module, id, bases, marks)
        self.bind(node.name, cls)
        self.frames.append(Frame(id, outer.module, outer.func, is_class=True))
        try:
            self.execute(node.body)
        finally:
            self.frames.pop()
        self.own_methods(cls, id)

    def own_methods(self, cls: ClassOf, id: Any) -> None:
        """Each method knows its class, for ``super()``."""

        def owned(value: Value) -> Value:
            if isinstance(value, Func) and value.owner is None:
                return Func(value.node, value.module, value.frame, value.defaults, value.kwdefaults, cls, value.sure)
            if isinstance(value, Transformed):
                made = Transformed(value.kind, value.library, owned(value.func), value.options, value.site, value.module)
                key = (value.site, value.func)
                if key in self.pending:
                    del self.pending[key]
                    self.pending[(made.site, made.func)] = made
                return made
            return value

        self.heap[id] = {name: owned(v) for name, v in self.heap[id].items()}

    def do_Import(self, node: ast.Import) -> None:
        module = self.frames[-1].module
        for a in node.names:
            found = self.project.find(module, a.name, 0)
            if found is not None:
                if a.asname or "." not in a.name:
                    self.bind(a.asname or a.name, ModuleOf(found))
                    continue
                top = self.project.find(module, a.name.partition(".")[0], 0)
                self.bind(a.name.partition(".")[0], ModuleOf(top) if top is not None else ANY)
                continue
            self.bind(a.asname or a.name.partition(".")[0], Lib(canonical(a.name)) if a.asname else Lib(a.name.partition(".")[0]))

    def do_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = self.frames[-1].module
        found = self.project.find(module, node.module or "", node.level) if (node.level or node.module) else None
        for a in node.names:
            if a.name == "*":
                continue
            value: Value | None = None
            if found is not None:
                value = self.module_name(found, a.name)
                if value is None and found.path is not None and found.path.name == "__init__.py":
                    inner = self.project.find(found, a.name, 1)
                    value = ModuleOf(inner) if inner is not None else None
            elif node.level:
                inner = self.project.find(module, ".".join(filter(None, [node.module, a.name])), node.level)
                value = ModuleOf(inner) if inner is not None else Lib(f".{node.module or ''}.{a.name}")
            else:
                value = Lib(canonical(f"{node.module}.{a.name}"))
            self.bind(a.asname or a.name, ANY if value is None else value)


def canonical(name: str) -> str:
    """One name for what a library offers under several."""
    return ALIASES.get(name, name)


ALIASES = {"torch.func.vmap": "torch.vmap", "jax._src.numpy": "jax.numpy"}

__all__ = ["Executor", "Root"]
