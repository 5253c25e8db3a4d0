"""Derivatives of derivatives: their values, and that they do not explode."""

import itertools

import numpy as np
import pytest

import pergrad as pg
from benchmarks import nested

FUNCTIONS = (*nested.OF_NUMBERS, *nested.OF_ARRAYS)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_each_order_grows_at_most_2_2_times(f):
    counts = []
    for order in (1, 2, 3):
        counts.append(nested.lines(nested.derivative(f, order).source(nested.argument(f))))
    assert all(after <= 2.2 * before for before, after in itertools.pairwise(counts)), counts


@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_each_order_is_the_derivative_of_the_one_before(f, order):
    below, x, h = nested.derivative(f, order - 1), nested.argument(f), 1e-5
    found = nested.derivative(f, order)(x)
    steps = h * np.eye(np.size(x)).reshape(-1, *np.shape(x))
    expected = [np.sum(below(x + s) - below(x - s)) / (2 * h) for s in steps]
    np.testing.assert_allclose(found, expected if np.shape(x) else expected[0], rtol=1e-6, atol=1e-7)


def test_only_what_depends_elementwise_is_taken_forward(rng):
    """Reads across elements, sums and several readers of the elementwise part."""

    def f(x):
        y = np.exp(-x) * np.sin(x)
        z = y * x
        return np.sum(y[1:] * x[:-1]) + np.sum(z) ** 2 + y @ z

    def by_hand(x):
        e, s, c = np.exp(-x), np.sin(x), np.cos(x)
        y, slope, bend = e * s, e * (c - s), -2 * e * c
        z, z_slope, z_bend = y * x, slope * x + y, bend * x + 2 * slope
        total = np.sum(z_slope)
        out = 2 * total * z_slope + 2 * np.sum(z) * z_bend + bend * z + 2 * slope * z_slope + y * z_bend
        out[1:] += bend[1:] * x[:-1] + slope[1:]
        out[:-1] += slope[1:]
        return out

    x = rng.normal(size=4)
    # each row of the Hessian added up
    np.testing.assert_allclose(pg.grad(lambda x: np.sum(pg.grad(f)(x)))(x), by_hand(x), rtol=1e-10)


def test_numbers_that_a_loop_computes(rng):
    def root(a):
        x = a
        for _ in range(30):
            x = 0.5 * (x + a / x)
        return x

    for power, k in ((0.5, 1), (-0.25, 2), (0.375, 3)):
        f = root
        for _ in range(k):
            f = pg.grad(f)
        np.testing.assert_allclose(f(2.3), power * 2.3 ** (0.5 - k), rtol=1e-9)


def test_slopes_inside_a_loss_of_parameters(rng):
    """The second derivative by a coordinate, inside a gradient by the weights."""

    def u(w, t):
        return w[1] @ np.tanh(w[0] * t)

    def loss(w, t):
        return pg.grad(pg.grad(u, argnums=1), argnums=1)(w, t) ** 2

    def by_hand(w, t):
        a, b = w
        h = np.tanh(a * t)
        bend = -2 * h * (1 - h * h)
        second = b @ (bend * a * a)
        d_bend = -2 * (1 - h * h) * (1 - 3 * h * h) * t
        return 2 * second * (b * (d_bend * a * a + 2 * bend * a)), 2 * second * bend * a * a

    w, t = (rng.normal(size=4), rng.normal(size=4)), 0.6
    for found, expected in zip(pg.grad(loss)(w, t), by_hand(w, t)):
        np.testing.assert_allclose(found, expected, rtol=1e-10)
