"""Writing through a reshape of an argument: NumPy writes into the argument if its memory allows a view, else into a copy."""

import numpy as np
import pytest

import pergrad as pg


def through(x):
    flat = x.reshape(-1)
    flat[0] = 5.0
    return np.sum(x * x)


def read_after_a_write(x):
    flat = x.ravel()
    x[0, 0] = 5.0
    return np.sum(flat * flat)


@pytest.mark.parametrize("f", [through, read_after_a_write])
def test_c_order_is_written_through(f):
    x = np.arange(1.0, 7.0).reshape(2, 3)
    expected = 2 * x
    expected[0, 0] = 0.0
    np.testing.assert_array_equal(pg.grad(f)(x), expected)
    batch = np.stack([x, 2 * x])
    values = pg.vmap(f)(batch.copy())
    np.testing.assert_array_equal(values, [f(b.copy()) for b in batch])


@pytest.mark.parametrize("f", [through, read_after_a_write])
def test_another_order_is_refused(f):
    transposed = np.arange(1.0, 7.0).reshape(3, 2).T
    g = pg.grad(f)
    g(transposed.copy(order="C"))
    with pytest.raises(pg.PergradError, match=r"`x` is reshaped and written .* C order"):
        g(transposed)
    with pytest.raises(pg.PergradError, match="C order"):
        pg.vmap(f)(np.ones((4, 3, 2)).transpose(0, 2, 1))


def test_reading_through_a_reshape_takes_any_order():
    transposed = np.arange(1.0, 7.0).reshape(3, 2).T
    np.testing.assert_array_equal(pg.grad(lambda x: np.sum(x.reshape(-1) ** 2))(transposed), 2 * transposed)
