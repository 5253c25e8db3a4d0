"""The linter's memory: cells, scopes, what is mapped over which enclosing ``vmap``, and the trails that lead there."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Hashable, Iterator
from typing import Any, NamedTuple

from ..errors import Span
from .modules import Module
from .project import Project
from .store import Layers
from .values import (
    ANY,
    CLEAN,
    FRESH,
    UNKNOWN,
    Batch,
    Cell,
    ClassOf,
    Func,
    Lib,
    ModuleOf,
    Ref,
    Root,
    Static,
    Trail,
    Tuple,
    Union,
    Value,
    alternatives,
    join,
    join_cells,
)


class OutOfFuel(Exception):
    """One analysis grew beyond its budget."""


class Level(NamedTuple):
    """One enclosing map. ``bit`` is 0 where nothing is mapped but draws are restricted (jacfwd, hessian); ``axis`` is jax's name of it."""

    bit: int
    library: str
    randomness: str
    site: ast.AST
    module: Module
    kind: str
    axis: str = ""


class Args:
    """The arguments of a call: values, and the nodes that they were written as where there are any."""

    __slots__ = ("keywords", "kwnodes", "kwstar", "nodes", "positional", "star")

    def __init__(self, positional: list[Value] | None = None, keywords: dict[str, Value] | None = None) -> None:
        self.positional = positional or []
        self.keywords = keywords or {}
        self.nodes: list[ast.expr | None] = [None] * len(self.positional)
        self.kwnodes: dict[str, ast.expr] = {}
        self.star: Value | None = None
        self.kwstar: Value | None = None

    def values(self) -> list[Value]:
        out = [*self.positional, *self.keywords.values()]
        out += [v for v in (self.star, self.kwstar) if v is not None]
        return out

    def get(self, position: int | None, name: str | None = None) -> Value | None:
        if name is not None and name in self.keywords:
            return self.keywords[name]
        if position is not None and position < len(self.positional):
            return self.positional[position]
        return None

    def node(self, position: int | None, name: str | None = None) -> ast.expr | None:
        if name is not None and name in self.kwnodes:
            return self.kwnodes[name]
        if position is not None and position < len(self.nodes):
            return self.nodes[position]
        return None

    def behind(self, *first: Value) -> Args:
        """The same with more arguments in front."""
        out = Args([*first, *self.positional], dict(self.keywords))
        out.nodes = [*[None] * len(first), *self.nodes]
        out.kwnodes, out.star, out.kwstar = self.kwnodes, self.star, self.kwstar
        return out


class Frame:
    """One activation: the scope's key in the heap, and what leaves it early."""

    __slots__ = ("breaks", "continues", "func", "globals", "id", "is_class", "made", "module", "nonlocals", "returns", "yields")

    def __init__(self, id: Hashable, module: Module, func: Func | None = None, is_class: bool = False) -> None:
        self.id, self.module, self.func, self.is_class = id, module, func, is_class
        self.returns: list[tuple[Value, Layers]] = []
        self.yields: list[Value] = []
        self.made: list[Func] = []
        self.breaks: list[list[Layers]] = []
        self.continues: list[list[Layers]] = []
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()


FUEL = 400_000


class Heap:
    """State of one analysis, and the questions asked of it."""

    def __init__(self, project: Project, fuel: int = FUEL) -> None:
        self.project = project
        self.root = Layers({}, None)
        self.heap = Layers({}, self.root)
        self.parents: dict[Hashable, Hashable] = {}
        self.depths: dict[Hashable, int] = {}
        self.modules: dict[Hashable, Module] = {}
        self.frames: list[Frame] = []
        self.levels: list[Level] = []
        self.depth = 0
        self.fuel = fuel
        self.values: dict[ast.AST, Value] = {}
        self.trails: dict[tuple[Hashable, str], Trail] = {}
        self.origins: dict[Hashable, Trail] = {}
        self.context: int = 0
        self.sure = True
        self._contexts: dict[tuple[Any, ...], int] = {}
        self._resolving: set[tuple[str, str]] = set()
        self.watched: list[set[str]] = []
        # Functions that hold map sites, and those that have been called: one that is only made is called in the end.
        self.wanted: set[ast.AST] = set()
        self.executed: set[ast.AST] = set()

    # Implemented by the classes built on this one.
    def eval(self, node: ast.expr) -> Value:
        raise NotImplementedError

    def execute(self, body: list[ast.stmt]) -> bool:
        raise NotImplementedError

    def call(self, func: Value, args: Args, node: ast.AST) -> Value:
        raise NotImplementedError

    # Contexts and cells

    def enter_context(self, *key: Any) -> int:
        """A number for "called from here, in the context that is current": what keeps the cells of two calls apart."""
        return self._contexts.setdefault((self.context, *key), len(self._contexts) + 1)

    def new(self, node: Hashable, cell: Cell) -> Ref:
        """A cell for what a node makes. In a loop the node makes the same one again."""
        id = (self.context, node)
        self.heap[id] = cell
        return Ref(id)

    def array(self, node: Hashable, batch: Batch = CLEAN, boolean: bool = False, **fields: Any) -> Ref:
        return self.new(node, Cell("array", batch, self.depth, FRESH, boolean, **fields))

    def any(self, node: Hashable, batch: Batch = CLEAN, root: Root = FRESH, **fields: Any) -> Ref:
        return self.new(node, Cell("any", batch, self.depth, root, **fields))

    def cell(self, value: Value) -> Cell | None:
        if isinstance(value, Ref):
            found = self.heap.get(value.id)
            return found if isinstance(found, Cell) else None
        return None

    def cells(self, value: Value) -> Iterator[tuple[Ref, Cell]]:
        """The cells that a value may be."""
        for v in alternatives(value):
            c = self.cell(v)
            if c is not None:
                assert isinstance(v, Ref)
                yield v, c

    @property
    def library(self) -> str:
        """The library whose rules hold here: that of the innermost map."""
        return self.levels[-1].library if self.levels else "numpy"

    @property
    def bits(self) -> int:
        out = 0
        for level in self.levels:
            out |= level.bit
        return out

    # Batchedness

    def batch(self, value: Value | None) -> Batch:
        """Over what an array differs; a container is not batched itself, whatever it holds."""
        if isinstance(value, Ref):
            c = self.heap.get(value.id)
            return c.batch if isinstance(c, Cell) and c.kind in ("array", "any") else CLEAN
        if isinstance(value, Union):
            out = CLEAN
            for v in value.items:
                out = out | self.batch(v)
            return out
        return CLEAN

    def deep(self, value: Value | None, seen: frozenset[Hashable] = frozenset(), room: int = 6) -> Batch:
        """Over what anything inside a value differs."""
        if value is None or isinstance(value, Static) or room < 0:
            return CLEAN
        out = CLEAN
        if isinstance(value, Ref):
            if value.id in seen:
                return CLEAN
            c = self.heap.get(value.id)
            if not isinstance(c, Cell):
                return CLEAN
            seen = seen | {value.id}
            out = c.batch
            for v in c.items.values():
                out = out | self.deep(v, seen, room - 1)
            return out | self.deep(c.rest, seen, room - 1)
        if isinstance(value, (Tuple, Union)):
            for v in value.items:
                out = out | self.deep(v, seen, room - 1)
        return out

    def deep_all(self, args: Args, *more: Value | None) -> Batch:
        out = CLEAN
        for v in (*args.values(), *more):
            out = out | self.deep(v)
        return out

    def mark(self, ref: Ref, batch: Batch) -> None:
        """An array takes on the batchedness of what was written to it, and so does what it is a view of."""
        id: Hashable = ref.id
        for _ in range(4):
            c = self.heap.get(id)
            if not isinstance(c, Cell):
                return
            self.heap[id] = c._replace(batch=c.batch | batch)
            if c.base is None:
                return
            id = c.base

    # Scopes

    def module_frame(self, module: Module) -> Hashable:
        id = ("module", module.file)
        if id not in self.heap:
            self.root[id] = {}
            self.depths[id] = 0
            self.modules[id] = module
        return id

    def lookup(self, name: str) -> Value:
        """A name's value in the current frame, the enclosing ones, the module, or Python itself."""
        frame = self.frames[-1]
        found = self.lookup_from(frame.id, name, frame.module)
        return Lib(f"builtins.{name}") if found is None else found

    def holder(self, start: Hashable, name: str) -> Hashable | None:
        """The scope that holds a name."""
        id: Hashable | None = start
        while id is not None:
            names = self.heap.get(id)
            if isinstance(names, dict) and name in names:
                return id
            id = self.parents.get(id)
        return None

    def lookup_from(self, start: Hashable, name: str, module: Module) -> Value | None:
        id = self.holder(start, name)
        if id is not None:
            value = self.heap[id][name]
            assert isinstance(value, Value)
            return value
        return self.module_name(module, name)

    def module_name(self, module: Module, name: str) -> Value | None:
        """A top-level name of a module: only the statements that bind it are looked at."""
        id = self.module_frame(module)
        # What the text's order has bound so far comes first; else what was looked up before, for whatever branch.
        for names in (self.heap[id], self.root[id]):
            if name in names:
                value = names[name]
                assert isinstance(value, Value)
                return value
        key = (module.file, name)
        statements = module.bindings.get(name)
        if key in self._resolving:
            return ANY
        saved = (self.frames, self.levels, self.depth, self.context, self.sure, self.heap)
        self.frames, self.levels, self.depth, self.context, self.sure = [*self.frames, Frame(id, module)], [], 0, 0, True
        self.heap = Layers({}, self.root)
        self._resolving.add(key)
        try:
            if name in module.live:
                from .live import value_of

                live = value_of(self, module.live[name], name)
                if live is not None:
                    self.heap[id] = {**self.heap[id], name: live}
                    return live
            if not statements:
                return self.star_import(module, name)
            for node in statements[-3:]:
                before = self.heap[id].get(name)
                self.bind_again(node)
                after = self.heap[id].get(name)
                if before is not None and after is not None and before != after:
                    self.heap[id] = {**self.heap[id], name: self.prefer(before, after)}
            found = self.heap[id].get(name)
        finally:
            self.keep_for_all(self.heap)
            self.frames, self.levels, self.depth, self.context, self.sure, self.heap = saved
            self._resolving.discard(key)
        return found if isinstance(found, Value) else ANY

    def keep_for_all(self, made: Layers) -> None:
        """What looking up a top-level name has made holds for whatever branch or call asked for it."""
        for id, content in made.top.items():
            old = self.root.top.get(id)
            self.root.top[id] = {**old, **content} if isinstance(old, dict) and isinstance(content, dict) else content

    def bind_again(self, node: ast.stmt) -> None:
        if isinstance(node, (ast.For, ast.AsyncFor, ast.With, ast.AsyncWith)):
            return
        self.execute([node])

    @staticmethod
    def prefer(before: Value, after: Value) -> Value:
        """Of two top-level bindings of a name (``try: import … except ImportError: x = None``), both, less a placeholder."""
        if isinstance(after, Static) and after.const is None:
            return before
        if isinstance(before, Static) and before.const is None:
            return after
        if isinstance(before, (Func, ClassOf, Lib, ModuleOf)) and isinstance(after, (Func, ClassOf, Lib, ModuleOf)):
            return after if isinstance(after, (Func, ClassOf)) else before
        return join(before, after)

    def star_import(self, module: Module, name: str) -> Value | None:
        for node in module.stars:
            other = self.project.find(module, node.module or "", node.level)
            if other is not None and other is not module and name in other.bindings:
                return self.module_name(other, name)
            if other is None and not node.level and not hasattr(builtins, name):
                return Lib(f"{node.module}.{name}")
        return None

    def bind(self, name: str, value: Value) -> None:
        """Give a name of the current frame a value."""
        id = self.frames[-1].id
        self.heap[id] = {**self.heap[id], name: value}

    # Branches

    def fork(self) -> Layers:
        return self.heap.fork()

    def merge(self, heaps: list[Layers]) -> None:
        """Continue with what holds after any of these paths."""
        result = heaps[0]
        below = result.below
        assert below is not None
        for other in heaps[1:]:
            if other is result:
                continue
            out = dict(result.top)
            for id, b in other.top.items():
                a = result.top.get(id)
                if a is None:
                    a = below.get(id)
                if a is None:
                    out[id] = b
                elif a is not b:
                    out[id] = join_frames(a, b) if isinstance(a, dict) else join_cells(a, b)
            for id, a in result.top.items():
                if id not in other.top:
                    b = below.get(id)
                    if b is not None and a is not b:
                        out[id] = join_frames(a, b) if isinstance(a, dict) else join_cells(a, b)
            result = Layers(out, below)
        self.heap = result

    # Places and trails

    def span(self, node: ast.AST, module: Module | None = None) -> Span:
        module = module or self.frames[-1].module
        return span_of(node, module)

    def trail(self, *nodes: ast.AST | None) -> Trail | None:
        """The trail of the first name inside the nodes that is batched."""
        start = self.frames[-1].id
        for node in nodes:
            if node is None:
                continue
            for part in ast.walk(node):
                if isinstance(part, ast.Name):
                    value = self.values.get(part)
                    if value is None or not self.deep(value).any:
                        continue
                    holder = self.holder(start, part.id)
                    found = self.trails.get((holder, part.id)) or self.origin(value)
                    if found is not None:
                        return found
        return None

    def origin(self, value: Value) -> Trail | None:
        """The map that an argument, or what it is a part of, comes from."""
        for ref, c in self.cells(value):
            id: Hashable = ref.id
            for _ in range(5):
                if id in self.origins:
                    return self.origins[id]
                if c.base is None:
                    break
                id = c.base
                c = self.heap.get(id, c)
        for inner in value.items if isinstance(value, Tuple) else ():
            found = self.origin(inner)
            if found is not None:
                return found
        return None

    def follow(self, name: str, node: ast.AST, source: ast.AST | None, message: Callable[[str], str]) -> None:
        """Remember how a name of the current frame became batched."""
        previous = self.trail(source)
        depends = previous.name if previous else ""
        if previous is not None and previous.name == name and previous.span.line == getattr(node, "lineno", 0):
            return
        key = (self.frames[-1].id, name)
        if previous is not None and sum(1 for _ in previous.steps()) > 40:
            return
        self.trails[key] = Trail(self.span(node), message(depends), name, previous)


def join_frames(a: dict[str, Value], b: dict[str, Value]) -> dict[str, Value]:
    out = dict(a)
    for name, value in b.items():
        mine = out.get(name)
        out[name] = value if mine is None else join(mine, value)
    return out


def span_of(node: ast.AST, module: Module) -> Span:
    """A node's place: columns count characters from 1, the end is exclusive."""
    line = getattr(node, "lineno", 1)
    end_line = getattr(node, "end_lineno", None) or line
    column = characters(module.line(line), getattr(node, "col_offset", 0))
    end = characters(module.line(end_line), getattr(node, "end_col_offset", None) or 0)
    return Span(module.file, line, column + 1, end_line, end + 1)


def characters(line: str, offset: int) -> int:
    """A byte offset of ``ast`` as a count of characters."""
    return offset if line.isascii() else len(line.encode()[:offset].decode(errors="ignore"))


__all__ = ["ANY", "UNKNOWN", "Args", "Frame", "Heap", "Level", "OutOfFuel", "characters", "span_of"]
