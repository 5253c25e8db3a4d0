"""Checks of transforms on Programs made by hand, against means that share no code with the transforms."""

import numpy as np

from pergrad.compiler.core.types import Size, known
from pergrad.compiler.core.verify import verify
from pergrad.compiler.transforms.batch import batch
from pergrad.compiler.transforms.reverse import grad, vjp

from ...oracles import assert_same, central_differences, dot_product_gap, per_sample_loop
from ..interpret import interpret

BATCH = Size.named("B")


def arrays_for(program, seed=0, **sizes):
    """Random arguments of a program's types."""
    rng = np.random.default_rng(seed)
    return [array_for(p.type, rng, sizes) for p in program.params]


def array_for(t, rng, sizes):
    shape = tuple(sizes[d.names[0]] if isinstance(d, Size) else d for d in t.shape)
    x = rng.normal(size=shape) if t.dtype.kind == "f" else rng.integers(0, 2, size=shape)
    x = np.asarray(x, t.dtype)
    return x if t.shape or not t.scalar else x[()]


def differentiable(program):
    return [p.type.inexact for p in program.params]


def scalar(program, arrays):
    """The program's first result as a function of its parameters, for finite differences."""
    return lambda *a: float(interpret(program, *(np.asarray(v, p.type.dtype)[()] for v, p in zip(a, program.params)))[0])


def check_grad(program, *arrays, order=1, rtol=1e-6, atol=1e-8):
    """The gradient is that of central differences, for float64; to second order that of a random combination of gradients."""
    verify(program)
    arrays = arrays or arrays_for(program)
    wanted = differentiable(program)
    g = grad(program, wanted)
    verify(g)
    got = interpret(g, *arrays)[: sum(wanted)]
    numbers = tuple(k for k, w in enumerate(wanted) if w)
    want = central_differences(scalar(program, arrays), arrays, numbers)
    assert_same(got, list(want), rtol=rtol, atol=atol)
    for p, x in zip([p for p, w in zip(program.params, wanted) if w], got):
        assert np.asarray(x).dtype == p.type.dtype
    if order > 1:
        check_grad(combined(g, sum(wanted)), *arrays, order=order - 1, rtol=rtol * 10, atol=atol * 10)
    return g


def combined(program, count):
    """A scalar program: a fixed random combination of a program's first results."""
    from pergrad.compiler.core.builder import Builder, Value, atom_of, recorded
    from pergrad.compiler.core.program import Program

    rng = np.random.default_rng(7)
    builder = Builder()
    with builder.active():
        atoms = builder.inline(program, [Value(p) for p in program.params])
        total = 0.0
        for a in atoms[:count]:
            total = total + recorded.sum(Value(a) * rng.normal(size=a.type.shape).astype(a.type.dtype))
    return Program(program.params, tuple(builder.nodes), (atom_of(total),), program.name, program.sizes)


def check_vjp(program, *arrays):
    """The backward pass as a program of its own gives what grad gives of each combination of results."""
    wanted = differentiable(program)
    pullback = vjp(program, wanted)
    verify(pullback.forward)
    verify(pullback.backward)
    outs = interpret(pullback.forward, *arrays)
    assert_same(outs[: len(program.results)], interpret(program, *arrays))
    rng = np.random.default_rng(3)
    cts = [array_for(r.type, rng, {}) for r in program.results if r.type.inexact]
    saved = pullback.saved(arrays, outs)
    got = interpret(pullback.backward, *cts, *saved)

    def weighted(*a):
        results = interpret(program, *(np.asarray(v, p.type.dtype)[()] for v, p in zip(a, program.params)))
        return sum(float(np.sum(r * ct)) for r, ct in zip([r for r in results if np.asarray(r).dtype.kind == "f"], cts))

    want = central_differences(weighted, arrays, tuple(k for k, w in enumerate(wanted) if w))
    assert_same(got, list(want), rtol=1e-6, atol=1e-8)
    return pullback


def check_batch(program, mapped, *, sizes=(5, 1, 0, 3), **options):
    """The batched program gives what the program gives of each sample; batches of 0, 1 and of the size of another axis too."""
    verify(program)
    for size in (BATCH, *sizes[:1]):
        batched, flags = batch(program, mapped, size, **options)
        verify(batched)
        for n in sizes if isinstance(size, Size) else (size,):
            rng = np.random.default_rng(n)
            arrays = [array_for(p.type, rng, {"B": n}) for p in batched.params]
            got = interpret(batched, *arrays)
            dims = [0 if m else None for m in mapped]
            if n == 0:
                assert all(known(r.type.shape) for r in program.results)
                for g, r, f in zip(got, program.results, flags):
                    assert np.shape(g) == ((0,) if f else ()) + r.type.shape
                continue
            want = per_sample_loop(lambda *a: tuple(interpret(program, *a)), [np.asarray(a) for a in arrays], dims)
            for g, w, f in zip(got, want, flags):
                assert_same(g, w if f else w[0])
                assert np.asarray(g).dtype == np.asarray(w).dtype
    return batched, flags


def check_all(program, mapped, *arrays, order=2):
    """Gradient to second order, the backward pass, and both batched."""
    arrays = arrays or arrays_for(program)
    g = check_grad(program, *arrays, order=order)
    check_vjp(program, *arrays)
    check_batch(program, mapped)
    check_batch(g, mapped)
    return g


__all__ = ["BATCH", "array_for", "arrays_for", "check_all", "check_batch", "check_grad", "check_vjp", "dot_product_gap"]
