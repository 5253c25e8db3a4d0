"""The benchmarks' workloads, at a small size: emitted code equals the program written by hand."""

import time

import numpy as np
import pytest

from benchmarks import peers, timing
from benchmarks.workloads import WORKLOADS


@pytest.mark.parametrize("work", WORKLOADS, ids=lambda work: work.name)
def test_emitted_code_equals_the_program_written_by_hand(work):
    args = work.make(np.random.default_rng(0), 3)
    transformed = peers.emitted(work)
    result = transformed(*args)
    assert peers.gap(result, work.by_hand(*args)) < 2e-3, transformed.source(*args)
    leaves = list(result.values()) if isinstance(result, dict) else [result]
    assert all(leaf.dtype == np.float32 for leaf in leaves), "float32 stays float32"


@pytest.mark.parametrize("work", WORKLOADS, ids=lambda work: work.name)
def test_the_loop_equals_the_program_written_by_hand(work):
    args = work.make(np.random.default_rng(0), 3)
    small = type(work)(**{**work.__dict__, "batch": 3})
    assert peers.gap(peers.as_numpy(peers.loop_call(small, args)(), "loop"), work.by_hand(*args)) < 1e-4


def test_paired_times_have_one_number_per_round_and_contender():
    times = timing.paired({"a": lambda: sum(range(100)), "b": lambda: sum(range(10_000))}, rounds=5, at_least=0.001)
    assert {name: len(rows) for name, rows in times.items()} == {"a": 5, "b": 5}
    assert timing.ratio(times, "b", "a") > 2


def test_what_the_contender_before_left_behind_is_not_timed():
    last = []

    def contender(name):
        def call():
            if last != [name]:
                time.sleep(0.01)
            last[:] = [name]

        return call

    times = timing.paired({name: contender(name) for name in "ab"}, rounds=4, at_least=1e-5)
    assert max(max(rows) for rows in times.values()) < 0.005
