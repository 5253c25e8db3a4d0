"""`chunk_size`: one chunk beside the output is the most that is ever held."""

import gc
import tracemalloc

import numpy as np
import pytest

import pergrad as pg

SLACK = 100_000  # bytes of Python objects; the arrays here are several MB


def peak(call):
    """Bytes held at most during a call, and the call's result."""
    call()
    gc.collect()
    tracemalloc.start()
    try:
        result = call()
        return tracemalloc.get_traced_memory()[1], result
    finally:
        tracemalloc.stop()


def layer(w, x, y):
    return np.sum((np.tanh(x @ w) - y) ** 2)


@pytest.mark.parametrize("chunk", [10, 16])
def test_a_batch_in_chunks_holds_one_chunk_beside_the_output(rng, chunk):
    w, x, y = rng.normal(size=(100, 80)), rng.normal(size=(60, 100)), rng.normal(size=(60, 80))
    chunked = pg.per_sample_grad(layer, chunk_size=chunk)
    of_all, result = peak(lambda: chunked(w, x, y))
    of_one, _ = peak(lambda: pg.per_sample_grad(layer)(w, x[:chunk], y[:chunk]))
    assert of_all <= result.nbytes + of_one + SLACK, (of_all, result.nbytes, of_one)


def test_a_jacobian_in_chunks_holds_one_chunk_beside_the_output(rng):
    def f(x, w):
        return np.tanh(x @ w)

    x, w = rng.normal(size=(20, 30)), rng.normal(size=(30, 40))
    of_all, result = peak(lambda: pg.jacrev(f, argnums=1, chunk_size=100)(x, w))
    rows, cotangents = 100 * w.nbytes, 100 * 20 * 40 * 8
    assert of_all <= result.nbytes + rows + 2 * cotangents + SLACK, (of_all, result.nbytes, rows)
    np.testing.assert_allclose(result, pg.jacrev(f, argnums=1)(x, w), rtol=1e-12, atol=1e-14)


def test_a_jacobian_in_chunks_of_an_output_without_elements():
    assert pg.jacrev(lambda x: x[:0], chunk_size=2)(np.ones(3)).shape == (0, 3)


@pytest.mark.parametrize("chunk", [1, 2, 5, 100])
def test_a_jacobian_of_trees_in_chunks(rng, chunk):
    def f(p, x):
        return {"a": np.outer(p["w"], x), "b": np.sum(p["w"]) * p["c"]}

    p, x = {"w": rng.normal(size=2), "c": 1.5}, rng.normal(size=3)
    whole, chunked = pg.jacrev(f)(p, x), pg.jacrev(f, chunk_size=chunk)(p, x)
    for out in "ab":
        for name in "wc":
            np.testing.assert_allclose(chunked[out][name], whole[out][name], rtol=1e-12)
            assert type(chunked[out][name]) is type(whole[out][name])
