"""What is not made: products that only feed a sum."""

import numpy as np
import pytest

from pergrad.compiler.core.builder import current
from pergrad.compiler.core.builder import recorded as xnp
from pergrad.compiler.core.types import Size
from pergrad.compiler.core.verify import verify
from pergrad.compiler.ops.contraction import contract
from pergrad.compiler.optimize import optimize
from pergrad.compiler.optimize.contractions import fuse_contractions

from ..interpret import interpret
from ..programs import BATCH, array, number, program


def subscripts(p):
    """The ops, contractions by their letters in order of appearance."""
    return [_in_order(n.params["subscripts"]) if "subscripts" in n.params else n.op.removeprefix("numpy.") for n in p.body]


def _in_order(text):
    return text.translate({ord(c): "abcdefg"[k] for k, c in enumerate(dict.fromkeys(filter(str.isalpha, text)))})


def check(function, *params, section="backward", one=optimize):
    def stamped(*values):
        with current().stamped(section=section):
            return function(*values)

    before = program(stamped, *params)
    verify(before)
    after = one(before)
    verify(after)
    for batch in (1, 7):
        rng = np.random.default_rng(0)
        arrays = [rng.standard_normal([batch if isinstance(d, Size) else d for d in p.type.shape])[()] for p in params]
        for x, y in zip(interpret(before, *arrays), interpret(after, *arrays), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-12)
    return after


X, D, C = (BATCH, 30), (BATCH, 20), (BATCH,)


def outer(x, d):
    return contract("bi,bj->bij", x, d)


@pytest.mark.parametrize("section", ["", "backward"])
@pytest.mark.parametrize(
    "squares",
    [
        lambda g: xnp.sum(g * g, axis=(1, 2)),
        lambda g: xnp.sum(g**2, axis=(1, 2)),
        lambda g: xnp.sum(xnp.square(g), axis=(1, 2)),
        lambda g: contract("bij,bij->b", g, g),
        lambda g: xnp.sum(xnp.sum(-g * -g, axis=2), axis=1),
    ],
)
def test_squares_of_an_outer_product(section, squares):
    p = check(lambda x, d: squares(outer(x, d)), array(*X), array(*D), section=section)
    assert all(v.type.ndim < 3 for n in p.body for v in n.outs)


def test_norms_of_a_returned_gradient():
    def f(x, d):
        g = outer(x, d)
        return g, xnp.sum(g * g, axis=(1, 2))

    p = check(f, array(*X), array(*D))
    assert sum(v.type.ndim == 3 for n in p.body for v in n.outs) == 1


def test_weighted_sum_of_outer_products_is_one_matrix_product():
    def f(x, d, c):
        g = xnp.expand_dims(x, 2) * xnp.expand_dims(d, 1)
        return xnp.sum(xnp.expand_dims(c, (1, 2)) * g, axis=0)

    p = check(f, array(*X), array(*D), array(*C))
    assert all(v.type.ndim < 3 for n in p.body for v in n.outs)


def test_clipped_sum():
    def f(x, d):
        g = outer(x, d)
        scale = xnp.minimum(1.0, 2.0 / xnp.sqrt(xnp.sum(g * g, axis=(1, 2))))
        return contract("b,bij->ij", scale, g)

    p = check(f, array(*X), array(*D), section="")
    assert all(v.type.ndim < 3 for n in p.body for v in n.outs)


def test_mean_and_kept_axes():
    p = check(lambda x, d: xnp.mean(outer(x, d) ** 2, axis=(1, 2)), array(*X), array(*D), section="")
    assert all(v.type.ndim < 3 for n in p.body for v in n.outs)
    p = check(lambda x, d: xnp.sum(outer(x, d) ** 2, axis=(1, 2), keepdims=True), array(*X), array(*D), section="")
    assert all(v.type.ndim < 3 or v.type.shape[1:] == (1, 1) for n in p.body for v in n.outs)


def test_trace_of_an_outer_product():
    p = check(lambda x, y: contract("ii->", contract("i,j->ij", x, y)), array(50), array(50))
    assert all(v.type.ndim < 2 for n in p.body for v in n.outs)


def test_sums_of_derivatives_are_contractions():
    p = check(lambda c, x: xnp.sum(xnp.expand_dims(c, 1) * x, axis=0), array(*C), array(*X))
    assert subscripts(p) == ["a,ab->b"]


def test_a_users_own_small_sum_stays():
    p = check(lambda x, y: xnp.sum(x * y), array(30), array(30), section="")
    assert subscripts(p) == ["multiply", "sum"]
    p = check(lambda x, y: xnp.sum(x * y * 2.0, axis=1), array(*X), array(*X), section="")
    assert "sum" in subscripts(p)


def test_chains_are_done_two_at_a_time():
    p = check(lambda a, b, x: contract("ij,jk,k->i", a, b, x), array(30, 20), array(20, 10), array(10))
    assert all(len(n.args) <= 2 for n in p.body)
    assert all(v.type.ndim == 1 for n in p.body for v in n.outs)


def test_constants_of_one_number_are_factors():
    p = check(lambda x: contract("ij,j->i", x, np.ones(20)), array(30, 20))
    assert "ab,b->a" not in subscripts(p)
    p = check(lambda x: contract("i,j->ij", x, np.full(20, 2.0)), array(30))
    assert all(np.ndim(getattr(a, "value", 0.0)) == 0 for n in p.body for a in n.args)


def test_scalars_scale_what_is_small():
    p = check(lambda x, d, s: contract(",bi,bj->bij", s, x, d), array(*X), array(*D), number())
    scaled = next(n for n in p.body if n.op == "numpy.multiply")
    assert scaled.outs[0].type.ndim == 2


def test_sums_are_not_looked_through():
    p = check(lambda a, b, x: (a @ b) @ x, array(30, 20), array(20, 10), array(10), section="", one=fuse_contractions)
    assert len(p.body) == 2


def test_other_dtypes_are_left_alone():
    p = program(lambda x, y: xnp.sum(x * y), array(30, dtype="i8"), array(30, dtype="i8"))
    assert subscripts(fuse_contractions(p)) == ["multiply", "sum"]
    p = program(lambda x, y: contract("i,i->", x, y), array(30, dtype="f4"), array(30))
    assert subscripts(fuse_contractions(p)) == ["a,a->"]
