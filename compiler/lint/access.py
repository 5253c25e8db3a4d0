"""Parts of values: attributes, entries, elements."""

from __future__ import annotations

import ast
from typing import Any

from .heap import Args, Heap
from .libraries import library, owner_of
from .values import (
    ANY,
    CLEAN,
    SLICE,
    UNKNOWN,
    Batch,
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
    Transformed,
    Tuple,
    Union,
    Value,
    alternatives,
    join,
)


class Access(Heap):
    """Reads parts of values: what an attribute, an index or an iteration gives."""

    def fire(self, name: str, subject: Any) -> None:
        """Ask the rules that watch this kind of node or event; outside of every map there is nothing to ask."""

    def join_all(self, values: list[Value]) -> Value:
        if not values:
            return ANY
        out = values[0]
        for v in values[1:]:
            out = join(out, v)
        return out

    def known_items(self, value: Value) -> list[Value] | None:
        """The entries of a tuple or list whose length is known."""
        if isinstance(value, Tuple):
            return list(value.items)
        c = self.cell(value)
        if c is None or c.rest is not None:
            return None
        if c.kind in ("list", "tuple"):
            return list(c.items.values())
        if c.kind == "object" and isinstance(c.cls, ClassOf) and "NamedTuple" in c.cls.marks:
            return list(c.items.values())
        return None

    def element(self, value: Value, node: ast.AST) -> Value:
        """What iterating over a value yields."""
        if isinstance(value, Union):
            out = self.join_all([self.element(v, node) for v in value.items])
            # What is a dict on one path is likely one on the others too, and yields keys.
            dicts = any(c.kind == "dict" for _, c in self.cells(value))
            return self.any((node, "keys"), self.deep(out).softened()) if dicts and self.deep(out).yes else out
        if isinstance(value, Tuple):
            return self.join_all(list(value.items))
        c = self.cell(value)
        if c is None or not isinstance(value, Ref):
            return ANY
        if c.kind in ("list", "set", "tuple"):
            return self.join_all([*c.items.values(), *([c.rest] if c.rest is not None else [])])
        if c.kind == "dict":
            return ANY
        if c.kind in ("any", "array"):
            return self.part(value, c, ("each",), node, scalar=True)
        return self.any((node, "element"), self.deep(value).softened())

    def part(self, ref: Ref, c: Cell, key: tuple[Any, ...], node: ast.AST, scalar: bool = False, kind: str | None = None) -> Value:
        """An entry of an argument or an array: a view of it, as batched as it is. The same entry is the same cell."""
        if key in c.items:
            return c.items[key]
        id = ("part", ref.id, key)
        batch = c.batch
        for name, v in c.items.items():
            # An unknown entry may be any of the known ones.
            if isinstance(name, tuple) or key != ("each",):
                continue
            batch = batch | self.deep(v).softened()
        old = self.heap.get(id)
        if isinstance(old, Cell):
            batch = batch | old.batch
            if batch == old.batch:
                return Ref(id)
        name = f"{c.root.name}{path_text(key)}" if c.root.name else ""
        self.heap[id] = Cell(kind or c.kind, batch, c.depth, Root(c.root.how, name, c.root.span), c.boolean, scalar, base=ref.id)
        return Ref(id)

    def is_array(self, value: Value) -> bool:
        return any(c.kind == "array" or (c.kind == "any" and c.batch.any) for _, c in self.cells(value))

    def is_boolean(self, value: Value) -> bool:
        return any(c.boolean for _, c in self.cells(value))

    def cells_of_arrays(self, value: Value) -> bool:
        return any(c.kind in ("array", "any") for _, c in self.cells(value))

    def is_sure_array(self, value: Value) -> bool:
        c = self.cell(value)
        return c is not None and c.kind == "array"

    def eval_Attribute(self, node: ast.Attribute) -> Value:
        value = self.eval(node.value)
        if isinstance(value, Lib) and owner_of(value.name) == "" and self.deep(value).any:
            return ANY
        return self.attribute(value, node.attr, node)

    def attribute(self, base: Value, name: str, node: ast.AST) -> Value:
        if isinstance(base, Union):
            return self.join_all([self.attribute(v, name, node) for v in base.items if not (isinstance(v, Static) and v.const is None)])
        if isinstance(base, ModuleOf):
            return self.submodule(base, name)
        if isinstance(base, Lib):
            return Lib(f"{base.name}.{name}")
        if isinstance(base, ClassOf):
            found = self.in_class(base, name)
            if isinstance(found, Func) and "classmethod" in decorator_names(found.node):
                return Bound(found, base)
            return ANY if found is None else found
        if isinstance(base, Tuple):
            return base.items[base.names.index(name)] if name in base.names else Method(base, name)
        c = self.cell(base)
        if c is None or not isinstance(base, Ref):
            return Method(base, name) if isinstance(base, (Static, Transformed, Partial, Func, Bound)) else ANY
        if ("." + name) in c.items:
            return c.items["." + name]
        if c.kind == "object":
            return self.object_attribute(base, c, name, node)
        if c.kind == "lib":
            return Method(base, name)
        if c.kind in ("list", "dict", "set"):
            return Method(base, name)
        data = library(self.library)
        if c.kind == "array" and c.library:
            data = library(c.library)
        if name in data.VIEWS:
            return base
        if name in data.METHODS or (c.kind == "array" and name in data.METHOD_NAMES):
            return Method(base, name)
        if name in data.ATTRIBUTES:
            return Method(base, name) if name == "size" and self.library == "torch" else ANY
        if name == "at" and self.library == "jax":
            return Method(base, "at")
        if c.kind == "any":
            return self.part(base, c, ("." + name,), node)
        return Method(base, name)

    def submodule(self, base: ModuleOf, name: str) -> Value:
        found = self.module_name(base.module, name)
        if found is not None:
            return found
        if base.module.path is not None and base.module.path.name == "__init__.py":
            inner = self.project.find(base.module, name, 1)
            if inner is not None:
                return ModuleOf(inner)
        return ANY

    def in_class(self, cls: ClassOf, name: str, room: int = 8) -> Value | None:
        """A class's attribute, looked for in its bases too."""
        names = self.heap.get(cls.frame, {})
        if name in names:
            found = names[name]
            assert isinstance(found, Value)
            return found
        for base in cls.bases:
            for b in alternatives(base):
                if isinstance(b, ClassOf) and room:
                    value = self.in_class(b, name, room - 1)
                    if value is not None:
                        return value
        return None

    def object_attribute(self, ref: Ref, c: Cell, name: str, node: ast.AST) -> Value:
        found = self.in_class(c.cls, name) if isinstance(c.cls, ClassOf) else None
        if isinstance(found, Func):
            marks = decorator_names(found.node)
            if "staticmethod" in marks:
                return found
            if "property" in marks or "cached_property" in marks:
                return self.call(found, Args([ref]), node)
            return Bound(found, c.cls if "classmethod" in marks and c.cls is not None else ref)
        if isinstance(found, (Transformed, Partial)):
            return Bound(found, ref)
        if found is not None:
            return found
        if name in ("__class__", "__name__", "__dict__"):
            return ANY
        if name == "apply" and isinstance(c.cls, ClassOf) and Lib("flax.linen.Module") in c.cls.bases:
            return Bound(Lib("flax.linen.Module.apply"), ref)
        return self.part(ref, c._replace(batch=self.declared(c, name)), ("." + name,), node, kind="any")

    def declared(self, c: Cell, name: str) -> Batch:
        """Over what an attribute nobody assigned differs: as the object does, unless its class says it is no array."""
        return c.batch

    def eval_Slice(self, node: ast.Slice) -> Value:
        for part in (node.lower, node.upper, node.step):
            if part is not None:
                self.eval(part)
        return ANY

    def eval_Subscript(self, node: ast.Subscript) -> Value:
        base = self.eval(node.value)
        index = self.eval(node.slice)
        if isinstance(node.ctx, ast.Load):
            self.fire("Subscript", node)
        return self.item(base, index, node)

    def item(self, base: Value, index: Value, node: ast.Subscript) -> Value:
        if isinstance(base, Union):
            return self.join_all([self.item(v, index, node) for v in base.items if not (isinstance(v, Static) and v.const is None)])
        const = index.const if isinstance(index, Static) else UNKNOWN
        if isinstance(base, Tuple):
            if isinstance(const, int) and -len(base.items) <= const < len(base.items):
                return base.items[const]
            if isinstance(node.slice, ast.Slice):
                bounds = [None if b is None else self.values.get(b) for b in (node.slice.lower, node.slice.upper, node.slice.step)]
                if all(b is None or (isinstance(b, Static) and (b.const is None or isinstance(b.const, int))) for b in bounds):
                    return Tuple(base.items[slice(*[b.const if isinstance(b, Static) else None for b in bounds])])
                return self.new(node, Cell("list", depth=self.depth, rest=self.join_all(list(base.items))))
            return self.join_all(list(base.items))
        if isinstance(base, (Lib, ClassOf)):
            return base if isinstance(base, ClassOf) else ANY
        if isinstance(base, Method) and base.name == "at":
            return self.any((node, "at"), self.deep(base.owner) | self.deep(index))
        c = self.cell(base)
        if c is None or not isinstance(base, Ref):
            return ANY
        if c.kind in ("list", "dict", "set"):
            everything = [*c.items.values(), *([c.rest] if c.rest is not None else [])]
            if isinstance(node.slice, ast.Slice):
                return self.new(node, Cell("list", depth=self.depth, rest=self.join_all(everything)))
            if const is not UNKNOWN:
                if c.kind == "list" and isinstance(const, int) and const < 0 and c.rest is None:
                    const += len(c.items)
                found = c.items.get(const)
                if found is not None:
                    return found
                return c.rest if c.rest is not None else self.join_all(everything)
            return self.one_of(everything) if c.kind == "dict" else self.join_all(everything)
        if c.kind == "object":
            method = self.attribute(base, "__getitem__", node)
            if isinstance(method, Bound):
                return self.call(method, Args([index]), node)
            if isinstance(const, int) and c.items:
                values = list(c.items.values())
                return values[const] if -len(values) <= const < len(values) else ANY
            return self.any(node, self.deep(base).softened())
        if c.kind == "lib":
            return self.any(node, self.deep(base).softened())
        return self.array_item(base, c, index, const, node)

    def one_of(self, values: list[Value]) -> Value:
        """An entry chosen by a key that is not known: of several functions any may be meant, so none surely is."""
        if len(values) > 1:
            values = [v.guessed() if isinstance(v, Func) else v for v in values]
        return self.join_all(values)

    def array_item(self, base: Ref, c: Cell, index: Value, const: Any, node: ast.Subscript) -> Value:
        """An entry of an argument or array. A basic slice is a view of the same array, a number an entry, an array a copy."""
        if isinstance(const, str):
            if const in c.items:
                return c.items[const]
            return self.part(base, c, (const,), node)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        kinds = [self.index_kind(p) for p in parts]
        if isinstance(const, int) and const in c.items:
            return c.items[const]
        if "array" in kinds or self.deep(index).any:
            return self.array(node, c.batch | self.deep(index) | self.mixed(c), c.boolean, library=c.library)
        if "slice" in kinds:
            return base
        if c.items and c.kind == "any":
            return self.part(base, c, ("each",), node, scalar=True)
        key = (const if isinstance(const, (int, str)) else "?",)
        return self.part(base, c, key, node, scalar=True)

    def mixed(self, c: Cell) -> Batch:
        out = CLEAN
        for v in c.items.values():
            out = out | self.deep(v)
        return out

    def index_kind(self, node: ast.expr) -> str:
        """What one part of an index is: "slice", "array" or "number"."""
        if isinstance(node, ast.Slice):
            return "slice"
        if isinstance(node, ast.Constant) and (node.value is None or node.value is Ellipsis):
            return "slice"
        if isinstance(node, (ast.List, ast.ListComp)):
            return "array"
        value = self.values.get(node)
        if isinstance(value, Lib) and value.name.endswith(".newaxis"):
            return "slice"
        if isinstance(value, Tuple) and value.names == SLICE:
            return "slice"
        if value is not None and (self.is_boolean(value) or any(c.kind in ("array", "list") for _, c in self.cells(value))):
            return "array"
        return "number"


def path_text(key: tuple[Any, ...]) -> str:
    part = key[0]
    if part in ("each", "?"):
        return "[…]"
    return part if isinstance(part, str) and part.startswith(".") else f"[{part!r}]"


def decorator_names(node: ast.AST) -> set[str]:
    """The last names of a function's decorators."""
    out = set()
    for d in getattr(node, "decorator_list", ()):
        d = d.func if isinstance(d, ast.Call) else d
        out.add(d.attr if isinstance(d, ast.Attribute) else getattr(d, "id", ""))
    return out
