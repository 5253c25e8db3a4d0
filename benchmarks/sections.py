"""What is measured besides the workloads: a call's overhead, the memory of chunks, the size of nested derivatives."""

from __future__ import annotations

import functools
import time
import tracemalloc
from typing import Any

import numpy as np

import pergrad as pg
from benchmarks import peers, timing
from benchmarks.nested import nesting
from benchmarks.workloads import Workload, linear_relu, linear_relu_by_hand, mlp, mlp_args


def run_alone(source: str) -> Any:
    """The emitted function itself, without the front door: the last one that the text defines."""
    namespace: dict[str, Any] = {}
    exec(compile(source, "<emitted>", "exec"), namespace)
    return [value for value in namespace.values() if hasattr(value, "__code__")][-1]


def overhead() -> dict[str, float]:
    """Microseconds of one call at batch 1 with five features."""
    rng = np.random.default_rng(0)
    args = (rng.normal(size=5), rng.normal(size=(1, 5)), rng.normal(size=1))
    work = Workload("overhead", linear_relu, lambda rng, batch: args, 1, linear_relu_by_hand)
    front = peers.emitted(work)
    front(*args)
    inside = run_alone(front.source(*args))
    calls = {"pergrad": lambda: front(*args), "emitted function": lambda: inside(*args), "by hand": peers.by_hand_call(work, args)}
    for name, make in peers.PEERS.items():
        call = make(work, args)
        if call is not None:
            calls[name] = call
    times = timing.paired(calls, rounds=9, at_least=0.01)
    micro = {name: float(np.median(rows)) * 1e6 for name, rows in times.items()}
    micro["from call to emitted function"] = micro["pergrad"] - micro["emitted function"]
    for name, value in micro.items():
        print(f"{name:32}{value:10.1f}")
    return micro


def peak(call: Any) -> tuple[float, float]:
    """MiB that NumPy holds at most during a call, and MiB of its result."""
    tracemalloc.start()
    result = call()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 2**20, sum(leaf.nbytes for leaf in result.values()) / 2**20


def memory() -> dict[str, dict[str, float]]:
    """MiB at the peak of one call of the MLP, B=256, beyond its arguments, by chunk size; beside it the peak of a batch of one chunk."""
    p, x, y = mlp_args(np.random.default_rng(0), 256)
    results = {}
    print(f"{'chunk_size':>10}{'peak':>10}{'result':>10}{'beyond it':>11}{'one chunk':>11}")
    for chunk in (None, 64, 16):
        func = pg.per_sample_grad(mlp, chunk_size=chunk)
        func(p, x, y)
        most, size = peak(functools.partial(func, p, x, y))
        one, _ = peak(functools.partial(pg.per_sample_grad(mlp), p, x[:chunk], y[:chunk]))
        results[str(chunk)] = {"peak": most, "result": size, "one chunk": one}
        print(f"{chunk!s:>10}{most:10.1f}{size:10.1f}{most - size:11.1f}{one:11.1f}")
    return results


def steps(n: int) -> Any:
    def repeated(x):
        for _ in range(n):
            x = x + 0.1 * np.sin(x)
        return np.sum(x)

    return repeated


def loops() -> dict[str, float]:
    """Seconds to compile the gradient of a loop, by its number of steps."""
    results = {}
    for n in (5, 50):
        start = time.perf_counter()
        pg.grad(steps(n)).source(np.ones(3))
        results[str(n)] = time.perf_counter() - start
        print(f"{n:4} steps{results[str(n)]:10.3f}")
    return results


SECTIONS = {"overhead": overhead, "memory": memory, "nesting": nesting, "loops": loops}
