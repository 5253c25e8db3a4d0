"""Recall of the linter by seeded mutation: one violation put into a clean mapped function must be reported on its line.

    python benchmarks/lint_recall.py [--count 20] [--seed 0]

The functions are those that released jax and torch packages map (benchmarks/lint_corpus.py downloads them) and the clean programs of the
tests' bank. A mutation is a line after an assignment of a batched value; which values are batched is the linter's own word, so what it does
not follow at all is not counted here.
"""

from __future__ import annotations

import argparse
import ast
import random
import sys
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.lint_corpus import CACHE, PACKAGES, fetch
from pergrad.compiler.lint import engine
from pergrad.compiler.lint.modules import Module
from pergrad.compiler.lint.project import Project
from pergrad.compiler.lint.scan import lint_text, may_map


class Place(NamedTuple):
    """After a line, where ``name`` holds a batched array."""

    file: str
    text: str
    path: Path | None
    line: int
    indent: str
    name: str
    library: str


MUTATIONS = {
    "item": ("{x}.item()", {"PGR201"}),
    "branch": ("if ({x} * 2).sum() > 0: pass", {"PGR101"}),
    "out": ("{np}.add({x}, 1.0, out=_pg_buffer)", {"PGR302"}),
    "global write": ("_pg_seen.append({x})", {"PGR602"}),
    "nonzero": ("{x}.nonzero()", {"PGR401"}),
    "draw": ("{draw}", {"PGR501", "PGR502"}),
}
NAMES = {
    "numpy": ("_pg_lib", "_pg_lib.random.normal()", "import numpy as _pg_lib\n_pg_buffer = _pg_lib.zeros(3)"),
    "torch": ("_pg_lib", "_pg_lib.rand(3)", "import torch as _pg_lib\n_pg_buffer = _pg_lib.zeros(3)"),
    "jax": ("_pg_lib", "_pg_lib.random.normal()", "import numpy as _pg_lib\n_pg_buffer = None"),
}


class Recorder(engine.Machine):
    """Notes where a mapped function gives a name a batched array."""

    places: dict[tuple[str, int], tuple[str, int, str]]

    def assign_name(self, target: ast.Name, value: Any, source: ast.expr | None) -> None:
        super().assign_name(target, value, source)
        if self.depth and self.sure and source is not None and self.batch(value).yes:
            self.places.setdefault(
                (self.frames[-1].module.file, target.lineno), (target.id, source.end_lineno or target.lineno, self.library)
            )


def places_of(file: str, text: str, path: Path | None) -> list[Place]:
    """The places of one file that are clean now."""
    module = Module(file, text, ast.parse(text), path)
    project = Project()
    project.start(module)
    made: list[Recorder] = []

    def record(project: Project) -> Recorder:
        machine = Recorder(project)
        machine.places = {}
        made.append(machine)
        return machine

    original = engine.Machine
    engine.Machine = record  # type: ignore[assignment, misc]
    try:
        result = engine.lint_module(module, project)
    finally:
        engine.Machine = original  # type: ignore[misc]
    if any(d.severity == "error" for d in result.diagnostics) or not made:
        return []
    out = []
    for (where, line), (name, end, library) in made[0].places.items():
        row = module.line(line)
        if where == file and row.strip().startswith(f"{name} = ") and ";" not in row:
            out.append(Place(file, text, path, end, row[: len(row) - len(row.lstrip())], name, library))
    return out


def corpus() -> list[Place]:
    out = []
    for package, library in PACKAGES.items():
        if library == "numpy":
            continue
        for path in sorted(fetch(package, CACHE).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if may_map(text):
                out += places_of(str(path), text, path)
    return out


def bank_places() -> list[Place]:
    """The bank's clean programs, each mapped at the end of its file."""
    from tests.bank import FAMILIES, bank
    from tests.test_parity import without_entries

    out = []
    for family in FAMILIES:
        programs = [p for p in bank(family) if not p.violations]
        if not programs:
            continue
        module = Path(str(sys.modules[programs[0].func.__module__].__file__))
        calls = [f"_pg.vmap(_pg.grad({p.func.__name__}, argnums={p.argnums!r}), in_dims={p.in_dims!r})" for p in programs]
        text = "\n".join([without_entries(module.read_text()), "import pergrad as _pg", "", *calls, ""])
        out += places_of(module.name, text, None)
    return out


def mutated(place: Place, kind: str) -> tuple[str, int] | None:
    """The file with one more line, and that line's number; None where it does not fit."""
    own, draw, header = NAMES[place.library]
    if kind == "out" and place.library == "jax":
        return None
    line = MUTATIONS[kind][0].format(x=place.name, np=own, draw=draw)
    rows = place.text.splitlines()
    rows.insert(place.line, place.indent + line)
    text = "\n".join([*rows, header, "_pg_seen = []", ""])
    try:
        ast.parse(text)
    except SyntaxError:
        return None
    return text, place.line + 1


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--count", type=int, default=20, help="mutants of each kind and library")
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("-v", action="store_true", help="print the mutants that are missed")
    options = arguments.parse_args()
    places = [*bank_places(), *corpus()]
    by_library = {name: [p for p in places if p.library == name] for name in NAMES}
    counts = ", ".join(f"{len(v)} in {k}" for k, v in by_library.items())
    print(f"{len(places)} places in clean mapped functions ({counts})")
    print(f"{'mutation':<14}{'library':<9}{'mutants':>8}{'errors':>8}{'any':>6}")
    total = proven = found = 0
    for kind, (_, codes) in MUTATIONS.items():
        for library, candidates in by_library.items():
            rng = random.Random(f"{options.seed} {kind} {library}")
            sample = rng.sample(candidates, min(len(candidates), options.count))
            made = errors = hits = 0
            for place in sample:
                mutant = mutated(place, kind)
                if mutant is None:
                    continue
                text, line = mutant
                here = [
                    d
                    for d in lint_text(place.file, text, None, place.path).diagnostics
                    if d.line == line and d.code in codes and d.span.file == place.file
                ]
                made += 1
                errors += any(d.severity == "error" for d in here)
                hits += bool(here)
                if options.v and not here:
                    print(f"  missed {kind} in {place.file}:{line}: {place.name}")
            if made:
                print(f"{kind:<14}{library:<9}{made:>8}{errors:>8}{hits:>6}", flush=True)
            total, proven, found = total + made, proven + errors, found + hits
    print(f"{proven} of {total} reported as errors on the right line ({proven / total:.1%})")
    print(f"{found} ({found / total:.1%}) as error or warning")
    return 0 if proven >= 0.95 * total else 1


if __name__ == "__main__":
    sys.exit(main())
