"""Jacobians and Hessians as a person writes them: entries of few numbers one by one, no identity that is only multiplied, nothing turned
round that need not be."""

import re

import numpy as np
import pytest

import pergrad as pg

A = np.random.default_rng(1).normal(size=(5, 3))
M, N = np.random.default_rng(2).normal(size=(2, 4)), np.random.default_rng(3).normal(size=(4, 3))


def lorenz(x):
    return np.array([10.0 * (x[1] - x[0]), x[0] * (28.0 - x[2]) - x[1], x[0] * x[1] - 2.5 * x[2]])


def spherical(x):
    r, t, p = x
    return np.stack([r * np.sin(t) * np.cos(p), r * np.sin(t) * np.sin(p), r * np.cos(t)])


def written(x):
    y = np.zeros(3)
    y[0] = x[0] * x[1]
    y[2] = np.sin(x[2])
    return y


def growth(x):
    t = np.linspace(0.0, 1.0, 5)
    return x[0] * np.exp(x[1] * t) + x[2]


def few_of_many(x):
    return np.array([np.sum(np.sin(x)), x @ x])


def wave(x):
    return np.sin(x) * np.exp(-x)


def layer(x):
    return M @ np.tanh(N @ x)


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


def clipped(x):
    return np.maximum(A @ x, 0.0) * 2.0


def product(x):
    return x[0] * x[1] * x[2]


def banana(x):
    return (1 - x[0]) ** 2 + 100.0 * (x[1] - x[0] ** 2) ** 2 + x[2] ** 2


def orbit(x):
    return 0.5 * (x[0] ** 2 + x[1] ** 2) - 1.0 / np.sqrt(x[0] ** 2 + x[1] ** 2 + x[2] ** 2)


def logistic(x):
    return np.sum(np.log(1 + np.exp(A @ x)))


def form(x):
    return 0.5 * x @ (A.T @ A) @ x


def log_sum_exp(x):
    return np.log(np.sum(np.exp(x)))


def sines(x):
    return np.sum(np.sin(x) * x)


VECTORS = (lorenz, spherical, written, growth, few_of_many, wave, layer, softmax, clipped)
NUMBERS = (product, banana, orbit, logistic, form, log_sum_exp, sines)
ONE_HOT = re.compile(r"np\.eye\(\d\) @|(\]\)|np\.eye\(\d\)) \*|\* np\.(array|eye)\(|constant|\)\.T$|swapaxes", re.M)


def columns(f, x, h=1e-6):
    """Central differences."""
    return np.stack([(f(x + s) - f(x - s)) / (2 * h) for s in h * np.eye(3)], axis=-1)


@pytest.mark.parametrize("transform", [pg.jacfwd, pg.jacrev])
@pytest.mark.parametrize("f", VECTORS, ids=lambda f: f.__name__)
def test_jacobians(f, transform, rng):
    x, X = rng.normal(size=3), rng.normal(size=(4, 3))
    jacobian = transform(f)
    np.testing.assert_allclose(jacobian(x), columns(f, x), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(pg.vmap(jacobian)(X), [columns(f, x) for x in X], rtol=1e-6, atol=1e-7)
    if f(x.astype(np.float32)).dtype == np.float32:
        assert jacobian(x.astype(np.float32)).dtype == pg.vmap(jacobian)(X.astype(np.float32)).dtype == np.float32
    for text in (jacobian.source(x), pg.vmap(jacobian).source(X)):
        assert not ONE_HOT.search(text), text


@pytest.mark.parametrize("f", NUMBERS, ids=lambda f: f.__name__)
def test_hessians(f, rng):
    x, X = rng.normal(size=3) + 2.0, rng.normal(size=(4, 3)) + 2.0
    hessian = pg.hessian(f)
    expected = columns(pg.grad(f), x)
    np.testing.assert_allclose(hessian(x), expected, rtol=1e-6, atol=1e-6)
    for outer in (pg.jacfwd, pg.jacrev):
        for inner in (pg.jacfwd, pg.jacrev, pg.grad):
            np.testing.assert_allclose(outer(inner(f))(x), expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(pg.vmap(hessian)(X), [columns(pg.grad(f), x) for x in X], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(pg.jacfwd(hessian)(x), columns(hessian, x), rtol=1e-5, atol=1e-5)
    for text in (hessian.source(x), pg.vmap(hessian).source(X)):
        assert not ONE_HOT.search(text), text


def returned(f, x):
    """What an emitted function without statements returns, in one line."""
    text = f.source(x).split("return ")[1]
    return re.sub(r"\s+", " ", text).replace("( ", "(").replace("[ ", "[").replace(", ]", "]").replace(" )", ")").strip()


def test_entries_are_written_as_by_hand():
    x = np.array([0.5, 2.0, -1.0])
    assert returned(pg.hessian(product), x) == "np.array([[0.0, x[2], x[1]], [x[2], 0.0, x[0]], [x[1], x[0], 0.0]])"
    expected = "np.array([[-10.0, 10.0, 0.0], [28.0 - x[2], -1.0, -x[0]], [x[1], x[0], -2.5]])"
    assert returned(pg.jacrev(lorenz), x) == returned(pg.jacfwd(lorenz), x) == expected
    assert returned(pg.jacfwd(wave), x) == "np.diag(np.exp(-x) * (np.cos(x) - np.sin(x)))"


def test_entries_of_samples_are_written_into_one_array(rng):
    X = rng.normal(size=(6, 3))
    text = pg.vmap(pg.hessian(product)).source(X)
    assert text.count("np.zeros") == 1 and "stack" not in text
    assert text.count("out[:, ") == 6  # zeros are there already


def test_entries_of_a_matrix_and_of_several_arguments(rng):
    def f(m, v):
        return m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0] * v[1] + np.exp(v[0])

    m, v = rng.normal(size=(2, 2)), rng.normal(size=2)
    (mm, mv), (vm, vv) = pg.hessian(f, argnums=(0, 1))(m, v)
    np.testing.assert_allclose(mm.reshape(4, 4), [[0, 0, 0, 1], [0, 0, -v[1], 0], [0, -v[1], 0, 0], [1, 0, 0, 0]])
    np.testing.assert_allclose(mv, [[[0, 0], [0, -m[1, 0]]], [[0, -m[0, 1]], [0, 0]]])
    np.testing.assert_allclose(vm, np.moveaxis(mv, -1, 0))
    np.testing.assert_allclose(vv, [[np.exp(v[0]), 0], [0, 0]])


def test_a_hessian_of_several_outputs(rng):
    def f(x):
        return {"a": np.sum(x**3), "b": x * x[0]}

    x = rng.normal(size=3)
    found = pg.hessian(f)(x)
    np.testing.assert_allclose(found["a"], np.diag(6 * x))
    expected = np.zeros((3, 3, 3))
    for i in range(3):
        expected[i, i, 0] += 1
        expected[i, 0, i] += 1
    np.testing.assert_allclose(found["b"], expected)


def test_an_infinite_slope_stays_on_the_diagonal():
    with np.errstate(divide="ignore"):
        found = pg.jacrev(lambda x: np.sqrt(x) * 2.0)(np.array([0.0, 1.0, 4.0]))
    np.testing.assert_array_equal(found, [[np.inf, 0, 0], [0, 1, 0], [0, 0, 0.5]])
