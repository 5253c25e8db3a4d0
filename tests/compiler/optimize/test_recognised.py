"""Formulas with a derivative of their own: which are recognised, what they print, and their derivatives where the parts overflow."""

import numpy as np
import pytest

import pergrad as pg
from pergrad.compiler.core.verify import verify
from pergrad.compiler.optimize import prepare, spell_out

from ..interpret import interpret
from ..programs import array, ops, program


def left(function, *params):
    """The ops of a prepared program, once it is seen to compute the same, prepared and spelled out again."""
    before = program(function, *params)
    prepared = prepare(before)
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=p.type.shape) for p in params]
    for after in (prepared, spell_out(prepared)):
        verify(after)
        np.testing.assert_array_equal(interpret(before, *arrays)[0], interpret(after, *arrays)[0])
    return ops(prepared)


def logistic(x):
    return np.sum(1 / (1 + np.exp(-x)))


@pytest.mark.parametrize(
    "function",
    [lambda x: 1 / (1 + np.exp(-x)), lambda x: 1.0 / (np.exp(-x) + 1), lambda x: 1 / (1 + np.exp(x * 3.0)), lambda x: 1 / (1 + np.exp(x))],
)
def test_the_formula_is_one_op(function):
    assert [op for op in left(function, array(3, 5)) if op != "multiply"] == ["logistic"]


@pytest.mark.parametrize("function", [lambda x: 2 / (1 + np.exp(-x)), lambda x: 1 / (2 + np.exp(-x)), lambda x: 1 / (np.exp(-x) - 1)])
def test_what_is_not_the_formula_stays(function):
    assert "logistic" not in left(function, array(3, 5))


def test_parts_that_are_read_elsewhere_stay():
    def function(x):
        e = np.exp(-x)
        return e / (1 + e) + 1 / (1 + e)

    assert "logistic" not in left(function, array(3, 5))


def test_it_prints_as_written_and_its_derivative_reads_it():
    source = pg.grad(logistic).source(np.ones(3))
    assert "1 / (1 + np.exp(-x))" in source
    assert source.count("np.exp") == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_and_derivatives_also_where_exp_overflows(dtype):
    x = np.array([-1000.0, -3.0, 0.0, 2.0, 1000.0], dtype=dtype)
    y = 1 / (1 + np.exp(-np.clip(x.astype(np.float64), -700, 700)))
    with np.errstate(over="ignore"):
        first = pg.grad(logistic)(x)
        second = pg.vmap(pg.grad(pg.grad(lambda t: 1 / (1 + np.exp(-t)))))(x)
    assert first.dtype == second.dtype == dtype
    rtol = 1e-5 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(first, y * (1 - y), rtol=rtol, atol=1e-30)
    np.testing.assert_allclose(second, y * (1 - y) * (1 - 2 * y), rtol=rtol, atol=1e-30)


SOFTMAXES = {
    "rows": lambda z: (e := np.exp(z)) / np.sum(e, axis=-1, keepdims=True),
    "columns": lambda z: (e := np.exp(z)) / e.sum(axis=0),
    "widened": lambda z: (e := np.exp(z)) / e.sum(axis=1)[:, None],
    "stable": lambda z: (e := np.exp(z - z.max(axis=1, keepdims=True))) / e.sum(axis=1, keepdims=True),
}
OTHERS = {
    "misaligned": lambda z: (e := np.exp(z)) / e.sum(axis=1),
    "total": lambda z: (e := np.exp(z)) / e.sum(),
    "other": lambda z: np.exp(z) / np.exp(2 * z).sum(axis=1, keepdims=True),
    "mean": lambda z: (e := np.exp(z)) / e.mean(axis=1, keepdims=True),
    "read again": lambda z: (e := np.exp(z)) / e.sum(axis=1, keepdims=True) + e,
}


@pytest.mark.parametrize("name", SOFTMAXES)
def test_softmax_is_one_op(name):
    assert "softmax" in left(SOFTMAXES[name], array(4, 4))


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_softmax_stays(name):
    assert "softmax" not in left(OTHERS[name], array(4, 4))


def attention(x):
    s = x @ x.T
    e = np.exp(s - s.max(axis=1, keepdims=True))
    a = e / e.sum(axis=1, keepdims=True)
    return np.sum((a @ x) ** 2)


def test_softmax_prints_as_written_and_its_derivative_reads_it():
    source = pg.grad(attention).source(np.ones((5, 3)))
    assert source.count("np.exp") == 1 and "e / np.sum(e, axis=-1, keepdims=True)" in source
    assert "np.exp(" in pg.grad(attention).stages(np.ones((5, 3)))["differentiated"]


def test_derivatives_of_softmax():
    x = np.random.default_rng(0).normal(size=(5, 3))
    step = 1e-6 * np.eye(15).reshape(15, 5, 3)
    slopes = lambda f: np.array([(f(x + e) - f(x - e)) / 2e-6 for e in step])
    g = pg.grad(attention)
    np.testing.assert_allclose(g(x).ravel(), slopes(attention), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(pg.hessian(attention)(x).reshape(15, 5, 3), slopes(g), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(pg.jvp(attention, (x,), (x,))[1], np.sum(g(x) * x), rtol=1e-12)
