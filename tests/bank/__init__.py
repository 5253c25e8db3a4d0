"""The bank: small programs of ordinary NumPy code, each with inputs and what may be asked of it.

A program is a plain function under `@program(...)`, whose arguments describe one sample's inputs, one per parameter:

    @program(shared(mat(3, 4)), vec(4))
    def normalised(w, x):
        h = w @ x
        n = np.sqrt(h @ h)
        if n > 1.0:  # <- PGR101
            h = h / n
        return np.sum(h * h * h)

A maker such as `vec(4)` draws an array that differs between samples; `shared(maker)` draws one for all; anything else is a constant. Makers
may stand in tuples, lists, dicts and namedtuples. `# <- CODE` marks a line that must be refused when the samples are mapped, `# <- CODE
always` one that is refused mapped or not. The first parameter is differentiated unless `argnums` says otherwise.

Functions are smooth at the sample points: no ties, no kinks.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

FAMILIES = (
    "controlflow",
    "whileloops",
    "mutation",
    "buffers",
    "aliasing",
    "joins",
    "indexing",
    "selection",
    "objects",
    "state",
    "loops",
    "arrays",
    "reductions",
    "contractions",
    "trees",
    "models",
    "python",
)
CHECKS = ("value", "grad", "jvp", "grad_grad", "vmap_grad")
MASKABLE = {"PGR101", "PGR102", "PGR104"}
_MARK = re.compile(r"# <- (PGR\d\d\d)( always)?")
_PROGRAMS: dict[str, list[Program]] = {}


@dataclass(frozen=True)
class Maker:
    """Draws one sample's array or number; ``mapped`` is False when all samples share it."""

    draw: Callable[[np.random.Generator], Any]
    mapped: bool = True


def vec(n: int) -> Maker:
    return Maker(lambda rng: rng.normal(size=n))


def mat(*shape: int) -> Maker:
    return Maker(lambda rng: rng.normal(size=shape))


def pos(*shape: int) -> Maker:
    """An array of numbers between 0.5 and 2."""
    return Maker(lambda rng: rng.uniform(0.5, 2.0, size=shape))


def num(low: float = 0.5, high: float = 2.0) -> Maker:
    """A Python float."""
    return Maker(lambda rng: float(rng.uniform(low, high)))


def shared(maker: Maker) -> Maker:
    return Maker(maker.draw, mapped=False)


@dataclass(frozen=True)
class Violation:
    code: str
    line: int
    always: bool


@dataclass(frozen=True)
class Program:
    """One program of the bank."""

    func: Callable[..., Any]
    family: str
    specs: tuple[Any, ...]
    argnums: int | tuple[int, ...]
    in_dims: tuple[Any, ...]
    checks: tuple[str, ...]
    violations: tuple[Violation, ...]

    @property
    def name(self) -> str:
        return f"{self.family}.{self.func.__name__}"

    @property
    def source(self) -> str:
        return inspect.getsource(self.func)

    def args(self, sample: int = 0) -> tuple[Any, ...]:
        """The arguments of one sample, the same in every run."""
        rng, common = np.random.default_rng([7, sample]), np.random.default_rng(11)
        return tuple(_draw(spec, rng, common) for spec in self.specs)

    def batch(self, size: int) -> tuple[Any, ...]:
        """The arguments of ``size`` samples, the mapped ones stacked along axis 0."""
        return tuple(_stack(spec, rows) for spec, rows in zip(self.specs, zip(*map(self.args, range(size)))))


def _draw(spec: Any, rng: np.random.Generator, common: np.random.Generator) -> Any:
    if isinstance(spec, Maker):
        return spec.draw(rng if spec.mapped else common)
    return _over(spec, lambda part: _draw(part, rng, common), spec)


def _over(spec: Any, func: Callable[[Any], Any], otherwise: Any) -> Any:
    """``func`` of each part when ``spec`` is a container, else ``otherwise``."""
    if isinstance(spec, dict):
        return {key: func(part) for key, part in spec.items()}
    if isinstance(spec, (tuple, list)):
        parts = [func(part) for part in spec]
        return type(spec)(*parts) if hasattr(spec, "_fields") else type(spec)(parts)
    return otherwise


def _dims(spec: Any) -> Any:
    if isinstance(spec, Maker):
        return 0 if spec.mapped else None
    dims = _over(spec, _dims, None)
    parts = list(dims.values()) if isinstance(dims, dict) else dims
    if isinstance(parts, (list, tuple)) and len({repr(part) for part in parts}) == 1 and parts[0] in (0, None):
        return parts[0]
    return dims


def _stack(spec: Any, rows: Any) -> Any:
    if isinstance(spec, Maker):
        return np.stack(rows) if spec.mapped else rows[0]
    if isinstance(spec, dict):
        return {key: _stack(part, [row[key] for row in rows]) for key, part in spec.items()}
    if isinstance(spec, (tuple, list)):
        parts = [_stack(part, [row[n] for row in rows]) for n, part in enumerate(spec)]
        return type(spec)(*parts) if hasattr(spec, "_fields") else type(spec)(parts)
    return rows[0]


def _violations(func: Callable[..., Any]) -> tuple[Violation, ...]:
    lines, start = inspect.getsourcelines(func)
    found = [(_MARK.search(line), n) for n, line in enumerate(lines, start)]
    return tuple(Violation(mark[1], n, bool(mark[2])) for mark, n in found if mark)


def program(
    *specs: Any, argnums: int | tuple[int, ...] = 0, checks: tuple[str, ...] = CHECKS, without: tuple[str, ...] = ()
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enters a function into the bank; see the module's text."""

    def enter(func: Callable[..., Any]) -> Callable[..., Any]:
        violations = _violations(func)
        asked = [check for check in checks if check not in without]
        if violations and "mask" not in without and {v.code for v in violations} <= MASKABLE:
            asked.append("mask")
        family = func.__module__.rpartition(".")[2]
        dims = tuple(_dims(spec) for spec in specs)
        _PROGRAMS.setdefault(family, []).append(Program(func, family, specs, argnums, dims, tuple(asked), violations))
        return func

    return enter


def bank(*families: str) -> Iterator[Program]:
    """The programs of these families, in the order in which they are written; of all when none is named."""
    for family in families or FAMILIES:
        importlib.import_module(f"tests.bank.{family}")
        yield from _PROGRAMS[family]
