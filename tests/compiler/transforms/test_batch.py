"""Batching: what is mapped, violations with their trails, randomness, nesting."""

import numpy as np
import pytest

from pergrad.compiler.core.builder import Builder, Value, current
from pergrad.compiler.core.builder import recorded as xnp
from pergrad.compiler.core.program import Effect, Program
from pergrad.compiler.core.text import Printed
from pergrad.compiler.core.types import Size, Type
from pergrad.compiler.core.verify import verify
from pergrad.compiler.errors import Span, Unsupported, VmapViolation
from pergrad.compiler.ops import table
from pergrad.compiler.transforms.batch import batch
from pergrad.compiler.transforms.reverse import grad

from ...oracles import assert_same
from ..interpret import interpret
from ..programs import array, branch, loop, number, ops, program, while_loop
from .check import BATCH, check_batch
from .structured import CASES, case, varying


def named(x, name, line=0):
    x.atom.name = name
    x.atom.span = Span("model.py", line, 1) if line else None
    return x


def refused(p, mapped, **options):
    with pytest.raises((VmapViolation, Unsupported)) as caught:
        batch(p, mapped, BATCH, **options)
    return caught.value


def test_what_is_not_mapped_is_copied():
    p = program(lambda x, w: xnp.tanh(w) * x, array(3), array(3))
    b, flags = batch(p, [True, False], BATCH)
    assert b.body[0] is p.body[0] and flags == (True,)
    assert b.sizes == {"B": (0, 0)}
    p = program(lambda x, w: (x, xnp.tanh(w), 1.0), array(3), array(3))
    b, flags = batch(p, [True, False], BATCH)
    assert flags == (True, False, False) and b.body == p.body


def test_sizes_of_the_program_move():
    p = program(lambda x, w: x @ w, array(Size.named("N"), 3), array(3))
    b, _ = batch(p, [True, False], BATCH)
    assert b.sizes == {"N": (0, 1), "B": (0, 0)}
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(4, 5, 3)), rng.normal(size=3)
    assert_same(interpret(b, x, w)[0], x @ w)


def test_a_free_variable_is_not_mapped():
    builder = Builder()
    outer, x = array(3), array(3)
    with builder.active():
        y = Value(x) * Value(outer)
    b, _ = batch(Program((x,), tuple(builder.nodes), (y.atom,)), [True], BATCH)
    assert outer in b.body[0].args
    g = grad(Program((x,), tuple(builder.nodes), (y.atom,)), [True])
    assert g.results[0] is outer or outer in g.body[-1].args


@pytest.mark.parametrize("name", [n for n in CASES if CASES[n][2]])
def test_nested(name):
    p, mapped = case(name)
    p = grad(p, [True] * len(mapped))
    inner, _ = batch(p, mapped, 3)
    for second in (mapped, [True] + [not m for m in mapped[1:]]):
        if second != mapped and any(v.type.shape == () for v in p.params):
            continue
        outer, flags = batch(inner, second, BATCH)
        verify(outer)
        rng = np.random.default_rng(1)
        arrays = [rng.normal(size=tuple(2 if isinstance(d, Size) else d for d in v.type.shape)) for v in outer.params]
        got = interpret(outer, *arrays)
        want = [interpret(inner, *(a[i] if m else a for a, m in zip(arrays, second))) for i in range(2)]
        assert_same(got, [np.stack([w[k] for w in want]) if f else want[0][k] for k, f in enumerate(flags)])


def test_a_batch_as_long_as_another_axis():
    p = program(lambda x, w: xnp.sum((w @ x + x) ** 2), array(3), array(3, 3))
    for mapped in ([True, False], [False, True], [True, True]):
        check_batch(grad(p, [True, True]), mapped, sizes=(3,))


def test_if_on_a_mapped_test():
    def f(x):
        n = named(xnp.sum(x * x), "n", 3)
        return branch(named(n > 1.0, None), lambda: x / n, lambda: x)

    x = array(3, name="x")
    x.span = Span("model.py", 1, 1)
    error = refused(program(f, x), [True])
    assert error.code == "PGR101" and "data-dependent control flow" in str(error) and "np.where" in error.hint
    assert [s.message for s in error.trail] == ["x is mapped here", "n depends on x"]
    assert [s.span.line for s in error.trail] == [1, 3]


def test_all_violations_are_told():
    def f(x):
        s = xnp.sum(x)
        y = branch(s > 0.0, lambda: branch(s > 1.0, lambda: x, lambda: -x), lambda: x)
        current().append(Effect(outs=(), kind="assert", args=((xnp.sum(y) > 0.0).atom,)))
        z = while_loop([s], lambda c: c < 3.0, lambda c: (c + 1.0,))
        k = xnp.astype(z, int)
        return varying(k, z, x)

    error = refused(program(f, array(3)), [True])
    text = str(error)
    assert text.startswith("5 problems"), text
    assert all(code in text for code in ("PGR101", "PGR102", "PGR103", "PGR107"))


def test_a_loop_that_becomes_mapped_on_the_way():
    p = program(lambda x, t: while_loop([t, t], lambda a, b: a < 3.0, lambda a, b: (b, xnp.sum(x))), array(3), number())
    assert refused(p, [True, False]).code == "PGR102"
    batch(p, [False, False], BATCH)


def test_a_test_that_is_not_mapped_is_legal():
    p = program(lambda x, t: branch(t > 0.0, lambda: (x, t), lambda: (t * 2.0 + x * 0.0, -t)), array(3), number())
    _, flags = check_batch(p, [True, False])
    assert flags == (True, False)


def test_results_that_are_mapped_on_one_side_only():
    p = program(lambda x, t: branch(t > 0.0, lambda: (x, np.ones(3)), lambda: (np.zeros(3), x)), array(3), number())
    _, flags = check_batch(p, [True, False])
    assert flags == (True, True)


def test_carries_that_start_unmapped():
    p = program(lambda x, t: loop(3, [t, t, 1.0], [], lambda i, a, b, c: (b, b + xnp.sum(x), c * 2.0)), array(3), number())
    _, flags = check_batch(p, [True, False])
    assert flags == (True, True, False)


def test_print_keeps_its_values():
    def f(x):
        current().append(Effect(outs=(), kind="print", args=((x * 2.0).atom,), payload=Printed(((None,),), {})))
        return x

    seen = []
    interpret(batch(program(f, array(3)), [True], 2)[0], np.ones((2, 3)), effects=seen)
    assert seen[0][1][0].shape == (2, 3)


@pytest.fixture
def draw():
    entry = table.op(
        "tests.draw",
        signature="size",
        infer=lambda types, params: Type(np.dtype(float), params["size"]),
        emit=lambda types, params, out: f"np.random.normal(size={params['size']})",
        batch=lambda b: b.bind(b.x, {"size": (b.size, *b.params["size"])}),
        random=True,
        hint="",
    )
    yield lambda *size: current().apply(entry, [], {"size": size})
    table.remove("tests.draw")


def test_randomness(draw):
    p = program(lambda x: (x * draw(3), draw(2)), array(3))
    error = refused(p, [True])
    assert error.code == "PGR501" and "'different'" in str(error) and "'same'" in str(error) and str(error).startswith("2 problems")
    b, flags = batch(p, [True], 4, randomness="different")
    verify(b)
    assert flags == (True, True)
    y, z = interpret(b, np.ones((4, 3)))
    assert z.shape == (4, 2) and len(set(y.ravel().tolist())) == 12
    b, flags = batch(p, [True], 4, randomness="same")
    y, z = interpret(b, np.ones((4, 3)))
    assert flags == (True, False) and z.shape == (2,) and (y == y[0]).all()


def test_a_draw_in_a_loop_that_is_not_mapped(draw):
    p = program(lambda x: x + loop(3, [1.0 * np.ones(3)], [], lambda i, s: (s + draw(3),)), array(3))
    assert refused(p, [True]).code == "PGR501"
    y = interpret(batch(p, [True], 2, randomness="different")[0], np.ones((2, 3)))[0]
    assert not (y[0] == y[1]).any()


def test_without_a_rule():
    entry = table.op("tests.odd", infer=lambda types, params: types[0], operands=("x",), signature="x", hint="write it out")
    try:
        p = program(lambda x: current().apply(entry, [x], {}), array(3))
        error = refused(p, [True])
        assert error.code == "PGR702" and "tests.odd" in str(error) and error.hint == "write it out"
        with pytest.raises(Unsupported, match=r"tests\.odd has no derivative"):
            grad(program(lambda x: xnp.sum(current().apply(entry, [x], {})), array(3)), [True])
    finally:
        table.remove("tests.odd")


def test_float32_and_scalars():
    p = program(lambda x, s: (x * s, s * 2.0, s > 0.0, x[0] * s), array(3, dtype="f4"), number("f4"))
    b, _ = check_batch(p, [True, True])
    assert all(r.type.dtype in (np.float32, np.bool_) for r in b.results)
    check_batch(p, [False, True])
    check_batch(p, [True, False])


def test_tapes_are_not_turned_twice():
    """What the forward loop stacks is sliced by the backward loop as it stands."""
    p, mapped = case("recurrence")
    b, _ = batch(grad(p, [True] * 3), mapped, BATCH)
    assert ops(b).count("transpose") <= 4


def test_a_thousand_operations():
    import time

    def f(x):
        for _ in range(500):
            x = xnp.tanh(x) * 1.5
        return x

    p = program(f, array(3))
    start = time.process_time()
    batch(p, [True], BATCH)
    assert time.process_time() - start < 2.0
