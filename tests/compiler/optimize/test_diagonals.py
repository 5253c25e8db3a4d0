"""Identity matrices of differentiation disappear."""

import numpy as np
import pytest

from pergrad.compiler.core.builder import current
from pergrad.compiler.core.builder import recorded as xnp
from pergrad.compiler.core.program import Const
from pergrad.compiler.core.verify import verify
from pergrad.compiler.ops.contraction import contract
from pergrad.compiler.optimize import optimize
from pergrad.compiler.optimize.diagonals import fold_diagonals

from ..interpret import interpret
from ..programs import BATCH, array, ops, program
from .test_contractions import check, subscripts

N = 12


def has_eye(p):
    return any(isinstance(a, Const) and np.ndim(a.value) >= 2 for n in p.body for a in n.args)


JACOBIANS = {
    "tanh of a layer": (lambda W, x, s: contract("ij,ki->kj", W, np.eye(N) * (1.0 - s * s)), ["multiply", "subtract", "ab,a->ab"]),
    "relu of a layer": (lambda W, x, s: contract("ij,ki->kj", W, xnp.where(s > 0.0, np.eye(N), 0.0)), ["greater", "where", "ab,a->ab"]),
    "a layer": (lambda W, x, s: contract("ij,ki->kj", W, np.eye(N)), []),
    "transposed": (lambda W, x, s: contract("ij,ik->kj", W, xnp.transpose(np.eye(N) * s)), None),
    "elementwise": (lambda W, x, s: xnp.sum(xnp.expand_dims(np.eye(N), 2) * W, axis=1), []),
    "a sum of terms": (lambda W, x, s: contract("ij,ki->kj", W, np.eye(N) * s + np.eye(N) * s * s), None),
    "divided": (lambda W, x, s: contract("ij,ki->kj", W, -(np.eye(N) / s)), None),
    "both axes summed": (lambda W, x, s: xnp.sum(np.eye(N) * s), None),
    "kept axes": (lambda W, x, s: xnp.sum(np.eye(N) * s, axis=1, keepdims=True), None),
    "number on the diagonal": (lambda W, x, s: contract("ki->k", 3.0 * np.eye(N)), None),
    "two layers": (lambda W, x, s: contract("ij,ki->kj", W[:N, :3] * s[:, None], contract("ij,ki->kj", W[:, :N], np.eye(N) * s)), None),
    "matrix in both": (lambda W, x, s: contract("ki->k", np.eye(N) * W[:, :N]), None),
    "of its two axes": (
        lambda W, x, s: contract("pqij,jl->pqil", contract("pi,qj->pqij", np.eye(N), np.eye(N - 4)), xnp.transpose(W)[: N - 4, :3]),
        None,
    ),
}


@pytest.mark.parametrize("name", JACOBIANS)
def test_the_identity_disappears(name):
    function, expected = JACOBIANS[name]
    p = check(function, array(N, N + 3), array(N + 3), array(N))
    if name != "of its two axes":
        assert not has_eye(p), p.body
    if expected is not None:
        assert subscripts(p) == expected


def test_batched_jacobians():
    def f(W, s, m):
        d = xnp.where(xnp.expand_dims(m, 1) > 0.0, np.eye(N) * xnp.expand_dims(s, 1), 0.0)
        return contract("ij,bki->bkj", W, d)

    p = check(f, array(N, 5), array(BATCH, N), array(BATCH, N))
    assert subscripts(p) == ["greater", "where", "ab,ca->cab"]


def test_a_diagonal_that_is_the_result_is_made_at_once():
    p = check(lambda s: np.eye(N) * xnp.exp(s) * s, array(N))
    assert ops(p) == ["exp", "multiply", "diag"]


def test_an_identity_that_is_not_followed_stays():
    p = check(lambda s, x: contract("ki,j->kij", np.eye(N) * s, x), array(N), array(3))
    assert has_eye(p)


def test_a_users_own_identity_stays():
    p = check(lambda W: contract("ij,jk->ik", W, np.eye(N)), array(N, N), section="")
    assert has_eye(p)


def test_nans_of_a_users_identity_stay():
    p = program(lambda W: W @ np.eye(2), array(2, 2))
    W = np.array([[np.inf, 1.0], [2.0, 3.0]])
    with np.errstate(invalid="ignore"):
        assert np.isnan(interpret(optimize(p), W)[0]).any()


def test_one_hot_of_higher_rank():
    """A basis of the matrices is zero unless two pairs of axes agree."""
    basis = np.eye(12).reshape(3, 4, 3, 4)

    def f(W, s):
        with current().stamped(section="backward"):
            return contract("pqij,jl->pqil", basis * s, W)

    p = program(f, array(4, 5), array(3, 4))
    q = optimize(p)
    verify(q)
    rng = np.random.default_rng(0)
    arrays = rng.standard_normal((4, 5)), rng.standard_normal((3, 4))
    np.testing.assert_allclose(interpret(p, *arrays)[0], interpret(q, *arrays)[0])


def test_no_diagonal_of_length_one():
    p = program(lambda x: contract("ij,ki->kj", x, np.eye(1)), array(1, 3))
    assert subscripts(fold_diagonals(p)) == ["ab,ca->cb"]


def chain(seed):
    """A random chain of linear ops on an identity, with axes of distinct sizes besides."""
    rng = np.random.default_rng(seed)

    def f(x):
        v = x * np.eye(3) if rng.random() < 0.5 else xnp.broadcast_to(np.eye(3), (2, 3, 3))
        for _ in range(rng.integers(1, 7)):
            v = step(v, x, rng)
        return v

    return f


def step(v, x, rng):
    n = v.ndim
    match rng.choice(
        ["multiply", "divide", "negative", "where", "add", "transpose", "expand", "squeeze", "sum", "einsum", "outer", "both"]
    ):
        case "multiply" | "divide" as kind if n:
            keep = rng.random(n) < 0.6
            other = rng.uniform(1.0, 2.0, [d if k else 1 for d, k in zip(v.shape, keep)]) * (x[0] if rng.random() < 0.5 else 1.0)
            return v * other if kind == "multiply" else v / other
        case "negative":
            return -v
        case "where" if n:
            return xnp.where(rng.random([d if rng.random() < 0.5 else 1 for d in v.shape]) > 0.4, v, 0.0)
        case "add":
            return v + v * x[1]
        case "transpose" if n:
            return xnp.transpose(v, tuple(rng.permutation(n).tolist()))
        case "expand" if n < 4:
            return xnp.expand_dims(v, int(rng.integers(0, n + 1)))
        case "squeeze" if 1 in v.shape:
            return xnp.squeeze(v, v.shape.index(1))
        case "sum" if n:
            return xnp.sum(v, axis=int(rng.integers(0, n)), keepdims=bool(rng.random() < 0.3))
        case "einsum" if n:
            k = int(rng.integers(0, n))
            letters = "abcde"[:n]
            w = rng.uniform(1.0, 2.0, (v.shape[k], 4))
            return contract(f"{letters},{letters[k]}z->{letters.replace(letters[k], 'z')}", v, w)
        case "outer" if n < 4:
            letters = "abcde"[:n]
            return contract(f"{letters},z->z{letters}", v, x)
        case "both" if n > 1 and v.shape[0] == v.shape[1]:
            letters = "abcde"[2:n]
            return contract(f"aa{letters}->a{letters}", v)
    return v


@pytest.mark.parametrize("seed", [*range(40), 1851])
def test_random_chains(seed):
    check(chain(seed), array(3))
