"""Expressions: what each one is, and what it differs over."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar

from .heap import Args, Heap, OutOfFuel
from .libraries import library, owner_of
from .values import (
    ANY,
    CLEAN,
    NONE,
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

BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
DUNDERS = {
    ast.Add: "__add__",
    ast.Sub: "__sub__",
    ast.Mult: "__mul__",
    ast.Div: "__truediv__",
    ast.MatMult: "__matmul__",
    ast.Pow: "__pow__",
}
SIMPLE = (bool, int, float, str, bytes, type(None), complex)


class Evaluator(Heap):
    """Evaluates expressions over values that say only what is batched."""

    hooks: ClassVar[dict[str, list[Any]]] = {}

    def fire(self, name: str, subject: Any) -> None:
        """Ask the rules that watch this kind of node or event; outside of every map there is nothing to ask."""

    def eval(self, node: ast.expr) -> Value:
        self.fuel -= 1
        if self.fuel < 0:
            raise OutOfFuel
        handler = getattr(self, "eval_" + type(node).__name__, None)
        value = handler(node) if handler is not None else self.eval_others(node)
        self.values[node] = value
        return value

    def eval_others(self, node: ast.expr) -> Value:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.eval(child)
        return ANY

    # Names and constants

    def eval_Constant(self, node: ast.Constant) -> Value:
        return Static(node.value)

    def eval_Name(self, node: ast.Name) -> Value:
        return self.lookup(node.id)

    def eval_NamedExpr(self, node: ast.NamedExpr) -> Value:
        value = self.eval(node.value)
        self.bind(node.target.id, value)
        if self.levels and self.deep(value).any:
            self.follow(node.target.id, node, node.value, lambda d: f"{node.target.id} depends on {d}" if d else node.target.id)
        return value

    def eval_Lambda(self, node: ast.Lambda) -> Value:
        return self.function(node)

    def function(self, node: ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef, sure: bool = True, owner: ClassOf | None = None) -> Func:
        """The value of a ``def`` or lambda: its defaults are evaluated now, its scope is the current one."""
        frame = self.frames[-1]
        scope = self.parents.get(frame.id) if frame.is_class else frame.id
        defaults = tuple(self.eval(d) for d in node.args.defaults)
        kwdefaults = tuple((a.arg, self.eval(d)) for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults) if d is not None)
        made = Func(node, frame.module, scope, defaults, kwdefaults, owner, sure)
        if node in self.wanted:
            frame.made.append(made)
        return made

    # Containers

    def eval_Tuple(self, node: ast.Tuple) -> Value:
        items: list[Value] = []
        for e in node.elts:
            if isinstance(e, ast.Starred):
                value = self.eval(e.value)
                inner = self.known_items(value)
                if inner is None:
                    return self.new(node, Cell("list", depth=self.depth, rest=self.join_all([*items, self.element(value, e)])))
                items += inner
            else:
                items.append(self.eval(e))
        return Tuple(tuple(items))

    def eval_List(self, node: ast.List) -> Value:
        items: dict[Any, Value] = {}
        rest: Value | None = None
        for e in node.elts:
            if isinstance(e, ast.Starred):
                value = self.eval(e.value)
                inner = self.known_items(value)
                if inner is None:
                    rest = self.join_all([*items.values(), self.element(value, e)])
                    items = {}
                    continue
            else:
                inner = [self.eval(e)]
            for v in inner:
                if rest is not None:
                    rest = join(rest, v)
                else:
                    items[len(items)] = v
        return self.new(node, Cell("list", depth=self.depth, items=items, rest=rest))

    def eval_Set(self, node: ast.Set) -> Value:
        return self.new(node, Cell("set", depth=self.depth, rest=self.join_all([self.eval(e) for e in node.elts])))

    def eval_Dict(self, node: ast.Dict) -> Value:
        items: dict[Any, Value] = {}
        rest: Value | None = None
        for k, v in zip(node.keys, node.values):
            value = self.eval(v)
            if k is None:
                for _, c in self.cells(value):
                    items.update(c.items)
                    if c.rest is not None:
                        rest = c.rest if rest is None else join(rest, c.rest)
                    if c.kind == "any":
                        rest = value if rest is None else join(rest, value)
                continue
            key = self.eval(k)
            if isinstance(key, Static) and isinstance(key.const, SIMPLE):
                items[key.const] = value
            else:
                value = self.one_of([value, NONE]) if len(node.keys) > 1 else value
                rest = without_none(value if rest is None else join(rest, value))
        return self.new(node, Cell("dict", depth=self.depth, items=items, rest=rest))

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
            return self.join_all([self.element(v, node) for v in value.items])
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

    def eval_Starred(self, node: ast.Starred) -> Value:
        return self.eval(node.value)

    # Comprehensions: a scope of their own in Python, whose targets nobody reads afterwards.

    def comprehension(self, node: Any, results: list[ast.expr]) -> Value:
        frame = self.frames[-1]
        saved = {name: self.heap[frame.id].get(name) for g in node.generators for name in target_names(g.target)}
        for g in node.generators:
            iterable = self.eval(g.iter)
            items = self.known_items(iterable)
            element = self.join_all(items) if items else self.element(iterable, g)
            self.assign(g.target, element, g.iter)
            for test in g.ifs:
                self.eval(test)
                self.fire("filter", (test, node))
        out = self.join_all([self.eval(r) for r in results])
        names = dict(self.heap[frame.id])
        for name, value in saved.items():
            if value is None:
                names.pop(name, None)
            else:
                names[name] = value
        self.heap[frame.id] = names
        return out

    def eval_ListComp(self, node: ast.ListComp) -> Value:
        return self.new(node, Cell("list", depth=self.depth, rest=self.comprehension(node, [node.elt])))

    def eval_GeneratorExp(self, node: ast.GeneratorExp) -> Value:
        return self.new(node, Cell("list", depth=self.depth, rest=self.comprehension(node, [node.elt])))

    def eval_SetComp(self, node: ast.SetComp) -> Value:
        return self.new(node, Cell("set", depth=self.depth, rest=self.comprehension(node, [node.elt])))

    def eval_DictComp(self, node: ast.DictComp) -> Value:
        return self.new(node, Cell("dict", depth=self.depth, rest=self.comprehension(node, [node.key, node.value])))

    def assign(self, target: ast.expr, value: Value, source: ast.expr | None) -> None:
        raise NotImplementedError

    # Operators

    def eval_UnaryOp(self, node: ast.UnaryOp) -> Value:
        value = self.eval(node.operand)
        if isinstance(node.op, ast.Not):
            self.fire("Not", node)
            known = self.truth(value)
            return ANY if known is None else Static(not known)
        if isinstance(value, Static):
            if isinstance(value.const, (int, float)) and isinstance(node.op, ast.USub):
                return Static(-value.const)
            return ANY
        return self.array(node, self.batch(value), self.is_boolean(value))

    def eval_BinOp(self, node: ast.BinOp) -> Value:
        return self.binary(node, node.op, self.eval(node.left), self.eval(node.right))

    def binary(self, node: ast.AST, op: ast.operator, a: Value, b: Value) -> Value:
        if isinstance(a, (Static, Lib)) and isinstance(b, (Static, Lib)):
            if isinstance(a, Static) and isinstance(b, Static) and type(op) in BINARY:
                x, y = a.const, b.const
                numbers = isinstance(x, (int, float)) and isinstance(y, (int, float))
                if numbers and not (isinstance(op, ast.Mult) and max(abs(x), abs(y)) > 1e9):
                    try:
                        return Static(BINARY[type(op)](x, y))
                    except ArithmeticError:
                        return ANY
                if isinstance(x, str) and isinstance(y, str) and isinstance(op, ast.Add):
                    return Static(x + y)
            return ANY
        if isinstance(a, Tuple) and isinstance(b, Tuple) and isinstance(op, ast.Add):
            return Tuple(a.items + b.items)
        ca, cb = self.cell(a), self.cell(b)
        if isinstance(a, Tuple) or isinstance(b, Tuple) or (ca and ca.kind == "list") or (cb and cb.kind == "list"):
            other = cb if ca is None or ca.kind == "list" else ca
            if other is None or other.kind in ("list", "any") and not isinstance(op, (ast.Sub, ast.Div)):
                if isinstance(op, ast.Add) and not self.is_array(a) and not self.is_array(b):
                    return self.new(node, Cell("list", depth=self.depth, rest=join(self.element(a, node), self.element(b, node))))
                if isinstance(op, ast.Mult) and (isinstance(a, Static) or isinstance(b, Static)):
                    return self.new(node, Cell("list", depth=self.depth, rest=self.element(b if isinstance(a, Static) else a, node)))
        for one, another in ((a, b), (b, a)):
            c = self.cell(one)
            if c is not None and c.kind == "object" and type(op) in DUNDERS:
                method = self.attribute(one, DUNDERS[type(op)], node)
                if isinstance(method, Bound):
                    return self.call(method, Args([another]), node)
        boolean = isinstance(op, (ast.BitAnd, ast.BitOr, ast.BitXor)) and (self.is_boolean(a) or self.is_boolean(b))
        batch = self.deep(a) | self.deep(b)
        if self.watched and batch.any:
            self.watched[-1].add("arithmetic")
        return self.array(node, batch, boolean)

    def is_array(self, value: Value) -> bool:
        return any(c.kind == "array" or (c.kind == "any" and c.batch.any) for _, c in self.cells(value))

    def is_boolean(self, value: Value) -> bool:
        return any(c.boolean for _, c in self.cells(value))

    def eval_BoolOp(self, node: ast.BoolOp) -> Value:
        """``a or b``: each operand but the last is asked for its truth."""
        wanted = isinstance(node.op, ast.Or)
        kept: list[Value] = []
        before = self.fork()
        for i, operand in enumerate(node.values):
            value = self.eval(operand)
            last = i == len(node.values) - 1
            known = self.truth(value)
            if not last:
                self.fire("operand", (operand, node))
                self.narrow(operand, not wanted)
            if last or known is wanted:
                kept.append(value)
                break
            if known is None:
                kept.append(without_none(value) if wanted else value)
        # What an operand narrowed holds for the later operands only.
        frame = self.frames[-1].id
        self.heap[frame] = {**self.heap[frame], **{k: v for k, v in before.get(frame, {}).items() if k in narrowed_names(node)}}
        return self.join_all(kept)

    def eval_Compare(self, node: ast.Compare) -> Value:
        left = self.eval(node.left)
        operands = [left, *[self.eval(c) for c in node.comparators]]
        self.fire("Compare", node)
        if len(node.ops) == 1:
            known = self.compare(node.ops[0], operands[0], operands[1])
            if known is not None:
                return Static(known)
        arithmetic = all(not isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in node.ops)
        if not arithmetic or any(is_text(v) for v in operands):
            return ANY
        batch = CLEAN
        for v in operands:
            batch = batch | self.batch(v)
        if all(isinstance(v, (Static, Tuple, Func, Lib, ClassOf)) or not self.cells_of_arrays(v) for v in operands):
            return ANY
        return self.array(node, batch, boolean=True)

    def cells_of_arrays(self, value: Value) -> bool:
        return any(c.kind in ("array", "any") for _, c in self.cells(value))

    def compare(self, op: ast.cmpop, a: Value, b: Value) -> bool | None:
        """The answer of a comparison where it is known."""
        if isinstance(op, (ast.Is, ast.IsNot)):
            answers = {self.same(x, y) for x in alternatives(a) for y in alternatives(b)}
            if len(answers) == 1 and None not in answers:
                return answers.pop() is isinstance(op, ast.Is)
            return None
        if isinstance(a, Static) and isinstance(a.const, SIMPLE):
            if isinstance(b, Static) and isinstance(b.const, SIMPLE) and type(op) in COMPARE:
                try:
                    return bool(COMPARE[type(op)](a.const, b.const))
                except TypeError:
                    return None
            if isinstance(op, (ast.In, ast.NotIn)):
                items = self.known_items(b)
                if items is not None and all(isinstance(i, Static) and isinstance(i.const, SIMPLE) for i in items):
                    return (a.const in [i.const for i in items if isinstance(i, Static)]) is isinstance(op, ast.In)
        return None

    def same(self, a: Value, b: Value) -> bool | None:
        """Whether two values are one object: known for None, True and False."""
        if isinstance(b, Static) and (b.const is None or isinstance(b.const, bool)):
            a, b = b, a
        if not (isinstance(a, Static) and (a.const is None or isinstance(a.const, bool))):
            return None
        if isinstance(b, Static):
            return None if b.const is UNKNOWN else a.const is b.const
        c = self.cell(b)
        if c is not None and c.kind == "any" and not c.batch.any:
            return None
        return None if isinstance(b, (Lib, Method)) else False

    def truth(self, value: Value) -> bool | None:
        """Whether a value is true, where that is known."""
        if isinstance(value, Static):
            return None if value.const is UNKNOWN else bool(value.const)
        if isinstance(value, Tuple):
            return bool(value.items)
        if isinstance(value, (Func, ClassOf, Bound, ModuleOf, Partial, Transformed)):
            return True
        if isinstance(value, Union):
            known = {self.truth(v) for v in value.items}
            return known.pop() if len(known) == 1 else None
        return None

    def eval_IfExp(self, node: ast.IfExp) -> Value:
        test = self.eval(node.test)
        self.fire("IfExp", node)
        known = self.truth(test)
        out: list[Value] = []
        before = self.fork()
        after = []
        if known is not False:
            self.narrow(node.test, True)
            out.append(self.eval(node.body))
            after.append(self.heap)
        if known is not True:
            self.heap = before.fork()
            self.narrow(node.test, False)
            out.append(self.eval(node.orelse))
            after.append(self.heap)
        self.merge(after)
        for name in narrowed_names(node.test):
            frame = self.frames[-1].id
            if name in before.get(frame, {}):
                self.heap[frame] = {**self.heap[frame], name: before[frame][name]}
        return self.join_all(out)

    def narrow(self, test: ast.expr, positive: bool) -> None:
        """What a test says of a name in the branch it leads to: that it is None or not, that it is of a type or not."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self.narrow(test.operand, not positive)
        if isinstance(test, ast.BoolOp):
            if isinstance(test.op, ast.And) == positive:
                for operand in test.values:
                    self.narrow(operand, positive)
            return None
        keep: Callable[[Value], bool] | None = None
        name = ""
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.left, ast.Name):
            right = test.comparators[0]
            if isinstance(right, ast.Constant) and isinstance(test.ops[0], (ast.Is, ast.IsNot)):
                wanted = isinstance(test.ops[0], ast.Is) == positive
                constant = Static(right.value)
                name = test.left.id
                keep = lambda v: self.same(v, constant) in (wanted, None)
        elif isinstance(test, ast.Name):
            name = test.id
            keep = lambda v: self.truth(v) in (positive, None)
        elif isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id == "isinstance" and len(test.args) == 2:
            if isinstance(test.args[0], ast.Name):
                name = test.args[0].id
                types = self.values.get(test.args[1])
                keep = lambda v: self.instance(v, types) in (positive, None)
        if keep is None:
            return None
        value = self.heap[self.frames[-1].id].get(name)
        if value is None:
            return None
        kept = [v for v in alternatives(value) if keep(v)]
        if kept and len(kept) < len(alternatives(value)):
            self.bind(name, kept[0] if len(kept) == 1 else Union(tuple(kept)))
        return None

    def instance(self, value: Value, types: Value | None) -> bool | None:
        """``isinstance`` where it is known."""
        if types is None:
            return None
        if isinstance(types, (Tuple, Union)):
            answers = [self.instance(value, t) for t in types.items]
            return True if True in answers else None if None in answers else False
        if isinstance(types, ClassOf):
            c = self.cell(value)
            if c is not None and c.kind == "object" and c.cls == types:
                return True
            return False if isinstance(value, Static) and value.const is not UNKNOWN or self.is_sure_array(value) else None
        name = types.name.rpartition(".")[2] if isinstance(types, Lib) else ""
        if not name:
            return None
        if isinstance(value, Static):
            if value.const is UNKNOWN:
                return None
            mro = [k.__name__ for k in type(value.const).__mro__]
            return name in mro if name in PYTHON_TYPES else False if name in ARRAY_TYPES else None
        if isinstance(value, Tuple):
            return name in ("tuple", "Sequence", "Iterable") if name in PYTHON_TYPES | ARRAY_TYPES else None
        c = self.cell(value)
        if c is None:
            return None
        if c.kind in ("list", "dict", "set"):
            return name == c.kind if name in PYTHON_TYPES | ARRAY_TYPES else None
        if self.is_sure_array(value) or (c.kind == "any" and c.batch.any):
            if isinstance(types, Lib) and types.name.startswith("numpy."):
                # Under torch and jax a mapped value is never NumPy's; a scalar may be, under pergrad.
                if self.library != "numpy":
                    return None if not c.batch.any else False
                return True if name in ARRAY_TYPES else None
            if name in ARRAY_TYPES:
                return True
            if name in ("int", "float", "str", "bool", "complex", "bytes", "Number", "Integral", "Real"):
                return False
            return False if name in PYTHON_TYPES and c.kind == "array" else None
        return None

    def is_sure_array(self, value: Value) -> bool:
        c = self.cell(value)
        return c is not None and c.kind == "array"

    # Text

    def eval_JoinedStr(self, node: ast.JoinedStr) -> Value:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self.eval(part.value)
                self.fire("FormattedValue", part)
        return ANY

    # Attributes

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
        return self.part(ref, c._replace(batch=self.declared(c, name)), ("." + name,), node, kind="any")

    def declared(self, c: Cell, name: str) -> Batch:
        """Over what an attribute nobody assigned differs: as the object does, unless its class says it is no array."""
        return c.batch

    # Subscripts

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
        if value is not None and (self.is_boolean(value) or any(c.kind in ("array", "list") for _, c in self.cells(value))):
            return "array"
        return "number"

    # Generators

    def eval_Yield(self, node: ast.Yield) -> Value:
        value = self.eval(node.value) if node.value is not None else NONE
        self.frames[-1].yields.append(value)
        return ANY

    def eval_YieldFrom(self, node: ast.YieldFrom) -> Value:
        self.frames[-1].yields.append(self.element(self.eval(node.value), node))
        return ANY

    def eval_Await(self, node: ast.Await) -> Value:
        self.fire("Await", node)
        return self.eval(node.value)


ARRAY_TYPES = frozenset({"ndarray", "Tensor", "Array", "ArrayLike", "DeviceArray"})
PYTHON_TYPES = frozenset(
    """int float str bool complex bytes tuple list dict set frozenset Number Integral Real Sequence Mapping Iterable NoneType""".split()
)


def is_text(value: Value) -> bool:
    return isinstance(value, Static) and (isinstance(value.const, (str, bytes)) or value.const is None)


def without_none(value: Value) -> Value:
    """What is left of a value that was found true."""
    if isinstance(value, Union):
        kept = tuple(v for v in value.items if not (isinstance(v, Static) and v.const is None))
        return kept[0] if len(kept) == 1 else Union(kept) if kept else value
    return value


@cache
def narrowed_names(node: ast.expr) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} - {n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr)}


def target_names(target: ast.expr) -> list[str]:
    return [n.id for n in ast.walk(target) if isinstance(n, ast.Name)]


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


__all__ = ["Evaluator", "decorator_names", "target_names"]
