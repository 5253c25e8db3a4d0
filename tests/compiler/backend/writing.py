"""Writing Programs by hand: parameters, loops and branches around recorded NumPy calls."""

import numpy as np

from pergrad.compiler.core.builder import Builder, Value, atom_of, current, recorded
from pergrad.compiler.core.program import Block, Const, Effect, For, If, Program, Var, While
from pergrad.compiler.core.types import Size, Type
from pergrad.compiler.ops.indexing import put

FLOAT = np.dtype(float)
INT = Type(np.dtype(np.int64), (), weak=True, scalar=True)


def array(name, *shape, dtype=FLOAT):
    return Var(Type(np.dtype(dtype), shape), name)


def scalar(name, dtype=FLOAT):
    return Var(Type(np.dtype(dtype), (), scalar=True), name)


def named(value, name):
    """The value under the user's name."""
    value.atom.name = name
    return value


def program(params, function, **fields):
    """The Program of a function on recorded values."""
    builder = Builder()
    with builder.active():
        out = function(*[Value(p) for p in params])
    outs = out if isinstance(out, tuple) else (out,)
    return Program(tuple(params), tuple(builder.nodes), tuple(map(atom_of, outs)), **fields)


def strong(t):
    return Type(t.dtype, t.shape, scalar=t.scalar)


def write(base, value, index, arrays=()):
    return put(base, value, index if isinstance(index, tuple) else (index,), arrays)


def add_at(base, value, index, arrays=()):
    return put(base, value, index if isinstance(index, tuple) else (index,), arrays, add=True)


def loop(length, inits, names, body, *, xs=(), xnames=(), ynames=(), index="i", reverse=False):
    """``body(i, *carries, *slices)`` gives (*carries, *ys)."""
    b = current()
    inits, xs = [atom_of(x) for x in inits], [atom_of(x) for x in xs]
    i = Var(INT, index)
    carries = [Var(strong(a.type), n) for a, n in zip(inits, names, strict=True)]
    slices = [
        Var(Type(x.type.dtype, x.type.shape[1:], scalar=x.type.ndim == 1), n) for x, n in zip(xs, xnames or [None] * len(xs), strict=True)
    ]
    with b.block() as nodes:
        results = tuple(map(atom_of, body(Value(i), *map(Value, carries), *map(Value, slices))))
    size = length if isinstance(length, int) else atom_of(length) if isinstance(length, (Value, Var, Const)) else length
    ys = results[len(carries) :]
    stacked = size if not hasattr(size, "type") else 0
    outs = [Var(c.type, c.name) for c in carries]
    outs += [Var(Type(y.type.dtype, (stacked, *y.type.shape)), n) for y, n in zip(ys, ynames or [None] * len(ys), strict=True)]
    block = Block((i, *carries, *slices), tuple(nodes), results)
    b.append(For(outs=tuple(outs), length=size, inits=tuple(inits), xs=tuple(xs), body=block, reverse=reverse))
    return tuple(map(Value, outs))


def repeat(inits, names, cond, body, *, ynames=(), counted=False):
    """``while cond(*carries)``: ``body(*carries)`` gives (*carries, *ys)."""
    b = current()
    inits = [atom_of(x) for x in inits]
    first = [Var(strong(a.type), n) for a, n in zip(inits, names, strict=True)]
    second = [Var(v.type, v.name) for v in first]
    with b.block() as head:
        test = atom_of(cond(*map(Value, first)))
    with b.block() as nodes:
        results = tuple(map(atom_of, body(*map(Value, second))))
    ys = results[len(inits) :]
    outs = [Var(v.type, v.name) for v in first]
    trips = Size.named(f"trips_{second[0].serial}")
    outs += [Var(Type(y.type.dtype, (trips, *y.type.shape)), n) for y, n in zip(ys, ynames or [None] * len(ys), strict=True)]
    outs += [Var(INT)] if counted else []
    heads, bodies = Block(tuple(first), tuple(head), (test,)), Block(tuple(second), tuple(nodes), results)
    b.append(While(outs=tuple(outs), inits=tuple(inits), cond=heads, body=bodies, counted=counted))
    return tuple(map(Value, outs))


def branch(pred, then, orelse, names):
    """``if pred``: both functions give the joined values."""
    b = current()
    with b.block() as first:
        one = tuple(map(atom_of, then()))
    with b.block() as second:
        two = tuple(map(atom_of, orelse()))
    outs = tuple(Var(strong(a.type), n) for a, n in zip(one, names, strict=True))
    b.append(If(outs=outs, pred=atom_of(pred), then=Block((), tuple(first), one), orelse=Block((), tuple(second), two)))
    return tuple(map(Value, outs))


def effect(kind, args=(), payload=None):
    current().append(Effect(outs=(), kind=kind, args=tuple(map(atom_of, args)), payload=payload))


np_ = recorded
