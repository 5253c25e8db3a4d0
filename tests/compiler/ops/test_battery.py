"""Every op of the table, by its sample calls: value and type, both modes of derivative, second order, batching."""

import inspect
import warnings
from dataclasses import replace

import numpy as np
import pytest

from pergrad.compiler.core.builder import Builder, Value, call, recorded
from pergrad.compiler.core.program import Var
from pergrad.compiler.core.types import type_of
from pergrad.compiler.errors import PergradError
from pergrad.compiler.ops import table
from pergrad.compiler.ops.families import elementwise
from pergrad.compiler.transforms.batch import batch
from pergrad.compiler.transforms.reverse import grad
from tests.compiler.interpret import interpret

from . import battery, samples

ENTRIES = {e.name: e for e in table.entries()}

WITHOUT_SAMPLES = {
    "pergrad.host": "a value becomes a Python number: tested with the front end",
    "pergrad.truth": "a value decides what Python does: tested with the front end",
    "pergrad.size": "a size that varies, as a number: tested with compile",
    "pergrad.extent": "how many elements a mask selects: tested with masks",
    "pergrad.nonzero": "places whose number depends on values: tested with masks",
    "pergrad.most": "the trip count of masked loops: tested with masks",
}


def _sampled():
    return [n for n, e in ENTRIES.items() if e.samples is not None and not e.random]


@pytest.fixture(autouse=True)
def _quiet():
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def _rng(name):
    return np.random.default_rng(sum(map(ord, name)))


def test_every_entry_has_samples():
    bare = [n for n, e in ENTRIES.items() if e.samples is None and not (e.lower is None and e.infer is None) and not e.random]
    assert sorted(bare) == sorted(n for n in WITHOUT_SAMPLES if n in ENTRIES)
    for name in _sampled():
        assert samples.of(ENTRIES[name]), name


def run_battery(entry, sample, rng):
    """All of it, for one call of one op."""
    if entry.returns == "static":
        battery.check_static(sample, entry)
        return
    program = battery.check_value(sample, entry, np.float64)
    battery.check_value(sample, entry, np.float32)
    if not program.params:
        return
    arrays = battery.arrays_of(sample)
    if battery.differentiable(program):
        for dtype in (np.float64, np.float32):
            single = program if dtype == np.float64 else battery.check_value(sample, entry, dtype)
            battery.check_derivatives(sample, entry, single, dtype, rng)
    battery.check_batching(program, arrays, rng, 1e-9)
    if battery.differentiable(program):
        battery.check_batched_derivative(program, arrays, rng)


@pytest.mark.parametrize("name", _sampled())
def test_op(name):
    entry = ENTRIES[name]
    rng = _rng(name)
    for k, sample in enumerate(samples.of(entry)):
        try:
            run_battery(entry, sample, rng)
        except Exception as error:
            error.add_note(f"{name}, sample {k}: {sample.args} {sample.kwargs}")
            raise


def test_an_elementwise_op_is_one_line_and_gets_all_of_it():
    old = table.find("numpy.tanh")
    table.remove("numpy.tanh")
    try:
        entry = table.op("numpy.tanh", elementwise("1 - y * y", name="tanh"), samples="reals")
        for sample in samples.of(entry):
            run_battery(entry, sample, _rng("tanh"))
        table.remove("numpy.tanh")
        wrong = table.op("numpy.tanh", elementwise("1 + y * y", name="tanh"), samples="reals")
        with pytest.raises(AssertionError, match="central differences"):
            run_battery(wrong, samples.of(wrong)[0], _rng("tanh"))
    finally:
        table.remove("numpy.tanh")
        table.restore(old)


def _own_derivatives():
    """The primitives with a derivative; where all partials are zero the transforms never ask."""
    entries = [ENTRIES[n] for n in _sampled()]
    return [e.name for e in entries if e.infer is not None and e.vjp is not None and set(e.partials) != {"0"}]


@pytest.mark.parametrize("name", _own_derivatives())
def test_the_derivative_used_is_the_entrys_own(name):
    entry = ENTRIES[name]
    programs = [battery.check_value(s, entry, np.float64) for s in samples.of(entry)]
    programs = [p for p in programs if battery.differentiable(p) and any(getattr(n, "op", "") == name for n in p.body)]
    if not programs:
        assert not any(r.type.inexact for s in samples.of(entry) for r in battery.check_value(s, entry, np.float64).results)
        return
    called = []

    def spy(d, *i):
        called.append(i)
        return entry.vjp(d, *i)

    table.amend(name, vjp=spy)
    try:
        for program in programs:
            loss = battery.weighted(program)
            grad(loss, [p.type.inexact and k < len(program.params) for k, p in enumerate(loss.params)])
    finally:
        table.restore(entry)
    assert called


def test_parameters_stand_in_numpys_order():
    """The linter reads a positional ``out`` and positional sizes by this order."""
    wrong = []
    for name, entry in ENTRIES.items():
        if not name.startswith("numpy.") or name.startswith(("numpy.ufunc", "numpy.random", "numpy.ndarray")) or not entry.signature:
            continue
        try:
            real = inspect.signature(battery.numpy_function(replace(entry, returns="array"))).parameters.values()
        except (ValueError, TypeError, AttributeError):
            continue
        theirs = [p.name for p in real if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        ours = list(entry.parameters)
        if any(p.kind == p.VAR_POSITIONAL for p in real):
            continue
        shared = [p for p in ours if p in theirs]
        if [theirs.index(p) for p in shared] != [ours.index(p) for p in shared]:
            wrong.append(f"{name}: {ours}, NumPy has {theirs}")
    assert not wrong, "\n".join(wrong)


def test_methods_mean_what_numpys_do():
    x = np.arange(6.0).reshape(2, 3)
    for (
        method
    ) in "sum mean std var min max argmin argmax cumsum cumprod prod any all round transpose ravel flatten copy conj argsort trace".split():
        assert table.find_method(method) is not None, method
    for method in "clip dot reshape squeeze swapaxes repeat take diagonal astype searchsorted argpartition choose".split():
        assert table.find_method(method) is not None, method
    program = battery.record(lambda v: [v.clip(1.0, 4.0).round(1).std(axis=0).cumsum().take([0, 2])], [type_of(x)])
    battery.close(interpret(program, x)[0], x.clip(1.0, 4.0).round(1).std(axis=0).cumsum().take([0, 2]), 1e-12, "methods")


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "word"),
    [
        ("numpy.pad", (1,), {"mode": "linear_ramp"}, "linear_ramp"),
        ("numpy.take", ([0],), {"mode": "nearest"}, "mode"),
        ("numpy.linalg.qr", (), {"mode": "complete"}, "mode"),
        ("numpy.linalg.svd", (), {"full_matrices": True}, "full_matrices"),
        ("numpy.quantile", (0.5,), {"weights": [1.0]}, "weights"),
        ("numpy.any", (), {"initial": True}, "initial"),
        ("numpy.nansum", (), {"where": np.ones((4, 3), bool)}, "where"),
        ("numpy.interp", ([0.0, 1.0], [1.0, 2.0]), {"period": 3.0}, "period"),
        ("numpy.var", (), {"out": np.zeros(())}, "out"),
    ],
)
def test_an_option_without_a_rule_is_refused_by_name(name, args, kwargs, word):
    value = Value(Var(type_of(np.ones((4, 3)))))
    with Builder().active(), pytest.raises((NotImplementedError, TypeError), match=word):
        call(name, value, *args, **kwargs)


def test_the_gradient_of_a_norm_at_zero_is_zero():
    zero = np.zeros(3)
    for function in (recorded.linalg.norm, lambda x: recorded.linalg.norm(x, 3), lambda x: recorded.sum(abs(x))):
        program = battery.record(lambda x, f=function: [f(x)], [type_of(zero)])
        np.testing.assert_array_equal(interpret(grad(program, [True]), zero)[0], zero)


@pytest.mark.parametrize("name", [n for n, e in ENTRIES.items() if e.rejected])
def test_a_shape_that_depends_on_values_is_refused(name):
    entry = ENTRIES[name]
    types = [type_of(np.arange(4)) for _ in entry.operands]

    def batched():
        program = battery.record(lambda *values: [summed(call(name, *values))], types)
        batch(program, [True] * len(types), 2)

    with pytest.raises(PergradError, match="data-dependent") as caught:
        batched()
    assert caught.value.code == entry.rejected


def summed(y):
    return recorded.sum(y[0] if isinstance(y, tuple) else y)
