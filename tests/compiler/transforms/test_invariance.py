"""Which maxima have no derivative, and that the derivative without them is right."""

import numpy as np
import pytest

import pergrad as pg

Z = np.random.default_rng(1).normal(size=5)
LABELS = np.array([1, 0, 2, 4, 4])


def softmax(z, axis=-1):
    e = np.exp(z - z.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def log_softmax(z):
    s = z - np.max(z)
    return s - np.log(np.sum(np.exp(s)))


def cross_entropy(z):
    s = z - np.max(z)
    return np.log(np.sum(np.exp(s))) - s[2]


def weighted(z):
    return -np.sum(np.arange(5.0) * log_softmax(z))


def log_sum_exp(z):
    top = np.max(z)
    return np.tanh(top + np.log(np.exp(z - top).sum()))


def rows(z):
    return np.sum(softmax(np.outer(z, z)) ** 2)


def columns(z):
    return np.sum(softmax(np.outer(z, z), axis=0) ** 2)


def tokens(z):
    t = np.outer(z, z + 1)
    top = t.max(axis=1)
    log_total = np.log(np.exp(t - top[:, None]).sum(1)) + top
    return np.sum(log_total[:3]) + np.sum((t - log_total[:, None])[np.arange(5), LABELS])


def one_shift_for_all_rows(z):
    t = np.outer(z, z + 1)
    e = np.exp(t - t.max())
    return np.sum((e / e.sum(axis=1, keepdims=True)) ** 2)


def temperature(z):
    s = (z - np.max(z)) / 0.7
    e = np.exp(s)
    return np.sum(e**2) / np.sum(e) ** 2 - np.log(np.mean(e)) + s[2]


def spread(z):
    s = z - np.min(z)
    return np.mean(s) - s[2] + np.var(s)


def in_a_loop(z):
    for i in range(9):
        z = np.tanh(z) + softmax(z * (i + 1))
    return z.sum()


def misaligned(z):
    t = np.outer(z, z + 1)
    e = np.exp(t - t.max(axis=1)[:, None])
    return np.sum((e / e.sum(axis=1)) ** 2)


def transposed(z):
    t = np.outer(z, z + 1)
    e = np.exp(t - t.max(axis=1)[:, None]).T
    return np.sum((e / e.sum(axis=1, keepdims=True)) ** 2)


def not_divided(z):
    s = z - np.max(z)
    return np.sum(np.exp(s)) + s[2]


def only_subtracted(z):
    return np.sum(z - np.max(z))


def other_labels(z):
    t = np.outer(z, z + 1)
    s = t - t.max(axis=1, keepdims=True)
    return np.sum(np.log(np.exp(s).sum(axis=1)) - s[LABELS, np.arange(5)])


def selected(z):
    s = z - np.max(z)
    return np.log(np.sum(np.where(z > 0, np.exp(s), 1.0))) - s[2]


CANCEL = [cross_entropy, weighted, log_sum_exp, rows, columns, tokens, one_shift_for_all_rows, temperature, spread, in_a_loop]
STAY = [misaligned, transposed, not_divided, only_subtracted, other_labels, selected]


def differences(func, z, step=1e-6):
    return np.array([(func(z + step * e) - func(z - step * e)) / (2 * step) for e in np.eye(len(z))])


@pytest.mark.parametrize("func", CANCEL + STAY, ids=lambda f: f.__name__)
def test_values(func):
    np.testing.assert_allclose(pg.grad(func)(Z), differences(func, Z), rtol=1e-6, atol=1e-8)
    _, forward = pg.jvp(func, (Z,), (np.ones(5),))
    np.testing.assert_allclose(forward, differences(func, Z).sum(), rtol=1e-6, atol=1e-8)
    second = differences(pg.grad(func), Z)
    np.testing.assert_allclose(pg.hessian(func)(Z), second, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("func", CANCEL, ids=lambda f: f.__name__)
def test_no_derivative_through_what_cancels(func):
    assert "==" not in pg.grad(func).source(Z)


@pytest.mark.parametrize("func", STAY, ids=lambda f: f.__name__)
def test_the_derivative_of_what_stays(func):
    assert "==" in pg.grad(func).source(Z)


def test_a_maximum_that_is_a_result_has_its_derivative():
    def value_and_top(z):
        top = np.max(z)
        return np.array([top, top + np.log(np.exp(z - top).sum())])

    np.testing.assert_allclose(pg.jacrev(value_and_top)(Z), [Z == Z.max(), softmax(Z)], atol=1e-12)
