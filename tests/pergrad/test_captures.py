"""Globals, closures and attributes are read afresh at every call; a changed flag is never stale."""

import numpy as np

import pergrad as pg

FACTOR = 2.0
ARRAY = np.array([1.0, 2.0, 3.0])
SWITCH = True


def uses_globals(x):
    y = x * ARRAY * FACTOR
    if SWITCH:
        y = y * y
    return np.sum(y)


def test_a_global_number_flag_and_array_may_change(monkeypatch):
    g, x = pg.grad(uses_globals), np.ones(3)
    np.testing.assert_allclose(g(x), 2 * (2 * ARRAY) ** 2)
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    np.testing.assert_allclose(g(x), 2 * (3 * ARRAY) ** 2)
    monkeypatch.setitem(globals(), "SWITCH", False)
    np.testing.assert_allclose(g(x), 3 * ARRAY)
    monkeypatch.setitem(globals(), "ARRAY", np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))
    np.testing.assert_allclose(g(x), [3.0, 3.0, 0.0])


def test_an_array_changed_in_place_is_seen():
    table = np.ones(3)
    g = pg.grad(lambda x: np.sum(x * x * table))
    np.testing.assert_allclose(g(np.ones(3)), 2.0)
    table[1] = 5.0
    np.testing.assert_allclose(g(np.ones(3)), [2.0, 10.0, 2.0])


def test_a_rebound_closure_variable_is_seen():
    scale = np.array(2.0)

    def f(x):
        return np.sum(x) * scale

    g = pg.grad(f)
    np.testing.assert_allclose(g(np.ones(2)), 2.0)
    scale = np.array(7.0)
    np.testing.assert_allclose(g(np.ones(2)), 7.0)


class Holder:
    def __init__(self):
        self.w = np.ones(2)
        self.mode = "plain"
        self.options = {"k": 1.0}

    def f(self, x):
        y = x * self.w * self.options["k"]
        return np.sum(y * y) if self.mode == "square" else np.sum(y)


def test_attributes_and_items_are_seen():
    h = Holder()
    g = pg.grad(h.f)
    np.testing.assert_allclose(g(np.ones(2)), 1.0)
    h.w = np.array([2.0, 3.0])
    np.testing.assert_allclose(g(np.ones(2)), [2.0, 3.0])
    h.mode = "square"
    np.testing.assert_allclose(g(np.ones(2)), [8.0, 18.0])
    h.options["k"] = 2.0
    np.testing.assert_allclose(g(np.ones(2)), [32.0, 72.0])


def helper(x):
    return x * x


def test_a_helper_that_is_replaced_is_seen(monkeypatch):
    g = pg.grad(lambda x: helper(x))
    assert g(3.0) == 6.0
    monkeypatch.setitem(globals(), "helper", lambda x: 5.0 * x)
    assert g(3.0) == 5.0


def test_captures_are_not_written():
    table = np.ones(3)
    pg.vmap(pg.grad(lambda x: np.sum(x * table)))(np.ones((2, 3)))
    np.testing.assert_array_equal(table, 1.0)
