"""Reverse mode on programs without control flow."""

import numpy as np
import pytest

from pergrad.compiler.core.builder import recorded as xnp
from pergrad.compiler.core.program import Var
from pergrad.compiler.core.types import Type
from pergrad.compiler.core.verify import verify
from pergrad.compiler.transforms.reverse import grad

from ..interpret import interpret
from ..programs import array, number, ops, program
from .check import arrays_for, check_all, check_batch, check_grad, check_vjp

STRAIGHT = {
    "sum of tanh": (lambda x: xnp.sum(xnp.tanh(x)), (3,)),
    "sum of squares": (lambda x: xnp.sum((x - 2.0) ** 2), (3, 4)),
    "mean": (lambda x: xnp.mean(x * x), (3, 4)),
    "mean over an axis": (lambda x: xnp.sum(xnp.exp(xnp.mean(x, axis=0))), (3, 4)),
    "keepdims": (lambda x: xnp.sum((x - xnp.mean(x, axis=1, keepdims=True)) ** 3), (3, 4)),
    "max": (lambda x: xnp.sum(xnp.max(x, axis=1) ** 2), (3, 4)),
    "matrix vector": (lambda w, x: xnp.sum(xnp.tanh(w @ x)), (3, 4), (4,)),
    "dot": (lambda x, y: x @ y, (4,), (4,)),
    "matrix matrix": (lambda a, b: xnp.sum(xnp.sin(a @ b)), (3, 4), (4, 5)),
    "stacked matrices": (lambda a, b: xnp.sum(xnp.sin(a @ b)), (2, 3, 4), (4, 5)),
    "outer": (lambda a, b: xnp.sum(xnp.sin(xnp.outer(a, b))), (3,), (4,)),
    "trace": (lambda a: xnp.sin(xnp.einsum("ii->", a)), (3, 3)),
    "broadcast": (lambda x, b: xnp.sum(xnp.sin(x + b)), (3, 4), (4,)),
    "broadcast in the middle": (lambda x, b: xnp.sum(xnp.sin(x * b)), (3, 4, 2), (3, 1, 2)),
    "broadcast both": (lambda x, b: xnp.sum((x * b) ** 2), (3, 1), (1, 4)),
    "broadcast linear": (lambda x, b: xnp.sum(x + b), (3, 4), (4,)),
    "broadcast linear of ones": (lambda x, b: xnp.sum(x - b), (3, 4), (3, 1)),
    "scalars": (lambda x, s: xnp.sum(x * s) + s, (3, 4), ()),
    "index": (lambda x: x[0] * x[2] + x[0], (3,)),
    "index of rows": (lambda x: xnp.sum(x[1] * x[::2]), (3, 4)),
    "fancy index": (lambda x: xnp.sum(xnp.sin(x[np.array([0, 2, 0])])), (3, 4)),
    "reshape": (lambda x: xnp.sum(xnp.sin(x.reshape(2, 6)) @ np.arange(6.0)), (3, 4)),
    "transpose": (lambda x: xnp.sum(xnp.sin(x.T) * np.arange(12.0).reshape(4, 3)), (3, 4)),
    "concatenate": (lambda x, y: xnp.sum(xnp.concatenate([x, y, x]) ** 2 * np.arange(8.0)), (3,), (2,)),
    "stack": (lambda x, y: xnp.sum(xnp.stack([x, y, x], axis=1) ** 3), (3,), (3,)),
    "where": (lambda x, y: xnp.sum(xnp.where(x > 0.0, x * y, y**2)), (3, 4), (4,)),
    "relu": (lambda x: xnp.sum(xnp.maximum(x, 0.0) ** 2), (3, 4)),
    "maximum": (lambda x, y: xnp.sum(xnp.maximum(x, y) ** 2), (3, 4), (4,)),
    "broadcast_to": (lambda x: xnp.sum(xnp.sin(xnp.broadcast_to(x, (3, 4))) * np.arange(12.0).reshape(3, 4)), (4,)),
    "expand and squeeze": (lambda x: xnp.sum(xnp.squeeze(xnp.expand_dims(xnp.sin(x), 1), 1) ** 2), (3, 4)),
    "several uses": (lambda x: xnp.sum(x * x * x + x), (3,)),
    "a parameter not used": (lambda x, y: xnp.sum(x), (3,), (4,)),
    "abs": (lambda x: xnp.sum(abs(x) * x), (3, 4)),
    "divide": (lambda x, y: xnp.sum(x / (2.0 + y * y)), (3, 4), (4,)),
}


@pytest.mark.parametrize("name", STRAIGHT)
def test_straight(name):
    f, *shapes = STRAIGHT[name]
    p = program(f, *(array(*s, name=n) if s else number(name=n) for s, n in zip(shapes, "xyz")))
    check_all(p, [True] + [False] * (len(shapes) - 1))
    check_batch(p, [True] * len(shapes))
    if len(shapes) > 1:
        check_batch(p, [False] * (len(shapes) - 1) + [True])


def test_float32_stays():
    p = program(lambda x, y: xnp.mean((x * 2.0 - y) ** 2), array(3, dtype="f4"), array(3))
    g = grad(p, [True, True])
    verify(g)
    got = interpret(g, *arrays_for(p))
    assert [a.dtype for a in got] == [np.float32, np.float64]
    p = program(lambda x: xnp.sum(xnp.maximum(x, 0.0) + xnp.where(x > 1.0, x, 0.0)), array(3, dtype="f4"))
    assert interpret(grad(p, [True]), *arrays_for(p))[0].dtype == np.float32


def test_a_python_float_has_a_derivative():
    p = program(lambda s, x: xnp.sum(x * s) * s, Var(Type(np.dtype(float), (), weak=True, scalar=True), "s"), array(3, dtype="f4"))
    g = grad(p, [True, True])
    verify(g)
    x = np.arange(3, dtype=np.float32)
    got = interpret(g, 2.0, x)
    assert got[0] == 12.0 and got[0].dtype == np.float64
    assert got[1].dtype == np.float32 and got[1].tolist() == [4.0] * 3


def test_value_and_other_results():
    p = program(lambda x: (xnp.sum(x * x), x * 2.0), array(3))
    x = np.arange(3.0)
    d, value, aux = interpret(grad(p, [True], value=True), x)
    assert d.tolist() == [0, 2, 4] and value == 5 and aux.tolist() == [0, 2, 4]
    d, aux = interpret(grad(p, [True]), x)
    assert aux.tolist() == [0, 2, 4]


def test_several_results():
    p = program(lambda x, y: (x * y, xnp.sum(x), y, x > 0.0), array(3), array(3))
    check_vjp(p, *arrays_for(p))


def test_residuals_are_not_copied():
    p = program(lambda x, y: xnp.tanh(x) * y, array(3, name="x"), array(3, name="y"))
    pullback = check_vjp(p, *arrays_for(p))
    assert len(pullback.forward.results) == 2  # tanh(x); y is the caller's
    p = program(lambda x: xnp.tanh(x), array(3))
    pullback = check_vjp(p, *arrays_for(p))
    assert len(pullback.forward.results) == 1  # the result itself


def test_small_programs():
    p = program(lambda x, w: xnp.sum((w @ x) ** 2), array(4, name="x"), array(3, 4, name="w"))
    g = grad(p, [False, True])
    assert ops(g) == ["einsum", "power", "sum", "multiply", "einsum"], ops(g)
    p = program(lambda x, w: x @ w, array(4, name="x"), array(4, name="w"))
    assert grad(p, [False, True]).results == (p.params[0],)


def test_names_and_sections():
    def f(x, w):
        h = xnp.tanh(w @ x)
        h.atom.name = "h"
        return xnp.sum(h * h)

    g = grad(program(f, array(4, name="x"), array(3, 4, name="w")), [True, True])
    names = [v.name for n in g.body for v in n.outs]
    assert names.index("h") < names.index("d_h") < names.index("d_x") and "d_w" in names
    assert [n.section for n in g.body] == sorted((n.section for n in g.body), key=["forward", "backward"].index)


def test_integers_have_no_derivative():
    p = program(lambda x, n: xnp.sum(x[n] * 2.0) + xnp.sum(xnp.astype(n, float)), array(5), array(3, dtype="i8"))
    g = check_grad(p, np.arange(5.0), np.array([0, 4, 4]))
    assert len(g.results) == 1


def test_a_thousand_operations():
    import time

    def f(x):
        for _ in range(500):
            x = xnp.tanh(x) * 1.5
        return xnp.sum(x)

    p = program(f, array(3))
    start = time.process_time()
    grad(p, [True])
    assert time.process_time() - start < 2.0
