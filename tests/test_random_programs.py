"""Random programs against NumPy and central differences: 150 in CI, 5,000 with --nightly."""

import numpy as np
import pytest
from hypothesis import assume, event, given, note
from hypothesis import strategies as st

import pergrad as pg
from tests import oracles
from tests.random_programs import load, programs

BATCH = 3
NIGHTLY_PARTS = 4  # so that processes can share the work
# What may be refused, and is not supported yet.
REFUSALS = ("may share memory", "return inside a while loop", "shares in some turns only")


def sample(seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(BATCH, 4)), rng.normal(size=4)


def smooth_and_moderate(func, args):
    """Whether central differences can be trusted: values of moderate size, and two steps that agree."""
    fine, rough = (oracles.central_differences(func, args, step=step) for step in (1e-5, 1e-4))
    return np.all(np.abs(fine) < 1e4) and np.allclose(fine, rough, rtol=1e-5, atol=1e-6)


def check(text, seed):
    func = load(text)
    X, w = sample(seed)
    args = (X[0], w)
    assume(smooth_and_moderate(func, args))
    transformed = pg.grad_and_value(func)
    given_args = oracles.fresh(args)
    try:
        gradient, value = transformed(*given_args)
    except pg.PergradError as error:
        known = [reason for reason in REFUSALS if reason in str(error)]
        assert known, f"{error}\n{text}"
        event(f"refused: {known[0]}")
        return
    shown = f"{text}\n--- emitted\n{transformed.source(*args)}"
    note(shown)
    oracles.assert_same(given_args, args, rtol=0, atol=0, text=shown)
    oracles.assert_same(value, func(*oracles.fresh(args)), text=shown)
    oracles.assert_same(gradient, oracles.central_differences(func, args), rtol=1e-5, atol=1e-6, text=shown)

    tangents = (np.array([0.3, -1.0, 0.5, 2.0]), np.zeros(4))
    _, tangent = pg.jvp(func, oracles.fresh(args), tangents)
    oracles.assert_same(tangent, gradient @ tangents[0], rtol=1e-7, atol=1e-9, text=shown)

    mapped = pg.vmap(pg.grad(func), in_dims=(0, None))
    expected = np.stack([pg.grad(func)(x.copy(), w) for x in X])
    oracles.assert_same(mapped(X.copy(), w), expected, rtol=1e-9, atol=1e-11, text=f"{text}\n--- emitted\n{mapped.source(X, w)}")


@given(programs(), st.integers(0, 1000))
def test_random_programs(text, seed):
    check(text, seed)


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(NIGHTLY_PARTS))
@given(programs(most=12), st.integers(0, 10**6))
def test_long_random_programs(part, text, seed):
    check(text, seed)


@given(programs())
def test_random_programs_run_in_numpy(text):
    func, (X, w) = load(text), sample(0)
    assert np.shape(func(X[0].copy(), w)) == ()
