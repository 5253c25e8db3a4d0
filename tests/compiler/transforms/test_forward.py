"""Forward mode: jvp and linearize, straight and structured."""

import numpy as np
import pytest

from pergrad.compiler.core.builder import recorded as xnp
from pergrad.compiler.core.program import Program, walk
from pergrad.compiler.core.types import loop_sized
from pergrad.compiler.core.verify import verify
from pergrad.compiler.ops import table
from pergrad.compiler.transforms.forward import jvp, linearize
from pergrad.compiler.transforms.reverse import grad, vjp

from ...oracles import assert_same, directional_difference, dot_product_gap
from ..interpret import interpret
from ..programs import array, number, program
from .check import arrays_for, check_batch, check_grad
from .structured import CASES, arguments, case
from .test_reverse import STRAIGHT


def straight(name):
    f, *shapes = STRAIGHT[name]
    return program(f, *(array(*s, name=n) if s else number(name=n) for s, n in zip(shapes, "xyz")))


def check_forward(p, args, rtol=1e-6, atol=1e-8):
    rng = np.random.default_rng(5)
    tangents = [np.asarray(rng.normal(size=np.shape(a)))[()] for a in args]
    active = [v.type.inexact for v in p.params]

    def run(*a):
        return tuple(interpret(p, *(np.asarray(v, q.type.dtype)[()] for v, q in zip(a, p.params))))

    values, want = run(*args), directional_difference(run, args, tangents)
    want = [w for w, r in zip(want, p.results) if r.type.inexact]
    j = jvp(p, active)
    verify(j)
    got = interpret(j, *args, *tangents)
    assert_same(got[: len(values)], list(values))
    assert_same(got[len(values) :], want, rtol=rtol, atol=atol)
    split = linearize(p, active)
    verify(split.forward)
    verify(split.linear)
    outs = interpret(split.forward, *args)
    assert_same(outs[: len(values)], list(values))
    dots = interpret(split.linear, *split.saved(args, outs), *tangents)
    assert_same(dots, got[len(values) :])
    pullback = vjp(p, active)
    cts = [np.asarray(rng.normal(size=np.shape(v)))[()] for v, r in zip(values, p.results) if r.type.inexact]
    back = interpret(pullback.backward, *cts, *pullback.saved(args, interpret(pullback.forward, *args)))
    assert dot_product_gap(dots, cts, tangents, back) < 1e-9
    return j, split


@pytest.mark.parametrize("name", STRAIGHT)
def test_straight(name):
    p = straight(name)
    args = arrays_for(p)
    check_forward(p, args)
    check_forward(grad(p, [True] * len(p.params)), args)


@pytest.mark.parametrize("t", [1.3, -0.4], ids=["one way", "the other"])
@pytest.mark.parametrize("name", CASES)
def test_structured(name, t):
    p, mapped = case(name)
    args = arguments(p, t)
    j, split = check_forward(p, args)
    check_forward(grad(p, [True] * len(p.params)), args)
    check_grad(first_tangent(j, p), *args, *args)
    if mapped:
        check_batch(j, [*mapped, *mapped], sizes=(3, 2))
        check_batch(j, [*[False] * len(mapped), *[True] * len(mapped)], sizes=(3, 2))
        if not any(loop_sized(r.type) for r in split.forward.results):
            check_batch(split.forward, mapped, sizes=(3,))


def first_tangent(j, p):
    return Program(j.params, j.body, (j.results[len(p.results)],), j.name, j.sizes)


@pytest.mark.parametrize("name", STRAIGHT)
def test_tangents_by_transposing_twice(name, monkeypatch):
    """Without its own rule of forward mode every op gets one from reverse mode."""
    p = straight(name)
    used = {table.find(n.op).name for n in walk(p)}
    for op in used:
        monkeypatch.setitem(table._OPS, op, table.replace(table.find(op), jvp=None))
    args = arrays_for(p)
    check_forward(p, args)


def test_linear_program_is_small():
    """Nothing of the forward pass is computed again."""
    p = program(lambda x: xnp.tanh(xnp.exp(xnp.sin(x))), array(3, name="x"))
    split = linearize(p, [True])
    assert [n.op for n in split.linear.body] == ["numpy.multiply"] * 3 or "numpy.exp" not in [n.op for n in split.linear.body]


def test_names():
    def f(x):
        h = xnp.tanh(x)
        h.atom.name = "h"
        return xnp.sum(h * h)

    names = [v.name for n in jvp(program(f, array(3, name="x")), [True]).body for v in n.outs]
    assert "h_dot" in names
