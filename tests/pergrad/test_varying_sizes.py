"""Sizes that vary between calls of a compiled function: one program for all, and NumPy's values.

The first call is compiled for its own sizes. From the first that differs on there is one program, unless Python or NumPy decides otherwise
for some sizes.
"""

import math

import numpy as np
import pytest

import pergrad as pg

SIZES = (5, 7, 2, 9, 1, 11, 3)


def sample_loss(w, x, y):
    return (np.tanh(x @ w) - y) ** 2


def per_sample(w, X, y):
    return pg.vmap(pg.grad(sample_loss), in_dims=(None, 0, 0))(w, X, y)


def dp_sgd(w, X, y, rng):
    g = per_sample(w, X, y)
    norms = np.sqrt(np.sum(g**2, axis=1))
    total = np.sum(g * np.minimum(1.0, 1.0 / norms)[:, None], axis=0)
    return w - 0.1 * (total + rng.normal(size=w.shape)) / len(X)


def noise_scale(w, X, y):
    g = per_sample(w, X, y)
    n = g.shape[0] + 1
    big, small = np.sum(g.mean(0) ** 2), np.mean(np.sum(g**2, axis=1))
    return (small - big) / (1 - 1 / n) / ((n * big - small) / (n - 1))


def covariance(X):
    d = X - X.mean(0)
    return d.T @ d / max(X.shape[0] - 1, 1)


def halves(X):
    n = len(X) // 2
    return X[:n].sum(0) - X[n:].sum(0)


def filled(X):
    out = np.zeros((X.shape[0], 2))
    out[:, 0] = X[:, 1]
    out[:, 1] = X.sum(1)
    return out


def written(X):
    X[len(X) // 2 :] *= 2.0
    return X.sum(0)


def indexed_loop(X):
    total = 0.0
    for i in range(len(X)):
        total += np.tanh(X[i]).sum() * i
    return total


def row_loop(X):
    total = np.zeros(3)
    for x in X:
        total = total + np.sin(x)
    return total


def without_diagonal(X):
    K = X @ X.T
    np.fill_diagonal(K, 0.0)
    return K


OF_X = {
    "sum over shape": lambda X: X.sum(0) / X.shape[0],
    "float32": lambda X: X.astype(np.float32).sum(0) / X.shape[0],
    "mean of all": lambda X: np.mean(X),
    "mean": lambda X: np.mean(X, axis=0),
    "variance": lambda X: X.var(0),
    "average": lambda X: np.average(X, axis=0),
    "len": lambda X: X / len(X),
    "size": lambda X: X.sum() / X.size,
    "product of the shape": lambda X: X / np.prod(X.shape),
    "shape taken apart": lambda X: (lambda n, d: X.sum() / (n * d))(*X.shape),
    "concatenate": lambda X: np.concatenate([X, X]),
    "reversed": lambda X: X[::-1],
    "every other": lambda X: X[::2],
    "backwards every other": lambda X: X[::-2],
    "arange": lambda X: np.arange(X.shape[0])[:, None] * X,
    "arange from 1": lambda X: np.cumsum(X, axis=0) / np.arange(1, len(X) + 1)[:, None],
    "arange of a dtype": lambda X: np.arange(len(X), dtype=np.float32) / len(X),
    "linspace": lambda X: np.linspace(0, 1, len(X)),
    "zeros": lambda X: np.zeros((X.shape[0], 3)) + X,
    "ones": lambda X: np.ones(len(X)) / len(X),
    "full of the size": lambda X: np.full(3, len(X)) + X[0],
    "size in an array": lambda X: np.array([1.0, len(X)]) * X[0, 0],
    "reshape": lambda X: X.reshape(X.shape[0], -1),
    "reshape to one axis": lambda X: X.T.reshape(3 * len(X)),
    "reshape to rows": lambda X: X.T.copy().reshape(-1, len(X)),
    "eye": lambda X: np.linalg.solve(X @ X.T + np.eye(len(X)), X),
    "tri": lambda X: np.tri(len(X)) @ X,
    "indices": lambda X: np.indices((len(X), 2)).sum(0),
    "covariance": lambda X: (X - X.mean(0)).T @ (X - X.mean(0)) / len(X),
    "halves": halves,
    "middle": lambda X: np.sort(X[:, 0])[len(X) // 4 : len(X) - len(X) // 4].mean(),
    "last": lambda X: X[len(X) - 1] + X[-1],
    "buffer": filled,
    "written": written,
    "square root": lambda X: X.sum(0) / np.sqrt(len(X)) + math.sqrt(len(X)),
    "power": lambda X: X.sum(0) / len(X) ** 0.5,
    "float": lambda X: X.sum(0) / float(len(X)) * len(X),
    "returned": lambda X: (X.sum(0), len(X), X.shape),
    "remainder": lambda X: X[(np.arange(len(X)) + 1) % len(X)],
    "tile": lambda X: np.tile(X, (2, 1)),
    "repeat": lambda X: np.repeat(X[:1], len(X), axis=0),
    "rolled": lambda X: np.roll(X, 1, axis=0),
    "sorted": lambda X: np.sort(X, axis=0),
    "median": lambda X: np.median(X, axis=0),
    "quantile": lambda X: np.quantile(X, 0.3, axis=0),
    "class": lambda X: X * 2 if isinstance(len(X), int) and type(len(X)) is int else X,
    "kernel": lambda X: np.exp(-np.sum((X[:, None] - X[None]) ** 2, -1)),
    "without diagonal": without_diagonal,
    "chosen": lambda X: -np.mean((X - np.log(np.exp(X).sum(1, keepdims=True)))[np.arange(len(X)), 0]),
    "loop": indexed_loop,
    "loop over rows": row_loop,
    "fixed seed": lambda X: X[:1] + np.random.default_rng(0).normal(),
    "gradient of the mean": lambda X: pg.grad(lambda c: np.mean(c**2) + np.sum(c.var(0)))(X),
    "gradient through concatenate": lambda X: pg.grad(lambda c: np.sum(np.concatenate([c, 2 * c]) ** 3))(X),
    "gradient of a loop": lambda X: pg.grad(indexed_loop)(X),
    "every third of all": lambda X: X.ravel()[::3] * X[:, 0],
    "spectrum": lambda X: pg.grad(lambda c: np.sum(np.abs(np.fft.rfft(c, axis=0)) ** 2))(X),
    "gradient of the median": lambda X: pg.grad(lambda c: np.sum(np.median(c, axis=0) * c[0]))(X),
    "hessian": lambda X: pg.hessian(lambda c: np.mean(c**3) * c.sum())(X),
    "jacobian": lambda X: pg.jacrev(lambda c: np.tanh(c) / len(c))(X[:, 0]),
    "jacobian forward": lambda X: pg.jacfwd(np.cumsum)(X[:, 0]),
    "directional derivative": lambda X: pg.jvp(lambda c: c.mean(0), (X,), (X,))[1],
    "size in a batch": lambda X: pg.vmap(lambda x: x / len(X))(X),
    "size of each sample": lambda X: pg.vmap(lambda c: (c - c.mean()) / len(c), in_dims=1)(X),
    "size for each sample": lambda X: pg.vmap(lambda x: (x.sum(), len(X)))(X)[1],
}


def same(got, expected):
    if isinstance(expected, tuple):
        return isinstance(got, tuple) and len(got) == len(expected) and all(map(same, got, expected))
    kinds = [getattr(x, "dtype", type(x)) for x in (got, expected)]
    return kinds[0] == kinds[1] and np.shape(got) == np.shape(expected) and np.allclose(got, expected, rtol=1e-6, atol=1e-12)


def compare(f, make, sizes=SIZES):
    """The number of programs after each call of the compiled function."""
    compiled, programs = pg.compile(f), []
    for n in sizes:
        args = make(n)
        theirs = [x.copy() if isinstance(x, np.ndarray) else x for x in args]
        expected = f(*theirs)
        got = compiled(*args)
        assert same(got, expected), (n, got, expected, compiled.source())
        assert all(same(x, y) for x, y in zip(args, theirs) if isinstance(x, np.ndarray)), "arguments are written alike"
        programs.append(compiled.cache_info().misses)
    return programs


@pytest.mark.parametrize("name", OF_X)
def test_one_program_for_all_sizes(name, rng):
    assert compare(OF_X[name], lambda n: (rng.normal(size=(n, 3)),))[-1] == 2


@pytest.mark.parametrize("f", [per_sample, noise_scale, lambda w, X, y: w - 0.1 * per_sample(w, X, y).mean(0)])
def test_statistics_of_per_sample_gradients(f, rng):
    assert compare(f, lambda n: (np.ones(3), rng.normal(size=(n, 3)), rng.normal(size=n)))[-1] == 2


def test_a_private_step_draws_as_numpy_does(rng):
    compiled = pg.compile(dp_sgd)
    theirs, ours = np.random.default_rng(3), np.random.default_rng(3)
    for n in SIZES:
        args = (np.ones(3), rng.normal(size=(n, 3)), rng.normal(size=n))
        np.testing.assert_allclose(compiled(*args, ours), dp_sgd(*args, theirs), rtol=1e-9)
    assert compiled.cache_info().misses == 2


@pytest.mark.parametrize(
    ("f", "programs"),
    [
        (lambda X: X[:2], 3),
        (lambda X: X[-2:], 3),
        (lambda X: np.diff(X, axis=0), 2),
        (lambda X: pg.grad(lambda c: np.sum((c[1:] - c[:-1]) ** 2))(X), 2),
        (covariance, 3),
        (lambda X: X * 2 if len(X) > 3 else X, 3),
        (lambda X: X * 2 if X.shape == (5, 3) else X, 2),
        (lambda X: X * 2 if len(X) % 2 == 0 else X, 3),
        (lambda X: X[: min(4, len(X))], 3),
        (lambda X: np.std(X, axis=0, ddof=1) if len(X) > 1 else X, 3),
        (lambda X: np.cov(X), 3),
        (lambda X: np.squeeze(X[:, :1]), 3),
        (lambda X: pg.grad(lambda y: np.sum(np.interp(y, np.arange(len(y)), y) ** 2))(X[:, 0]), 3),
        (lambda X: X * {5: 2.0}.get(len(X), 3.0), len(SIZES)),
        (lambda X: sum(x.sum() for x in X), len(SIZES)),
    ],
)
def test_what_is_decided_by_a_size_is_compiled_once_for_each_decision(f, programs, rng):
    assert compare(f, lambda n: (rng.normal(size=(n, 3)),))[-1] == programs


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "f",
    [
        lambda X: X.sum(0) / max(len(X), 1),
        lambda X: np.mean(X, axis=0),
        lambda X: np.ones(len(X)) / len(X),
        lambda X: X.std(0, ddof=1),
        lambda X: np.diff(X, axis=0),
        lambda X: np.concatenate([X, X])[len(X) :],
        lambda X: pg.grad(lambda c: np.sum(np.concatenate([c, 2 * c]) ** 3))(X),
        row_loop,
        indexed_loop,
    ],
)
def test_an_empty_batch(f, rng):
    compiled = pg.compile(f)
    for n in (4, 5, 0, 6):
        X = rng.normal(size=(n, 3))
        np.testing.assert_allclose(compiled(X), f(X), rtol=1e-9)


def test_what_numpy_refuses_for_a_size_is_refused_for_that_size_alone(rng):
    compiled = pg.compile(lambda X: X.reshape(X.shape[0], -1))
    for n in (4, 5, 0, 6, 7):
        if n:
            assert compiled(rng.normal(size=(n, 3))).shape == (n, 3)
        else:
            with pytest.raises(ValueError, match="cannot reshape"):
                compiled(np.zeros((0, 3)))
    before = compiled.cache_info().misses
    compiled(rng.normal(size=(9, 3)))
    assert compiled.cache_info().misses == before


def attention(X):
    scores = X @ np.swapaxes(X, 1, 2) / np.sqrt(X.shape[1])
    e = np.exp(np.where(np.tri(X.shape[1], dtype=bool), scores, -np.inf))
    return e / e.sum(-1, keepdims=True) @ X


def recurrent(X):
    h = np.zeros((X.shape[0], 2))
    for t in range(X.shape[1]):
        h = np.tanh(h + X[:, t])
    return h


@pytest.mark.parametrize(
    "f",
    [
        lambda X: X.mean((0, 1)),
        lambda X: X.reshape(-1, X.shape[-1]).sum(0) / (X.shape[0] * X.shape[1]),
        lambda X: X + np.arange(X.shape[1])[:, None] / X.shape[1],
        lambda X: np.concatenate([np.zeros((X.shape[0], 1, 2)), X[:, :-1]], axis=1),
        attention,
        recurrent,
        lambda X: pg.grad(lambda X: recurrent(X).sum())(X),
    ],
)
def test_batch_and_length_vary_together(f, rng):
    """Sizes that happen to be equal are one size: another program."""
    pairs = iter([(4, 6), (5, 7), (8, 3), (3, 3), (6, 2), (7, 7), (1, 4)])
    assert compare(f, lambda n: (rng.normal(size=(*next(pairs), 2)),))[-1] == 3


def test_samples_of_different_sizes(rng):
    def f(X, Y):
        return X.sum(0) / len(X) - np.concatenate([X, Y])[len(X) :].sum(0) / len(Y)

    pairs = iter([(4, 6), (5, 7), (8, 3), (6, 2), (2, 9), (1, 4), (3, 5)])
    assert compare(f, lambda n: [rng.normal(size=(m, 2)) for m in next(pairs)])[-1] == 2


def test_a_new_generator_is_no_new_program(rng):
    f = pg.vmap(lambda x, rng: x + rng.normal(), in_dims=(0, None), randomness="different")
    for seed in range(4):
        np.testing.assert_array_equal(f(np.zeros(5), np.random.default_rng(seed)), np.random.default_rng(seed).normal(size=5))
    assert f.cache_info().misses == 1


def test_writing_through_a_reshape_needs_the_whole_arrays_order(rng):
    def f(X):
        Y = X.reshape(-1)
        Y[0] = 5.0
        return Y.sum()

    compiled = pg.compile(f)
    for n in (4, 6):
        compiled(np.zeros((n, 3)))
    with pytest.raises(pg.PergradError, match="C order"):
        compiled(np.zeros((10, 3))[::2])
