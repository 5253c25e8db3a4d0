"""What emitted functions look like, and what they promise about memory."""

import linecache
import traceback
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

from pergrad.compiler.backend.compile import compile_program, compile_source
from pergrad.compiler.backend.emit import emit, emit_module
from pergrad.compiler.backend.signature import Fixed, Items, Leaf, Parameter, Signature
from pergrad.compiler.core.program import Const, Program
from pergrad.compiler.core.text import Printed
from pergrad.compiler.core.types import Size
from tests.compiler.backend.writing import add_at, array, branch, current, effect, loop, named, np_, program, repeat, scalar, write

Pair = namedtuple("Pair", "left right")


@dataclass
class Layer:
    w: np.ndarray
    b: np.ndarray


def text(params, function, signature=None, **options):
    """The body of the emitted function."""
    made = program(params, function)
    signature = signature or Signature.flat("f", [p.name for p in params], len(made.results))
    lines = emit(made, signature, **options).split("\n")
    start = next(i for i, line in enumerate(lines) if line.startswith("def "))
    return "\n".join(line[4:] for line in lines[start + 1 :]).strip()


def run(params, function, *arguments, signature=None, **options):
    made = program(params, function)
    signature = signature or Signature.flat("f", [p.name for p in params], len(made.results))
    return compile_program(made, signature, **options)[0](*arguments)


X, Y, C = array("x", 4), array("y", 4), scalar("c")


# statements and expressions


def test_temporaries_fold_into_the_expression_that_uses_them():
    assert text([X, Y], lambda x, y: np_.sum(np_.tanh(x) * y)) == "return np.sum(np.tanh(x) * y)"


def test_matrices_of_numbers_are_written_row_by_row():
    a, b = scalar("a"), scalar("b")
    rows = lambda a, b: np_.stack([np_.stack([a, -b]), np_.stack([b, a])])
    assert text([a, b], rows) == "return np.array([[a, -b], [b, a]])"
    np.testing.assert_array_equal(run([a, b], rows, 2.0, 3.0), [[2.0, -3.0], [3.0, 2.0]])


def test_what_the_user_named_stays_a_statement():
    assert text([X], lambda x: named(np_.tanh(x), "h") * 2.0) == "h = np.tanh(x)\nreturn h * 2.0"


def test_cotangents_fold_unless_they_are_indexed():
    assert text([X], lambda x: named(np_.exp(x), "d_h") * 2.0) == "return np.exp(x) * 2.0"
    assert text([X], lambda x: named(np_.exp(x), "d_h")[1:]) == "d_h = np.exp(x)\nreturn d_h[1:]"


def test_an_expression_stops_at_the_width_of_the_line():
    def long(x):
        y = x
        for _ in range(12):
            y = np_.tanh(y * 2.0) + x
        return y

    lines = text([X], long).split("\n")
    assert len(lines) > 2 and all(len(line) <= 84 for line in lines)


def test_views_used_twice_are_printed_twice():
    assert text([X], lambda x: (v := x[:, None]) * 2.0 + v) == "return x[:, None] * 2.0 + x[:, None]"


def test_without_folding_every_value_has_a_statement():
    assert text([X], lambda x: np_.tanh(np_.exp(x)), fold=False) == "e = np.exp(x)\nt = np.tanh(e)\nreturn t"


def test_unused_values_are_not_computed():
    def f(x):
        np_.exp(np_.tanh(x))
        return x * 2.0

    assert text([X], f) == "return x * 2.0"


def test_sections_and_helpers_are_announced():
    def f(x):
        b = current()
        with b.stamped(section="forward", helper="activation"):
            h = named(np_.tanh(x), "h")
        with b.stamped(section="forward"):
            s = named(np_.exp(h), "s")
        with b.stamped(section="backward"):
            d_h = named(s * 2.0, "d_h")
            return d_h[:, None] * h

    assert text([X], f).split("\n") == [
        "# forward",
        "# from activation()",
        "h = np.tanh(x)",
        "s = np.exp(h)",
        "# backward",
        "d_h = s * 2.0",
        "return d_h[:, None] * h",
    ]


def test_one_section_is_not_announced():
    def f(x):
        with current().stamped(section="forward"):
            return named(np_.tanh(x), "h") * 2.0

    assert "#" not in text([X], f)


# names


def test_a_name_is_used_again_when_its_value_is_dead():
    assert text([X], lambda x: named(np_.tanh(named(x * 2.0 + x, "x")), "x") * 2.0) == "x = x * 2.0 + x\nx = np.tanh(x)\nreturn x * 2.0"


def test_a_name_is_numbered_while_another_value_has_it():
    assert text([X], lambda x: (named(np_.exp(x), "h") + named(np_.tanh(x), "h")) * x).startswith("h = np.exp(x)\nh1 = np.tanh(x)")


@pytest.mark.parametrize("name", ["np", "lambda", "sum", "f", "match"])
def test_names_that_mean_something_are_not_taken(name):
    lines = text([X], lambda x: named(np_.tanh(x), name) * 2.0)
    assert not lines.startswith(f"{name} =")


def test_emission_is_deterministic():
    def f(x, y):
        return np_.exp(x * y), np_.tanh(x) + np_.sum(y), np_.zeros(3)

    made = program([X, Y], f)
    signature = Signature.flat("f", ["x", "y"], 3)
    assert len({emit(made, signature) for _ in range(5)}) == 1


# memory


def test_a_fresh_buffer_is_written_in_place():
    assert text([X], lambda x: write(np_.tanh(x), 0.0, 1)) == "t = np.tanh(x)\nt[1] = 0.0\nreturn t"


def test_an_argument_is_copied_first():
    assert text([X], lambda x: named(write(x, 0.0, 1), "x")) == "x = x.copy()\nx[1] = 0.0\nreturn x"


def test_a_value_read_later_is_copied_first():
    def f(x):
        h = named(np_.tanh(x), "h")
        k = named(write(h, 0.0, 1), "k")
        return h * k

    assert text([X], f) == "h = np.tanh(x)\nk = h.copy()\nk[1] = 0.0\nreturn h * k"


def test_a_view_that_is_still_read_keeps_its_values():
    def f(x):
        h = named(np_.tanh(x), "h")
        tail = named(h[1:], "tail")
        return named(write(h, 0.0, 1), "k"), tail * 2.0

    x = np.arange(4.0)
    k, tail = run([X], f, x)
    np.testing.assert_array_equal(tail, np.tanh(x)[1:] * 2.0)
    assert k[1] == 0.0


def test_a_write_in_a_branch_copies_only_where_it_must():
    def f(x, c):
        h = named(np_.tanh(x), "h")
        (h,) = branch(c > 0.0, lambda: [named(write(h, 0.0, 0), "h")], lambda: [h], ["h"])
        return h * 1.0

    assert text([X, C], f) == "h = np.tanh(x)\nif c > 0.0:\n    h[0] = 0.0\nreturn h * 1.0"


def test_repeated_indices_are_added_at():
    i = array("i", 3, dtype=int)
    from pergrad.compiler.ops.indexing import Slot

    assert "np.add.at(t, i, x[:3])" in text([X, i], lambda x, i: add_at(np_.tanh(x), x[:3], Slot(0), [i]))
    assert "t[np.arange(3)] -= 1.0" in text([X], lambda x: add_at(np_.tanh(x), -1.0, Slot(0), [np.arange(3)])).replace(
        "np.array([0, 1, 2])", "np.arange(3)"
    )


def test_results_share_nothing():
    def f(x):
        h = np_.tanh(x)
        return x, h, h[1:], np_.broadcast_to(np_.sum(x), (3,)), np_.transpose(np_.reshape(h, (2, 2)))

    x = np.arange(4.0)
    got = run([X], f, x)
    for n, a in enumerate(got):
        assert a.flags.writeable and not any(np.shares_memory(a, b) for b in [x, *got[:n]])


def test_constants_are_not_given_away():
    big = np.arange(300.0)
    made = program([X], lambda x: (big, np_.sum(x) * big))
    emitted = emit_module(made, Signature.flat("f", ["x"], 2))
    function = compile_source(emitted.source, "f", emitted.constants)
    first = function(np.ones(4))[0]
    first[:] = 0.0
    np.testing.assert_array_equal(function(np.ones(4))[0], big)
    assert "# constant: float64 of shape (300,)" in emitted.source


# loops and branches


def test_a_loop_over_rows_iterates_over_them():
    def f(xs):
        return loop(5, [np_.zeros(3)], ["h"], lambda i, h, x: [named(np_.tanh(h + x), "h")], xs=[xs])[0]

    assert text([array("xs", 5, 3)], f) == "h = np.zeros(3)\nfor x in xs:\n    h = np.tanh(h + x)\nreturn h"


def test_what_a_loop_stacks_is_filled_by_index():
    def f(x):
        h, hs = loop(3, [x], ["h"], lambda i, h: [(n := named(np_.tanh(h), "h")), n], ynames=["hs"])
        return hs

    assert text([X], f) == "h = x\nhs = np.empty((3, 4))\nfor i in range(3):\n    h = np.tanh(h)\n    hs[i] = h\nreturn hs"


def test_sums_of_a_loop_are_updated_in_place():
    def f(xs):
        return loop(5, [np_.zeros(3)], ["d_w"], lambda i, d, x: [named(d + x * x, "d_w")], xs=[xs])[0]

    assert text([array("xs", 5, 3)], f).endswith("    d_w += x * x\nreturn d_w")


def test_values_that_change_places_move_at_once():
    lines = text([X], lambda x: loop(3, [np_.zeros(4), x], ["a", "b"], lambda i, a, b: [b, a + b]))
    assert "    a, b = b, a + b" in lines


@pytest.mark.parametrize("length", [0, 1, 3])
def test_loops_of_any_length(length):
    def f(x):
        h, hs = loop(length, [x], ["h"], lambda i, h: [h * 2.0, np_.sum(h)])
        return h, hs

    h, hs = run([X], f, np.ones(4))
    np.testing.assert_array_equal(h, np.full(4, 2.0**length))
    np.testing.assert_array_equal(hs, 4 * 2.0 ** np.arange(length))


def test_reversed_loops_read_by_index():
    def f(xs, ys):
        return loop(5, [np_.zeros(3)], ["h"], lambda i, h, x, y: [h * x + y], xs=[xs, ys], reverse=True)[0]

    assert "for i in reversed(range(5)):" in text([array("xs", 5, 3), array("ys", 5, 3)], f)


def test_a_while_prints_its_test():
    lines = text([X], lambda x: repeat([x], ["x"], lambda x: np_.sum(x) < 9.0, lambda x: [named(x * 2.0, "x")])[0])
    assert lines.split("\n")[-3:] == ["while np.sum(x) < 9.0:", "    x = x * 2.0", "return x.copy()"]


def test_a_while_collects_what_it_stacks():
    def f(x):
        return repeat([x], ["x"], lambda x: np_.sum(x) < 50.0, lambda x: [(y := named(x * 2.0, "x")), y], ynames=["xs"], counted=True)

    x, xs, count = run([X], f, np.ones(4))
    assert count == 4 and xs.shape == (4, 4) and x[0] == 16.0
    x, xs, count = run([X], f, np.full(4, 100.0))
    assert count == 0 and xs.shape == (0, 4)


def test_what_later_loops_read_row_by_row_is_a_list():
    def f(x):
        x, xs, count = repeat(
            [x], ["x"], lambda x: np_.sum(x) < 50.0, lambda x: [(y := named(x * 2.0, "x")), y], ynames=["xs"], counted=True
        )
        return loop(count, [x], ["h"], lambda i, h, row: [h - row], xs=[xs])[0]

    lines = text([X], f)
    assert "xs = []" in lines and "np.array" not in lines
    np.testing.assert_array_equal(run([X], f, np.ones(4)), np.full(4, 16.0 - 30.0))


def test_slices_of_an_axis_that_was_moved_are_read_where_it_was():
    def f(xs):
        return loop(5, [np_.zeros(3)], ["h"], lambda i, h, x: [(h + x) * i], xs=[np_.swapaxes(xs, 0, 1)])[0]

    assert "xs[:, i]" in text([array("xs", 3, 5)], f)
    x = np.arange(15.0).reshape(3, 5)
    expected = np.zeros(3)
    for i in range(5):
        expected = (expected + x[:, i]) * i
    np.testing.assert_array_equal(run([array("xs", 3, 5)], f, x), expected)


def test_chains_of_branches_are_elif():
    def f(x, c):
        inner = lambda: branch(c > 1.0, lambda: [x * 2.0], lambda: [x * 3.0], ["y"])
        return branch(c > 2.0, lambda: [x * 1.0], inner, ["y"])[0]

    assert text([X, C], f).split("\n") == [
        "if c > 2.0:",
        "    y = x * 1.0",
        "elif c > 1.0:",
        "    y = x * 2.0",
        "else:",
        "    y = x * 3.0",
        "return y",
    ]


def test_a_stack_written_in_later_iterations_keeps_each_value():
    def f(x):
        body = lambda n, h: [n + 1.0, (k := named(write(h, n, 0), "h")), k]
        return repeat([np.float64(0.0), np_.tanh(x)], ["n", "h"], lambda n, h: n < 3.0, body)[2]

    np.testing.assert_array_equal(run([X], f, np.ones(4))[:, 0], [0.0, 1.0, 2.0])


# effects


def test_effects_keep_their_places():
    def f(x):
        h = named(np_.tanh(x), "h")
        effect("assert", [np_.all(h > -1.0)], "too small")
        effect("print", [np_.sum(h)], Printed((("sum",), (None,)), {}))
        return h * 2.0

    assert text([X], f).split("\n") == [
        "h = np.tanh(x)",
        'assert np.all(h > -1.0), "too small"',
        'print("sum", np.sum(h))',
        "return h * 2.0",
    ]


class Wrong(ValueError):
    def __init__(self, code):
        super().__init__(f"code {code}")
        self.code = code


@pytest.mark.parametrize("error", [ValueError("no"), KeyError("k", 1), np.linalg.LinAlgError("singular"), Wrong(3)])
def test_exceptions_are_raised_as_the_user_made_them(error):
    def f(x, c):
        branch(c > 0.0, lambda: [effect("raise", payload=error), x][1:], lambda: [x], [None])
        return x * 2.0

    function = compile_program(program([X, C], f), Signature.flat("f", ["x", "c"], 1))[0]
    np.testing.assert_array_equal(function(np.ones(4), -1.0), np.full(4, 2.0))
    with pytest.raises(type(error)) as caught:
        function(np.ones(4), 1.0)
    assert caught.value.args == error.args


def test_errstate_is_a_with_statement():
    def f(x):
        effect("errstate_enter", payload={"divide": "ignore"})
        y = named(1.0 / x, "y")
        effect("errstate_exit")
        return y * 2.0

    assert text([X], f) == 'with np.errstate(divide="ignore"):\n    y = 1.0 / x\nreturn y * 2.0'


# arguments and results


def test_arguments_are_taken_apart_and_results_put_together():
    parameters = (
        Parameter("layer", Items(Layer, (Leaf(0), Leaf(1)), ("w", "b"))),
        Parameter("rest", Items(dict, (Items(tuple, (Leaf(2), Fixed())), Leaf(3)), ("pair", (0, 1)))),
        Parameter("mode", Fixed("fast"), default="'fast'"),
        Parameter("scale", Leaf(4), kind="hidden"),
    )
    returns = Items(dict, (Items(Pair, (Leaf(0), Leaf(1)), ("left", "right")), Items(list, (Leaf(2), Fixed("x")))), ("p", 2))
    params = [array(n, 4) for n in ("w", "b", "first", "second", "scale")]
    made = program(params, lambda w, b, first, second, scale: (w * scale, b + first, second - 1.0))
    function, source = compile_program(made, Signature("g", parameters, returns))
    assert 'def g(layer, rest, mode="fast", *, scale):' in source
    one = np.ones(4)
    out = function(Layer(one, 2 * one), {"pair": (3 * one, None), (0, 1): 4 * one}, scale=5 * one)
    assert list(out) == ["p", 2] and type(out["p"]) is Pair and out[2][1] == "x"
    np.testing.assert_array_equal([out["p"].left[0], out["p"].right[0], out[2][0][0]], [5.0, 5.0, 3.0])


def test_objects_of_the_user_have_names_that_no_variable_has():
    thing = object()
    signature = Signature("f", (Parameter("x", Leaf(0)),), Items(tuple, (Leaf(0), Fixed(thing), Leaf(1))))
    made = program([X], lambda x: (named(np_.tanh(x), "value"), named(np_.exp(x), "value")))
    function = compile_program(made, signature, fold=False)[0]
    assert function(np.ones(4))[1] is thing


def test_a_tuple_is_taken_apart_at_once_and_only_what_is_read():
    both = Signature("f", (Parameter("ab", Items(tuple, (Leaf(0), Leaf(1)))),), Leaf(0))
    assert text([X, Y], lambda x, y: x * y + x, both).split("\n") == ["x, y = ab", "return x * y + x"]
    assert text([X, Y], lambda x, y: y * 2.0, both).split("\n") == ["y = ab[1]", "return y * 2.0"]


def test_what_was_written_to_an_argument_is_written_back():
    signature = Signature(
        "f", (Parameter("x", Leaf(0)), Parameter("y", Leaf(1))), Items(tuple, (Leaf(0), Leaf(1))), written=((0, 2), (1, 3))
    )
    made = program([X, Y], lambda x, y: (x, x + y, y, named(write(x, 7.0, 0), "x")))
    function = compile_program(made, signature)[0]
    x, y = np.arange(4.0), np.ones(4)
    first, second = function(x, y)
    np.testing.assert_array_equal(x, np.ones(4))
    np.testing.assert_array_equal(y, [7.0, 1.0, 2.0, 3.0])
    np.testing.assert_array_equal(first, np.arange(4.0))
    np.testing.assert_array_equal(second, np.arange(4.0) + 1.0)


def test_sizes_are_read_once_where_they_are_used_twice():
    batch = array("x", Size.named("B"), 3)
    made = program([batch], lambda x: np_.sum(x) + np_.zeros((Size.named("B"), 3)) + np_.ones((Size.named("B"), 3)))
    made = Program(made.params, made.body, made.results, "f", {"B": (0, 0)})
    source = emit(made, Signature.flat("f", ["x"], 1))
    assert "batch = len(x)" in source and "np.zeros((batch, 3))" in source


def test_tracebacks_show_the_emitted_line():
    function, source = compile_program(program([X, Y], lambda x, y: np_.tanh(x) + y), Signature.flat("f", ["x", "y"], 1))
    try:
        function(np.ones(4), np.ones(3))
    except ValueError as error:
        shown = "".join(traceback.format_exception(error))
    assert "return np.tanh(x) + y" in shown
    filename = function.__code__.co_filename
    del function
    linecache.checkcache()
    assert filename.startswith("<pergrad f ") and source


def test_constants_of_every_kind_in_one_program():
    values = [Const(np.float32(2.0)), Const(np.array([1.0, np.inf])), Const(np.arange(64.0))]
    made = Program((X,), (), tuple(values), "f")
    got = compile_program(made, Signature.flat("f", ["x"], 3))[0](np.ones(4))
    assert type(got[0]) is np.float32 and np.isinf(got[1][1]) and got[2][63] == 63.0
