"""source, stages, names, signatures, pickling."""

import inspect
import pickle

import numpy as np
import pytest

import pergrad as pg
from tests import oracles


@pg.per_sample_grad
def loss(w, x, y):
    """A loss."""
    z = x @ w
    return np.square(np.tanh(z) - y)


def plain(w, x, y):
    z = x @ w
    return np.square(np.tanh(z) - y)


def inputs(rng):
    return rng.normal(size=3), rng.normal(size=(4, 3)), rng.normal(size=4)


def run(text, args):
    namespace = {}
    exec(compile(text, "<emitted>", "exec"), namespace)
    return [value for value in namespace.values() if inspect.isfunction(value)][-1](*args)


def test_source_stands_alone(rng):
    args = inputs(rng)
    text = loss.source(*args)
    assert [line for line in text.splitlines() if "import" in line.split()] == ["import numpy as np"]
    np.testing.assert_allclose(run(text, args), loss(*args), rtol=1e-12)


def test_source_without_arguments_is_the_latest(rng):
    args = inputs(rng)
    loss(*args)
    assert loss.source() == loss.source(*args)


def test_source_from_stand_ins(rng):
    stand_ins = (pg.ShapeDtype((3,), np.float64), pg.ShapeDtype((4, 3), np.float64), pg.ShapeDtype((4,), np.float64))
    assert loss.source(*stand_ins) == loss.source(*inputs(rng))


def test_source_uses_the_users_names(rng):
    text = loss.source(*inputs(rng))
    assert "def loss" in text and "(w, x, y)" in text
    assert "z = x @ w" in text


def test_every_stage_runs_and_the_last_gives_the_gradients(rng):
    args = inputs(rng)
    stages = loss.stages(*args)
    assert len(stages) >= 4
    for text in stages.values():
        compile(text, "<stage>", "exec")
    names = list(stages)
    np.testing.assert_allclose(run(stages[names[-1]], args), loss(*args), rtol=1e-12)
    one = (args[0], args[1][0], args[2][0])
    np.testing.assert_allclose(run(stages[names[0]], one), plain(*one), rtol=1e-12)


def test_what_functools_wraps_gives():
    assert loss.__name__ == "loss" and loss.__doc__ == "A loss."
    assert loss.__module__ == __name__ and loss.__qualname__ == "loss"
    assert str(inspect.signature(loss)) == "(w, x, y)"
    assert loss.__wrapped__(np.ones(2), np.ones(2), 0.5) == pytest.approx((np.tanh(2.0) - 0.5) ** 2)


@pytest.mark.parametrize("transform", ["grad", "vmap", "per_sample_grad", "jacrev", "hessian"])
def test_pickling(transform):
    again = pickle.loads(pickle.dumps(getattr(pg, transform)(plain)))
    assert inspect.unwrap(again) is plain


def test_pickling_keeps_what_is_computed(rng):
    args = inputs(rng)
    transformed = pg.per_sample_grad(plain, argnums=0)
    again = pickle.loads(pickle.dumps(transformed))
    oracles.assert_same(again(*args), transformed(*args), rtol=0, atol=0)


def test_repr_names_the_function():
    assert "plain" in repr(pg.grad(plain))
