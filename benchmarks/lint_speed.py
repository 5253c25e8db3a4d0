"""Speed of the linter on scipy's sources: against ``ast.parse`` alone over the same files, with two processes, and from the cache.

    python benchmarks/lint_speed.py [--rounds 3]

Each figure is the least of the rounds, which alternate. Also the time to start, against importing argparse, json, ast, pathlib and tomllib.
"""

from __future__ import annotations

import argparse
import ast
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.lint_corpus import CACHE, fetch
from pergrad.compiler.lint.config import Settings
from pergrad.compiler.lint.files import collect
from pergrad.compiler.lint.run import lint_files


def parse_all(files: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for file in files:
            ast.parse(Path(file).read_bytes())


def parse_in_two(files: list[str]) -> None:
    """What two processes are worth on this machine now: parsing has nothing to share."""
    sized = sorted(files, key=os.path.getsize, reverse=True)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        pool.map(parse_all, [sized[i::12] for i in range(12)], chunksize=1)


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds of wall clock, and of this process' and its children's processors."""
    wall, before = time.perf_counter(), os.times()
    work()
    after = os.times()
    return time.perf_counter() - wall, sum(after[:4]) - sum(before[:4])


def least(pairs: list[tuple[float, float]]) -> tuple[float, float]:
    return min(p[0] for p in pairs), min(p[1] for p in pairs)


def start(command: list[str]) -> float:
    """Processor time of one process, in the kernel's microseconds; modules are compiled once, as an installed package's are."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | {
        "PYTHONPYCACHEPREFIX": os.path.abspath("bytecode")
    }
    begun = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *command], capture_output=True, env=environment)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime - begun.ru_utime - begun.ru_stime


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=3)
    options = arguments.parse_args()
    plain = Settings(respect_gitignore=False, jobs=1, cache=False)
    files = collect([str(fetch("scipy", CACHE).resolve())], plain)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        lint_files(files, plain._replace(cache=True))
        results: dict[str, list[tuple[float, float]]] = {}
        for _ in range(options.rounds):
            for name, work in (
                ("ast.parse alone", lambda: parse_all(files)),
                ("the same, 2 processes", lambda: parse_in_two(files)),
                ("lint, uncached", lambda: lint_files(files, plain)),
                ("lint, --jobs 2", lambda: lint_files(files, plain._replace(jobs=2))),
                ("lint, from the cache", lambda: lint_files(files, plain._replace(cache=True))),
            ):
                results.setdefault(name, []).append(timed(work))
        Path("empty.py").write_text("")
        base = min(start(["-c", "import argparse, json, ast, pathlib, tomllib"]) for _ in range(15))
        ours = min(start(["-m", "pergrad", "lint", "empty.py"]) for _ in range(15))
    parse = least(results["ast.parse alone"])
    print(f"{len(files)} files of scipy; the least of {options.rounds} rounds; {os.cpu_count()} processors")
    print(f"{'':<24}{'wall s':>8}{'cpu s':>8}{'of parse (cpu)':>16}")
    for name, pairs in results.items():
        wall, cpu = least(pairs)
        print(f"{name:<24}{wall:>8.2f}{cpu:>8.2f}{cpu / parse[1]:>15.2f}x")
    uncached, cached, two = (least(results[n]) for n in ("lint, uncached", "lint, from the cache", "lint, --jobs 2"))
    machine = parse[0] / least(results["the same, 2 processes"])[0]
    print(f"two processes: {uncached[0] / two[0]:.2f} times as fast by the wall clock, {two[1] / uncached[1]:.2f} of the processor time")
    print(f"               (ast.parse alone: {machine:.2f} times as fast; what else runs on this machine is in both)")
    print(f"from the cache: {uncached[1] / cached[1]:.1f} times as fast")
    print(f"start: {ours * 1000:.0f} ms against {base * 1000:.0f} ms ({ours / base:.2f}x, processor time, least of 15)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
