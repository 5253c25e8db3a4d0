"""A run over files in several processes."""

from __future__ import annotations

import multiprocessing
import os
import sys

from .project import Project
from .run import lint_batch
from .scan import Result

PARTS_PER_JOB = 6

# What a process keeps from one part to the next: the files that imports led to.
_project = Project()


def lint_in_parallel(files: list[str], assume: bool, keyed: bool, jobs: int) -> list[tuple[str, str, Result]]:
    """``lint_batch`` over the parts of a run, each in whichever process is free."""
    context = multiprocessing.get_context("fork" if sys.platform.startswith("linux") else "spawn")
    with context.Pool(jobs) as pool:
        work = [(part, assume, keyed) for part in parts(files, jobs * PARTS_PER_JOB)]
        return [found for batch in pool.starmap(lint_part, work, chunksize=1) for found in batch]


def lint_part(files: list[str], assume: bool, keyed: bool) -> list[tuple[str, str, Result]]:
    return lint_batch(files, assume, keyed, _project)


def parts(files: list[str], count: int) -> list[list[str]]:
    """Files in parts of about one size, the largest first. Neighbours stay together: they import one another."""
    sizes = {f: os.path.getsize(f) if os.path.exists(f) else 0 for f in files}
    most = sum(sizes.values()) / count
    out: list[list[str]] = []
    room = 0.0
    for f in files:
        if not out or sizes[f] > room:
            out.append([])
            room = most
        out[-1].append(f)
        room -= sizes[f]
    return sorted(out, key=lambda part: -sum(sizes[f] for f in part))
