"""Writes: what is written to, where that came from, and whether it can hold a value that differs between samples."""

from __future__ import annotations

import ast
from typing import NamedTuple

from .evaluate import Evaluator
from .values import CLEAN, Batch, Cell, Ref, Root, Static, Value, join


class Write(NamedTuple):
    """One write, judged.

    ``how``: "item", "in place", "out", "method", "attribute" or "name"; ``repeats``: doing it
    again would change more. ``verdict``: "unbatched" (a batched value into an array that
    is not),
    "array" (an array from outside, which the loop would write again and again), "object" (a container or object from outside), "argument"
    (a container that came as an argument), "scope" (a global or nonlocal name), "host" (a NumPy array takes a torch or jax value),
    "refused" (a write that the library has not: ``out=`` in a map of torch's, an entry of a jax array) or "".
    ``sure`` is False where the value is only possibly batched, or the target only possibly an array.
    """

    node: ast.AST
    target: ast.expr | None
    name: str
    how: str
    verdict: str
    sure: bool
    batched: bool
    root: Root
    source: ast.AST | None
    repeats: bool


class Writer(Evaluator):
    """Judges writes and lets them take effect on the heap. ``source`` is the node of the value that is being written."""

    source: ast.AST | None = None
    in_place = False

    def outer(self, depth: int) -> bool:
        """Whether something made at a depth existed before the innermost map began."""
        return bool(self.levels) and depth < self.depth

    def write_array(self, target: Value, node: ast.AST, where: ast.expr | None, value: Batch, how: str, method: str = "") -> None:
        """A write into an array, judged by the library's rules."""
        for ref, c in list(self.cells(target)):
            if c.kind not in ("any", "array"):
                continue
            verdict, sure = self.judge(c, value, how)
            if self.levels:
                self.report_write(node, where, how, verdict, sure, value, c, method)
            if verdict not in ("unbatched", "host", "refused"):
                self.mark(ref, value)

    def judge(self, c: Cell, value: Batch, how: str) -> tuple[str, bool]:
        if not self.levels:
            return "", True
        library = self.library
        if c.library == "numpy" and library != "numpy":
            return ("host", bool(value.yes)) if value.any else ("", True)
        if library == "jax":
            sure = c.kind == "array" and c.library in ("", "jax")
            return ("refused", sure) if how == "item" and (sure or c.batch.yes) else ("", True)
        if library == "torch" and how == "out" and value.any:
            return "refused", bool(value.yes)
        missing = value.any & ~c.batch.any
        if library == "numpy" and self.is_fresh(c):
            # A buffer made inside takes the batch axis of every map that encloses its making.
            missing &= ~((1 << c.depth) - 1)
        if missing:
            certain = bool(missing & value.yes) and not (c.scalar and how == "in place")
            return "unbatched", certain and c.root.how != "unknown"
        if c.scalar and how == "in place":
            return "", True
        if library == "numpy" and not (c.batch.any & self.innermost()) and (self.outer(c.depth) or c.root.how == "argument"):
            return "array", False
        return "", True

    def innermost(self) -> int:
        return self.levels[-1].bit if self.levels else 0

    def is_fresh(self, c: Cell) -> bool:
        return c.root.how == "fresh"

    def report_write(
        self, node: ast.AST, where: ast.expr | None, how: str, verdict: str, sure: bool, value: Batch, c: Cell, method: str = ""
    ) -> None:
        if verdict:
            name = method or (ast.unparse(where) if where is not None else c.root.name or "the buffer")
            root = Root("captured", c.root.name) if c.root.how == "fresh" and self.outer(c.depth) else c.root
            self.fire(
                "write",
                Write(node, where, name, how, verdict, sure, bool(value.any), root, self.source, how == "method" or self.reads(node, name)),
            )

    def write_object(self, target: Value, node: ast.AST, where: ast.expr | None, value: Batch, how: str) -> None:
        """A write that changes a container or an object: legal when this very call made it."""
        if not self.levels:
            return
        for _, c in self.cells(target):
            if c.kind in ("list", "dict", "set", "object", "any"):
                self.judge_object(c, node, where, value, how)

    def judge_object(self, c: Cell, node: ast.AST, where: ast.expr | None, value: Batch, how: str) -> None:
        library = self.library
        if c.root.how == "argument":
            # torch and jax hand the function containers of their own; pergrad hands it the caller's.
            mapped = bool(c.batch.any) or any(self.deep(v).any for v in c.items.values())
            if c.kind != "object" and (library != "numpy" or (mapped and not value.any)):
                return
            self.report_write(node, where, how, "argument", bool(value.yes) and not mapped, value, c)
        elif self.outer(c.depth):
            self.report_write(node, where, how, "object", True, value, c)

    def write_scope(self, name: str, frame: object, node: ast.AST, value: Value) -> None:
        """An assignment to a global or nonlocal name."""
        depth = self.depths.get(frame, 0)
        if self.levels and depth < self.depth:
            batch = self.deep(value)
            self.fire(
                "write",
                Write(
                    node, None, name, "name", "scope", True, bool(batch.any), Root("captured", name), self.source, self.reads(node, name)
                ),
            )

    def reads(self, node: ast.AST, name: str) -> bool:
        """Whether what is written depends on what was there: a loop over the samples would go on from one to the next."""
        if isinstance(node, ast.AugAssign) or self.in_place:
            return True
        return self.source is not None and any(ast.unparse(n) == name for n in ast.walk(self.source) if isinstance(n, ast.expr))

    # What a write does to the heap.

    def store_item(self, base: Value, index: Value, value: Value, node: ast.AST, target: ast.Subscript, in_place: bool = False) -> None:
        """``base[index] = value``"""
        const = index.const if isinstance(index, Static) else None
        for ref, c in list(self.cells(base)):
            if c.kind in ("list", "dict", "set"):
                self.write_object(ref, node, target, self.deep(value), "item")
                self.put(ref, c, const, value)
            elif c.kind == "object":
                method = self.attribute(ref, "__setitem__", node)
                from .heap import Args

                if type(method).__name__ == "Bound":
                    self.call(method, Args([index, value]), node)
                else:
                    self.write_object(ref, node, target, self.deep(value), "item")
            elif c.kind == "lib":
                self.report_outside(c, node, target, value)
            elif isinstance(const, str) or (c.kind == "any" and not c.batch.any and not self.deep(index).any and self.is_container(value)):
                self.write_object(ref, node, target, self.deep(value), "item")
                self.put(ref, c, const, value)
            else:
                parts = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
                mask = any(self.is_boolean(self.values[p]) for p in parts if p in self.values)
                batch = self.deep(value) | self.deep(index) if not mask or self.library != "jax" else self.deep(value)
                self.write_array(ref, node, target.value, batch, "in place" if in_place else "item")

    def is_container(self, value: Value) -> bool:
        c = self.cell(value)
        return c is not None and c.kind in ("list", "dict", "object")

    def report_outside(self, c: Cell, node: ast.AST, where: ast.expr, value: Value) -> None:
        if self.levels and self.outer(c.depth):
            self.report_write(node, where, "item", "object", False, self.deep(value), c)

    def put(self, ref: Ref, c: Cell, key: object, value: Value) -> None:
        if key is not None and c.rest is None and (key in c.items or c.kind in ("dict", "any", "object")):
            self.heap[ref.id] = c._replace(items={**c.items, key: value})
        else:
            self.heap[ref.id] = c._replace(rest=value if c.rest is None else join(c.rest, value))

    def store_attribute(self, base: Value, name: str, value: Value, node: ast.AST, target: ast.Attribute) -> None:
        """``base.name = value``"""
        for ref, c in list(self.cells(base)):
            if c.kind in ("object", "any", "lib"):
                if c.kind == "lib" and self.levels and self.outer(c.depth):
                    self.report_write(node, target, "attribute", "object", False, self.deep(value), c)
                elif c.kind != "lib":
                    self.write_object(ref, node, target, self.deep(value), "attribute")
                self.heap[ref.id] = self.heap[ref.id]._replace(items={**self.heap[ref.id].items, "." + name: value})
        from .values import ClassOf, Func, Lib, ModuleOf

        if isinstance(base, (ClassOf, Func, ModuleOf)) and self.levels:
            cell = Cell("object", CLEAN, 0, Root("captured", ast.unparse(target)))
            if not (isinstance(base, (Func, ClassOf)) and self.depths.get(base.frame, 0) >= self.depth):
                self.report_write(node, target, "attribute", "object", True, self.deep(value), cell)
        if isinstance(base, Lib) and self.levels and not base.name.startswith("builtins."):
            cell = Cell("object", CLEAN, 0, Root("captured", ast.unparse(target)))
            self.report_write(node, target, "attribute", "object", False, self.deep(value), cell)
