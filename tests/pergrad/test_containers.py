"""Arguments and results in every kind of container: what comes back has the class, the keys and their order of what went in."""

import collections
import dataclasses

import numpy as np
import optree
import pytest

import pergrad as pg

RNG = np.random.default_rng(0)
W, V, X = RNG.normal(size=3), RNG.normal(size=3), RNG.normal(size=(4, 3))


class Layer:
    def __init__(self, weights, bias):
        self.weights, self.bias = weights, bias


optree.register_pytree_node(Layer, lambda p: ((p.weights, p.bias), None), lambda _, parts: Layer(*parts), namespace="tests")


@dataclasses.dataclass
class Box:
    weights: object
    bias: object = None


@dataclasses.dataclass
class Scaled:
    weights: object
    factor: dataclasses.InitVar[float] = 1.0

    def __post_init__(self, factor):
        if factor != 1.0:
            self.weights = self.weights * factor


Named = collections.namedtuple("Named", "weights bias")


def test_a_class_registered_with_optree():
    def loss(p, x):
        return np.sum(p.weights * x) * p.bias

    found = pg.grad(loss)(Layer(W, 2.0), V)
    assert type(found) is Layer
    np.testing.assert_allclose(found.weights, 2 * V)
    np.testing.assert_allclose(found.bias, W @ V)
    each = pg.per_sample_grad(loss)(Layer(W, 2.0), X)
    np.testing.assert_allclose(each.weights, 2 * X)
    inside = pg.grad(lambda p, x: loss(p["layer"], x))({"layer": Layer(W, 2.0)}, V)
    np.testing.assert_allclose(inside["layer"].weights, 2 * V)
    np.testing.assert_allclose(pg.vmap(loss, in_dims=(Layer(0, None), None))(Layer(X, 2.0), W), 2 * X @ W)
    (pulled,) = pg.vjp(lambda p: loss(p, V), Layer(W, 2.0))[1](1.0)
    np.testing.assert_allclose(pulled.weights, 2 * V)
    _, tangent = pg.jvp(lambda p: loss(p, V), (Layer(W, 2.0),), (Layer(V, 0.0),))
    np.testing.assert_allclose(tangent, 2 * V @ V)
    made = pg.vmap(lambda x: Layer(x, np.sum(x)))(X)
    assert type(made) is Layer
    np.testing.assert_allclose(made.bias, X.sum(axis=1))


def test_a_dataclass_with_an_argument_that_is_no_field():
    found = pg.grad(lambda p: np.sum(p.weights**2))(Scaled(W))
    assert type(found) is Scaled
    np.testing.assert_allclose(found.weights, 2 * W)


@pytest.mark.parametrize("make", [dict, collections.OrderedDict, lambda **items: collections.defaultdict(list, **items)])
def test_mappings_keep_their_class_and_order(make):
    given = make(w=W, a=V)
    found = pg.grad(lambda p: np.sum(p["w"] * p["a"]))(given)
    assert type(found) is type(given) and list(found) == ["w", "a"]
    assert getattr(found, "default_factory", None) is getattr(given, "default_factory", None)
    np.testing.assert_allclose(found["w"], V)
    out = pg.vmap(lambda x: make(z=x, a=np.sum(x)))(X)
    assert type(out) is type(given) and list(out) == ["z", "a"]


def test_sequences_keep_their_class():
    assert type(pg.grad(lambda p: np.sum(p[0]))(collections.deque([W]))) is collections.deque
    assert type(pg.grad(lambda p: np.sum(p[0]))([W])) is list
    assert type(pg.grad(lambda p: np.sum(p.weights))(Named(W, V))) is Named
    assert type(pg.grad(lambda p: np.sum(p.weights))(Box(W, V))) is Box


def test_keys_that_are_no_names():
    found = pg.grad(lambda p: np.sum(p[0] * p["x y"]) + np.sum(p[1, 2]))({0: W, "x y": V, (1, 2): W})
    assert list(found) == [0, "x y", (1, 2)]
    np.testing.assert_allclose(found[0], V)
    np.testing.assert_allclose(found[1, 2], np.ones(3))


def test_empty_containers_pass():
    found = pg.grad(lambda p: np.sum(p["w"]))({"w": W, "none": {}, "more": [], "t": ()})
    assert found["none"] == {} and found["more"] == [] and found["t"] == ()
    first, rest = pg.vmap(lambda x: (x, ()))(X)
    assert rest == ()


def test_cotangents_and_tangents_go_by_key():
    def f(p):
        return {"a": p["x"] * 2, "b": np.sum(p["y"])}

    given = {"x": W, "y": V}
    (found,) = pg.vjp(f, given)[1]({"b": 3.0, "a": V})
    np.testing.assert_allclose(found["x"], 2 * V)
    np.testing.assert_allclose(found["y"], np.full(3, 3.0))
    tangent = {"y": V, "x": W}
    for out in (pg.jvp(f, (given,), (tangent,))[1], pg.linearize(f, given)[1](tangent)):
        np.testing.assert_allclose(out["a"], 2 * W)
        np.testing.assert_allclose(out["b"], V.sum())


def test_none_has_none_as_its_tangent():
    def f(w, bias):
        return w * 2 if bias is None else w + bias

    np.testing.assert_allclose(pg.jvp(f, (W, None), (V, None))[1], 2 * V)
    np.testing.assert_allclose(pg.linearize(f, W, None)[1](V, None), 2 * V)
    assert pg.vjp(f, W, None)[1](V)[1] is None
    with pytest.raises(pg.PergradError, match="has no derivative"):
        pg.jvp(f, (W, None), (V, V))
