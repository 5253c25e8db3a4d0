"""`compile`: transforms and NumPy code as one program; sizes that vary between calls."""

import numpy as np
import pytest

import pergrad as pg


def loss(p, x, y):
    return np.sum((np.tanh(p["w"] @ x) - y) ** 2)


@pg.compile
def step(p, X, Y):
    grads = pg.vmap(pg.grad(loss), in_dims=(None, 0, 0))(p, X, Y)
    return {name: p[name] - 0.1 * np.mean(g, axis=0) for name, g in grads.items()}


def inputs(rng, batch):
    return {"w": rng.normal(size=(2, 3))}, rng.normal(size=(batch, 3)), rng.normal(size=(batch, 2))


def by_hand(p, X, Y):
    h = np.tanh(X @ p["w"].T)
    d = 2 * (h - Y) * (1 - h * h)
    return {"w": p["w"] - 0.1 * d.T @ X / len(X)}


def test_a_training_step(rng):
    args = inputs(rng, 5)
    np.testing.assert_allclose(step(*args)["w"], by_hand(*args)["w"], rtol=1e-10)


def test_batch_sizes_that_vary_do_not_compile_again(rng):
    step.cache_clear()
    for batch in (5, 6, 7, 8, 9):
        args = inputs(rng, batch)
        np.testing.assert_allclose(step(*args)["w"], by_hand(*args)["w"], rtol=1e-10)
    assert step.cache_info().misses <= 2


def test_a_step_is_one_program(rng):
    text = step.source(*inputs(rng, 5))
    assert text.count("def ") == 1 and "pergrad" not in text


def test_clipped_sums_by_hand(rng):
    @pg.compile
    def clipped(p, X, Y):
        grads = pg.vmap(pg.grad(loss), in_dims=(None, 0, 0))(p, X, Y)
        norms = np.sqrt(np.sum(grads["w"] ** 2, axis=(1, 2)))
        return np.einsum("b,bij->ij", np.minimum(1.0, 0.5 / norms), grads["w"])

    args = inputs(rng, 6)
    grads = pg.per_sample_grad(loss)(*args)["w"]
    norms = np.linalg.norm(grads.reshape(6, -1), axis=1)
    np.testing.assert_allclose(clipped(*args), np.sum(np.minimum(1.0, 0.5 / norms)[:, None, None] * grads, axis=0), rtol=1e-10)


def test_plain_numpy_code_is_itself(rng):
    def f(x):
        y = x.copy()
        for i in range(1, len(y)):
            y[i] += y[i - 1]
        return y

    x = rng.normal(size=5)
    np.testing.assert_allclose(pg.compile(f)(x), np.cumsum(x))


def test_a_jacobians_basis_is_folded_away(rng):
    w, x = rng.normal(size=(2, 3)), rng.normal(size=3)
    jac = pg.jacrev(lambda x: np.tanh(w @ x))
    np.testing.assert_allclose(jac(x), (1 - np.tanh(w @ x) ** 2)[:, None] * w)
    text = jac.source(x)
    assert "np.eye" not in text and "for " not in text, text


@pytest.mark.parametrize(
    "f",
    [
        lambda X: np.array([1, 2, len(X)]) * X[0],
        lambda X: X if type(len(X)) is int else X * 2,
        lambda X: X if X.shape[0] is not None else X * 2,
        lambda X: X * 2 if X.shape[0] == 5 else X,
        lambda X: np.full(3, len(X)) + X[0],
    ],
)
def test_sizes_that_vary_are_numbers_to_python(f):
    compiled = pg.compile(f)
    for n in (4, 5, 6):
        X = np.arange(3.0 * n).reshape(n, 3)
        expected = f(X)
        got = compiled(X)
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got, expected)
