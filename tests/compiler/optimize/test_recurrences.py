"""Contractions before and after loops."""

import numpy as np
import pytest

from pergrad.compiler.core.builder import Value
from pergrad.compiler.core.builder import recorded as xnp
from pergrad.compiler.core.program import Const, For, walk
from pergrad.compiler.core.verify import verify
from pergrad.compiler.ops.indexing import Slot, put
from pergrad.compiler.optimize import optimize, simplify
from pergrad.compiler.transforms.batch import batch
from pergrad.compiler.transforms.reverse import grad

from ..interpret import interpret
from ..programs import BATCH, array, loop, ops, program

STEPS, WIDTH, HIDDEN = 9, 6, 8


def read(x, i):
    return x[i]


def network(xs, wx, wh):
    """A recurrent network that reads its inputs by index."""
    h = loop(STEPS, [Value(Const(np.zeros(HIDDEN)))], [], lambda i, h: (xnp.tanh(read(xs, i) @ wx + h @ wh),))
    return xnp.sum(h * h)


def scanned(xs, wx, wh):
    """The same with the inputs as slices."""
    h = loop(STEPS, [Value(Const(np.zeros(HIDDEN)))], [xs], lambda i, h, x: (xnp.tanh(x @ wx + h @ wh),))
    return xnp.sum(h * h)


def longer(xs, wx, wh):
    """With more inputs than steps."""
    return network(xnp.concatenate([xs, xs]), wx, wh)


def shared_weights(xs, wx, wh):
    """The weights are used twice in each step."""
    h = loop(STEPS, [Value(Const(np.zeros(HIDDEN)))], [xs], lambda i, h, x: (xnp.tanh(x @ wx + xnp.sin(h @ wh) @ wh),))
    return xnp.sum(h * h)


PARAMS = array(STEPS, WIDTH, name="xs"), array(WIDTH, HIDDEN, name="wx"), array(HIDDEN, HIDDEN, name="wh")


def per_sample(function):
    g = simplify(grad(program(function, *PARAMS), [False, True, True]))
    return batch(g, [True, False, False], BATCH)[0]


def same(p, *arrays):
    q = optimize(p)
    verify(q)
    for x, y in zip(interpret(p, *arrays), interpret(q, *arrays), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-12)
    return q


@pytest.mark.parametrize("function", [network, scanned, longer, shared_weights])
def test_gradients_of_a_recurrent_network(function):
    p = per_sample(function)
    for n in (1, 4):
        rng = np.random.default_rng(n)
        arrays = rng.standard_normal((n, STEPS, WIDTH)), rng.standard_normal((WIDTH, HIDDEN)), rng.standard_normal((HIDDEN, HIDDEN))
        q = same(p, *arrays)
    for node in q.body:
        if isinstance(node, For):
            products = [n for n in walk(node.body) if getattr(n, "op", "") == "numpy.einsum"]
            assert all(n.outs[0].type.ndim == 2 for n in products), "no outer product in a loop"
            assert node.carried == 1


def test_small_loops_stay_as_they_are_written():
    p = grad(program(network, *PARAMS), [False, True, True])
    q = optimize(p)
    assert sum(n.carried for n in q.body if isinstance(n, For)) == 4


def test_a_carry_that_is_read_stays():
    def f(x, y):
        total, n = loop(STEPS, [np.zeros((64, 64)), np.float64(0.0)], [x], lambda i, t, n, s: (t + xnp.outer(s, y), n + t[0, 0]))
        return xnp.sum(total) + n

    q = same(program(f, array(STEPS, 64), array(64)), np.ones((STEPS, 64)), np.arange(64.0))
    assert "add" in ops(q) and next(n for n in q.body if isinstance(n, For)).carried == 2


def test_a_sum_from_a_start():
    def f(x, y, z):
        return loop(STEPS, [z], [x, y], lambda i, t, a, b: (t + xnp.outer(a, xnp.sin(b)) + xnp.outer(a, b),), reverse=True)

    rng = np.random.default_rng(0)
    arrays = rng.standard_normal((STEPS, 64)), rng.standard_normal((STEPS, 50)), rng.standard_normal((64, 50))
    q = same(program(f, array(STEPS, 64), array(STEPS, 50), array(64, 50)), *arrays)
    assert all(n.carried == 0 for n in q.body if isinstance(n, For))


def test_slices_that_a_loop_writes_stay():
    """An array that changes during the loop has no slices outside."""

    def f(h, w):
        def step(i, h):
            return (put(h, xnp.tanh(h[i] @ w), (Slot(0), slice(None)), (i,)),)

        return loop(STEPS, [h], [], step)

    rng = np.random.default_rng(0)
    same(program(f, array(STEPS, 300), array(300, 300)), rng.standard_normal((STEPS, 300)), rng.standard_normal((300, 300)))
