"""The oracles themselves, on functions whose derivatives are known by heart."""

from collections import namedtuple

import numpy as np

from tests import oracles

Pair = namedtuple("Pair", "a b")


def test_central_differences_of_a_polynomial_are_exact_to_many_digits():
    gradient = oracles.central_differences(lambda x: np.sum(x**3), (np.array([1.0, -2.0, 0.5]),))
    np.testing.assert_allclose(gradient, [3.0, 12.0, 0.75], rtol=1e-9)


def test_central_differences_go_through_trees_and_leave_the_arguments_alone():
    params = {"w": np.array([1.0, 2.0]), "n": 3, "p": Pair(0.5, [np.array([[1.0]])])}

    def func(p, x):
        p["w"] *= x
        return np.sum(p["w"] ** 2) + p["p"].a * p["p"].b[0][0, 0] * p["n"]

    gradient = oracles.central_differences(func, (params, 2.0))
    oracles.assert_same(gradient, {"w": np.array([8.0, 16.0]), "n": 0.0, "p": Pair(3.0, [np.array([[1.5]])])})
    assert params["w"].tolist() == [1.0, 2.0]


def test_directional_difference():
    tangent = oracles.directional_difference(lambda x, y: {"s": np.sin(x) * y}, (0.3, np.ones(2)), (2.0, np.array([1.0, 0.0])))
    expected = {"s": 2 * np.cos(0.3) * np.ones(2) + np.sin(0.3) * np.array([1.0, 0.0])}
    oracles.assert_same(tangent, expected, rtol=1e-9)


def test_per_sample_loop_takes_any_axis_and_any_prefix():
    x, w, p = np.arange(6.0).reshape(2, 3), np.array([1.0, 2.0]), {"b": np.arange(3.0), "c": 1.0}
    out = oracles.per_sample_loop(lambda x, w, p: x @ w + p["b"] + p["c"], (x, w, p), (1, None, {"b": 0, "c": None}))
    np.testing.assert_allclose(out, x.T @ w + p["b"] + 1.0)


def test_a_wrong_gradient_is_seen_by_the_dot_product():
    assert oracles.dot_product_gap(np.array([2.0]), np.array([1.0]), (np.array([1.0]),), (np.array([2.0]),)) == 0
    assert oracles.dot_product_gap(np.array([2.0]), np.array([1.0]), (np.array([1.0]),), (np.array([2.1]),)) > 0.01
