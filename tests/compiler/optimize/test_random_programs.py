"""Random programs mean the same before and after every pass."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pergrad.compiler.core.builder import current
from pergrad.compiler.core.builder import recorded as xnp
from pergrad.compiler.core.verify import verify
from pergrad.compiler.ops.indexing import put
from pergrad.compiler.optimize import optimize, simplify
from pergrad.compiler.optimize.common import eliminate_common
from pergrad.compiler.optimize.dead_code import eliminate_dead_code
from pergrad.compiler.optimize.weaken import weaken_constants

from ..interpret import interpret
from ..programs import array, branch, loop, program

SHAPES = [(3,), (4, 3), (3, 3), (4, 1), (2, 4, 3), ()]
CONSTANTS = [0.0, 1.0, -1.0, 2.0, 0.5, 3.0, np.float64(2.0), np.float32(0.1), np.ones(3), np.zeros((4, 3)), np.eye(3), np.arange(3.0), -0.0]
UNARY = ["negative", "tanh", "exp", "square", "positive", "sin"]
BINARY = ["add", "subtract", "multiply", "divide", "maximum"]


class Recipe:
    """Draws a program as a function of Values, the same at every call."""

    def __init__(self, draw, depth=2):
        self.steps = [self.step(draw, depth) for _ in range(draw(st.integers(1, 12)))]
        self.keep = draw(st.integers(1, 3))

    def step(self, draw, depth):
        kinds = [
            "unary",
            "binary",
            "constant",
            "sum",
            "transpose",
            "reshape",
            "expand",
            "broadcast",
            "index",
            "write",
            "where",
            "einsum",
            "astype",
        ]
        kind = draw(st.sampled_from([*kinds, "branch", "loop"] if depth else kinds))
        numbers = draw(st.tuples(*[st.integers(0, 1000)] * 4))
        inner = Recipe(draw, depth - 1) if kind in ("branch", "loop") else None
        other = Recipe(draw, depth - 1) if kind == "branch" else None
        return kind, numbers, inner, other, draw(st.sampled_from(["", "backward"]))

    def __call__(self, *values):
        pool = list(values)
        for kind, numbers, inner, other, section in self.steps:
            with current().stamped(section=section):
                pool.append(self.value(kind, numbers, inner, other, pool))
        return tuple(pool[-self.keep :])

    def value(self, kind, numbers, inner, other, pool):
        n, m, k, _ = numbers
        x, y = pool[n % len(pool)], pool[m % len(pool)]
        nd = x.ndim
        match kind:
            case "unary":
                return getattr(xnp, UNARY[k % len(UNARY)])(x)
            case "binary" | "where":
                try:
                    return getattr(xnp, BINARY[k % len(BINARY)])(x, y) if kind == "binary" else xnp.where(x > y, x, CONSTANTS[k % 3] * y)
                except ValueError:
                    return x
            case "constant":
                c = CONSTANTS[m % len(CONSTANTS)]
                try:
                    return getattr(xnp, BINARY[k % 4])(*((x, c) if k % 3 else (c, x)))
                except ValueError:
                    return x
            case "sum" if nd:
                return xnp.sum(x, axis=m % nd, keepdims=bool(k % 2))
            case "transpose" if nd > 1:
                return xnp.swapaxes(x, m % nd, k % nd)
            case "reshape":
                return xnp.reshape(x, (-1,) if k % 2 else (1, *x.shape))
            case "expand":
                return xnp.expand_dims(x, m % (nd + 1)) if nd < 4 else x
            case "broadcast":
                return xnp.broadcast_to(x, (2, *x.shape)) if nd < 4 else x
            case "index" if nd:
                return x[(slice(None),) * (m % nd) + (k % x.shape[m % nd] if k % 2 else slice(None),)]
            case "write" if nd:
                if x.shape == y.shape:
                    return put(x, y if k % 2 else x * 2.0, (slice(None),) * nd, (), add=bool(m % 2))
                return put(x, 1.0, (k % x.shape[0], *[slice(None)] * (nd - 1)), ())
            case "einsum" if nd == 2 and y.ndim == 2 and x.shape[1] == y.shape[0]:
                return x @ y
            case "astype":
                return xnp.astype(x, np.float32 if k % 2 else np.float64)
            case "branch":
                return branch(xnp.sum(x) > 0.1, lambda: _last(inner, x, y, x), lambda: _last(other, x, y, x))
            case "loop":
                out = loop(3, [x], [], lambda i, c: (_last(inner, c, y, x), _last(inner, x, y, x)))
                return out[k % 2]
        return x


def _last(recipe, x, y, like):
    """A value of the type of ``like`` that depends on the recipe's."""
    z = recipe(x, y)[-1]
    return xnp.where(xnp.reshape(xnp.sum(z), (1,) * like.ndim) > 0.5, like, xnp.astype(like * 0.5, like.dtype)) if like.ndim else like


PASSES = [eliminate_dead_code, eliminate_common, weaken_constants, simplify, optimize]


@pytest.mark.parametrize("one", PASSES)
@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.data())
def test_meaning_is_kept(one, data):
    recipe = Recipe(data.draw)
    params = [array(*shape) for shape in SHAPES]
    before = program(recipe, *params)
    verify(before)
    after = one(before)
    verify(after)
    rng = np.random.default_rng(0)
    arrays = [np.asarray(rng.standard_normal(s)) for s in SHAPES]
    with np.errstate(all="ignore"):
        for x, y, p, q in zip(interpret(before, *arrays), interpret(after, *arrays), before.results, after.results, strict=True):
            assert p.type == q.type
            np.testing.assert_allclose(x, y, rtol=1e-4 if p.type.dtype == np.float32 else 1e-7, atol=1e-5)
