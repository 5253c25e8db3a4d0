"""Making Programs by hand, for the tests of passes."""

import numpy as np

from pergrad.compiler.core.builder import Builder, Value, atom_of, current
from pergrad.compiler.core.program import Block, For, If, Program, Var, While
from pergrad.compiler.core.types import Size, Type

BATCH = Size.named("B")


def array(*shape, dtype="f8", name=None):
    return Var(Type(np.dtype(dtype), shape), name)


def number(dtype="f8", name=None):
    return Var(Type(np.dtype(dtype), (), scalar=True), name)


def program(function, *params, sizes=None):
    """A Program from a function of Values; it may return one value or several."""
    builder = Builder()
    with builder.active():
        results = function(*(Value(p) for p in params))
    results = results if isinstance(results, tuple) else (results,)
    found = {d.names[0]: (k, a) for k, p in reversed(list(enumerate(params))) for a, d in enumerate(p.type.shape) if isinstance(d, Size)}
    return Program(tuple(params), tuple(builder.nodes), tuple(atom_of(r) for r in results), sizes=found if sizes is None else sizes)


def _block(params, function):
    with current().block() as body:
        results = function(*(Value(p) for p in params))
        results = results if isinstance(results, tuple) else (results,)
        return Block(tuple(params), tuple(body), tuple(atom_of(r) for r in results))


def _record(node):
    current().append(node)
    values = tuple(Value(v) for v in node.outs)
    return values[0] if len(values) == 1 else values


def branch(pred, then, orelse):
    """Record an If of two functions without parameters."""
    yes, no = _block((), then), _block((), orelse)
    return _record(If(outs=tuple(Var(r.type) for r in yes.results), pred=atom_of(pred), then=yes, orelse=no))


def loop(length, inits, xs, function, reverse=False):
    """Record a For; ``function(i, *carries, *slices)`` gives (*carries, *ys)."""
    inits, xs = tuple(map(atom_of, inits)), tuple(map(atom_of, xs))
    index = Var(Type(np.dtype(np.int64), (), weak=True, scalar=True), "i")
    params = [index, *(Var(a.type) for a in inits), *(Var(Type(x.type.dtype, x.type.shape[1:], scalar=x.type.ndim == 1)) for x in xs)]
    body = _block(params, function)
    outs = [Var(a.type) for a in inits] + [Var(Type(r.type.dtype, (length, *r.type.shape))) for r in body.results[len(inits) :]]
    return _record(For(outs=tuple(outs), length=length, inits=inits, xs=xs, body=body, reverse=reverse))


def while_loop(inits, cond, function, counted=False):
    """Record a While; ``cond(*carries)`` gives the test, ``function(*carries)`` gives (*carries, *ys)."""
    inits = tuple(map(atom_of, inits))
    test = _block([Var(a.type) for a in inits], cond)
    body = _block([Var(a.type) for a in inits], function)
    outs = [Var(a.type) for a in inits] + [Var(Type(r.type.dtype, (None, *r.type.shape))) for r in body.results[len(inits) :]]
    if counted:
        outs.append(Var(Type(np.dtype(np.int64), (), weak=True, scalar=True)))
    return _record(While(outs=tuple(outs), inits=inits, cond=test, body=body, counted=counted))


def ops(block):
    """The ops of a program in order, those of nested blocks after the name of the node that holds them."""
    from pergrad.compiler.core.program import walk

    return [getattr(n, "op", type(n).__name__).removeprefix("numpy.").removeprefix("pergrad.") for n in walk(block)]
