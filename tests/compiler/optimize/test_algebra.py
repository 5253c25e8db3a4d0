"""Each rule, by what is left of a small program."""

import numpy as np
import pytest

from pergrad.compiler.core.builder import atom_of, current
from pergrad.compiler.core.builder import recorded as xnp
from pergrad.compiler.core.program import Const
from pergrad.compiler.core.verify import verify
from pergrad.compiler.ops.contraction import contract
from pergrad.compiler.ops.indexing import put
from pergrad.compiler.optimize import simplify

from ..interpret import interpret
from ..programs import BATCH, array, branch, number, ops, program


def derived(function):
    """The function's ops as if differentiation had added them."""

    def build(*values):
        with current().stamped(section="backward"):
            return function(*values)

    return build


def left(function, *params, derivative=False, exact=True):
    """The ops that remain, once values and types are seen to be the same."""
    before = program(derived(function) if derivative else function, *params)
    verify(before)
    after = simplify(before)
    verify(after)
    rng = np.random.default_rng(0)
    arrays = [make(rng, p.type) for p in params]
    for x, y in zip(interpret(before, *arrays), interpret(after, *arrays), strict=True):
        if exact:
            np.testing.assert_array_equal(x, y)
        else:
            np.testing.assert_allclose(x, y, rtol=1e-6)
    return ops(after)


def make(rng, t):
    shape = [5 if d is BATCH else d for d in t.shape]
    x = rng.standard_normal(shape)
    return (x > 0 if t.dtype == bool else 3 * x if t.dtype.kind in "iu" else x).astype(t.dtype)[()]


ARITHMETIC = [
    (lambda x, y: x + 0.0, []),
    (lambda x, y: 0 + x, []),
    (lambda x, y: x - 0, []),
    (lambda x, y: x * 1, []),
    (lambda x, y: np.ones(3) * x, []),
    (lambda x, y: x / 1.0, []),
    (lambda x, y: x**1, []),
    (lambda x, y: -(-x), []),
    (lambda x, y: x + -y, ["subtract"]),
    (lambda x, y: -x + y, ["subtract"]),
    (lambda x, y: x - -y, ["add"]),
    (lambda x, y: x * -1.0, ["negative"]),
    (lambda x, y: x * 0.0, ["multiply"]),
    (lambda x, y: 0.0 - x, ["subtract"]),
    (lambda x, y: xnp.where(x > y, x, x), []),
    (lambda x, y: xnp.where(x > y, x, 0.0), ["greater", "where"]),
    (lambda x, y: xnp.where(np.array(True), x, y), []),
    (lambda x, y: xnp.where(x > y, xnp.where(x > y, x, 0.0), 1.0), ["greater", "where"]),
    (lambda x, y: xnp.astype(x, np.float64), []),
    (lambda x, y: xnp.astype(x, np.float32), ["astype"]),
    (lambda x, y: xnp.logical_not(xnp.logical_not(x > y)), ["greater"]),
    (lambda x, y: xnp.logical_and(x > y, True), ["greater"]),
]


@pytest.mark.parametrize(("function", "expected"), ARITHMETIC)
def test_arithmetic(function, expected):
    assert left(function, array(3), array(3)) == expected


DERIVED = [
    (lambda x, y: 2.0 * (0.5 * x), []),
    (lambda x, y: 2.0 * (3.0 * x), ["multiply"]),
    (lambda x, y: 0.1 * (3.0 * x), ["multiply", "multiply"]),
    (lambda x, y: x * -y, ["multiply", "negative"]),
    (lambda x, y: x + y * -xnp.sin(x), ["sin", "multiply", "subtract"]),
    (lambda x, y: -(x - y), ["subtract"]),
    (lambda x, y: -(2.0 * x), ["multiply"]),
    (lambda x, y: y * (1.0 / x), ["divide"]),
    (lambda x, y: 0.0 - x, ["negative"]),
    (lambda x, y: xnp.expand_dims(x, 1) + xnp.expand_dims(-y, 1), ["expand_dims", "expand_dims", "subtract"]),
    (lambda x, y: x + xnp.where(y > 0.0, -y, 0.0), ["greater", "where", "subtract"]),
    (lambda x, y: xnp.where(x > 0.0, 2.0 * (xnp.where(x > 0.0, x, 0.0) - y), 0.0), ["greater", "subtract", "multiply", "where"]),
    (lambda x, y: xnp.where(x > 0.0, y, 0.0) + 0.1 * xnp.where(x > 0.0, 0.0, y), ["greater", "multiply", "where"]),
    (lambda x, y: xnp.where(x > 0.0, y, 0.0) + xnp.where(y > 0.0, 0.0, y), ["greater", "where", "greater", "where", "add"]),
    (lambda x, y: -2.0 + x * y, ["multiply", "subtract"]),
    (lambda x, y: x - 3.0 / y * -1.0, ["divide", "add"]),
    (lambda x, y: x + contract(",i->i", -1.0, y), ["subtract"]),
    (lambda x, y: xnp.where(x > 0.0, y * xnp.where(x > 0.0, x, 0.0), 0.0), ["greater", "where", "multiply", "where"]),
    (lambda x, y: x[0] + xnp.dot(-x, y), ["getitem", "einsum", "subtract"]),
]


@pytest.mark.parametrize(("function", "expected"), DERIVED)
def test_arithmetic_of_derivatives(function, expected):
    assert left(function, array(3), array(3), derivative=True, exact=False) == expected


def test_types_are_kept():
    assert left(lambda x: x + np.zeros((2, 3)), array(3)) == ["add"]
    assert left(lambda x: x + np.float64(0), array(3, dtype="f4")) == ["add"]
    assert left(lambda x: x * 1.0, array(3, dtype="i8")) == ["multiply"]
    assert left(lambda x: x + 0.0, array(3, dtype="f4")) == []
    assert left(lambda x: x + 0.0, array()) == ["add"], "a 0-d array becomes a scalar"
    assert left(lambda x: x + 0.0, number()) == []


def test_power_of_two_only():
    p = simplify(program(derived(lambda x: 0.1 * (3.0 * x)), array(3)))
    assert ops(p) == ["multiply", "multiply"]


LAYOUT = [
    (lambda x: xnp.transpose(xnp.transpose(x, (1, 2, 0)), (2, 0, 1)), []),
    (lambda x: xnp.transpose(xnp.transpose(x, (1, 2, 0)), (1, 2, 0)), ["transpose"]),
    (lambda x: xnp.reshape(xnp.reshape(x, (24,)), (6, 4)), ["reshape"]),
    (lambda x: xnp.reshape(xnp.reshape(x, (24,)), (2, 3, 4)), []),
    (lambda x: xnp.squeeze(xnp.expand_dims(x, 1), 1), []),
    (lambda x: xnp.squeeze(xnp.expand_dims(x, (0, 2)), 2), ["expand_dims"]),
    (lambda x: xnp.expand_dims(xnp.expand_dims(x, 0), 2), ["expand_dims"]),
    (lambda x: xnp.expand_dims(xnp.expand_dims(x, 3), 1), ["expand_dims"]),
    (lambda x: xnp.broadcast_to(x, (2, 3, 4)), []),
    (lambda x: xnp.broadcast_to(xnp.broadcast_to(x, (5, 2, 3, 4)), (6, 5, 2, 3, 4)), ["broadcast_to"]),
    (lambda x: x * xnp.broadcast_to(x[0, 0], (2, 3, 4)), ["getitem", "multiply"]),
    (lambda x: xnp.tanh(xnp.broadcast_to(x[0, 0], (2, 3, 4))) * 2.0, ["getitem", "tanh", "multiply", "broadcast_to"]),
    (lambda x: xnp.squeeze(xnp.sum(x, axis=1, keepdims=True), 1), ["sum"]),
    (lambda x: xnp.sum(xnp.expand_dims(x, 1), axis=1), []),
    (lambda x: xnp.sum(xnp.expand_dims(x, 1), axis=1, keepdims=True), ["expand_dims"]),
]


@pytest.mark.parametrize(("function", "expected"), LAYOUT)
def test_layout(function, expected):
    assert left(function, array(2, 3, 4)) == expected


def test_transposes_of_contractions():
    assert left(lambda x, y: x @ xnp.transpose(y), array(4, 3), array(5, 3)) == ["einsum"]
    assert left(lambda x, y: xnp.transpose(x @ y), array(4, 3), array(3, 5), derivative=True) == ["einsum"]
    assert left(lambda x, y: xnp.transpose(x @ y), array(4, 3), array(3, 5)) == ["einsum", "transpose"]


def test_sum_of_a_broadcast():
    assert left(lambda x: xnp.sum(xnp.broadcast_to(x, (5, 3)), axis=0), array(3), derivative=True, exact=False) == ["multiply"]
    assert left(lambda x: xnp.sum(xnp.broadcast_to(x, (5, 3))), array(3), derivative=True, exact=False) == ["sum", "multiply"]
    assert left(lambda x: xnp.sum(xnp.broadcast_to(x, (5, 3)), axis=0), array(3)) == ["broadcast_to", "sum"]


INDICES = [
    (lambda x, y: xnp.stack([x, y])[1], []),
    (lambda x, y: xnp.stack([x, y], axis=1)[:, -2], []),
    (lambda x, y: xnp.stack([x, y])[0, 1], ["stack", "getitem"]),
    (lambda x, y: xnp.concatenate([x, y])[3:], []),
    (lambda x, y: xnp.concatenate([x, y])[1:4], ["concatenate", "getitem"]),
    (lambda x, y: x[:], []),
    (lambda x, y: put(x, y[0], (1,), ())[1], ["getitem"]),
    (lambda x, y: put(put(x, y[0], (1,), ()), y[1], (2,), ())[1], ["getitem"]),
    (lambda x, y: put(x, y[0], (1,), ())[2], ["getitem"]),
    (lambda x, y: put(x, y[0], (slice(0, 2),), ())[2], ["getitem"]),
    (lambda x, y: put(x, y[0], (slice(0, 2),), ())[1], ["getitem", "setitem", "getitem"]),
    (lambda x, y: put(x, y, (slice(None),), ()), []),
    (lambda x, y: put(x, y, (slice(None),), (), add=True), ["add"]),
    (lambda x, y: put(np.zeros(3), y, (slice(None),), (), add=True), []),
    (lambda x, y: put(np.zeros(3), y[:2], (slice(1, None),), (), add=True), ["getitem", "setitem"]),
    (lambda x, y: put(put(x, 1.0, (0,), ()), y[0], (0,), ()), ["getitem", "setitem"]),
    (lambda x, y: put(put(np.zeros(3), y[0], (0,), (), add=True), x[0], (1,), (), add=True), ["getitem", "setitem", "getitem", "setitem"]),
    (lambda x, y: put(put(np.zeros(3), y[0], (0,), (), add=True), x[0], (0,), (), add=True), ["getitem", "setitem", "getitem", "additem"]),
]


@pytest.mark.parametrize(("function", "expected"), INDICES)
def test_indices(function, expected):
    assert left(function, array(3), array(3)) == expected


def test_reads_at_symbolic_places():
    assert left(lambda x, i: xnp.tanh(put(x, 2.0 * x[i], *slot(i))[i]), array(3), number("i8")) == ["getitem", "multiply", "tanh"]


def slot(i):
    from pergrad.compiler.ops.indexing import Slot

    return (Slot(0),), (i,)


def test_branches():
    assert left(lambda x: branch(Const(np.bool_(True)), lambda: x * 2.0, lambda: x), array(3)) == ["multiply"]
    assert left(lambda x, p: branch(p, lambda: (x, x * 2.0), lambda: (x, x))[0], array(3), number("?")) == []


def test_names_move_to_what_replaces():
    def f(x):
        y = x * -1.0
        y.atom.name = "y"
        return y

    p = simplify(program(f, array(3)))
    assert p.body[0].op == "numpy.negative" and p.body[0].outs[0].name == "y"


def test_known_values_fold():
    p = simplify(program(lambda x: branch(Const(np.bool_(True)), lambda: x, lambda: x * 2.0), array(3)))
    assert p.results == p.params
    assert isinstance(atom_of(simplify(program(lambda x: Const(1.0), array(3))).results[0]), Const)


@pytest.mark.parametrize(
    "first, second, left_over",
    [
        (np.s_[:, :4], np.s_[:, 1:3], np.s_[:, 1:3]),
        (np.s_[:, 2:], np.s_[:, 1], np.s_[:, 3]),
        (np.s_[1], np.s_[::-1], np.s_[1, ::-1]),
        (np.s_[:, ::-1], np.s_[:, :2], np.s_[:, 4:2:-1]),
        (np.s_[:, 4:1:-1], np.s_[:, ::-1], np.s_[:, 2:]),
        (np.s_[:, 3:], np.s_[:, 2:], np.s_[:, 0:0]),
        (np.s_[1:], np.s_[:, -1], np.s_[1:, 4]),
    ],
)
def test_two_reads_are_one(first, second, left_over):
    x = np.arange(15.0).reshape(3, 5)
    assert left(lambda x: x[first][second], array(3, 5)) == ["getitem"]
    np.testing.assert_array_equal(x[first][second], x[left_over])


def test_reads_of_new_axes_or_by_arrays_stay_two():
    assert left(lambda x: x[:, None, :4][:, 0, 1:], array(3, 5)) == ["getitem", "getitem"]
    assert left(lambda x, i: x[1:][i], array(3, 5), array(4, dtype="i8")) == ["getitem", "getitem"]
