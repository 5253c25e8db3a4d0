"""What is tested of every op, given one of its sample calls. Shares with the compiler only the ops' printed forms.

The value and the derivative are NumPy's own: the call on arrays, and central differences of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from pergrad.compiler.core.builder import Builder, Value, atom_of, call, recorded
from pergrad.compiler.core.program import Const, Program, Var
from pergrad.compiler.core.types import Size, Type, type_of
from pergrad.compiler.ops.table import Op
from pergrad.compiler.transforms.batch import batch
from pergrad.compiler.transforms.forward import jvp
from pergrad.compiler.transforms.reverse import grad
from tests.compiler.interpret import interpret

from .samples import Sample, X

BATCH = Size.named("B")
_STEP = 1e-6


def numpy_function(entry: Op) -> Any:
    """The function of NumPy that an entry means, as one that gives its result also where NumPy writes in place."""
    special = {
        "pergrad.getitem": lambda x, index: np.asarray(x)[index],
        "pergrad.logistic": lambda x, minus: 1 / (1 + np.exp(-x if minus else x)),
        "pergrad.softmax": lambda x, axis, called: np.exp(x) / np.sum(np.exp(x), axis=axis, keepdims=True),
        "pergrad.setitem": lambda x, index, value: _written(x, index, value, False),
        "pergrad.additem": lambda x, index, value: _written(x, index, value, True),
        "numpy.empty": np.zeros,  # what is in it is nobody's business: ours are zeros
        "numpy.empty_like": np.zeros_like,
        "numpy.ndarray.flatten": lambda a, *order: a.flatten(*order),
        "numpy.ndarray.conj": lambda a: a.conj(),
    }
    if entry.name in special:
        return special[entry.name]
    if entry.name.startswith("numpy.ufunc."):
        method = entry.name.removeprefix("numpy.ufunc.")
        function: Any = lambda ufunc, *args, **kwargs: getattr(ufunc, method)(*args, **kwargs)
    else:
        function = np
        for part in entry.name.split(".")[1:]:
            function = getattr(function, part)
    if entry.returns != "none":
        return function
    position = 1 if entry.name.startswith("numpy.ufunc.") else 0

    def written(*args: Any, **kwargs: Any) -> Any:
        args = list(args)
        args[position] = np.array(args[position])
        function(*args, **kwargs)
        return args[position]

    return written


def _written(x: Any, index: Any, value: Any, add: bool) -> Any:
    out = np.array(x)
    if add:
        np.add.at(out, index, value)
    else:
        out[index] = value
    return out


def recorded_function(entry: Op) -> Any:
    return lambda *args, **kwargs: call(entry.name, *args, **kwargs)


# one sample as a function of its arrays


def arrays_of(sample: Sample) -> list[Any]:
    found: list[Any] = []

    def look(x: Any) -> None:
        if isinstance(x, X):
            found.append(x.value)
        elif isinstance(x, (list, tuple)):
            for v in x:
                look(v)

    look(sample.args)
    look(list(sample.kwargs.values()))
    return found


def as_function(sample: Sample, function: Any, n: Any) -> Any:
    """The sample as a function of its arrays alone: ``n`` is NumPy or its recording double. The result is a list."""

    def run(*arrays: Any) -> list[Any]:
        it = iter(arrays)

        def fill(x: Any) -> Any:
            if isinstance(x, X):
                v = next(it)
                return sample.before(n, v) if sample.before and v.dtype.kind == "f" else v
            if isinstance(x, (list, tuple)):
                return type(x)(fill(v) for v in x)
            return x

        args = fill(sample.args)
        kwargs = dict(zip(sample.kwargs, fill(list(sample.kwargs.values()))))
        y = function(*args, **kwargs)
        return flat(sample.after(n, y) if sample.after else y)

    return run


def flat(y: Any) -> list[Any]:
    return [v for part in y for v in flat(part)] if isinstance(y, (tuple, list)) else [y]


def _known_as_numbers(atom: Any) -> Any:
    """As the front end has it: a known scalar is the number itself, not a recorded value."""
    return atom.value if isinstance(atom, Const) and atom.type.scalar else Value(atom)


def record(function: Any, types: Sequence[Type], wrap: Any = None) -> Program:
    params = tuple(Var(t) for t in types)
    builder = Builder(wrap)
    with builder.active():
        results = tuple(atom_of(r) for r in function(*(Value(p) for p in params)))
    return Program(params, tuple(builder.nodes), results)


def cast(arrays: Sequence[Any], dtype: Any) -> list[Any]:
    return [a.astype(dtype) if a.dtype.kind == "f" else a for a in arrays]


# checks


def check_value(sample: Sample, entry: Op, dtype: Any) -> Program:
    """The value is NumPy's, and so are the inferred dtype, shape and scalar-ness."""
    arrays = cast(arrays_of(sample), dtype)
    want = as_function(sample, numpy_function(entry), np)(*arrays)
    program = record(as_function(sample, recorded_function(entry), recorded), [type_of(a) for a in arrays])
    got = interpret(program, *arrays)
    assert len(got) == len(want)
    plain = record(as_function(sample, recorded_function(entry), recorded), [type_of(a) for a in arrays], _known_as_numbers)
    for w, g in zip(want, interpret(plain, *arrays), strict=True):
        close(g, w, 1e-11 if dtype == np.float64 else 2e-5, "value where known numbers are Python's own")
    for w, g, r in zip(want, got, program.results):
        close(g, w, 1e-11 if dtype == np.float64 else 2e-5, "value")
        assert r.type.shape == np.shape(w)
        assert r.type.dtype == np.asarray(w).dtype, f"inferred {r.type}, NumPy gives {np.asarray(w).dtype}"
        if not r.type.weak and not np.ndim(w) and isinstance(w, (np.ndarray, np.generic)):
            assert r.type.scalar == (not isinstance(w, np.ndarray)), f"NumPy gives {type(w).__name__}, inferred scalar={r.type.scalar}"
    return program


def check_static(sample: Sample, entry: Op) -> None:
    """What never depends on an element is a plain Python value."""
    arrays = arrays_of(sample)
    want = as_function(sample, numpy_function(entry), np)(*arrays)
    builder = Builder()
    with builder.active():
        got = as_function(sample, recorded_function(entry), recorded)(*(Value(Var(type_of(a))) for a in arrays))
    assert not builder.nodes
    assert got == want


def close(got: Any, want: Any, tolerance: float, what: str) -> None:
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape, f"{what}: shape {got.shape}, not {want.shape}"
    if want.dtype.kind in "fc":
        np.testing.assert_allclose(got.astype(float), want.astype(float), rtol=tolerance, atol=tolerance, err_msg=what)
    else:
        np.testing.assert_array_equal(got, want, err_msg=what)


def weighted(program: Program) -> Program:
    """The sum of the inexact results, each times a parameter of its type: its gradients are vjps, whatever the cotangents."""
    kinds = [r.type.inexact for r in program.results]
    cts = [Var(Type(r.type.dtype, r.type.shape)) for r, k in zip(program.results, kinds) if k]
    builder = Builder()
    with builder.active():
        from pergrad.compiler.core.rewrite import Substitution

        s = Substitution()
        params = tuple(s.fresh(p) for p in program.params)
        for node in program.body:
            builder.append(s.node(node))
        results = [Value(s.atom(r)) for r, k in zip(program.results, kinds) if k]
        total: Any = 0.0
        for y, ct in zip(results, cts):
            total = total + recorded.sum(recorded.multiply(y, Value(ct)))
        total = total if isinstance(total, Value) else recorded.sum(recorded.asarray([0.0]))
    return Program((*params, *cts), tuple(builder.nodes), (atom_of(total),))


def differentiable(program: Program) -> bool:
    return any(p.type.inexact for p in program.params) and any(r.type.inexact for r in program.results)


def check_derivatives(sample: Sample, entry: Op, program: Program, dtype: Any, rng: np.random.Generator) -> None:
    """Both modes agree by the dot-product identity, the forward one with central differences, the second order with those of the first."""
    arrays = cast(arrays_of(sample), dtype)
    wanted = [p.type.inexact for p in program.params]
    outs = [r for r in program.results if r.type.inexact]
    tangents = [rng.standard_normal(np.shape(a)).astype(a.dtype) for a, w in zip(arrays, wanted) if w]
    cts = [rng.standard_normal(r.type.shape).astype(r.type.dtype) for r in outs]
    loss = weighted(program)
    flags = [*wanted, *[False] * len(cts)]
    backward = grad(loss, flags)
    gradients = interpret(backward, *arrays, *cts)
    forward = jvp(program, wanted)
    pushed = interpret(forward, *arrays, *tangents)[len(program.results) :]
    for g, a in zip(gradients, [a for a, w in zip(arrays, wanted) if w]):
        assert np.asarray(g).dtype == a.dtype and np.shape(g) == np.shape(a), f"gradient {np.asarray(g).dtype}{np.shape(g)} of {a.dtype}"
    for t, r in zip(pushed, outs):
        assert np.asarray(t).dtype == r.type.dtype and np.shape(t) == r.type.shape
    single = any(t.type.dtype == np.float32 for t in (*program.params, *outs))
    left, right = _dot(gradients, tangents), _dot(cts, pushed)
    assert abs(left - right) <= (2e-3 if single else 1e-8) * (1 + abs(left)), f"dot-product identity: {left} and {right}"
    if single or sample.order < 1:
        return
    reference = as_function(sample, numpy_function(entry), np)

    def values(step: float) -> list[Any]:
        return [y for y in reference(*_moved(arrays, wanted, tangents, step)) if np.asarray(y).dtype.kind == "f"]

    _compare(pushed, values, 5e-5, "central differences")
    if sample.order < 2:
        return
    second = jvp(backward, flags)
    moved = [rng.standard_normal(np.shape(t)) for t in tangents]
    both = interpret(second, *arrays, *cts, *moved)[len(gradients) + len(backward.results) - len(gradients) :]

    def first(step: float) -> list[Any]:
        return interpret(backward, *_moved(arrays, wanted, moved, step), *cts)[: len(gradients)]

    _compare(both[: len(gradients)], first, 5e-4, "second order")
    again = weighted(Program(backward.params, backward.body, backward.results[: len(gradients)]))
    twice = interpret(grad(again, [*flags, *[False] * len(gradients)]), *arrays, *cts, *moved)
    left, right = _dot(twice, moved), _dot(moved, both[: len(gradients)])
    assert abs(left - right) <= 1e-6 * (1 + abs(left)), f"reverse over reverse: {left} and {right}"


def _dot(xs: Sequence[Any], ys: Sequence[Any]) -> float:
    return float(sum(np.sum(np.asarray(x, float) * np.asarray(y, float)) for x, y in zip(xs, ys)))


def _moved(arrays: Sequence[Any], wanted: Sequence[bool], directions: Sequence[Any], step: float) -> list[Any]:
    it = iter(directions)
    return [a + a.dtype.type(step) * next(it) if w else a for a, w in zip(arrays, wanted)]


def _compare(derivatives: Sequence[Any], values: Any, tolerance: float, what: str) -> None:
    for d, high, low in zip(derivatives, values(_STEP), values(-_STEP), strict=True):
        difference = (np.asarray(high, float) - np.asarray(low, float)) / (2 * _STEP)
        scale = 1 + np.max(np.abs(difference), initial=0.0)
        close(np.asarray(d) / scale, difference / scale, tolerance, what)


# batching


def stacked(array: Any, size: int, rng: np.random.Generator) -> Any:
    """Several arrays like this one: floats moved a little, integers and booleans shuffled along their last axis."""
    a = np.asarray(array)
    if a.dtype.kind == "f":
        return a + rng.uniform(0.0, 0.05, (size, *a.shape)).astype(a.dtype)
    out = np.broadcast_to(a, (size, *a.shape)).copy()
    return rng.permuted(out, axis=-1) if a.ndim else out


def subsets(count: int) -> list[tuple[bool, ...]]:
    """Every choice of mapped operands; of many operands each alone and all."""
    if count <= 3:
        return [m for m in itertools.product([True, False], repeat=count) if any(m)]
    return [(True,) * count, *(tuple(k == j for k in range(count)) for j in range(count))]


def check_batching(
    program: Program, arrays: Sequence[Any], rng: np.random.Generator, tolerance: float, sizes: Sequence[int] = (6, 0, 1, 3)
) -> None:
    """vmap is the loop, for every choice of mapped operands; twice nested too."""
    for n, mapped in enumerate(subsets(len(program.params))):
        once, out = batch(program, mapped, BATCH)
        for size in sizes if n == 0 else sizes[-1:]:
            against_loop(once, out, program, mapped, arrays, size, rng, tolerance)
        inner, _ = batch(program, mapped, 5)
        wide = [stacked(a, 5, rng) if m else a for a, m in zip(arrays, mapped)]
        outer = mapped if all(mapped) else tuple(not m for m in mapped)
        twice, out = batch(inner, outer, BATCH)
        against_loop(twice, out, inner, outer, wide, 2, rng, tolerance)


def against_loop(
    batched: Program,
    out: Sequence[bool],
    program: Program,
    mapped: Sequence[bool],
    arrays: Sequence[Any],
    size: int,
    rng: Any,
    tolerance: float,
) -> None:
    given = [stacked(a, size, rng) if m else a for a, m in zip(arrays, mapped)]
    got = interpret(batched, *given)
    if size == 0:
        for g, m, r in zip(got, out, program.results):
            assert np.shape(g) == ((0,) if m else ()) + tuple(r.type.shape)
        return
    for k in range(size):
        want = interpret(program, *(a[k] if m else a for a, m in zip(given, mapped)))
        for g, w, m, r in zip(got, want, out, program.results):
            close(g[k] if m else g, w, tolerance, f"sample {k} of {size}, mapped {mapped}")
            if not r.type.weak:
                assert np.asarray(g).dtype == r.type.dtype


def check_batched_derivative(program: Program, arrays: Sequence[Any], rng: np.random.Generator) -> None:
    """vmap of the gradient and the gradient of vmap are the loop over gradients."""
    wanted = [p.type.inexact for p in program.params]
    loss = weighted(program)
    cts = [rng.standard_normal(r.type.shape).astype(r.type.dtype) for r in program.results if r.type.inexact]
    flags = [*wanted, *[False] * len(cts)]
    backward = grad(loss, flags)
    backward = Program(backward.params, backward.body, backward.results[: sum(wanted)])
    everything = (True,) * len(backward.params)
    once, out = batch(backward, everything, BATCH)
    against_loop(once, out, backward, everything, [*arrays, *cts], 5, rng, 1e-9)
    against_loop(once, out, backward, everything, [*arrays, *cts], 0, rng, 1e-9)
    shared = (*(not w for w in wanted), *[True] * len(cts))
    once, out = batch(backward, shared, BATCH)
    against_loop(once, out, backward, shared, [*arrays, *cts], 5, rng, 1e-9)
    whole = (True,) * len(program.params)
    inner, out = batch(program, whole, 5)
    if not all(out):
        return
    outer = weighted(inner)
    outer_cts = [rng.standard_normal(r.type.shape).astype(r.type.dtype) for r in inner.results if r.type.inexact]
    given = [stacked(a, 5, rng) for a in arrays]
    got = interpret(grad(outer, [*wanted, *[False] * len(outer_cts)]), *given, *outer_cts)
    for k in range(5):
        want = interpret(backward, *(a[k] for a in given), *(c[k] for c in outer_cts))
        for g, w in zip(got, want):
            close(g[k], w, 1e-9, "gradient of vmap")
