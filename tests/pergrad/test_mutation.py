"""Whose arrays are written, and what functionalize makes of writes."""

import warnings

import numpy as np
import pytest

import pergrad as pg
from tests import oracles


def doubles_in_place(x):
    x *= 2.0
    return np.sum(x * x)


def writes_the_first(w, x):
    w[0] = np.sum(x)
    return np.sum(w * w)


def adds_one(w, x):
    w += 1.0
    return np.sum(w * x)


DERIVATIVES = {
    "grad": lambda x: pg.grad(doubles_in_place)(x),
    "grad_and_value": lambda x: pg.grad_and_value(doubles_in_place)(x),
    "vjp": lambda x: pg.vjp(doubles_in_place, x)[1](1.0),
    "jvp": lambda x: pg.jvp(doubles_in_place, (x,), (np.ones(3),)),
    "linearize": lambda x: pg.linearize(doubles_in_place, x)[1](np.ones(3)),
    "jacrev": lambda x: pg.jacrev(doubles_in_place)(x),
    "jacfwd": lambda x: pg.jacfwd(doubles_in_place)(x),
    "hessian": lambda x: pg.hessian(doubles_in_place)(x),
    "per_sample_grad": lambda x: pg.per_sample_grad(lambda w, s: doubles_in_place(w) * s)(x, np.ones(2)),
}


@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivatives_never_write_to_the_callers_arrays(name):
    x = np.arange(1.0, 4.0)
    if name == "per_sample_grad":
        with pytest.raises(pg.PergradError):
            DERIVATIVES[name](x)
    else:
        DERIVATIVES[name](x)
    np.testing.assert_array_equal(x, [1.0, 2.0, 3.0])


def test_vmap_writes_to_a_mapped_argument_as_the_loop_does():
    x = np.arange(6.0).reshape(2, 3)
    expected = x * 2
    values = pg.vmap(doubles_in_place)(x)
    np.testing.assert_array_equal(x, expected)
    np.testing.assert_allclose(values, np.sum(expected**2, axis=1))


def test_vmap_of_a_write_through_a_view():
    def f(x):
        tail = x[1:]
        tail[:] = 0.0
        return np.sum(x)

    x = np.ones((2, 3))
    np.testing.assert_allclose(pg.vmap(f)(x), 1.0)
    np.testing.assert_array_equal(x, [[1.0, 0.0, 0.0]] * 2)


def test_a_batched_write_into_an_unmapped_argument_is_refused():
    with pytest.raises(pg.PergradError) as caught:
        pg.vmap(writes_the_first, in_dims=(None, 0))(np.ones(3), np.ones((4, 3)))
    assert caught.value.code == "PGR301"
    for word in ("w", "in_dims", "unbatched"):
        assert word in str(caught.value)


def test_any_write_into_an_unmapped_argument_is_refused():
    with pytest.raises(pg.PergradError) as caught:
        pg.vmap(adds_one, in_dims=(None, 0))(np.ones(3), np.ones((4, 3)))
    assert caught.value.code == "PGR602"


def test_functionalize_is_the_same_function():
    def f(x):
        y = x * 1.0
        y[0] += y[1]
        z = y[1:]
        z *= 2.0
        return np.sum(y * y)

    pure = pg.functionalize(f)
    x = np.arange(1.0, 4.0)
    assert pure(x) == pytest.approx(f(x))
    np.testing.assert_array_equal(x, np.arange(1.0, 4.0))
    oracles.assert_same(pg.grad(pure)(x), oracles.central_differences(f, (x,)), rtol=1e-7)


def test_functionalize_writes_arguments_back_at_the_end():
    x = np.arange(1.0, 4.0)
    pg.functionalize(doubles_in_place)(x)
    np.testing.assert_array_equal(x, [2.0, 4.0, 6.0])


def test_the_same_array_twice():
    def f(a, b):
        a[0] = 5.0
        return a @ b

    x = np.array([1.0, 2.0])
    assert pg.grad_and_value(f)(x.copy(), x.copy())[1] == pytest.approx(9.0)
    with pytest.raises(pg.PergradError, match="share memory"):
        pg.grad_and_value(f)(x, x)


def test_masked_control_flow_gives_no_warnings_from_lanes_not_taken():
    def f(x):
        if x > 0:
            y = np.log(x)
        else:
            y = x * x
        return y * x

    x = np.array([-2.0, 0.0, 1.0, 3.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gradients = pg.vmap(pg.grad(f), control_flow="mask")(x)
    np.testing.assert_allclose(gradients, [12.0, 0.0, 1.0, np.log(3.0) + 1.0])


def test_a_masked_while_runs_until_every_sample_is_done():
    def steps(x):
        n = 0.0
        while x > 1.0:
            x = x / 2
            n = n + 1.0
        return x, n

    x = np.array([0.5, 3.0, 9.0, 1000.0])
    values, counts = pg.vmap(steps, control_flow="mask")(x)
    expected = [steps(v) for v in x]
    np.testing.assert_allclose(values, [v for v, _ in expected])
    np.testing.assert_allclose(counts, [n for _, n in expected])


def test_what_an_inner_branch_leaves_open_stays_open():
    def f(x, w):
        a, b = x * 1.0, np.sin(x)
        if w > 0.0:
            a = a
        else:
            for _ in range(2):
                if w > 0.0:
                    break
                b = a
        a[1:] *= 0.8
        return np.sum(np.sin(a) * b)

    with pytest.raises(pg.PergradError, match="share memory"):
        pg.compile(f)(np.ones(4), -1.0)


def test_what_a_loop_that_may_not_run_rebinds_may_still_be_the_old_memory():
    def f(x, w):
        a = x * 1.0
        d = a[::-1]
        while w > 1.0:
            w = w * 0.5
            a = a + a
        a[1:3] = a[:2]
        return np.sum(a * d)

    with pytest.raises(pg.PergradError, match="share memory"):
        pg.compile(f)(np.arange(4.0), 0.1)


def writes_one(a, b):
    a[0] = 5.0
    return a @ b


TWO = np.array([1.0, 2.0])


@pytest.mark.parametrize(
    "call",
    [
        lambda x: pg.grad(writes_one, argnums=(0, 1))(x, x),
        lambda x: pg.grad(writes_one)(x, x[::-1]),
        lambda x: pg.jvp(writes_one, (x, x), (x.copy(), x.copy())),
        lambda x: pg.vjp(writes_one, x, x),
        lambda x: pg.linearize(writes_one, x, x),
        lambda x: pg.jacrev(writes_one)(x, x),
        lambda x: pg.hessian(writes_one)(x, x),
        lambda x: pg.compile(writes_one)(x, x),
        lambda x: pg.vmap(writes_one)(x.reshape(1, 2), x.reshape(1, 2)),
        lambda x: pg.compile(lambda x: (lambda y: pg.grad(writes_one)(y, y))(x * 2.0))(x),
        lambda x: pg.compile(lambda x: pg.grad(lambda a: writes_one(a, x))(x))(x),
        lambda x: pg.grad(lambda a, b: pg.grad(lambda a: writes_one(a, b))(a).sum())(x, x),
        lambda x: pg.grad(lambda a: writes_one(a, TWO))(TWO),
    ],
)
def test_memory_that_is_written_under_another_name_is_refused_where_it_is_written(call):
    with pytest.raises(pg.PergradError) as found:
        call(TWO.copy())
    assert found.value.file == __file__ and "a[0] = 5.0" in str(found.value)
    np.testing.assert_array_equal(TWO, [1.0, 2.0])


def test_memory_that_is_shared_and_not_written_is_none_of_our_business():
    x = TWO.copy()
    shared = np.ones((3, 4))
    assert pg.grad(lambda a, b, c: writes_one(a, b) + c @ b)(x.copy(), x, x).tolist() == [0.0, 2.0]
    assert pg.compile(lambda x: pg.grad(writes_one)(x * 2.0, x * 2.0))(x).tolist() == [0.0, 4.0]
    assert pg.vmap(writes_one)(shared[:, ::2], shared[:, 1::2]).tolist() == [6.0] * 3
    assert pg.compile(lambda z: pg.vmap(writes_one)(z[:, ::2], z[:, 1::2]))(np.ones((3, 4))).tolist() == [6.0] * 3


def test_a_tangent_may_be_its_primal():
    x = TWO.copy()

    def f(a):
        a[0] *= 2.0
        return a @ a

    value, tangent = pg.jvp(f, (x,), (x,))
    assert (value, tangent) == (8.0, 16.0)
    np.testing.assert_array_equal(x, TWO)


def rebound_in_a_loop(x, w):
    b = np.sin(x)
    box = [b]
    for _ in range(9):
        if w[1] > 1.0:
            b = x.copy()
    b[:-1] = 2 * x[1:]
    return np.sum(box[0] ** 2)


def rebound_in_a_while_of_a_loop(x, w):
    b = np.sin(x)
    box = [b]
    for _ in range(9):
        n = w[1]
        while n > 1.0:
            b = x.copy()
            n = n / 2
    b[:-1] = 2 * x[1:]
    return np.sum(box[0] ** 2)


@pytest.mark.parametrize("function", [rebound_in_a_loop, rebound_in_a_while_of_a_loop])
def test_what_a_long_loop_leaves_open_about_memory_is_refused_where_it_is_written(function):
    with pytest.raises(pg.PergradError, match="`b` may share memory with another array") as caught:
        pg.grad(function)(np.array([0.3, 0.5, 0.7]), np.ones(3))
    assert "b[:-1] = 2 * x[1:]" in str(caught.value)


def diagonal_written(x):
    y = x * 1.0
    d = y.diagonal()
    d *= 2
    return np.sum(y)


def broadcast_written(x):
    y = np.broadcast_to(x[0], (3, 3))
    y[0] = 2.0
    return np.sum(y)


@pytest.mark.parametrize("function", [diagonal_written, broadcast_written])
def test_a_view_that_numpy_does_not_write_is_not_written(function):
    for call in (function, pg.grad(function), pg.vmap(function)):
        with pytest.raises(ValueError, match="read-only"):
            call(np.ones((2, 3, 3)) if isinstance(call, type(pg.vmap(function))) else np.ones((3, 3)))
