"""Dead code, common subexpressions, loops and weak constants."""

import numpy as np
import pytest

from pergrad.compiler.core.builder import current
from pergrad.compiler.core.builder import recorded as xnp
from pergrad.compiler.core.program import Apply, Const, Effect, For
from pergrad.compiler.core.verify import verify
from pergrad.compiler.ops import table
from pergrad.compiler.ops.indexing import put
from pergrad.compiler.optimize import optimize, simplify
from pergrad.compiler.optimize.common import eliminate_common
from pergrad.compiler.optimize.dead_code import eliminate_dead_code
from pergrad.compiler.optimize.invariants import hoist_invariants
from pergrad.compiler.optimize.reads import read_before_write
from pergrad.compiler.optimize.weaken import weaken_constants

from ..interpret import interpret
from ..programs import array, branch, loop, number, ops, program, while_loop


def dead(function, *params):
    p = eliminate_dead_code(program(function, *params))
    verify(p)
    return p


def test_unread_ops_go():
    assert ops(dead(lambda x: (xnp.exp(x), x * 2.0)[1], array(3))) == ["multiply"]


def test_effects_stay():
    def f(x):
        current().append(Effect(outs=(), kind="print", args=((x * 3.0).atom,)))
        branch(xnp.sum(x) > 0.0, lambda: current().append(Effect(outs=(), kind="raise")) and x, lambda: x)
        return x

    assert ops(dead(f, array(3))) == ["multiply", "Effect", "sum", "greater", "If", "Effect"]


def test_random_draws_stay():
    table.op("test.draw", infer=lambda types, params: types[0], random=True, operands=("x",), signature="x")
    try:

        def f(x):
            current().apply(table.find("test.draw"), [x], {})
            current().apply(table.find("test.draw"), [x], {})
            return x

        assert ops(simplify(program(f, array(3)))) == ["test.draw", "test.draw"]
    finally:
        table.remove("test.draw")


def test_unread_branch_results_go():
    p = dead(lambda x: branch(xnp.sum(x) > 0.0, lambda: (x * 2.0, xnp.exp(x)), lambda: (x, xnp.log(x)))[0], array(3))
    assert ops(p) == ["sum", "greater", "If", "multiply"]


def test_unread_carries_slices_and_stacks_go():
    def f(x, y):
        outs = loop(4, [x, x], [y, y], lambda i, c, d, s, t: (c * s, d + c, xnp.exp(c), xnp.exp(t)))
        return outs[0], outs[2]

    p = dead(f, array(3), array(4, 3))
    (node,) = p.body
    assert isinstance(node, For) and node.carried == 1 and len(node.xs) == 1 and len(node.outs) == 2
    assert ops(p) == ["For", "multiply", "exp"]


def test_a_carry_that_feeds_a_live_one_stays():
    p = dead(lambda x: loop(4, [x, x, x], [], lambda i, a, b, c: (a + b, b * 2.0, c * 3.0))[0], array(3))
    assert p.body[0].carried == 2


def test_carries_of_a_while():
    def f(n, x):
        return while_loop([n, x, x], lambda n, a, b: n < 3.0, lambda n, a, b: (n + 1.0, a * 2.0, b * n, a), counted=True)[1]

    p = dead(f, number(), array(3))
    (node,) = p.body
    assert node.carried == 2 and not node.counted and len(node.outs) == 2
    np.testing.assert_array_equal(interpret(p, 0.0, np.ones(3))[0], np.full(3, 8.0))


def test_a_dead_loop_goes():
    assert ops(dead(lambda x: (loop(4, [x], [], lambda i, c: (xnp.exp(c),)), x)[1], array(3))) == []


def common(function, *params):
    p = eliminate_common(program(function, *params))
    verify(p)
    return ops(p)


def test_equal_ops_merge():
    assert common(lambda x: xnp.exp(x) * xnp.exp(x), array(3)) == ["exp", "multiply"]
    assert common(lambda x: (x * 2.0) + (x * 2.0), array(3)) == ["multiply", "add"]
    assert common(lambda x: xnp.sum(x, axis=0) + xnp.sum(x, axis=1), array(3, 3)) == ["sum", "sum", "add"]
    assert common(lambda x: x[0] + x[-3] + x[0], array(3)) == ["getitem", "getitem", "add", "add"]


def test_constants_are_compared_by_type_and_bytes():
    assert common(lambda x: (x * np.nan) + (x * np.nan), array(3)) == ["multiply", "add"]
    assert common(lambda x: (x * 0.0) + (x * -0.0), array(3)) == ["multiply", "multiply", "add"]
    assert common(lambda x: (x * np.float64(2)) + (x * 2.0), array(3)) == ["multiply", "multiply", "add"]
    assert common(lambda x: (x * np.arange(3)) + (x * np.arange(3)), array(3)) == ["multiply", "add"]


def test_inner_blocks_use_outer_values():
    assert common(lambda x: xnp.exp(x) + loop(3, [x], [], lambda i, c: (c + xnp.exp(x),)), array(3)) == ["exp", "For", "add", "add"]
    assert common(lambda x: branch(xnp.sum(x) > 0, lambda: xnp.exp(x), lambda: xnp.exp(x)) + xnp.exp(x), array(3)) == [
        *("sum", "greater", "If", "exp", "exp"),
        *("exp", "add"),
    ]


def test_invariant_carries():
    def f(x, y):
        a, b = loop(3, [x, y], [], lambda i, a, b: (a * b, b))
        return a + b

    p = simplify(program(f, array(3), array(3)))
    verify(p)
    assert p.body[0].carried == 1
    np.testing.assert_array_equal(interpret(p, np.full(3, 2.0), np.full(3, 3.0))[0], np.full(3, 57.0))


def weak(function, *params):
    p = weaken_constants(program(function, *params))
    verify(p)
    return [a.value for n in p.body for a in n.args if isinstance(a, Const)]


def test_constants_become_python_numbers():
    assert weak(lambda x: np.float32(0.1) * x, array(3, dtype="f4")) == [0.1]
    assert repr(weak(lambda x: np.int64(2) * x, array(3, dtype="i8"))) == "[2]"
    assert weak(lambda x: xnp.where(x > np.float64(0), x, np.zeros(3)), array(3)) == [0.0, 0.0]
    assert isinstance(weak(lambda x: np.float64(0.5) * x, array(3, dtype="f4"))[0], np.float64), "the result would be float32"
    assert isinstance(weak(lambda x: x * np.array([1.0, 2.0, 3.0]), array(3))[0], np.ndarray)
    assert isinstance(weak(lambda x: x * np.ones((2, 3)), array(3))[0], np.ndarray), "the result would be smaller"
    assert repr(weak(lambda x: np.float32(-0.0) * x, array(3, dtype="f4"))) == "[-0.0]"
    assert weak(lambda x: np.float32(np.inf) * x, array(3, dtype="f4")) == [np.inf]


def test_optimize_keeps_values():
    def f(x):
        h = xnp.tanh(x @ np.eye(3)) * np.float64(1.0)
        return loop(2, [h], [], lambda i, c: (c * xnp.exp(x[0]) + np.zeros(3),))

    p = program(f, array(3))
    q = optimize(p)
    verify(q)
    x = np.array([0.1, 0.2, 0.3])
    np.testing.assert_allclose(interpret(q, x)[0], interpret(p, x)[0])
    assert all(isinstance(n, (Apply, For)) for n in q.body)


@pytest.mark.parametrize("one", [simplify, optimize])
def test_deterministic(one):
    def f(x, y):
        return xnp.exp(x) * y + xnp.exp(x) * y, xnp.sum(x * y)

    assert ops(one(program(f, array(3), array(3)))) == ops(one(program(f, array(3), array(3))))


def hoisted(function, *params):
    p = program(function, *params)
    q = hoist_invariants(p)
    verify(q)
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(v.type.shape)[()] for v in params]
    np.testing.assert_array_equal(interpret(p, *arrays)[0], interpret(q, *arrays)[0])
    return ops(q)


def test_invariants_move_out_of_loops():
    assert hoisted(lambda x, y: loop(3, [x], [], lambda i, c: (c + xnp.exp(y) * 2.0,)), array(3), array(3)) == [
        "exp",
        "multiply",
        "For",
        "add",
    ]
    nested = lambda x, y: loop(3, [x], [], lambda i, c: (loop(2, [c], [], lambda j, d: (d + xnp.exp(y),)),))
    assert hoisted(nested, array(3), array(3)) == ["exp", "For", "For", "add"]


def test_views_move_only_with_what_needs_them():
    assert hoisted(lambda x, y: loop(3, [x], [], lambda i, c: (y.T @ c,)), array(3), array(3, 3)) == ["For", "transpose", "einsum"]
    assert hoisted(lambda x, y: loop(3, [x], [], lambda i, c: (c + xnp.exp(y.T)[0],)), array(3), array(3, 3)) == [
        *("transpose", "exp", "For", "getitem", "add"),
    ]


def test_what_may_warn_stays_in_a_loop_that_may_not_run():
    f = lambda n, x, y: while_loop([n, x], lambda n, c: n < 3.0, lambda n, c: (n + 1.0, c + xnp.exp(y)))[1]
    assert hoisted(f, number(), array(3), array(3)) == ["While", "less", "add", "exp", "add"]
    silent = lambda n, x, y: while_loop([n, x], lambda n, c: n < 3.0, lambda n, c: (n + 1.0, c + xnp.where(y > 0.0, y, 0.0)))[1]
    assert hoisted(silent, number(), array(3), array(3)) == ["greater", "where", "While", "less", "add", "add"]
    assert hoisted(lambda x, y: loop(0, [x], [], lambda i, c: (c + xnp.exp(y),)), array(3), array(3)) == ["For", "exp", "add"]


def test_branches_keep_what_they_compute():
    f = lambda x, y: loop(3, [x], [], lambda i, c: (branch(xnp.sum(c) > 0.0, lambda: c + xnp.exp(y), lambda: c),))
    assert hoisted(f, array(3), array(3)) == ["For", "sum", "greater", "If", "exp", "add"]


def test_reads_come_before_writes():
    def f(x, y):
        h = put(x, 0.0, (1,), ())
        return put(h, x[1], (0,), (), add=True), x[2] + y[0]

    p = program(f, array(3), array(3))
    q = read_before_write(p)
    verify(q)
    assert ops(p) == ["setitem", "getitem", "additem", "getitem", "getitem", "add"]
    assert ops(q) == ["getitem", "getitem", "setitem", "additem", "getitem", "add"]
    arrays = np.arange(3.0), np.ones(3)
    for a, b in zip(interpret(p, *arrays), interpret(q, *arrays)):
        np.testing.assert_array_equal(a, b)


def test_a_read_stays_behind_what_gives_its_index():
    def f(x, y):
        h = put(x, 0.0, (1,), ())
        n = xnp.argmax(xnp.exp(y))
        return h, x[n]

    assert ops(read_before_write(program(f, array(3), array(3)))) == ["setitem", "exp", "argmax", "getitem"]


def under(function, **state):
    current().append(Effect(outs=(), kind="errstate_enter", payload=state))
    value = function()
    current().append(Effect(outs=(), kind="errstate_exit"))
    return value


def test_an_empty_errstate_goes():
    def f(x):
        under(lambda: xnp.exp(x), all="ignore")
        loop(3, [x], [], lambda i, c: (under(lambda: xnp.exp(c), all="ignore"),))
        return under(lambda: under(lambda: x * 2.0, over="raise"), all="ignore")

    p = dead(f, array(3))
    assert ops(p) == ["Effect", "Effect", "multiply", "Effect", "Effect"]


def test_what_may_raise_is_computed_again():
    assert common(lambda x: xnp.exp(x) + under(lambda: xnp.exp(x), over="raise"), array(3)).count("exp") == 2
    assert common(lambda x: xnp.exp(x) + under(lambda: xnp.exp(x), over="ignore"), array(3)).count("exp") == 1
