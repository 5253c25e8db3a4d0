"""in_dims and out_dims as data: what each form means, on real arrays, stand-ins and Python numbers. What is refused: test_messages."""

import collections
import dataclasses

import numpy as np
import pytest

from pergrad.arguments import check_scalar_output
from pergrad.compiler.core.trees import flatten
from pergrad.compiler.core.types import Size, Type
from pergrad.dims import map_spec, mapped_size, out_spec, spread_in_dims
from pergrad.naming import describe
from pergrad.shapes import ShapeDtype

X, Y, V = np.ones((3, 4)), np.ones((3, 5)), np.ones(3)
Pair = collections.namedtuple("Pair", "a b")


@dataclasses.dataclass
class Layer:
    weights: object
    bias: object = None


def f(x, y=0):
    return x


@pytest.mark.parametrize(
    ("in_dims", "args", "dims", "size"),
    [
        (0, (X,), (0,), 3),
        (1, (X,), (1,), 4),
        (-1, (X,), (1,), 4),
        (-2, (X, Y), (0, 0), 3),
        ((0, None), (X, V), (0, None), 3),
        ((None, -1), (2.0, X), (None, 1), 4),
        (np.int64(1), (X,), (1,), 4),
        ((0, None), (X, None), (0, None), 3),
        ((0, None), (X, "text"), (0, None), 3),
        ((0, None), (X, {"k": 1, "rest": [None, object]}), (0, None, None, None), 3),
        (0, ({"a": X, "b": [Y, V]},), (0, 0, 0), 3),
        (({"a": 1, "b": None},), ({"b": 2, "a": X},), (None, 1), 4),
        (({"a": 1, "b": None},), (collections.OrderedDict(a=X, b=2),), (1, None), 4),
        (([0, None],), ([X, 2.0],), (0, None), 3),
        (((1, 0),), ((X.T, X),), (1, 0), 3),
        ((Pair(0, None),), (Pair(X, 1.0),), (0, None), 3),
        ((Layer(0, None),), (Layer(X),), (0, None), 3),
        ((Layer([0, 1], None), 0), (Layer([X, X.T], "none"), V), (0, 1, None, 0), 3),
        (0, (X, ()), (0,), 3),
        ((0, None), (X, ()), (0,), 3),
        (0, (np.zeros((0, 4)),), (0,), 0),
        (0, (np.zeros((1, 4)),), (0,), 1),
        (0, (ShapeDtype((7, 2), "f4"), ShapeDtype(7)), (0, 0), 7),
        (0, (ShapeDtype((7,), "i8"),), (0,), 7),
    ],
)
def test_in_dims(in_dims, args, dims, size):
    assert map_spec(f, in_dims, args) == (dims, size)


def test_sizes_may_be_symbolic():
    class Symbolic:
        dtype = np.dtype(float)

        def __init__(self, shape):
            self.shape = shape

    batch = Size.named("B")
    assert map_spec(f, 0, (Symbolic((batch, 3)), Symbolic((batch,)))) == ((0, 0), batch)
    with pytest.raises(ValueError, match="different sizes"):
        map_spec(f, 0, (Symbolic((batch, 3)), Symbolic((4,))))


def test_dims_of_a_structure_serve_other_sizes():
    leaves, tree = flatten((X, {"w": Y}))
    dims = spread_in_dims(f, 0, tree, leaves)
    assert mapped_size(f, 0, dims, tree, [np.ones((9, 4)), np.ones((9, 5))]) == 9


@pytest.mark.parametrize(
    ("out_dims", "result", "batched", "dims"),
    [
        (0, X, True, (0,)),
        (2, X, True, (2,)),
        (-1, X, True, (2,)),
        (-3, X, True, (0,)),
        ((1,), X, True, (1,)),
        (0, 2.0, False, (0,)),
        (-1, 2, False, (0,)),
        (0, np.float32(2), True, (0,)),
        (0, (X, {"s": 1.0}), True, (0, 0)),
        ((1, 0), (X, V), True, (1, 0)),
        ((1, {"s": -1}), (X, {"s": 1.0}), True, (1, 0)),
        ({"s": 1}, {"s": V}, True, (1,)),
        ([1, 0], [V, V], True, (1, 0)),
        ((0, None), (X, "text"), (True, False), (0, None)),
        (None, (V, None, "text", 2.0), False, (None,) * 4),
        ((0, None), (X, [None, None]), (True, False, False), (0, None, None)),
        (0, (), True, ()),
        (Pair(0, 1), Pair(V, V), True, (0, 1)),
    ],
)
def test_out_dims(out_dims, result, batched, dims):
    outs, tree = flatten(result)
    batched = batched if isinstance(batched, tuple) else (batched,) * len(outs)
    assert out_spec(f, out_dims, tree, outs, batched) == dims


def test_types_stand_for_values():
    number, array = Type(np.dtype(float), (), weak=True, scalar=True), Type(np.dtype("f4"), (3,))
    outs, tree = flatten((number, array))
    assert out_spec(f, (0, -1), tree, outs, [True, True]) == (0, 1)
    assert describe(number) == "a Python float" and describe(array) == "an array of shape (3,) and dtype float32"
    with pytest.raises(ValueError, match="must return a scalar"):
        check_scalar_output(f, array)
    check_scalar_output(f, number)
