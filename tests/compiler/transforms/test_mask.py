"""Control flow that differs between samples, under ``control_flow="mask"``."""

import warnings

import numpy as np
import pytest

from pergrad.compiler.core.builder import call, current
from pergrad.compiler.core.builder import recorded as xnp
from pergrad.compiler.core.program import Effect
from pergrad.compiler.core.verify import verify
from pergrad.compiler.errors import VmapViolation
from pergrad.compiler.transforms.batch import batch
from pergrad.compiler.transforms.reverse import grad

from ...oracles import assert_same
from ..interpret import Raised, interpret
from ..programs import array, branch, loop, number, program, while_loop
from .check import BATCH, check_batch
from .structured import CASES, case


@pytest.mark.parametrize("name", CASES)
def test_every_parameter_mapped(name):
    p, _ = case(name)
    mapped = [True] * len(p.params)
    with np.errstate(all="ignore"):
        check_batch(p, mapped, sizes=(6, 1, 0), control_flow="mask")
        check_batch(grad(p, mapped), mapped, sizes=(6, 2, 0), control_flow="mask")


@pytest.mark.parametrize("name", ["branch in branch", "while on a value", "while in loop", "branch in loop"])
def test_nested(name):
    p, _ = case(name)
    p = grad(p, [True] * len(p.params))
    inner, _ = batch(p, [True] * len(p.params), 3, control_flow="mask")
    outer, _ = batch(inner, [True] * len(p.params), BATCH, control_flow="mask")
    verify(outer)
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=(2, 3, *v.type.shape)) for v in p.params]
    got = interpret(outer, *arrays)
    rows = [[interpret(p, *(a[i, j] for a in arrays)) for j in range(3)] for i in range(2)]
    assert_same(got, [np.array([[rows[i][j][k] for j in range(3)] for i in range(2)]) for k in range(len(got))])


def newton(a):
    """A square root whose number of steps depends on the number."""
    n, x = while_loop([0, a + 1.0], lambda n, x: abs(x * x - a) > 1e-9, lambda n, x: (n + 1, 0.5 * (x + a / x)))
    return x, n


def test_newton():
    p = program(newton, number(name="a"))
    a = np.array([2.0, 1e6, 1e-3, 1.0])
    b, flags = batch(p, [True], BATCH, control_flow="mask")
    x, n = interpret(b, a)
    assert_same(x, np.sqrt(a), rtol=1e-6)
    assert flags == (True, True) and n.tolist() == [interpret(p, v)[1] for v in a] and len(set(n.tolist())) > 2
    g, _ = batch(grad(program(lambda a: newton(a)[0], number()), [True]), [True], BATCH, control_flow="mask")
    assert_same(interpret(g, a)[0], 0.5 / np.sqrt(a), rtol=1e-5)


def test_gradients_have_no_nan():
    """The side that a sample does not take cannot bring a NaN."""
    p = program(lambda x: branch(x > 0.0, lambda: xnp.sqrt(x), lambda: x * 0.0), number(name="x"))
    g, _ = batch(grad(p, [True]), [True], BATCH, control_flow="mask")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with np.errstate(all="ignore"):
            got = interpret(g, np.array([4.0, -1.0, 0.0]))[0]
    assert got.tolist() == [0.25, 0.0, 0.0]


def test_no_warnings_are_asked_for_where_none_can_come():
    p = program(lambda x: branch(x > 0.0, lambda: x, lambda: -x), number())
    assert not any(isinstance(n, Effect) for n in batch(p, [True], BATCH, control_flow="mask")[0].body)
    p = program(lambda x: branch(x > 0.0, lambda: xnp.log(x), lambda: -x), number())
    kinds = [n.kind for n in batch(p, [True], BATCH, control_flow="mask")[0].body if isinstance(n, Effect)]
    assert kinds == ["errstate_enter", "errstate_exit"]


def test_indices_are_clamped():
    def f(x, n):
        return loop(4, [0.0 * x[0]], [], lambda i, s: (branch(n + i < 4, lambda: s + x[n + i], lambda: s),))

    p = program(f, array(4), array(dtype="i8", name="n"))
    check_batch(p, [True, True], sizes=(5,), control_flow="mask")
    b, _ = batch(p, [False, True], BATCH, control_flow="mask")
    x, n = np.arange(4.0) + 1, np.arange(5)
    assert interpret(b, x, n)[0].tolist() == [x[k:].sum() for k in n]

    def write(x, n):
        return loop(4, [x], [], lambda i, y: (branch(n + i < 4, lambda: call("pergrad.setitem", y, n + i, y[n + i] * 2.0), lambda: y),))

    b, _ = batch(program(write, array(4), array(dtype="i8")), [False, True], BATCH, control_flow="mask")
    assert interpret(b, x, n)[0].tolist() == [[*x[:k], *(2 * x[k:])] for k in n]


def test_a_while_on_an_unmapped_test_does_not_run_where_nobody_comes():
    def f(x, t):
        def then():
            return while_loop([t], lambda s: s != 1.0, lambda s: (s + 1.0,)) * x

        return branch(x > 0.0, then, lambda: x)

    b, _ = batch(program(f, number(name="x"), number(name="t")), [True, False], BATCH, control_flow="mask")
    assert interpret(b, np.array([-1.0, -2.0]), 2.0)[0].tolist() == [-1.0, -2.0]  # from 2 the loop would never end
    assert interpret(b, np.array([-1.0, 3.0]), -2.0)[0].tolist() == [-1.0, 3.0]


def raising(x):
    def then():
        current().append(Effect(outs=(), kind="raise", payload="negative"))
        return x

    return branch(x < 0.0, then, lambda: xnp.sqrt(x))


def test_raise_only_if_a_sample_comes_there():
    b, _ = batch(program(raising, number()), [True], BATCH, control_flow="mask")
    verify(b)
    assert interpret(b, np.array([4.0, 9.0]))[0].tolist() == [2.0, 3.0]
    with pytest.raises(Raised, match="negative"), np.errstate(all="ignore"):
        interpret(b, np.array([4.0, -9.0]))


def test_assert_on_an_unmapped_test_counts_where_a_sample_comes():
    def f(x, t):
        def then():
            current().append(Effect(outs=(), kind="assert", args=((t > 0.0).atom,)))
            return x

        return branch(x > 0.0, then, lambda: -x)

    b, _ = batch(program(f, number(), number()), [True, False], BATCH, control_flow="mask")
    assert interpret(b, np.array([-4.0, -9.0]), -1.0)[0].tolist() == [4.0, 9.0]
    with pytest.raises(Raised):
        interpret(b, np.array([-4.0, 9.0]), -1.0)


def test_assert_on_a_mapped_test_stays_an_error():
    def f(x):
        current().append(Effect(outs=(), kind="assert", args=((x > 0.0).atom,)))
        return x

    with pytest.raises(VmapViolation) as caught:
        batch(program(f, number()), [True], BATCH, control_flow="mask")
    assert caught.value.code == "PGR103"
