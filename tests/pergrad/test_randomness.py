"""Random draws under vmap: refused, different, or the same for all."""

import numpy as np
import pytest

import pergrad as pg

X = np.zeros((4, 3))
GENERATOR = np.random.default_rng(5)


def module_draw(x):
    return x + np.random.normal(size=3)


def generator_draw(x):
    return x + GENERATOR.normal(size=3)


def seeded_inside(x):
    return x + np.random.default_rng(0).normal(size=3)


@pytest.mark.parametrize("func", [module_draw, generator_draw])
def test_error_is_the_default_and_names_both_other_modes(func):
    with pytest.raises(pg.PergradError) as caught:
        pg.vmap(func)(X)
    assert caught.value.code == "PGR501"
    for word in ("normal", "'different'", "'same'"):
        assert word in str(caught.value)


@pytest.mark.parametrize("func", [module_draw, generator_draw])
def test_different_and_same(func):
    different = pg.vmap(func, randomness="different")(X)
    assert len(np.unique(different[:, 0])) == 4
    same = pg.vmap(func, randomness="same")(X)
    np.testing.assert_array_equal(same, np.broadcast_to(same[0], (4, 3)))


LEGACY = np.random.RandomState(5)


@pytest.mark.parametrize(
    "draw", [module_draw, generator_draw, lambda x: x + LEGACY.normal(size=3)], ids=["module", "generator", "RandomState"]
)
def test_same_holds_across_chunks(draw):
    same = pg.vmap(draw, randomness="same", chunk_size=2)(X)
    np.testing.assert_array_equal(same, np.broadcast_to(same[0], (4, 3)))


@pytest.mark.parametrize("mode", ["error", "different", "same"])
def test_a_generator_made_inside_gives_every_sample_the_same(mode):
    with np.errstate():
        out = pg.vmap(seeded_inside, randomness=mode)(X)
    np.testing.assert_array_equal(out, np.broadcast_to(seeded_inside(X[0]), (4, 3)))


def test_draws_are_not_made_while_compiling():
    np.random.seed(3)
    expected = np.random.normal(size=3)
    np.random.seed(3)
    value = pg.grad_and_value(lambda x: np.sum(x * np.random.normal(size=3)))(np.ones(3))[1]
    assert value == pytest.approx(expected.sum())


def test_the_same_draw_is_used_forward_and_backward():
    gradient, value = pg.grad_and_value(lambda x: np.sum(x * np.random.normal(size=3)))(np.ones(3))
    assert value == pytest.approx(gradient.sum())
