"""Branches whose results need none."""

import numpy as np

import pergrad as pg


def test_a_flag_is_its_own_test():
    def f(x):
        if x[0] > 0:
            big = True
        else:
            big = False
        y = x * 2.0 if big else x * 3.0
        return np.sum(y)

    for x in (np.array([1.0, 2.0]), np.array([-1.0, 2.0])):
        assert pg.compile(f)(x) == f(x)
    assert "True" not in pg.compile(f).source(np.ones(2))


def test_what_both_sides_give_stands_before_them():
    def f(x):
        y = np.sin(x)
        if x[0] > 0:
            z, w = y, x * 2.0
        else:
            z, w = y, x * 3.0
        return np.sum(z * w)

    for x in (np.array([1.0, 2.0]), np.array([-1.0, 2.0])):
        np.testing.assert_allclose(pg.compile(f)(x), f(x))
        np.testing.assert_allclose(pg.grad(f)(x), (2.0 if x[0] > 0 else 3.0) * (np.sin(x) + x * np.cos(x)))
