"""What is passed by mistake, through the front door: the message says what, and the traceback stays out of the compiler."""

import traceback

import numpy as np
import pytest

import pergrad as pg

X, V = np.ones((3, 4)), np.ones(4)
STAND_IN = pg.ShapeDtype(4)


def loss(w, x=1.0):
    return np.sum(w * x)


def layer(w):
    return np.tanh(w)


class Frame:
    """An array by another name, as of a library of tables."""

    def __array__(self, dtype=None, copy=None):
        return V


# What the message contains, and the call.
REFUSED = {
    "nothing mapped": ("every positional argument is one of argnums=0", lambda: pg.per_sample_grad(loss)(V)),
    "samples by keyword": ("pass them by position", lambda: pg.per_sample_grad(loss)(V, x=X)),
    "stand-in to grad": ("grad(loss): a ShapeDtype has no numbers", lambda: pg.grad(loss)(V, STAND_IN)),
    "stand-in to compile": ("compile(layer): a ShapeDtype has no numbers", lambda: pg.compile(layer)(STAND_IN)),
    "stand-in to vjp": ("vjp(loss): a ShapeDtype has no numbers", lambda: pg.vjp(loss, STAND_IN)),
    "stand-in to linearize": ("linearize(loss): a ShapeDtype has no numbers", lambda: pg.linearize(loss, STAND_IN)),
    "stand-in to jacrev in chunks": ("jacrev(layer): a ShapeDtype has no", lambda: pg.jacrev(layer, chunk_size=2)(STAND_IN)),
    "stand-in to vmap in chunks": ("vmap(loss): a ShapeDtype has no", lambda: pg.vmap(loss, chunk_size=2)(pg.ShapeDtype((3, 4)))),
    "vjp_fn by keyword": ("vjp_fn takes its arguments by position", lambda: pg.vjp(layer, V)[1](cotangent=V)),
    "jvp_fn by keyword": ("jvp_fn takes its arguments by position", lambda: pg.linearize(layer, V)[1](tangent=V)),
    "jvp_fn without tangents": ("instead: jvp_fn(…)", lambda: pg.linearize(layer, V)[1]()),
    "vjp of a value": ("vjp(f, x), not vjp(f(x))", lambda: pg.vjp(layer(V), V)),
    "masked cotangent": ("cotangent of the output is a masked array", lambda: pg.vjp(layer, V)[1](np.ma.array(V))),
    "masked tangent": ("tangent of argument `w` is a masked array", lambda: pg.jvp(layer, (V,), (np.ma.array(V),))),
    "masked argument": ("vmap(loss): argument `x` is a MaskedArray", lambda: pg.vmap(loss, in_dims=(0, None))(X, np.ma.array(V))),
    "objects": ("vmap(loss): argument `x` has dtype object", lambda: pg.vmap(loss, in_dims=(0, None))(X, V.astype(object))),
    "another library's array": ("argument `x` is a Frame", lambda: pg.vmap(loss, in_dims=(0, None))(X, Frame())),
    "date": ("has dtype datetime64", lambda: pg.grad(loss)(np.datetime64("2020-01-01"))),
    "draw as a function": ("is decided by a value, which is batched", lambda: pg.vmap(np.random.rand)(X)),
    "lint of no function": ("lint takes a function", lambda: pg.lint("loss")),
    "lint with a list": ("in_dims=[0] is a list", lambda: pg.lint(loss, in_dims=[0])),
    "negative size": ("no negative sizes", lambda: pg.ShapeDtype(-1)),
    "no shape": ("must be an int or a tuple of ints", lambda: pg.ShapeDtype("a")),
    "no dtype": ("is no dtype", lambda: pg.ShapeDtype(3, "zz")),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    part, call = REFUSED[name]
    with pytest.raises(pg.PergradError) as caught:
        call()
    assert part in str(caught.value) and "instead: " in str(caught.value)


# An error of the user's own code, Python's or NumPy's words in it, and what is said about the place.
OWN = {
    "operands": (ValueError, "shapes (4,) (3,)", "w * x", lambda: pg.per_sample_grad(loss)(V, X[:, :3])),
    "None": (TypeError, "'ndarray' and 'NoneType'", "w * x", lambda: pg.grad(loss)(V, None)),
    "text": (TypeError, "'ndarray' and 'str'", "w * x", lambda: pg.grad(loss)(V, "text")),
    "too many": (TypeError, "layer() takes 1 positional argument but 2 were given", "layer(w)", lambda: pg.vmap(layer)(X, X)),
    "too few": (TypeError, "missing 1 required argument: 'w'", "loss(w, x=1.0)", lambda: pg.vjp(loss)),
    "violation": (pg.VmapViolation, "data-dependent", "", lambda: pg.vmap(lambda w: w if w[0] > 0 else -w)(X)),
}


@pytest.mark.parametrize("name", OWN)
def test_a_traceback_shows_no_insides(name):
    kind, words, place, call = OWN[name]
    with pytest.raises(kind) as caught:
        call()
    assert words in str(caught.value)
    assert place in "".join(getattr(caught.value, "__notes__", [""]))
    inside = [f for f in traceback.extract_tb(caught.value.__traceback__) if f.filename != __file__]
    assert len(inside) <= 4


def test_a_finding_is_a_line():
    def branches(x):
        return x if x.sum() > 0 else -x

    (finding,) = pg.lint(branches)
    assert str(finding).startswith(f"{__file__}:{finding.line}:{finding.column}: PGR101 error: data-dependent control flow")


def test_halves_say_what_they_are():
    assert repr(pg.vjp(layer, V)[1]) == "<vjp_fn of layer>" and repr(pg.linearize(layer, V)[1]) == "<jvp_fn of layer>"
