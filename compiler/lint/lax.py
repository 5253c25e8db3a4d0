"""jax.lax: control flow as functions, and what is computed over a named axis of a map."""

from __future__ import annotations

import ast
from typing import Any

from .heap import Args, Level
from .torch_modules import TorchModules
from .values import ANY, NONE, Batch, Func, Static, Tuple, Union, Value, alternatives, join


class Lax(TorchModules):
    """What ``jax.lax`` does with the functions that it is given, and with the axis of an enclosing map."""

    def slices(self, value: Value, node: ast.AST) -> Value:
        """One step's entry of every array of a tree."""
        if isinstance(value, Tuple):
            return Tuple(tuple(self.slices(v, node) for v in value.items), value.names)
        if isinstance(value, Union):
            return self.join_all([self.slices(v, node) for v in value.items])
        c = self.cell(value)
        if c is None or c.kind in ("list", "dict", "set"):
            return self.any((node, "slice"), self.deep(value)) if c is not None else value
        return value

    def lax_cond(self, args: Args, node: ast.AST) -> Value:
        if len(args.positional) < 3:
            return self.any(node, self.deep_all(args))
        pred, yes, no, *rest = args.positional
        if len(rest) == 2 and self.resolve(no) is None and self.resolve(rest[0]) is not None:
            out = join(self.call(yes, Args([no]), node), self.call(rest[1], Args([rest[0]]), node))
        else:
            operands = Args(rest, {k: v for k, v in args.keywords.items() if k == "operand"})
            if "operand" in operands.keywords:
                operands = Args([operands.keywords["operand"]])
            out = join(self.call(yes, operands, node), self.call(no, operands, node))
        return self.blend(out, self.deep(pred), node)

    def blend(self, value: Value, batch: Batch, node: ast.AST) -> Value:
        """A value chosen by something batched is batched itself."""
        if not batch.any:
            return value
        if isinstance(value, Tuple):
            return Tuple(tuple(self.blend(v, batch, (node)) for v in value.items), value.names)
        return self.any((node, "chosen"), self.deep(value) | batch)

    def lax_switch(self, args: Args, node: ast.AST) -> Value:
        if len(args.positional) < 2:
            return ANY
        index, branches, *rest = args.positional
        results = [self.call(b, Args(list(rest)), node) for b in self.known_items(branches) or [self.element(branches, node)]]
        return self.blend(self.join_all(results), self.deep(index), node)

    def lax_scan(self, args: Args, node: ast.AST) -> Value:
        func, carry, xs = args.get(0, "f"), args.get(1, "init"), args.get(2, "xs")
        if func is None or carry is None:
            return self.any(node, self.deep_all(args))
        step = self.slices(xs, node) if xs is not None else NONE
        ys: Value = ANY
        for _ in range(2):
            result = self.call(func, Args([carry, step]), node)
            for r in alternatives(result):
                if isinstance(r, Tuple) and len(r.items) == 2:
                    carry, ys = join(carry, r.items[0]), r.items[1]
                else:
                    ys = self.any((node, "ys"), self.deep(r))
        return Tuple((carry, self.any((node, "stacked"), self.deep(ys)) if not isinstance(ys, Tuple) else ys))

    def lax_fori_loop(self, args: Args, node: ast.AST) -> Value:
        func, value = args.get(2, "body_fun"), args.get(3, "init_val")
        if func is None or value is None:
            return self.any(node, self.deep_all(args))
        for _ in range(2):
            value = join(value, self.call(func, Args([ANY, value]), node))
        return value

    def lax_while_loop(self, args: Args, node: ast.AST) -> Value:
        test, func, value = args.get(0, "cond_fun"), args.get(1, "body_fun"), args.get(2, "init_val")
        if test is None or func is None or value is None:
            return self.any(node, self.deep_all(args))
        for _ in range(2):
            self.call(test, Args([value]), node)
            value = join(value, self.call(func, Args([value]), node))
        return value

    def lax_map(self, args: Args, node: ast.AST) -> Value:
        func, xs = args.get(0, "f"), args.get(1, "xs")
        if func is None or xs is None:
            return ANY
        return self.any(node, self.deep(self.call(func, Args([self.slices(xs, node)]), node)))

    def lax_associative_scan(self, args: Args, node: ast.AST) -> Value:
        func, xs = args.get(0, "fn"), args.get(1, "elems")
        if func is None or xs is None:
            return ANY
        return self.any(node, self.deep(self.call(func, Args([xs, xs]), node)) | self.deep(xs))

    # Named axes

    def level_of(self, axis: Value | None) -> Level | None:
        """The innermost enclosing map whose axis has this name."""
        if not isinstance(axis, Static) or not isinstance(axis.const, str):
            return None
        return next((level for level in reversed(self.levels) if level.axis == axis.const), None)

    def lax_axis_index(self, args: Args, node: ast.AST) -> Value:
        level = self.level_of(args.get(0, "axis_name"))
        return ANY if level is None else self.array(node, Batch(level.bit, 0))

    def lax_psum(self, args: Args, node: ast.AST) -> Value:
        """What is reduced or gathered over an axis is the same for all its samples."""
        value, level = args.get(0, "x"), self.level_of(args.get(1, "axis_name"))
        if value is None or isinstance(value, Static):
            return ANY
        if level is None:
            return self.any(node, self.deep(value).softened())
        return self.strip(value, level.bit, (node, "reduced"))

    lax_pmean = lax_pmax = lax_pmin = lax_all_gather = lax_psum

    def strip(self, value: Value, bit: int, key: tuple[Any, ...], room: int = 5) -> Value:
        raise NotImplementedError

    def resolve(self, func: Value, room: int = 8) -> Func | None:
        raise NotImplementedError
