"""Formulas with a derivative of their own: which are recognised, what they print, and their derivatives where the parts overflow."""

import numpy as np
import pytest

import pergrad as pg

from ..programs import array
from .test_algebra import left


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
