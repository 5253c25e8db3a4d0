"""Known arrays stand before the function as a person would write them, and the source needs nothing else."""

import numpy as np
import pytest

import pergrad as pg


def window(w):
    k = np.exp(-0.5 * np.linspace(-1, 1, 50) ** 2)
    k /= k.sum()
    return np.sum((k * w) ** 2)


def table(w):
    squares = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2, 7, 9, 5, 0, 2, 8]) ** 2
    return w @ (np.outer(squares, squares) - np.diag(squares)) @ w


def filled(w):
    b = np.zeros((9, 9))
    b[1:8, 2] = np.arange(7.0)
    b[3] += np.linspace(0.0, 1.0, 9)
    return w @ b @ w


def centred(w):
    m = np.eye(7) - np.ones((7, 7)) / 7
    return np.sum(np.tanh(m @ w)), m


@pytest.mark.parametrize("func, size", [(window, 50), (table, 35), (filled, 9)])
def test_the_source_runs_alone(func, size):
    g = pg.grad(func)
    w = np.linspace(0.5, 1.5, size)
    expected = g(w)
    source = g.source(w)
    assert "# constant" not in source and "float64 of shape" not in source
    namespace = {}
    exec(source, namespace)
    np.testing.assert_array_equal(namespace[f"{func.__name__}_grad"](w), expected)


def test_a_constant_has_the_users_name_and_words():
    source = pg.grad(window).source(np.ones(50))
    assert "\nk = np.exp(-0.5 * np.linspace(-1, 1, 50) ** 2)\n" in source


def test_digits_fill_their_lines():
    source = pg.grad(table).source(np.ones(35))
    assert max(map(len, source.splitlines())) <= 88
    assert len(source.splitlines()) < 20


def test_a_constant_returned_is_a_fresh_array():
    g = pg.grad(centred, has_aux=True)
    first = g(np.ones(7))[1]
    first[:] = 0.0
    np.testing.assert_array_equal(g(np.ones(7))[1], np.eye(7) - np.ones((7, 7)) / 7)


def test_names_of_constants_are_not_those_of_arguments():
    def f(k, t):
        m = np.arange(64.0).reshape(8, 8) % 5 - 2
        return k @ m @ k * t

    k = np.linspace(0.0, 1.0, 8)
    np.testing.assert_allclose(
        pg.grad(f)(k, 2.0), 2.0 * (np.arange(64.0).reshape(8, 8) % 5 - 2 + (np.arange(64.0).reshape(8, 8) % 5 - 2).T) @ k
    )
