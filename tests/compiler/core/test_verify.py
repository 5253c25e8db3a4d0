"""Each invariant of a Program, broken once."""

from dataclasses import replace

import numpy as np
import pytest

from pergrad.compiler.core.builder import recorded as xnp
from pergrad.compiler.core.program import Apply, Const, Program, Var
from pergrad.compiler.core.types import Type
from pergrad.compiler.core.verify import InvalidProgram, verify

from ..programs import BATCH, array, branch, loop, number, program, while_loop


def rejects(p, text):
    with pytest.raises(InvalidProgram, match=text):
        verify(p)


def sample():
    return program(lambda x: xnp.tanh(x) * 2.0, array(3))


def test_accepts_what_the_builder_makes():
    def f(x, y, n):
        h, ys = loop(4, [x], [y], lambda i, c, s: (c * s, xnp.sum(c)))
        k = branch(n > 0.0, lambda: h, lambda: -h)
        z, count = while_loop([n], lambda c: c < 3.0, lambda c: (c + 1.0,), counted=True)
        return k, ys, z, count

    verify(program(f, array(3), array(4, 3), number()))
    verify(program(lambda x: xnp.sum(x @ np.ones((3, 2)), axis=0), array(BATCH, 3)))
    verify(program(lambda n: n * 2 + 1.5, Var(Type(np.dtype(np.int64), (), weak=True, scalar=True))))


def test_double_assignment():
    p = sample()
    rejects(replace(p, body=(*p.body, p.body[0])), "assigned twice")
    rejects(replace(p, params=(*p.params, p.params[0])), "assigned twice")


def test_reads_out_of_scope():
    p = sample()
    rejects(replace(p, body=p.body[1:]), "not assigned")
    rejects(replace(p, body=p.body[::-1]), "not assigned")
    rejects(replace(p, results=(array(3),)), "not assigned")
    inside = []

    def f(x):
        branch(xnp.sum(x) > 0.0, lambda: inside.append(x * 2.0) or x, lambda: x)
        return x

    p = program(f, array(3))
    rejects(replace(p, results=(inside[0].atom,)), "out of scope")


def test_declared_types():
    p = sample()
    wrong = Var(Type(np.dtype("f4"), (3,)))
    rejects(replace(p, body=(p.body[0], replace(p.body[1], outs=(wrong,))), results=(wrong,)), "declared float32.*inferred float64")
    x = p.params[0]
    mismatched = Apply(outs=(array(3),), op="numpy.add", args=(x, Const(np.ones(2))))
    rejects(replace(p, body=(mismatched,), results=()), "broadcast")


def test_unknown_ops():
    p = sample()
    rejects(replace(p, body=(replace(p.body[0], op="numpy.nothing"), p.body[1])), "not in the table")
    rejects(replace(p, body=(replace(p.body[0], op="numpy.matmul"), p.body[1])), "no primitive")
    rejects(replace(p, body=(replace(p.body[0], outs=()), *p.body[1:])), "0 variables for 1")


def test_branches():
    def f(x):
        return branch(xnp.sum(x) > 0.0, lambda: x, lambda: -x)

    p = program(f, array(3))
    node = p.body[-1]
    rejects(with_last(p, replace(node, pred=p.params[0])), "test of an if")
    rejects(with_last(p, replace(node, then=replace(node.then, results=()))), "0 then results for 1 outs")
    rejects(with_last(p, replace(node, orelse=replace(node.orelse, results=(Const(1.0),)))), "else results 0")


def test_loops():
    p = program(lambda x, y: loop(4, [x], [y], lambda i, c, s: (c * s, c)), array(3), array(4, 3))
    node = p.body[-1]
    rejects(with_last(p, replace(node, inits=(Const(0.0),))), "carried parameters 0")
    rejects(with_last(p, replace(node, length=5)), "length")
    rejects(with_last(p, replace(node, xs=(p.params[0],))), "does not stack")
    rejects(with_last(p, replace(node, xs=())), "has 3 parameters")
    rejects(with_last(p, replace(node, outs=node.outs[:1])), "1 variables for 2")
    weak = program(lambda n: loop(4, [n], [], lambda i, c: (c * 2.0,)), Var(Type(np.dtype("f8"), (), weak=True, scalar=True)))
    verify(weak)
    rejects(with_last(weak, replace(weak.body[-1], inits=(Const(np.float64(1.0)),))), "carried parameters 0 is float")


def test_whiles():
    p = program(lambda n: while_loop([n], lambda c: c < 3.0, lambda c: (c + 1.0, c), counted=True), number())
    node = p.body[-1]
    verify(p)
    rejects(with_last(p, replace(node, cond=replace(node.cond, results=(Const(True), Const(True))))), "not one scalar")
    rejects(with_last(p, replace(node, counted=False)), "3 variables for 2")


def test_sizes():
    p = program(lambda x: x * 2.0, array(BATCH, 3))
    verify(p)
    rejects(replace(p, sizes={"B": (0, 2)}), "size B")


def with_last(p, node):
    return Program(p.params, (*p.body[:-1], node), p.results, p.name, p.sizes)
