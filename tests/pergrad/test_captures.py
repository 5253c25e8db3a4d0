"""Globals, closures and attributes are read afresh at every call; a changed flag is never stale."""

import itertools
import math
from collections import deque

import numpy as np
import pytest

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


NUMBERS, NAMES, TABLE, RECENT = [1.0, 2.0], {1, 2}, {"a": 1.0}, deque([1.0, 2.0])


@pytest.mark.parametrize(
    ("func", "container", "change"),
    [
        (lambda x: x**2 if NUMBERS and x else x**3, NUMBERS, lambda: NUMBERS.clear()),
        (lambda x: x**2 if not NUMBERS else x**3, NUMBERS, lambda: NUMBERS.clear()),
        (lambda x: x**2 if bool(NUMBERS) else x**3, NUMBERS, lambda: NUMBERS.clear()),
        (lambda x: x * len(NUMBERS or [1, 2, 3]), NUMBERS, lambda: NUMBERS.clear()),
        (lambda x: x**2 if NUMBERS == [1.0, 2.0] else x**3, NUMBERS, lambda: NUMBERS.append(3.0)),
        (lambda x: x * sum(NUMBERS + [1.0]), NUMBERS, lambda: NUMBERS.append(3.0)),
        (lambda x: x * sum(NUMBERS * 2), NUMBERS, lambda: NUMBERS.append(3.0)),
        (lambda x: x * sum(NUMBERS[1:]), NUMBERS, lambda: NUMBERS.append(3.0)),
        (lambda x: x * NUMBERS.index(2.0), NUMBERS, lambda: NUMBERS.insert(0, 3.0)),
        (lambda x: x * NUMBERS.count(2.0), NUMBERS, lambda: NUMBERS.append(2.0)),
        (lambda x: x * len(str(NUMBERS)), NUMBERS, lambda: NUMBERS.append(2.0)),
        (lambda x: x * math.prod(NUMBERS), NUMBERS, lambda: NUMBERS.append(3.0)),
        (lambda x: x * sum(itertools.chain(NUMBERS, [1.0])), NUMBERS, lambda: NUMBERS.append(3.0)),
        (lambda x: x**2 if 3 in NAMES else x**3, NAMES, lambda: NAMES.add(3)),
        (lambda x: x**2 if 3 not in NAMES else x**3, NAMES, lambda: NAMES.add(3)),
        (lambda x: x * len(NAMES), NAMES, lambda: NAMES.add(3)),
        (lambda x: x * sum(v for v in NAMES), NAMES, lambda: NAMES.add(3)),
        (lambda x: x * max(NAMES), NAMES, lambda: NAMES.add(3)),
        (lambda x: x * len(NAMES | {9}), NAMES, lambda: NAMES.add(3)),
        (lambda x: x**2 if {3}.issubset(NAMES) else x**3, NAMES, lambda: NAMES.add(3)),
        (lambda x: x * TABLE.get("b", 0.5), TABLE, lambda: TABLE.update(b=2.0)),
        (lambda x: x * sum((TABLE | {"c": 1.0}).values()), TABLE, lambda: TABLE.update(a=2.0)),
        (lambda x: x * len([key for key in TABLE]), TABLE, lambda: TABLE.update(b=2.0)),
        (lambda x: x * sum(RECENT), RECENT, lambda: RECENT.append(3.0)),
        (lambda x: x * RECENT[-1], RECENT, lambda: RECENT.append(3.0)),
        (lambda x: x * len(RECENT), RECENT, lambda: RECENT.append(3.0)),
    ],
)
def test_whatever_reads_a_captured_container_reads_it_afresh(func, container, change):
    before = container.copy()
    value = pg.grad_and_value(func)
    assert value(2.0)[1] == func(2.0)
    try:
        change()
        assert value(2.0)[1] == func(2.0)
    finally:
        container.clear()
        (container.extend if isinstance(container, (list, deque)) else container.update)(before)
    assert value(2.0)[1] == func(2.0)
    assert value.cache_info().misses == 2


def test_an_item_that_is_not_read_compiles_nothing_anew():
    state = {"rate": 2.0, "step": 0}
    value = pg.grad_and_value(lambda x: x * state["rate"] * state.get("rate"))
    for step in range(3):
        state["step"] = step
        assert value(3.0)[1] == 12.0
    assert value.cache_info().misses == 1
