"""Small factors meet before they meet a large one."""

import numpy as np
import pytest

from pergrad.compiler.core.builder import recorded as xnp
from pergrad.compiler.core.types import Size
from pergrad.compiler.core.verify import verify
from pergrad.compiler.ops.contraction import contract
from pergrad.compiler.optimize.dead_code import eliminate_dead_code
from pergrad.compiler.optimize.scaling import scale_small_factors

from ..interpret import interpret
from ..programs import BATCH, array, number, program
from .test_algebra import derived

ROWS, WIDE, P = array(BATCH), array(BATCH, 30), number()


def outer(d, x):
    return contract("b,bi->bi", d, x)


def sizes_of(p):
    """The ops in order, each with how many axes its result has."""
    return " ".join(f"{n.op.removeprefix('numpy.')}{n.outs[0].type.ndim}" for n in p.body)


def scaled(function, *params):
    before = program(function, *params)
    after = eliminate_dead_code(scale_small_factors(before))
    verify(after)
    for batch in (1, 7):
        rng = np.random.default_rng(0)
        arrays = [rng.standard_normal([batch if isinstance(d, Size) else d for d in p.type.shape])[()] for p in params]
        for x, y in zip(interpret(before, *arrays), interpret(after, *arrays), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-12)
    return sizes_of(after)


@pytest.mark.parametrize(
    ("function", "params", "wanted"),
    [
        (lambda d, x: -outer(d, x), (ROWS, WIDE), "negative1 einsum2"),
        (lambda d, x: outer(d, x) * 0.1, (ROWS, WIDE), "multiply1 einsum2"),
        (lambda d, x, p: outer(d, x) * p * -3.0, (ROWS, WIDE, P), "multiply0 multiply1 einsum2"),
        (lambda c, d, x: xnp.expand_dims(c, 1) * (x * xnp.expand_dims(d, 1)), (array(BATCH), ROWS, WIDE), "multiply1 einsum2"),
        (lambda c, d, x: outer(d, x) / xnp.expand_dims(c, 1), (array(BATCH), ROWS, WIDE), "divide1 einsum2"),
        (lambda c, d, x: outer(1.0 / c, x) / xnp.expand_dims(d, 1) * -2.0, (array(BATCH), ROWS, WIDE), "multiply1 divide1 einsum2"),
        (lambda a, x: contract("ii,ij->ij", a, x) * 2.0, (array(4, 4), array(4, 30)), "einsum1 multiply1 einsum2"),
        (lambda d, x: outer(d, x) * xnp.expand_dims(d, 1), (ROWS, WIDE), "multiply1 einsum2"),
    ],
)
def test_small_factors_come_first(function, params, wanted):
    assert scaled(derived(function), *params) == wanted


@pytest.mark.parametrize(
    ("function", "params"),
    [
        (lambda x, y: -(x * y), (WIDE, array(BATCH, 30))),
        (lambda d, x: (g := outer(d, x), -g), (ROWS, WIDE)),
    ],
)
def test_what_spares_nothing_stays(function, params):
    built = derived(function)
    assert scaled(built, *params) == sizes_of(program(built, *params))


def test_a_users_own_product_stays():
    assert scaled(lambda d, x: -outer(d, x), ROWS, WIDE) == "einsum2 negative2"
