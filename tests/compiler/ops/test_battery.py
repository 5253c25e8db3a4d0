"""Every op of the table, by its sample calls: value and type, both modes of derivative, second order, batching."""

import warnings

import numpy as np
import pytest

from pergrad.compiler.ops import table

from . import battery, samples

ENTRIES = {e.name: e for e in table.entries()}

WITHOUT_SAMPLES = {
    "pergrad.host": "a value becomes a Python number: tested with the front end",
    "pergrad.truth": "a value decides what Python does: tested with the front end",
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
