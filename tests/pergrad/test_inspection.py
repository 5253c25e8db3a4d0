"""source, stages, names, signatures, pickling."""

import copy
import functools
import inspect
import pickle
import subprocess
import sys

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


def through_loops(x):
    h = np.zeros(2)
    for i in range(10):
        h = np.tanh(h + x[i])
    while np.sum(h) > 0.1:
        h = h * 0.5
    return {"h": h, "total": np.sum(h)}


ONES = {"h": np.ones(2), "total": 1.0}
OTHER_PROCESS = """
import pickle, sys
import numpy as np
import pergrad as pg
pullback, pushed, ct, x, expected = pickle.load(sys.stdin.buffer)
pg.grad(lambda x: np.sum(x))(x)  # variables of this process's own
np.testing.assert_array_equal(pullback(ct)[0], expected[0])
np.testing.assert_array_equal(pushed(x)["h"], expected[1]["h"])
np.testing.assert_allclose(pg.vmap(pullback)({"h": np.ones((3, 2)), "total": np.ones(3)})[0], np.stack([expected[0]] * 3))
"""


def test_the_functions_of_vjp_and_linearize_are_loaded_in_another_process(rng):
    x = rng.uniform(size=(10, 2))
    pullback, pushed = pg.vjp(through_loops, x)[1], pg.linearize(through_loops, x)[1]
    data = pickle.dumps((pullback, pushed, ONES, x, (pullback(ONES)[0], pushed(x))))
    subprocess.run([sys.executable, "-c", OTHER_PROCESS], input=data, check=True)


@pytest.mark.parametrize("again", [lambda f: pickle.loads(pickle.dumps(f)), copy.copy, copy.deepcopy], ids=["pickle", "copy", "deepcopy"])
@pytest.mark.parametrize(
    "make",
    [
        lambda x: (pg.vjp(np.sin, x)[1], x),
        lambda x: (pg.linearize(np.sin, x)[1], x),
        lambda x: (pg.vmap(pg.vjp(np.sin, x)[1]), np.ones((2, 3))),
        lambda x: (pg.jacrev(np.sin, chunk_size=2), x),
        lambda x: (pg.grad(functools.partial(plain, y=0.5)), x, x),
        lambda x: (pg.compile(pg.functionalize(np.cumsum)), x),
    ],
)
def test_copies_compute_the_same(make, again, rng):
    f, *args = make(rng.normal(size=3))
    oracles.assert_same(again(f)(*args), f(*args), rtol=0, atol=0)


def test_repr_names_the_function():
    assert "plain" in repr(pg.grad(plain))


def two_layers(params, x):
    (w, b), (v, c) = params
    return ((np.tanh(w @ x + b) @ v) + c) ** 2


def third_of_nested(params, x):
    return params[1][0] * np.sum(x) + params[0][1]


def test_what_is_unpacked_keeps_the_names_that_it_is_unpacked_to():
    params = [(np.ones((3, 2)), np.ones(3)), (np.ones(3), 1.0)]
    source = pg.per_sample_grad(two_layers).source(params, np.ones((5, 2)))
    for line in ("w = params[0][0]", "b = params[0][1]", "v = params[1][0]", "c = params[1][1]"):
        assert f"    {line}\n" in source
    assert "params_0_1 = params[0][1]" in pg.vmap(third_of_nested, in_dims=(None, 0)).source([[1.0, 2.0], [3.0, 4.0]], np.ones((5, 2)))


def test_numbers_among_the_results_are_written_out():
    source = pg.grad(third_of_nested).source([[1.0, 2.0], [3.0, 4.0]], np.ones(2))
    namespace = {}
    exec(source, namespace)
    assert namespace["third_of_nested_grad"]([[1.0, 2.0], [3.0, 4.0]], np.ones(2)) == [[0.0, 1.0], [2.0, 0.0]]
