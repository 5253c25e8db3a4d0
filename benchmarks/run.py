"""Compares emitted code with hand-written NumPy, a loop, and other libraries that are installed, side by side in one process.

    python -m benchmarks.run [--only WORD] [--rounds N] [--json FILE]

docs/benchmarks.md says how to read what it prints.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import platform
import sys
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import threadpoolctl

from benchmarks import peers, sections, timing
from benchmarks.workloads import WORKLOADS, Workload

TOLERANCE = 2e-3
# Settings that some machines need for old OpenBLAS builds hold a current one back.
SLOWING = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")


def start_again_without(names: tuple[str, ...]) -> None:
    """OpenBLAS reads its settings when it is loaded, so a process that has them is replaced by one without."""
    if any(name in os.environ for name in names):
        os.execve(sys.executable, sys.orig_argv, {key: value for key, value in os.environ.items() if key not in names})


def machine() -> str:
    kernels = {f"{pool['internal_api']} {pool.get('architecture', '')}".strip() for pool in threadpoolctl.threadpool_info()}
    return f"Python {platform.python_version()}, NumPy {np.__version__}, {os.cpu_count()} cores, {', '.join(sorted(kernels))}"


def contenders(work: Workload, args: tuple[Any, ...]) -> tuple[dict[str, peers.Call], dict[str, float]]:
    """Every contender's call, checked against the hand-written program, and the seconds that its first call took: for the emitted code
    also, as "compiling", how much of them went by before it ran."""
    calls: dict[str, peers.Call] = {}
    first: dict[str, float] = {}
    expected = work.by_hand(*args)
    for name, make in peers.CONTENDERS.items():
        results: list[Any] = []
        try:
            call = make(work, args)
            if call is None:
                continue
            compiling = timing.seconds(functools.partial(call.func.source, *args)) if name == "pergrad" else 0.0
            first[name] = compiling + timing.seconds(lambda call=call, results=results: results.append(call()))
            if compiling:
                first["compiling"] = compiling
            distance = peers.gap(peers.as_numpy(results[0], name), expected)
        except Exception as error:
            print(f"  {name} fails: {type(error).__name__}: {str(error).splitlines()[0]}")
            continue
        if distance < TOLERANCE:
            calls[name] = call
        else:
            print(f"  {name} is off by {distance:.1e} relative to the hand-written program")
    return calls, first


def compare(work: Workload, rounds: int) -> dict[str, Any]:
    """One workload's row: milliseconds of the emitted code, and the others' times as multiples of it."""
    args = work.make(np.random.default_rng(0), work.batch)
    calls, first = contenders(work, args)
    loops = {name: calls.pop(name) for name in peers.LOOPS if name in calls}
    base = "pergrad" if "pergrad" in calls else "by hand"
    times = timing.paired(calls, rounds)
    for name, call in loops.items():
        scale = work.batch / min(work.batch, peers.MOST_IN_A_LOOP)
        times[name] = [timing.seconds(call) * scale] * rounds
    row = {"workload": work.name, "ms": median(times[base]) * 1e3, "base": base, "first_call_s": first}
    row["ratios"] = {name: timing.ratio(times, name, base) for name in times if name != base}
    return row


def print_rows(rows: list[dict[str, Any]]) -> None:
    names = list(dict.fromkeys(name for row in rows for name in row["ratios"]))
    print("\nMilliseconds of the emitted code, then the others' time divided by it (above 1: the emitted code is faster)\n")
    print(f"{'workload':38}{'ms':>9}" + "".join(f"{name:>10}" for name in names))
    for row in rows:
        cells = "".join(f"{row['ratios'][name]:10.2f}" if name in row["ratios"] else f"{'-':>10}" for name in names)
        mark = "" if row["base"] == "pergrad" else f"   (relative to {row['base']})"
        print(f"{row['workload']:38}{row['ms']:9.3f}{cells}{mark}")
    print("\nSeconds of the first call, compilation included; of it compiling; the rest touches memory for the first time, as by hand\n")
    columns = [name for name in ("pergrad", "compiling", "by hand", "torch", "jax") if any(name in row["first_call_s"] for row in rows)]
    print(f"{'workload':38}" + "".join(f"{name:>10}" for name in columns))
    for row in rows:
        print(f"{row['workload']:38}" + "".join(f"{row['first_call_s'].get(name, float('nan')):10.3f}" for name in columns))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="workloads or sections whose name has this word")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    options = parser.parse_args()
    start_again_without(SLOWING)
    print(machine())
    rows = []
    for work in WORKLOADS:
        if options.only in work.name:
            print(f"{work.name} ...", flush=True)
            rows.append(compare(work, options.rounds))
    if rows:
        print_rows(rows)
    results: dict[str, Any] = {"machine": machine(), "workloads": rows}
    for name, section in sections.SECTIONS.items():
        if options.only in name:
            print(f"\n{section.__doc__.splitlines()[0]}\n")
            try:
                results[name] = section()
            except Exception as error:
                print(f"  fails: {type(error).__name__}: {str(error).splitlines()[0]}")
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
