"""Runs a Program on arrays, node by node: what any pass must preserve. Shares only the ops' printed forms with the compiler."""

import numpy as np

from pergrad.compiler.core.builder import expression
from pergrad.compiler.core.program import Apply, Const, Effect, For, If, Var, While
from pergrad.compiler.core.types import Size, Type
from pergrad.compiler.ops import table


class Raised(Exception):
    """An Effect of kind "raise" or a failed "assert" was reached."""


def interpret(program, *arrays, effects=None):
    """The results of a program as a list; ``effects`` collects (kind, values) in order."""
    assert len(arrays) == len(program.params), f"{len(program.params)} parameters, {len(arrays)} given"
    sizes = {name: np.shape(arrays[p])[axis] for name, (p, axis) in program.sizes.items()}
    run = _Run(sizes, effects if effects is not None else [])
    for v, a in zip(program.params, arrays):
        if not isinstance(a, list):
            run.bind(v.type.shape, np.asarray(a))
            assert np.shape(a) == run.resolved(v.type.shape), f"{v!r} got shape {np.shape(a)}"
    return run.block(program, arrays)


def setitem(base, index, value):
    out = np.array(base)
    out[index] = value
    return out


def additem(base, index, value):
    out = np.array(base)
    np.add.at(out, index, value)
    return out


class _Run:
    def __init__(self, sizes, effects):
        self.sizes = dict(sizes)
        self.fixed = frozenset(sizes)
        self.effects = effects
        self.values = {}

    def resolved(self, x):
        """Sizes as numbers, also inside tuples, lists, dicts and types."""
        match x:
            case Size():
                return x.at(self.sizes.__getitem__)
            case slice():
                return slice(self.resolved(x.start), self.resolved(x.stop), self.resolved(x.step))
            case tuple() | list():
                return type(x)(self.resolved(v) for v in x)
            case dict():
                return {k: self.resolved(v) for k, v in x.items()}
            case Type():
                return Type(x.dtype, self.resolved(x.shape), x.weak, x.scalar)
        return x

    def read(self, a):
        return a.value if isinstance(a, Const) else self.values[a]

    def block(self, block, arguments):
        self.values.update(zip(block.params, arguments, strict=True))
        for p, a in zip(block.params, arguments):
            if p.type.weak and not isinstance(a, (bool, int, float)):
                self.values[p] = a.item()
            elif isinstance(a, np.ndarray):
                self.bind(p.type.shape, a)
        for node in block.body:
            outs = self.node(node)
            for v, value in zip(node.outs, outs, strict=True):
                if isinstance(value, list):
                    self.values[v] = value
                    continue
                if isinstance(value, np.ndarray):
                    self.bind(v.type.shape, value)
                t = self.resolved(v.type)
                stand_in = np.size(value) == 0 and any(isinstance(d, Size) and d.names[0] not in self.fixed for d in v.type.shape)
                assert None in t.shape or stand_in or np.shape(value) == t.shape, f"{v!r} came out with shape {np.shape(value)} in {node}"
                if not t.weak:
                    assert np.asarray(value).dtype == t.dtype, f"{v!r} came out as {np.asarray(value).dtype} in {node}"
                self.values[v] = value
        return [self.read(r) for r in block.results]

    def node(self, node):
        match node:
            case Apply():
                return self.apply(node)
            case Effect():
                self.effect(node)
                return []
            case If():
                return self.block(node.then if self.read(node.pred) else node.orelse, [])
            case For():
                return self.for_loop(node)
            case While():
                return self.while_loop(node)
        raise TypeError(type(node).__name__)

    def apply(self, node):
        entry = table.find(node.op)
        types = [self.resolved(a.type) for a in node.args]
        outs = tuple(self.resolved(v.type) for v in node.outs)
        source = expression(entry, types, self.resolved(dict(node.params)), outs if len(outs) > 1 else outs[0])
        names = {"np": np, "_setitem": setitem, "_additem": additem, **{f"_{i}": self.read(a) for i, a in enumerate(node.args)}}
        y = eval(source, names)
        return list(y) if len(outs) > 1 else [y]

    def effect(self, node):
        values = [self.read(a) for a in node.args]
        self.effects.append((node.kind, values))
        if node.kind == "raise" or (node.kind == "assert" and not values[0]):
            raise Raised(node.payload)

    def for_loop(self, node):
        length = self.read(node.length) if isinstance(node.length, (Var, Const)) else self.resolved(node.length)
        carries, n = [self.read(a) for a in node.inits], node.carried
        xs = [self.read(a) for a in node.xs]
        ys = [[None] * length for _ in node.outs[n:]]
        for i in reversed(range(length)) if node.reverse else range(length):
            results = self.block(node.body, [i, *carries, *(x[i] for x in xs)])
            carries = results[:n]
            for stack, y in zip(ys, results[n:]):
                stack[i] = y
        return [*carries, *(self.stacked(y, v) for y, v in zip(ys, node.outs[n:]))]

    def while_loop(self, node):
        carries, n = [self.read(a) for a in node.inits], node.carried
        ys = [[] for _ in node.body.results[n:]]
        count = 0
        while self.block(node.cond, carries)[0]:
            results = self.block(node.body, carries)
            carries = results[:n]
            for stack, y in zip(ys, results[n:]):
                stack.append(y)
            count += 1
        return [*carries, *(self.stacked(y, v) for y, v in zip(ys, node.outs[n:])), *([count] if node.counted else [])]

    def stacked(self, items, v):
        """What a loop stacks: an array, or a list where a size inside differs between iterations."""
        self.bind(v.type.shape[:1], items)
        if any(isinstance(i, list) for i in items) or len({np.shape(i) for i in items}) > 1:
            return items
        unknown = [0 if isinstance(d, Size) and str(d) not in self.sizes else self.resolved(d) for d in v.type.shape[1:]]
        shape = np.shape(items[0]) if items else unknown
        return np.asarray(items, v.type.dtype).reshape(len(items), *shape)

    def bind(self, shape, value):
        """Sizes that no parameter has are those of the loop that ran last."""
        for d, n in zip(shape, np.shape(value) if isinstance(value, np.ndarray) else (len(value),)):
            if isinstance(d, Size) and len(d.names) == 1 and d.names[0] not in self.fixed:
                self.sizes[d.names[0]] = n
