"""Transforms of transforms, to depth four, against differences and formulas."""

import numpy as np
import pytest

import pergrad as pg
from tests import oracles

W = np.array([[0.5, -1.0, 0.3], [1.2, 0.4, -0.7]])


def scalar(x):
    return np.sum(np.sin(x) * x[::-1] ** 2)


def vector(x):
    return np.tanh(W @ x) * x[:2]


def one(t):
    return np.exp(-t) * np.sin(2.0 * t)


@pytest.fixture
def x(rng):
    return rng.normal(size=3)


@pytest.fixture
def batch(rng):
    return rng.normal(size=(4, 3))


def jacobian(func, x):
    """By central differences, column by column."""
    basis = np.eye(len(x))
    return np.stack([oracles.directional_difference(func, (x,), (e,)) for e in basis], axis=-1)


def close(actual, expected, tolerance=1e-6):
    oracles.assert_same(actual, expected, rtol=tolerance, atol=tolerance)


def test_vmap_of_grad(batch):
    close(pg.vmap(pg.grad(scalar))(batch), np.stack([oracles.central_differences(scalar, (x,)) for x in batch]))


def test_grad_of_vmap(batch):
    close(pg.grad(lambda b: np.sum(pg.vmap(scalar)(b)))(batch), np.stack([oracles.central_differences(scalar, (x,)) for x in batch]))


@pytest.mark.parametrize("jac", ["jacrev", "jacfwd"])
def test_jacobians(x, jac):
    close(getattr(pg, jac)(vector)(x), jacobian(vector, x))


@pytest.mark.parametrize("jac", ["jacrev", "jacfwd"])
def test_vmap_of_jacobians(batch, jac):
    close(pg.vmap(getattr(pg, jac)(vector))(batch), np.stack([jacobian(vector, x) for x in batch]))


def test_jacrev_of_vmap(batch):
    full = pg.jacrev(pg.vmap(vector))(batch)
    assert full.shape == (4, 2, 4, 3)
    for i in range(4):
        for j in range(4):
            close(full[i, :, j], jacobian(vector, batch[i]) if i == j else np.zeros((2, 3)))


@pytest.mark.parametrize("outer", ["jacrev", "jacfwd"])
@pytest.mark.parametrize("inner", ["jacrev", "jacfwd", "grad"])
def test_second_derivatives_in_every_mode(x, outer, inner):
    expected = jacobian(lambda x: oracles.central_differences(scalar, (x,), step=1e-4), x)
    close(getattr(pg, outer)(getattr(pg, inner)(scalar))(x), expected, 1e-4)
    close(pg.hessian(scalar)(x), expected, 1e-4)


def test_vmap_of_hessian(batch):
    close(pg.vmap(pg.hessian(scalar))(batch), np.stack([pg.hessian(scalar)(x) for x in batch]), 1e-12)


def test_jacfwd_of_jacrev_of_a_vector(x):
    second = pg.jacfwd(pg.jacrev(vector))(x)
    assert second.shape == (2, 3, 3)
    close(second, pg.jacrev(pg.jacfwd(vector))(x), 1e-12)
    close(second, np.swapaxes(second, 1, 2), 1e-12)
    close(second[:, :, 0], (pg.jacrev(vector)(x + [1e-6, 0, 0]) - pg.jacrev(vector)(x - [1e-6, 0, 0])) / 2e-6, 1e-5)


def test_jvp_and_vjp_of_grad_are_the_hessian_product(x, rng):
    v = rng.normal(size=3)
    product = pg.hessian(scalar)(x) @ v
    close(pg.jvp(pg.grad(scalar), (x,), (v,))[1], product, 1e-12)
    value, pull = pg.vjp(pg.grad(scalar), x)
    close(value, pg.grad(scalar)(x), 1e-12)
    (pulled,) = pull(v)
    close(pulled, product, 1e-12)
    close(pg.grad(lambda x: pg.grad(scalar)(x) @ v)(x), product, 1e-12)


def test_three_and_four_grads():
    third = pg.grad(pg.grad(pg.grad(one)))
    fourth = pg.grad(third)
    t = 0.7
    # exp(-t) sin(2t) is the imaginary part of exp(k t)
    k = -1 + 2j
    assert third(t) == pytest.approx((k**3 * np.exp(k * t)).imag)
    assert fourth(t) == pytest.approx((k**4 * np.exp(k * t)).imag)


def test_vmap_of_vmap_of_grad(rng):
    x, y = rng.normal(size=(4, 3)), rng.normal(size=(5, 3))

    def f(a, b):
        return np.sum(np.sin(a * b))

    table = pg.vmap(pg.vmap(pg.grad(f), in_dims=(None, 0)), in_dims=(0, None))(x, y)
    close(table, y[None] * np.cos(x[:, None] * y[None]), 1e-12)


def test_nested_vmap_over_different_axes(rng):
    x = rng.normal(size=(3, 4, 5))
    sums = pg.vmap(pg.vmap(np.sum, in_dims=1), in_dims=0)(x)
    close(sums, x.sum(axis=1), 1e-12)
    moved = pg.vmap(lambda row: row * 2.0, in_dims=1, out_dims=2)(x)
    close(moved, np.moveaxis(x * 2.0, 1, 2), 1e-12)


def test_a_transform_called_inside_the_function(x):
    def penalty(x):
        return np.sum(pg.grad(scalar)(x) ** 2)

    close(pg.grad(penalty)(x), 2 * pg.hessian(scalar)(x) @ pg.grad(scalar)(x), 1e-12)


def test_a_maml_step(rng):
    def task_loss(w, x, y):
        return np.mean((np.tanh(x @ w) - y) ** 2)

    def meta_loss(w, x, y, x2, y2):
        inner = w - 0.1 * pg.grad(task_loss)(w, x, y)
        return task_loss(inner, x2, y2)

    w = rng.normal(size=3)
    tasks = [rng.normal(size=shape) for shape in ((6, 5, 3), (6, 5), (6, 5, 3), (6, 5))]
    grads = pg.vmap(pg.grad(meta_loss), in_dims=(None, 0, 0, 0, 0))(w, *tasks)

    def by_hand(w, x, y, x2, y2):
        h = np.tanh(x @ w)
        return task_loss(w - 0.1 * (2 / len(y)) * x.T @ ((h - y) * (1 - h * h)), x2, y2)

    expected = [oracles.central_differences(by_hand, (w, *(t[i] for t in tasks))) for i in range(6)]
    close(grads, np.stack(expected))


def test_an_ensemble_with_stacked_parameters(rng):
    def model(p, x):
        return np.sum(np.tanh(p["w"] @ x + p["b"]))

    stacked = {"w": rng.normal(size=(5, 2, 3)), "b": rng.normal(size=(5, 2))}
    xs = rng.normal(size=(4, 3))
    per_model = pg.vmap(pg.vmap(pg.grad(model), in_dims=(None, 0)), in_dims=(0, None))(stacked, xs)
    assert per_model["w"].shape == (5, 4, 2, 3)
    one = {name: value[3] for name, value in stacked.items()}
    close({name: g[3, 2] for name, g in per_model.items()}, oracles.central_differences(model, (one, xs[2])))


def test_vjp_is_transformed_itself(x, batch):
    def pulled(x, ct):
        _, pull = pg.vjp(vector, x)
        return pull(ct)[0]

    cts = np.array([[1.0, 0.0], [0.0, 1.0]])
    close(pg.vmap(pulled, in_dims=(None, 0))(x, cts), jacobian(vector, x))
    _, pull = pg.vjp(vector, x)
    close(pg.vmap(pull)(cts)[0], jacobian(vector, x))


def test_linearize_is_jvp(x, rng):
    value, push = pg.linearize(vector, x)
    close(value, vector(x), 1e-12)
    for v in rng.normal(size=(3, 3)):
        close(push(v), pg.jvp(vector, (x,), (v,))[1], 1e-12)


def test_dot_product_identity(x, rng):
    t, ct = rng.normal(size=3), rng.normal(size=2)
    _, tangent = pg.jvp(vector, (x,), (t,))
    _, pull = pg.vjp(vector, x)
    assert oracles.dot_product_gap(tangent, ct, (t,), pull(ct)) < 1e-12


def test_a_lambda_inside_a_lambda_with_the_same_parameter():
    x = np.array([1.0, 2.0, 3.0])
    outer = lambda x: pg.jacrev(lambda x: x**2)(x)  # noqa: E731
    np.testing.assert_allclose(outer(x), np.diag(2 * x))
    np.testing.assert_allclose(pg.compile(outer)(x), np.diag(2 * x))
    np.testing.assert_allclose(pg.vmap(lambda x: pg.grad(lambda x: pg.grad(lambda x: x**3)(x))(x))(x), 6 * x)
