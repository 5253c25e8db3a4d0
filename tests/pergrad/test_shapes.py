"""The stand-in for an array: a frozen value that says shape and dtype."""

import pickle

import numpy as np
import pytest

from pergrad.shapes import ShapeDtype


def test_is_a_value():
    s = ShapeDtype([2, np.int64(3)], "f4")
    assert s.shape == (2, 3) and s.dtype == np.float32 and s.ndim == 2
    assert s == ShapeDtype((2, 3), np.float32) and hash(s) == hash(ShapeDtype((2, 3), np.float32))
    assert s != ShapeDtype((2, 3)) and s != (2, 3)
    assert repr(s) == "ShapeDtype((2, 3), float32)"
    assert pickle.loads(pickle.dumps(s)) == s
    assert ShapeDtype(3) == ShapeDtype((3,), float)
    assert ShapeDtype.of([[1, 2]]) == ShapeDtype((1, 2), np.int64)


def test_does_not_change():
    s = ShapeDtype(3)
    with pytest.raises(AttributeError):
        s.shape = (4,)
    with pytest.raises(AttributeError):
        del s.dtype


def test_refuses_what_is_no_shape():
    with pytest.raises(ValueError, match="negative"):
        ShapeDtype((2, -1))
    with pytest.raises(TypeError):
        ShapeDtype((2.0,))
    with pytest.raises(TypeError):
        ShapeDtype(3, "no dtype")
