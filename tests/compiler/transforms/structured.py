"""Programs with branches and loops, by name: a function of values, the parameters, and which of them can be mapped."""

import numpy as np

from pergrad.compiler.core.builder import recorded as xnp
from pergrad.compiler.core.program import Var
from pergrad.compiler.core.types import Type

from ..programs import array, branch, loop, number, program, while_loop


def integer(name="n"):
    return Var(Type(np.dtype(np.int64), (), weak=True, scalar=True), name)


def branch_on_an_unmapped(x, t):
    y = branch(t > 0.0, lambda: x * t, lambda: xnp.sin(x))
    return xnp.sum(y * y)


def branch_that_reads_inside(x, t):
    def then():
        h = xnp.tanh(x * t)
        return h * h * x, xnp.sum(h)

    def orelse():
        g = xnp.exp(x)
        return g + t, t * 2.0

    y, s = branch(t > 0.0, then, orelse)
    return xnp.sum(y) * s


def branch_in_branch(x, t):
    def then():
        h = xnp.sin(x)
        return branch(t > 1.0, lambda: h * h, lambda: h * x * t)

    return xnp.sum(branch(t > 0.0, then, lambda: x))


def branch_with_other_results(x, t):
    a, n, b = branch(t > 0.0, lambda: (x * 2.0, 1, x), lambda: (x, 2, x * x))
    return xnp.sum(a * n + b)


def branch_indexing(x, t):
    y = branch(t > 0.0, lambda: x[0] * x[1], lambda: x[2] * 3.0)
    return y * x[1]


def power_loop(x):
    return xnp.sum(loop(4, [x], [], lambda i, h: (h * xnp.sin(x),)))


def recurrence(xs, w, h):
    h, hs = loop(3, [h], [xs], lambda i, h, x: (lambda n: (n, n * 2.0))(xnp.tanh(w @ h + x)))
    return xnp.sum(h) + xnp.sum(hs * hs)


def reversed_recurrence(xs, w, h):
    h, hs = loop(3, [h], [xs], lambda i, h, x: (lambda n: (n, n * h))(xnp.tanh(w @ h + x)), reverse=True)
    return xnp.sum(h) + xnp.sum(hs * hs)


def indexed_reads(x, w):
    total = loop(4, [xnp.sum(x) * 0.0], [], lambda i, s: (s + x[i] * w[i] * x[i],))
    return total * total


def reads_of_two_rows(x):
    return loop(3, [0.0 * x[0, 0]], [], lambda i, s: (s + xnp.sum(x[i] * x[i + 1]),))


def writes(x):
    from pergrad.compiler.core.builder import call

    y = loop(4, [x * 0.0], [], lambda i, y: (call("pergrad.setitem", y, i, x[i] * x[i] * 2.0),))
    return xnp.sum(y * y)


def carry_not_read(x):
    h = loop(3, [x], [], lambda i, h: (x * x * i,))
    return xnp.sum(h)


def swapped_carries(x, y):
    a, b = loop(3, [x, y], [], lambda i, a, b: (b, a * xnp.sin(b)))
    return xnp.sum(a * 2.0 + b)


def inactive_carries(x, t):
    h, n, k = loop(3, [x, 0, t], [], lambda i, h, n, k: (h * k * n, n + 1, k))
    return xnp.sum(h) + n


def becomes_active_later(x, t):
    a, b, c = loop(4, [t * 1.0, t * 1.0, x], [], lambda i, a, b, c: (b * b, xnp.sum(c), c * xnp.sin(c)))
    return a + b + xnp.sum(c)


def empty_loop(x):
    h, ys = loop(0, [x], [], lambda i, h: (h * x, h))
    return xnp.sum(h * h) + xnp.sum(ys)


def nested_loops(x, w):
    def outer(i, h):
        inner, ys = loop(2, [h], [], lambda j, g: (lambda n: (n, n * w[i, j]))(xnp.sin(g * w[i, j])))
        return inner * h + xnp.sum(ys, axis=0)

    return xnp.sum(loop(3, [x], [], lambda i, h: (outer(i, h),)))


def triangle(x):
    def row(i, s):

        return (varying(i, s, x),)

    return loop(4, [xnp.sum(x) * 0.0], [], row)


def varying(length, s, x):
    """A loop whose length is a value."""
    from dataclasses import replace

    from pergrad.compiler.core.builder import Value, current

    y = loop(1, [s], [], lambda j, t: (xnp.sin(t + x[j]),))
    node = current().nodes.pop()
    current().append(replace(node, length=length.atom))
    return Value(y.atom)


def loop_in_branch(x, t):
    def then():
        h = xnp.sin(x)
        return loop(3, [h], [], lambda i, g: (xnp.tanh(g * h + t),))

    return xnp.sum(branch(t > 0.0, then, lambda: x * t))


def branch_in_loop(x, t):
    def body(i, h, s):
        def then():
            g = xnp.sin(h * t)
            return g * g

        return branch(i > 1, then, lambda: h * s), s + x[i]

    h, s = loop(4, [x, t], [], body)
    return xnp.sum(h) * s


def branch_reads_rows(x, t):
    return loop(4, [t * 0.0], [], lambda i, s: (branch(x[i] * 0.0 + t > i, lambda: s + x[i] * x[i], lambda: s * t),))


def counting_while(x, t):
    n, h = while_loop([0, x], lambda n, h: n < 3, lambda n, h: (n + 1, xnp.sin(h * t) + x))
    return xnp.sum(h)


def while_on_a_value(x, t):
    s, h = while_loop([t * t, x], lambda s, h: s < 20.0, lambda s, h: (s * 2.0 + 1.0, xnp.sin(h * xnp.tanh(s)) + h))
    return xnp.sum(h) * s


def while_never(x, t):
    s, h = while_loop([t, x], lambda s, h: s < -9e9, lambda s, h: (s * 2.0, h * h))
    return xnp.sum(h) * s


def while_in_loop(x, t):
    def body(i, h):
        n, g = while_loop([0, h], lambda n, g: n < i, lambda n, g: (n + 1, xnp.sin(g * x)))
        return g * t

    return xnp.sum(loop(3, [x], [], lambda i, h: (body(i, h),)))


def while_in_branch(x, t):
    def then():
        n, g = while_loop([0, x], lambda n, g: n < 3, lambda n, g: (n + 1, xnp.sin(g * x)))
        return g

    return xnp.sum(branch(t > 0.0, then, lambda: x * t))


def loop_in_while(x, t):
    def body(n, h):
        return n + 1, loop(2, [h], [], lambda i, g: (xnp.sin(g) * x,))

    n, h = while_loop([0, x], lambda n, h: n < 3, body)
    return xnp.sum(h) * t


def python_number_carry(x):
    s, h = loop(3, [0.5, x], [], lambda i, s, h: (s * 1.5, h * s * xnp.sin(h)))
    return xnp.sum(h) * s


CASES = {
    "branch on an unmapped": (branch_on_an_unmapped, [array(3), number()], [True, False]),
    "branch that reads inside": (branch_that_reads_inside, [array(3), number()], [True, False]),
    "branch in branch": (branch_in_branch, [array(3), number()], [True, False]),
    "branch with other results": (branch_with_other_results, [array(3), number()], [True, False]),
    "branch indexing": (branch_indexing, [array(3), number()], [True, False]),
    "power loop": (power_loop, [array(2)], [True]),
    "recurrence": (recurrence, [array(3, 2, name="xs"), array(2, 2, name="w"), array(2, name="h")], [True, False, False]),
    "reversed recurrence": (reversed_recurrence, [array(3, 2), array(2, 2), array(2)], [True, False, True]),
    "indexed reads": (indexed_reads, [array(4, name="x"), array(4, name="w")], [True, False]),
    "reads of two rows": (reads_of_two_rows, [array(4, 2)], [True]),
    "writes": (writes, [array(4)], [True]),
    "carry not read": (carry_not_read, [array(2)], [True]),
    "swapped carries": (swapped_carries, [array(2), array(2)], [True, False]),
    "inactive carries": (inactive_carries, [array(2), number()], [True, False]),
    "becomes active later": (becomes_active_later, [array(2), number()], [True, False]),
    "empty loop": (empty_loop, [array(2)], [True]),
    "nested loops": (nested_loops, [array(4), array(3, 2)], [True, False]),
    "triangle": (triangle, [array(4)], [True]),
    "loop in branch": (loop_in_branch, [array(3), number()], [True, False]),
    "branch in loop": (branch_in_loop, [array(4), number()], [True, False]),
    "branch reads rows": (branch_reads_rows, [array(4), number()], None),
    "counting while": (counting_while, [array(2), number()], [True, True]),
    "while on a value": (while_on_a_value, [array(2), number()], [True, False]),
    "while never": (while_never, [array(2), number()], [True, False]),
    "while in loop": (while_in_loop, [array(2), number()], [True, False]),
    "while in branch": (while_in_branch, [array(2), number()], [True, False]),
    "loop in while": (loop_in_while, [array(2), number()], [True, True]),
    "python number carry": (python_number_carry, [array(2)], [True]),
}


def case(name):
    function, params, mapped = CASES[name]
    return program(function, *params), mapped


def arguments(p, t):
    """Arguments of a case whose numbers decide branches: each number is ``t``."""
    rng = np.random.default_rng(11)
    return [np.asarray(rng.normal(size=v.type.shape), v.type.dtype) if v.type.shape else np.float64(t) for v in p.params]
