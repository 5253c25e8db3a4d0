"""Calls: of the user's functions, which are walked with the arguments they get, and of classes."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ..errors import Span
from .evaluate import decorator_names
from .heap import Args, Frame
from .store import Layers
from .values import (
    ANY,
    CLEAN,
    NONE,
    Bound,
    Cell,
    ClassOf,
    Func,
    Lib,
    Method,
    ModuleOf,
    Partial,
    Ref,
    Root,
    Static,
    Trail,
    Transformed,
    Tuple,
    Union,
    Value,
    join,
)
from .writes import Writer

DEEPEST = 40
MOST_OF_ONE = 2


class Caller(Writer):
    """Calls of what the user wrote."""

    def arguments(self, node: ast.Call) -> Args:
        args = Args()
        for a in node.args:
            value = self.eval(a)
            if isinstance(a, ast.Starred):
                inner = self.known_items(value)
                if inner is None:
                    args.star = self.element(value, a) if args.star is None else join(args.star, self.element(value, a))
                else:
                    for v in inner:
                        args.positional.append(v)
                        args.nodes.append(a.value)
                continue
            if args.star is not None:
                args.star = join(args.star, value)
                continue
            args.positional.append(value)
            args.nodes.append(a)
        for k in node.keywords:
            value = self.eval(k.value)
            if k.arg is not None:
                args.keywords[k.arg] = value
                args.kwnodes[k.arg] = k.value
                continue
            known = False
            for _, c in self.cells(value):
                if c.kind == "dict" and c.rest is None and all(isinstance(key, str) for key in c.items):
                    args.keywords.update(c.items)
                    known = True
            if not known:
                args.kwstar = self.join_all(
                    [v for _, c in self.cells(value) for v in (*c.items.values(), c.rest) if v is not None] or [ANY]
                )
                for ref, c in self.cells(value):
                    if c.kind == "any":
                        args.kwstar = self.part(ref, c, ("each",), k.value)
        return args

    def eval_Call(self, node: ast.Call) -> Value:
        func = self.eval(node.func)
        args = self.arguments(node)
        return self.call(func, args, node)

    def call(self, func: Value, args: Args, node: ast.AST) -> Value:
        if isinstance(func, Func):
            return self.run(func, args, node)
        if isinstance(func, Bound):
            return self.call(func.func, args.behind(func.owner), node)
        if isinstance(func, Partial):
            merged = args.behind(*func.args)
            merged.keywords = {**dict(func.kwargs), **args.keywords}
            return self.call(func.func, merged, node)
        if isinstance(func, Transformed):
            return self.call_transformed(func, args, node)
        if isinstance(func, ClassOf):
            return self.construct(func, args, node)
        if isinstance(func, Lib):
            return self.call_library(func.name, args, node)
        if isinstance(func, Method):
            return self.call_method(func, args, node)
        if isinstance(func, Union):
            targets = [f for f in func.items if not isinstance(f, Static)]
            return self.join_all([self.call(f, args, node) for f in targets]) if targets else ANY
        c = self.cell(func)
        if c is not None and isinstance(func, Ref):
            if c.kind == "object":
                return self.call_object(func, c, args, node)
            if c.kind == "lib":
                return self.call_instance(func, c, args, node)
        return self.unknown_call(args, node, func)

    def call_transformed(self, func: Transformed, args: Args, node: ast.AST) -> Value:
        raise NotImplementedError

    def call_library(self, name: str, args: Args, node: ast.AST) -> Value:
        raise NotImplementedError

    def call_method(self, method: Method, args: Args, node: ast.AST) -> Value:
        raise NotImplementedError

    def call_instance(self, ref: Ref, c: Cell, args: Args, node: ast.AST) -> Value:
        raise NotImplementedError

    def call_object(self, ref: Ref, c: Cell, args: Args, node: ast.AST) -> Value:
        for name in ("__call__", "forward"):
            method = self.in_class(c.cls, name) if isinstance(c.cls, ClassOf) else None
            if method is not None:
                return self.call(method, args.behind(ref), node)
        return self.unknown_call(args, node, ref)

    def unknown_call(self, args: Args, node: ast.AST, func: Value = ANY) -> Value:
        """A callee that cannot be seen: its result may be batched if anything given to it is. Functions given to it may be called."""
        batch = self.deep_all(args, func).softened()
        if self.levels and batch.any:
            given = self.any((node, "given"), batch)
            for value in args.values():
                if isinstance(value, (Func, Bound, Partial)):
                    self.call_guessing(value, given, node)
        return self.any(node, batch)

    def call_guessing(self, func: Value, given: Value, node: ast.AST) -> Value:
        """Call a function that a callee we cannot see may call, with arguments that may be batched."""
        args = Args()
        args.star = given
        return self.call(func, args, node)

    def waiting(self) -> Iterable[Value]:
        """What will be called later and must outlive the call that made it."""
        return ()

    # The user's functions

    def run(self, func: Func, args: Args, node: ast.AST) -> Value:
        same = sum(1 for f in self.frames if f.func is not None and f.func.node is func.node)
        if same >= MOST_OF_ONE or len(self.frames) > DEEPEST:
            return self.any(node, self.deep_all(args))
        context, sure = self.context, self.sure
        self.context = self.enter_context(node, func.node)
        self.sure = sure and func.sure
        frame = Frame((self.context, "frame", func.node), func.module, func)
        caller = self.heap
        self.heap = Layers({}, caller)
        self.heap[frame.id] = {}
        self.parents[frame.id] = func.frame
        self.depths[frame.id] = self.depth
        try:
            names = self.bind_arguments(func, args, node)
            if self.levels:
                self.follow_arguments(func, args, names, node, frame)
            self.heap[frame.id] = names
            result = self.inside(func, frame)
            self.heap.leave([result, *self.waiting()], self.parents)
            return result
        finally:
            self.heap = caller
            self.context, self.sure = context, sure

    def inside(self, func: Func, frame: Frame) -> Value:
        self.frames.append(frame)
        self.executed.add(func.node)
        try:
            result = self.body(func, frame)
            for made in frame.made if not self.levels else ():
                if made.node not in self.executed:
                    self.run(made, self.generic(made), made.node)
            return result
        finally:
            self.frames.pop()

    def body(self, func: Func, frame: Frame) -> Value:
        if isinstance(func.node, ast.Lambda):
            return self.eval(func.node.body)
        alive = self.execute(func.node.body)
        results = [v for v, _ in frame.returns]
        heaps = [h for _, h in frame.returns]
        if alive:
            results.append(NONE)
            heaps.append(self.heap)
        if heaps:
            self.merge(heaps)
        if frame.yields:
            return self.new((func.node, "yields"), Cell("list", depth=self.depth, rest=self.join_all(frame.yields)))
        return self.join_all(results) if results else ANY

    def bind_arguments(self, func: Func, args: Args, node: ast.AST) -> dict[str, Value]:
        """The parameters' values, as Python binds them; what cannot be known is an ordinary value."""
        spec = func.node.args
        parameters = [*spec.posonlyargs, *spec.args]
        names: dict[str, Value] = {}
        for i, p in enumerate(parameters):
            default = i - len(parameters) + len(func.defaults)
            if i < len(args.positional):
                names[p.arg] = args.positional[i]
            elif p.arg in args.keywords:
                names[p.arg] = args.keywords[p.arg]
            elif args.star is not None and default < 0:
                names[p.arg] = args.star
            elif args.kwstar is not None:
                names[p.arg] = args.kwstar if default < 0 else join(args.kwstar, func.defaults[default])
            elif args.star is not None:
                names[p.arg] = join(args.star, func.defaults[default])
            elif default >= 0:
                names[p.arg] = func.defaults[default]
            else:
                names[p.arg] = self.any((node, "missing", p.arg), CLEAN, Root("fresh", p.arg))
        kwdefaults = dict(func.kwdefaults)
        for p in spec.kwonlyargs:
            value = args.keywords.get(p.arg)
            if value is None:
                value = kwdefaults.get(p.arg, ANY)
                value = value if args.kwstar is None else join(args.kwstar, value)
            names[p.arg] = value
        known = {p.arg for p in (*parameters, *spec.kwonlyargs)}
        if spec.vararg is not None:
            extra = tuple(args.positional[len(parameters) :])
            if args.star is None:
                names[spec.vararg.arg] = Tuple(extra)
            else:
                rest = self.join_all([*extra, args.star])
                names[spec.vararg.arg] = self.new((node, "star"), Cell("list", depth=self.depth, rest=rest))
        if spec.kwarg is not None:
            items = {k: v for k, v in args.keywords.items() if k not in known}
            names[spec.kwarg.arg] = self.new((node, "kwargs"), Cell("dict", depth=self.depth, items=items, rest=args.kwstar))
        return names

    def follow_arguments(self, func: Func, args: Args, names: dict[str, Value], node: ast.AST, frame: Frame) -> None:
        """The step of a trail that leads into a call."""
        spec = func.node.args
        parameters = [p.arg for p in (*spec.posonlyargs, *spec.args)]
        for i, name in enumerate(parameters):
            source = args.node(i, name)
            self.trails.pop((frame.id, name), None)
            if source is None or not self.deep(names[name]).any:
                continue
            previous = self.trail(source)
            self.trails[(frame.id, name)] = Trail(self.span(node), f"passed to {func.name} as {name}", name, previous)

    # Classes

    def construct(self, cls: ClassOf, args: Args, node: ast.AST) -> Value:
        """An object of a user's class, its constructor run."""
        ref = self.new((node, "object"), Cell("object", depth=self.depth, cls=cls))
        init = self.in_class(cls, "__init__")
        if isinstance(init, Func):
            self.call(init, args.behind(ref), node)
            return ref
        fields = self.fields(cls)
        if fields:
            items: dict[object, Value] = {}
            given = list(args.positional)
            for i, (name, default) in enumerate(fields):
                value = given[i] if i < len(given) else args.keywords.get(name, default if default is not None else args.star)
                if value is not None:
                    items["." + name] = value
            cell = self.heap[ref.id]
            self.heap[ref.id] = cell._replace(items={**cell.items, **items})
            post = self.in_class(cls, "__post_init__")
            if isinstance(post, Func):
                self.call(post, Args([ref]), node)
        elif args.values():
            cell = self.heap[ref.id]
            self.heap[ref.id] = cell._replace(batch=self.deep_all(args).softened())
        return ref

    def fields(self, cls: ClassOf, room: int = 6) -> list[tuple[str, Value | None]]:
        """The annotated fields of a class, those of its bases first."""
        out: dict[str, Value | None] = {}
        for base in cls.bases:
            if isinstance(base, ClassOf) and room:
                out.update(self.fields(base, room - 1))
            elif isinstance(base, Lib) and base.name.startswith("namedtuple."):
                out.update(dict.fromkeys(base.name.split(".")[1:]))
        names = self.heap.get(cls.frame, {})
        for s in cls.node.body:
            if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name) and "ClassVar" not in ast.unparse(s.annotation):
                out[s.target.id] = names.get(s.target.id)
        return list(out.items())

    def instance_of(self, cls: ClassOf, node: ast.AST) -> Ref:
        """An object as a method finds it: made by the constructor from arguments that nothing is known of."""
        init = self.in_class(cls, "__init__")
        args = Args()
        if isinstance(init, Func):
            args = self.generic(init, skip=1)
        ref = self.construct(cls, args, node)
        assert isinstance(ref, Ref)
        return ref

    def generic(self, func: Func, skip: int = 0) -> Args:
        """Arguments nothing is known of, for a function that nobody is seen to call."""
        args = Args()
        spec = func.node.args
        parameters = [*spec.posonlyargs, *spec.args]
        for i, p in enumerate(parameters[skip:], skip):
            default = i - len(parameters) + len(func.defaults)
            args.positional.append(self.generic_argument(func, p, func.defaults[default] if default >= 0 else None))
            args.nodes.append(None)
        defaults = dict(func.kwdefaults)
        for p in spec.kwonlyargs:
            args.keywords[p.arg] = self.generic_argument(func, p, defaults.get(p.arg))
        return args

    def generic_argument(self, func: Func, p: ast.arg, default: Value | None) -> Value:
        if isinstance(default, Static) and isinstance(default.const, (bool, int, float, str)):
            return ANY
        value = self.any((func.node, "generic", p.arg), CLEAN, Root("argument", p.arg, self.argument_span(func, p)))
        if isinstance(default, Static) and default.const is None:
            return join(value, NONE)
        if isinstance(default, (Func, ClassOf, Lib, Transformed)):
            return join(value, default)
        return value

    def argument_span(self, func: Func, p: ast.arg) -> Span:
        return self.span(p, func.module)


def is_method(node: ast.AST) -> bool:
    return "staticmethod" not in decorator_names(node)


__all__ = ["Caller", "ModuleOf", "is_method"]
