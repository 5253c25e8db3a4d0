"""`per_sample_grad`: what it maps, what it returns, its options, dtypes, chunks."""

import collections
import dataclasses
import functools
import threading

import numpy as np
import pytest

import pergrad as pg
from tests import oracles

Pair = collections.namedtuple("Pair", "w b")


def loss(params, x, y):
    return np.sum((np.tanh(x @ params["w"]) + params["b"] - y) ** 2)


def inputs(rng, batch=4):
    params = {"w": rng.normal(size=(3, 2)), "b": rng.normal(size=2)}
    return params, rng.normal(size=(batch, 3)), rng.normal(size=(batch, 2))


def by_differences(func, params, *data):
    return oracles.stack([oracles.central_differences(func, (params, *(row[i] for row in data))) for i in range(len(data[0]))])


def test_equals_the_loop(rng):
    args = inputs(rng)
    oracles.assert_same(pg.per_sample_grad(loss)(*args), by_differences(loss, *args), rtol=1e-7, atol=1e-9)


def test_is_vmap_of_grad(rng):
    args = inputs(rng)
    oracles.assert_same(pg.per_sample_grad(loss)(*args), pg.vmap(pg.grad(loss), in_dims=(None, 0, 0))(*args), rtol=0, atol=1e-14)


def test_as_decorator_with_and_without_options(rng):
    args = inputs(rng)

    @pg.per_sample_grad
    def plain(params, x, y):
        return loss(params, x, y)

    @pg.per_sample_grad(with_value=True)
    def valued(params, x, y):
        return loss(params, x, y)

    grads, values = valued(*args)
    oracles.assert_same(grads, plain(*args))
    np.testing.assert_allclose(values, [loss(args[0], x, y) for x, y in zip(args[1], args[2])])


def test_has_aux_alone_and_with_value(rng):
    def with_aux(params, x, y):
        h = x @ params["w"]
        return np.sum((h + params["b"] - y) ** 2), {"h": h}

    args = inputs(rng)
    grads, aux = pg.per_sample_grad(with_aux, has_aux=True)(*args)
    assert aux["h"].shape == (4, 2)
    again, (values, aux_again) = pg.per_sample_grad(with_aux, has_aux=True, with_value=True)(*args)
    assert values.shape == (4,)
    oracles.assert_same((grads, aux), (again, aux_again))


def test_argnums_and_what_is_shared(rng):
    def f(x, w, s):
        return np.sum(np.sin(x * w)) * s

    x, w, s = rng.normal(size=(4, 3)), rng.normal(size=3), rng.normal()
    of_w = pg.per_sample_grad(f, argnums=1, in_dims=(0, None, None))(x, w, s)
    np.testing.assert_allclose(of_w, s * x * np.cos(x * w))
    of_both = pg.per_sample_grad(f, argnums=(1, 2), in_dims=(0, None, None))(x, w, s)
    np.testing.assert_allclose(of_both[0], of_w)
    np.testing.assert_allclose(of_both[1], np.sin(x * w).sum(axis=1))


def test_argnums_alone_decide_what_is_shared(rng):
    def f(x, w):
        return np.sum(x * w**2)

    x, w = rng.normal(size=(4, 3)), rng.normal(size=3)
    np.testing.assert_allclose(pg.per_sample_grad(f, argnums=1)(x, w), 2 * x * w)


@pytest.mark.parametrize("batch", [0, 1, 2, 3, 7])
def test_batch_sizes(rng, batch):
    args = inputs(rng, batch)
    grads = pg.per_sample_grad(loss)(*args)
    assert grads["w"].shape == (batch, 3, 2) and grads["b"].shape == (batch, 2)


@pytest.mark.parametrize("chunk", [1, 2, 3, 5, 100])
def test_chunks_change_nothing(rng, chunk):
    args = inputs(rng, 5)
    oracles.assert_same(pg.per_sample_grad(loss, chunk_size=chunk)(*args), pg.per_sample_grad(loss)(*args), rtol=1e-12)


def test_chunks_of_an_empty_batch(rng):
    assert pg.per_sample_grad(loss, chunk_size=2)(*inputs(rng, 0))["w"].shape == (0, 3, 2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtype_is_kept(rng, dtype):
    args = oracles.tree_map(lambda a: a.astype(dtype), inputs(rng))
    assert {name: g.dtype for name, g in pg.per_sample_grad(loss)(*args).items()} == {"w": dtype, "b": dtype}


def test_parameters_in_any_container(rng):
    @dataclasses.dataclass
    class Box:
        w: np.ndarray
        b: np.ndarray

    w, b, x = rng.normal(size=(3, 2)), rng.normal(size=2), rng.normal(size=(4, 3))
    forms = {
        "dict": ({"w": w, "b": b}, lambda p, x: np.sum((x @ p["w"] + p["b"]) ** 2)),
        "tuple": ((w, b), lambda p, x: np.sum((x @ p[0] + p[1]) ** 2)),
        "list": ([w, b], lambda p, x: np.sum((x @ p[0] + p[1]) ** 2)),
        "namedtuple": (Pair(w, b), lambda p, x: np.sum((x @ p.w + p.b) ** 2)),
        "dataclass": (Box(w, b), lambda p, x: np.sum((x @ p.w + p.b) ** 2)),
    }
    d = 2 * (x @ w + b)
    for name, (params, func) in forms.items():
        grads = pg.per_sample_grad(func)(params, x)
        assert type(grads) is type(params), name
        parts = list(grads.values()) if isinstance(grads, dict) else [grads.w, grads.b] if hasattr(grads, "w") else list(grads)
        np.testing.assert_allclose(parts[0], x[:, :, None] * d[:, None, :], err_msg=name)
        np.testing.assert_allclose(parts[1], d, err_msg=name)


def test_keyword_and_default_arguments_are_passed_whole(rng):
    def f(w, x, power=2, *, scale=1.0):
        return scale * np.sum((w * x) ** power)

    w, x = rng.normal(size=3), rng.normal(size=(4, 3))
    g = pg.per_sample_grad(f)
    np.testing.assert_allclose(g(w, x), 2 * w * x**2)
    np.testing.assert_allclose(g(w, x, scale=3.0), 6 * w * x**2)
    np.testing.assert_allclose(g(w, x, power=3), 3 * w**2 * x**3)


class Model:
    def __init__(self, k):
        self.k = k

    def loss(self, w, x):
        return self.k * np.sum(w * x * w)

    def __call__(self, w, x):
        return self.loss(w, x)


def test_methods_partials_and_callables(rng):
    w, x = rng.normal(size=3), rng.normal(size=(4, 3))
    expected = 6 * w * x
    model = Model(3.0)
    for func in (model.loss, model, functools.partial(Model(3.0).loss), functools.partial(lambda k, w, x: k * np.sum(w * x * w), 3.0)):
        np.testing.assert_allclose(pg.per_sample_grad(func)(w, x), expected)
    model.k = 5.0
    np.testing.assert_allclose(pg.per_sample_grad(model)(w, x), 10 * w * x)


def test_results_are_fresh_and_writable(rng):
    def f(w, x):
        return w @ x

    w, x = rng.normal(size=3), rng.normal(size=(4, 3))
    before = x.copy()
    grads = pg.per_sample_grad(f)(w, x)
    grads += 1.0
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("form", ["fortran", "reversed", "strided", "read-only", "moved"])
def test_any_memory_layout(rng, form):
    x = rng.normal(size=(4, 3))
    given = {
        "fortran": np.asfortranarray(x),
        "reversed": x[::-1].copy()[::-1],
        "strided": np.repeat(x, 2, axis=1)[:, ::2],
        "read-only": x.copy(),
        "moved": np.moveaxis(x.T.copy(), 1, 0),
    }[form]
    given.flags.writeable = form != "read-only"
    w = rng.normal(size=3)
    np.testing.assert_allclose(pg.per_sample_grad(lambda w, x: np.sum(np.exp(w * x)))(w, given), x * np.exp(w * x))


def test_the_batch_size_is_not_part_of_the_signature(rng):
    g = pg.per_sample_grad(lambda p, x, y: loss(p, x, y))
    for batch in (2, 5, 9):
        g(*inputs(rng, batch))
    assert g.cache_info().misses == 1 and g.cache_info().currsize == 1
    g(*oracles.tree_map(lambda a: a.astype(np.float32), inputs(rng, 2)))
    assert g.cache_info().misses == 2
    g.cache_clear()
    assert g.cache_info().currsize == 0


def test_sixteen_threads_compile_and_call_at_once(rng):
    args = inputs(rng)
    expected = pg.per_sample_grad(loss)(*args)
    shared = pg.per_sample_grad(lambda p, x, y: loss(p, x, y))
    start, faults = threading.Barrier(16), []

    def work(k):
        start.wait()
        try:
            for _ in range(5):
                own = pg.per_sample_grad(lambda p, x, y: loss(p, x, y) * k)
                oracles.assert_same(shared(*args), expected)
                oracles.assert_same(own(*args), oracles.tree_map(lambda g: g * k, expected))
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 17)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults, faults[0]
