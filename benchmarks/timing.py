"""Timing contenders side by side, so that a machine whose speed drifts drifts for all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from statistics import median

Call = Callable[[], object]


def seconds(call: Call, repeats: int = 1) -> float:
    """The mean time of ``repeats`` calls in a row."""
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


def paired(contenders: Mapping[str, Call], rounds: int = 9, at_least: float = 0.02) -> dict[str, list[float]]:
    """Each contender's time in each round.

    In a round every contender has one turn of at least ``at_least`` seconds, and another one is first each time. A turn starts with a
    call that is not timed: what caches, the allocator and BLAS threads are left with by the contender before costs the next one
    milliseconds, and rotation does not balance who follows whom.
    """
    names = list(contenders)
    repeats = {}
    for name in names:
        contenders[name]()
        repeats[name] = max(1, min(10_000, round(at_least / max(seconds(contenders[name]), 1e-7))))
    times: dict[str, list[float]] = {name: [] for name in names}
    for k in range(rounds):
        for name in names[k % len(names) :] + names[: k % len(names)]:
            contenders[name]()
            times[name].append(seconds(contenders[name], repeats[name]))
    return times


def ratio(times: Mapping[str, list[float]], name: str, base: str) -> float:
    """The median over rounds of one contender's time divided by another's in the same round."""
    return median(a / b for a, b in zip(times[name], times[base], strict=True))
