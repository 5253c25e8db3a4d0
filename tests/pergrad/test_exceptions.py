"""What the user's own code raises reaches the caller unchanged, also when every path raises."""

import numpy as np
import pytest

import pergrad as pg
from tests import oracles


class Mine(Exception):
    pass


def either(x):
    if x[0] > 0:
        raise KeyError("positive")
    raise ValueError("not positive")


def by_a_helper(x):
    return 2 * either(x)


def perhaps_by_a_helper(x):
    if x[1] > 0:
        either(x)
    return np.sum(x)


def always(x):
    raise Mine("always", 3)


def asserts(x):
    assert x.shape[0] == 3, "three are needed"
    return np.sum(x)


CALLS = {
    "grad": lambda f, x: pg.grad(f)(x),
    "jacrev": lambda f, x: pg.jacrev(f)(x),
    "jacfwd": lambda f, x: pg.jacfwd(f)(x),
    "vjp": lambda f, x: pg.vjp(f, x),
    "jvp": lambda f, x: pg.jvp(f, (x,), (x,)),
    "compile": lambda f, x: pg.compile(f)(x),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("f", [either, by_a_helper, perhaps_by_a_helper, lambda x: either(x) + 1])
def test_exceptions_by_value(call, f):
    with pytest.raises(KeyError, match="positive"):
        call(f, np.array([1.0, 1.0]))
    with pytest.raises(ValueError, match="not positive") as caught:
        call(f, np.array([-1.0, 1.0]))
    assert not isinstance(caught.value, pg.PergradError)


def test_the_other_path_goes_on():
    np.testing.assert_array_equal(pg.grad(perhaps_by_a_helper)(np.array([1.0, -1.0])), np.ones(2))


@pytest.mark.parametrize("call", [*CALLS.values(), lambda f, x: pg.vmap(f)(x[None]), lambda f, x: pg.vmap(pg.grad(f))(x[None])])
def test_exceptions_at_once(call):
    with pytest.raises(Mine) as caught:
        call(always, np.ones(2))
    assert caught.value.args == ("always", 3)
    with pytest.raises(AssertionError, match="three are needed"):
        call(asserts, np.ones(2))


def test_numpys_own_words():
    with pytest.raises(ValueError, match=r"operands could not be broadcast together with shapes \(3,\) \(2,5\)"):
        pg.grad(lambda x: np.sum(x + np.ones((2, 5))))(np.ones(3))
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 3"):
        pg.grad(lambda x: x[7])(np.ones(3))
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        pg.grad(lambda x: np.sum(np.linalg.inv(np.outer(x, x))))(np.zeros(3))


def bound_on_one_side(x):
    if x[0] > 0:
        y = x * 2
    return np.sum(y**2)


def bound_in_some_turns(x):
    total = 0.0
    for v in x:
        if v > 0:
            last = v
        total = total + last**2
    return total


@pytest.mark.parametrize("function, good, bad", [(bound_on_one_side, 1.0, -1.0), (bound_in_some_turns, 1.0, -1.0)])
def test_a_name_that_no_path_has_bound_is_python_s_error(function, good, bad):
    x = np.linspace(0.5, -0.4, 9)
    np.testing.assert_allclose(pg.grad(function)(good * x), oracles.central_differences(function, (good * x,)), rtol=1e-6)
    with pytest.raises(UnboundLocalError, match=r"cannot access local variable '(y|last)'"):
        pg.grad(function)(bad * x)
