"""Constants as source: the same value, dtype and kind."""

import numpy as np
import pytest

from pergrad.compiler.backend.literals import literal
from pergrad.compiler.core.program import Const

VALUES = [
    1,
    -1.5,
    2.0,
    1 - 2j,
    complex(-0.0, 3),
    True,
    float("inf"),
    np.float32(0.1),
    np.float64(-np.inf),
    np.int8(3),
    np.bool_(True),
    np.array(2.0),
    np.array([1.0, 2.5]),
    np.array([[1, 2], [3, 4]]),
    np.array([0.1, 0.2], np.float32),
    np.array([True, False]),
    np.array([np.nan, np.inf, -0.0]),
    np.zeros((3, 4)),
    np.ones(5, np.float32),
    np.full((2, 3), 7),
    np.full(4, -0.0),
    np.full(3, False),
    np.zeros((0, 3), np.float32),
    np.zeros(40, complex),
    np.array([1 + 2j, -1j]),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_literal_is_the_value(value):
    got = eval(literal(Const(value)), {"np": np})
    assert np.asarray(got).dtype == np.asarray(value).dtype and np.shape(got) == np.shape(value)
    assert np.asarray(got).tobytes() == np.asarray(value).tobytes()
    assert isinstance(got, np.ndarray) == isinstance(value, np.ndarray)
    if not isinstance(value, (np.bool_, np.ndarray)):
        assert type(got) is type(value)


def test_big_arrays_are_not_printed():
    assert literal(Const(np.arange(100.0))) is None


@pytest.mark.parametrize(
    "recipe, text",
    [
        (("numpy.eye", (3,), {}), "np.eye(3)"),
        (("numpy.zeros", ((2, 3),), {"dtype": np.dtype("f4")}), "np.zeros((2, 3), dtype=np.float32)"),
        (("numpy.zeros", ((4,),), {}), "np.zeros(4)"),
        (("numpy.full", ((2,), np.inf), {}), "np.full(2, np.inf)"),
        (("numpy.arange", (1, 10, 2), {}), "np.arange(1, 10, 2)"),
    ],
)
def test_recipes_are_printed_as_written(recipe, text):
    assert literal(Const(np.zeros(1), recipe=recipe)) == text
