"""float(x), x.item(), x.tolist() and math.* of a value that is not mapped carry the derivative; of a mapped one they are refused."""

import math

import numpy as np
import pytest

import pergrad as pg

W, X = np.array([0.7, -0.4, 1.35]), np.arange(12.0).reshape(4, 3) / 7

PROGRAMS = {
    "float": lambda x: float(x[0]) ** 2 * x[1],
    "item": lambda x: x[0].item() * x[1] + x.item(2) ** 2,
    "item of one element": lambda x: x[:1].item() ** 3,
    "tolist": lambda x: sum(a * a for a in x.tolist()) * x[1],
    "math": lambda x: math.sin(x[0]) * math.exp(x[1]) + math.sqrt(x[2]),
    "int": lambda x: int(x[2] * 10) * x[1] ** 2,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives(name):
    f = PROGRAMS[name]
    gradient = central(f, W)
    np.testing.assert_allclose(pg.grad(f)(W), gradient, atol=1e-6)
    np.testing.assert_allclose(pg.jacfwd(f)(W), gradient, atol=1e-6)
    np.testing.assert_allclose(pg.jacrev(f)(W), gradient, atol=1e-6)
    np.testing.assert_allclose(pg.jvp(f, (W,), (X[1],))[1], gradient @ X[1], atol=1e-6)
    np.testing.assert_allclose(pg.hessian(f)(W), central(pg.grad(f), W), atol=1e-6)


def central(f, x, h=1e-5):
    return np.stack([(np.asarray(f(x + h * e)) - np.asarray(f(x - h * e))) / (2 * h) for e in np.eye(len(x))])


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n != "int"])
def test_of_an_unmapped_value_inside_vmap(name):
    def f(w, x):
        return PROGRAMS[name](w) * np.sum(x)

    expected = np.stack([pg.grad(f)(W, x) for x in X])
    np.testing.assert_allclose(pg.per_sample_grad(f)(W, X), expected)


@pytest.mark.parametrize("name", PROGRAMS)
def test_of_a_mapped_value(name):
    with pytest.raises(pg.VmapViolation, match="data-dependent") as caught:
        pg.vmap(PROGRAMS[name])(X)
    assert caught.value.code in ("PGR201", "PGR202", "PGR203", "PGR204")


def test_float32_stays():
    w = W.astype(np.float32)
    for transform in (pg.grad, pg.jacfwd, pg.jacrev):
        assert transform(lambda x: np.sum(float(x[0]) * x))(w).dtype == np.float32


def test_a_bool_of_numpy_decides_anew_at_every_call():
    power = pg.grad(lambda x, square: x**2 if square else x**3)
    assert (power(2.0, np.True_), power(2.0, np.False_), power(2.0, np.bool_(True))) == (4.0, 12.0, 4.0)
