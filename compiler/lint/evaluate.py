"""Expressions: what each one is, and what it differs over."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar

from .access import Access, decorator_names
from .heap import Args, OutOfFuel
from .values import (
    ANY,
    CLEAN,
    NONE,
    UNKNOWN,
    Bound,
    Cell,
    ClassOf,
    Func,
    Lib,
    Method,
    ModuleOf,
    Partial,
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


class Evaluator(Access):
    """Evaluates expressions over values that say only what is batched."""

    hooks: ClassVar[dict[str, list[Any]]] = {}

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
        left, right = self.eval(node.left), self.eval(node.right)
        self.fire("BinOp", node)
        return self.binary(node, node.op, left, right)

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
            if name in ARRAY_TYPES or (name == "Tracer" and c.batch.yes):
                return True
            if name in ("int", "float", "str", "bool", "complex", "bytes", "Number", "Integral", "Real"):
                return False
            return False if name in PYTHON_TYPES and c.kind == "array" else None
        return None

    # Text

    def eval_JoinedStr(self, node: ast.JoinedStr) -> Value:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self.eval(part.value)
                self.fire("FormattedValue", part)
        return ANY

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


__all__ = ["Evaluator", "decorator_names", "target_names"]
