"""What is refused in a call, with which builtin, and which words the message has."""

import numpy as np
import pytest

import pergrad as pg

RNG = np.random.default_rng(0)
X, Y, W = RNG.normal(size=(4, 3)), RNG.normal(size=(4, 3)), RNG.normal(size=3)


def dot(x, y):
    return np.sum(x * y)


def of_dict(p, x):
    return np.sum(p["a"] * x)


def pair(x):
    return np.sum(x), x


def text_output(x):
    return "text"


def none_output(x):
    return None


# (call, builtin, words that the message has)
REFUSED = {
    "in_dims a list": (lambda: pg.vmap(dot, in_dims=[0, 0])(X, Y), (ValueError, TypeError), ["in_dims"]),
    "in_dims a float": (lambda: pg.vmap(dot, in_dims=0.0)(X, Y), (ValueError, TypeError), ["in_dims"]),
    "in_dims a string": (lambda: pg.vmap(dot, in_dims="0")(X, Y), (ValueError, TypeError), ["in_dims"]),
    "in_dims a set": (lambda: pg.vmap(dot, in_dims={0})(X, Y), (ValueError, TypeError), ["in_dims"]),
    "in_dims too short": (lambda: pg.vmap(dot, in_dims=(0,))(X, Y), ValueError, ["in_dims"]),
    "in_dims too long": (lambda: pg.vmap(dot, in_dims=(0, 0, 0))(X, Y), ValueError, ["in_dims"]),
    "in_dims maps nothing": (lambda: pg.vmap(dot, in_dims=(None, None))(X, Y), ValueError, ["in_dims"]),
    "in_dims out of range": (lambda: pg.vmap(dot, in_dims=(0, 2))(X, Y), ValueError, ["in_dims", "y", "2", "(4, 3)"]),
    "in_dims negative out of range": (lambda: pg.vmap(dot, in_dims=(0, -3))(X, Y), ValueError, ["in_dims", "y", "-3", "(4, 3)"]),
    "in_dims of another structure": (lambda: pg.vmap(of_dict, in_dims=(((0,)), 0))({"a": X}, X), ValueError, ["in_dims"]),
    "in_dims with other keys": (lambda: pg.vmap(of_dict, in_dims=({"b": 0}, 0))({"a": X}, X), ValueError, ["in_dims", "'a'"]),
    "a number is mapped": (lambda: pg.vmap(dot)(X, 2.0), (ValueError, TypeError), ["in_dims", "y", "float"]),
    "None is mapped": (lambda: pg.vmap(dot)(X, None), (ValueError, TypeError), ["in_dims", "y", "None"]),
    "mapped sizes differ": (lambda: pg.vmap(dot)(X, Y[:2]), ValueError, ["x", "y", "(4, 3)", "(2, 3)", "axis 0", "4", "2"]),
    "no arguments": (lambda: pg.vmap(dot)(), (ValueError, TypeError), []),
    "out_dims a list": (lambda: pg.vmap(pair, out_dims=[0, 0])(X), (ValueError, TypeError), ["out_dims"]),
    "out_dims too long": (lambda: pg.vmap(pair, out_dims=(0, 0, 0))(X), ValueError, ["out_dims"]),
    "out_dims out of range": (lambda: pg.vmap(np.sum, out_dims=1)(X), ValueError, ["out_dims"]),
    "out_dims None of a mapped result": (lambda: pg.vmap(np.sum, out_dims=None)(X), ValueError, ["out_dims"]),
    "chunk_size zero": (lambda: pg.vmap(np.sum, chunk_size=0)(X), ValueError, ["chunk_size"]),
    "chunk_size a float": (lambda: pg.vmap(np.sum, chunk_size=1.5)(X), (ValueError, TypeError), ["chunk_size"]),
    "randomness of another kind": (lambda: pg.vmap(np.sum, randomness="maybe")(X), ValueError, ["randomness", "'different'", "'same'"]),
    "control_flow of another kind": (lambda: pg.vmap(np.sum, control_flow="maybe")(X), ValueError, ["control_flow"]),
    "vmap returns text": (lambda: pg.vmap(text_output)(X), (ValueError, TypeError), ["text_output"]),
    "vmap returns None": (lambda: pg.vmap(none_output)(X), (ValueError, TypeError), ["none_output"]),
    "argnums out of range": (lambda: pg.grad(dot, argnums=2)(W, W), ValueError, ["argnums"]),
    "argnums negative out of range": (lambda: pg.grad(dot, argnums=-3)(W, W), ValueError, ["argnums"]),
    "argnums empty": (lambda: pg.grad(dot, argnums=())(W, W), (ValueError, TypeError), ["argnums"]),
    "argnums a list": (lambda: pg.grad(dot, argnums=[0])(W, W), (ValueError, TypeError), ["argnums"]),
    "argnums a float": (lambda: pg.grad(dot, argnums=0.0)(W, W), (ValueError, TypeError), ["argnums"]),
    "argnums twice the same": (lambda: pg.grad(dot, argnums=(0, -2))(W, W), ValueError, ["argnums"]),
    "grad of a vector": (lambda: pg.grad(np.sin)(W), (ValueError, TypeError), ["scalar", "(3,)", "jacrev"]),
    "grad of one number in an array": (lambda: pg.grad(lambda x: x[:1])(W), (ValueError, TypeError), ["scalar", "(1,)", "jacrev"]),
    "grad of an integer": (lambda: pg.grad(dot)(np.arange(3), W), TypeError, ["x", "int"]),
    "grad of a bool": (lambda: pg.grad(dot)(np.ones(3, dtype=bool), W), TypeError, ["x", "bool"]),
    "grad of a Python int": (lambda: pg.grad(lambda x: x * x)(3), TypeError, ["x", "int"]),
    "grad of None": (lambda: pg.grad(dot)(None, W), (ValueError, TypeError), ["x", "None"]),
    "grad of text output": (lambda: pg.grad(text_output)(W), (ValueError, TypeError), ["str"]),
    "grad of None output": (lambda: pg.grad(none_output)(W), (ValueError, TypeError), ["None"]),
    "grad of a pair": (lambda: pg.grad(pair)(W), (ValueError, TypeError), ["has_aux"]),
    "has_aux without a pair": (lambda: pg.grad(dot, has_aux=True)(W, W), (ValueError, TypeError), ["has_aux"]),
    "has_aux of three": (lambda: pg.grad(lambda x: (np.sum(x), x, x), has_aux=True)(W), (ValueError, TypeError), ["has_aux"]),
    "cotangent of another shape": (lambda: pg.vjp(np.sin, W)[1](np.ones(2)), ValueError, ["cotangent", "(3,)", "(2,)"]),
    "cotangent that would broadcast": (lambda: pg.vjp(np.sin, W)[1](np.ones(1)), ValueError, ["cotangent", "(3,)", "(1,)"]),
    "cotangent of another structure": (lambda: pg.vjp(pair, W)[1](1.0), ValueError, ["cotangent"]),
    "tangents of another shape": (lambda: pg.jvp(np.sin, (W,), (np.ones(2),)), ValueError, ["tangent", "(3,)", "(2,)"]),
    "tangents not a tuple": (lambda: pg.jvp(np.sin, (W,), np.ones(3)), (ValueError, TypeError), ["tangents", "tuple"]),
    "primals not a tuple": (lambda: pg.jvp(np.sin, W, (np.ones(3),)), (ValueError, TypeError), ["primals", "tuple"]),
    "tangents fewer than primals": (lambda: pg.jvp(dot, (W, W), (W,)), ValueError, ["tangents"]),
    "functionalize what": (lambda: pg.functionalize(np.sin, remove="views"), ValueError, ["remove", "mutations"]),
    "not callable": (lambda: pg.grad(3.0), TypeError, []),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    call, builtin, words = REFUSED[case]
    with pytest.raises(pg.PergradError) as caught:
        call()
    text = str(caught.value)
    assert isinstance(caught.value, builtin), (type(caught.value).__mro__, text)
    for word in words:
        assert word in text, f"{word!r} is not in: {text}"
    for word in ("pytree", "tracer", "abstract value", "leaf", "leaves"):
        assert word not in text, f"{word!r} is in: {text}"


def test_the_correction_of_in_dims_is_spelled_out():
    with pytest.raises(pg.PergradError, match=r"in_dims=\(\{'a': 0\},\)"):
        pg.vmap(lambda p: np.sum(p["a"]), in_dims={"a": 0})({"a": X})


# What is legal, though it looks unusual.


def test_in_dims_forms():
    expected = np.sum(X * Y, axis=1)
    np.testing.assert_allclose(pg.vmap(dot, in_dims=(0, 0))(X, Y), expected)
    np.testing.assert_allclose(pg.vmap(dot, in_dims=(1, -2))(X.T, Y), expected)
    np.testing.assert_allclose(pg.vmap(dot, in_dims=(0, None))(X, Y[0]), X @ Y[0])
    np.testing.assert_allclose(pg.vmap(of_dict, in_dims=({"a": 0}, None))({"a": X}, Y[0]), X @ Y[0])
    np.testing.assert_allclose(pg.vmap(of_dict, in_dims=(0, None))({"a": X}, Y[0]), X @ Y[0])


def test_out_dims_forms():
    np.testing.assert_allclose(pg.vmap(np.sin, out_dims=1)(X), np.sin(X).T)
    np.testing.assert_allclose(pg.vmap(np.sin, out_dims=-1)(X), np.sin(X).T)
    np.testing.assert_allclose(pg.vmap(np.sin, out_dims=(1,))(X), np.sin(X).T)
    sums, rows = pg.vmap(pair, out_dims=(0, 1))(X)
    np.testing.assert_allclose(sums, X.sum(axis=1))
    np.testing.assert_allclose(rows, X.T)
    shared, _ = pg.vmap(lambda x, w: (w * 2.0, x), in_dims=(0, None), out_dims=(None, 0))(X, W)
    np.testing.assert_allclose(shared, W * 2)


def test_argnums_forms():
    np.testing.assert_allclose(pg.grad(dot, argnums=1)(W, X[0]), W)
    np.testing.assert_allclose(pg.grad(dot, argnums=-1)(W, X[0]), W)
    only = pg.grad(dot, argnums=(1,))(W, X[0])
    assert isinstance(only, tuple) and len(only) == 1
    for jac in (pg.jacrev, pg.jacfwd, pg.hessian):
        assert np.shape(jac(dot, argnums=-1)(W, X[0])) in [(3,), (3, 3)]


def test_python_floats_are_numbers_to_differentiate():
    assert pg.grad(lambda x: x * x)(3.0) == 6.0
    value, tangent = pg.jvp(lambda x: x * x, (3.0,), (2.0,))
    assert (value, tangent) == (9.0, 12.0)


def test_none_and_text_pass_where_neither_mapped_nor_differentiated():
    def f(w, x, bias, mode):
        return np.sum(w * x) if bias is None and mode == "sum" else 0.0

    np.testing.assert_allclose(pg.per_sample_grad(f, in_dims=(None, 0, None, None))(W, X, None, "sum"), X)
    np.testing.assert_allclose(pg.grad(f)(W, X[0], None, "sum"), X[0])


def test_unused_and_constant_results():
    np.testing.assert_array_equal(pg.grad(lambda x, w: np.sum(w))(W, W), np.zeros(3))
    np.testing.assert_array_equal(pg.per_sample_grad(lambda w, x: np.sum(x))(W, X), np.zeros((4, 3)))
    np.testing.assert_array_equal(pg.vmap(lambda x: 5.0)(X), np.full(4, 5.0))
    returned = pg.vmap(lambda x: x)(X)
    np.testing.assert_array_equal(returned, X)
    assert returned is not X and not np.shares_memory(returned, X)


def test_vjp_always_returns_a_tuple():
    value, pull = pg.vjp(np.sin, W)
    np.testing.assert_allclose(value, np.sin(W))
    for _ in range(2):
        (ct,) = pull(np.ones(3))
        np.testing.assert_allclose(ct, np.cos(W))
    (zero,) = pg.vjp(lambda n, w: np.sum(n * w), np.arange(3), W)[1](1.0)[:1]
    assert zero.dtype.kind == "f" and not zero.any()


def test_jacobians_of_trees():
    def f(p):
        return {"s": np.sum(p["a"] ** 2), "v": p["a"] * p["b"]}

    p = {"a": W, "b": np.array(2.0)}
    for jac in (pg.jacrev, pg.jacfwd):
        full = jac(f)(p)
        np.testing.assert_allclose(full["s"]["a"], 2 * W)
        np.testing.assert_allclose(full["s"]["b"], 0.0)
        np.testing.assert_allclose(full["v"]["a"], 2 * np.eye(3))
        np.testing.assert_allclose(full["v"]["b"], W)
