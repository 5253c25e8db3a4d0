"""Writing a compiled function as a module of its own, which imports only NumPy.

What the function captured becomes constants of the module: small arrays are printed, big ones stand in an ``.npz`` file beside it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..core.program import Atom, Const, Program, Var
from ..core.rewrite import Substitution
from ..errors import PergradError
from .emit import emit_module
from .signature import Leaf, Signature


def save(path: str | os.PathLike[str], program: Program, signature: Signature, captured: Mapping[str, Any] | None = None) -> Path:
    """Write the module; ``captured`` are the values of hidden parameters by name. Returns the path, which ends in ``.py``.

    Errors: PergradError if the function needs an object that is no array and cannot be imported.
    """
    target = Path(path)
    target = target if target.suffix == ".py" else target.with_name(target.name + ".py")
    emitted = emit_module(*without_captures(program, signature, captured or {}))
    arrays = {name: value for name, value in emitted.constants.items() if isinstance(value, np.ndarray)}
    head, _, body = emitted.source.partition("\n\n\n")
    first, *rest = [line for line in head.split("\n") if not line.startswith("# ")]
    imports = [imported(name, value) for name, value in emitted.constants.items() if name not in arrays]
    text = "\n".join([first, *imports, *rest]).rstrip("\n")
    if arrays:
        file = target.with_suffix(".npz")
        np.savez(file, allow_pickle=False, **arrays)
        text += '\n\n_arrays = np.load(__file__.removesuffix(".py") + ".npz")\n'
        text += "\n".join(f'{name} = _arrays["{name}"]' for name in arrays)
    target.write_text(f"{text}\n\n\n{body}", encoding="utf-8")
    return target


def without_captures(program: Program, signature: Signature, captured: Mapping[str, Any]) -> tuple[Program, Signature]:
    """The Program with the values of hidden parameters as constants."""
    mapping: dict[Var, Atom] = {}
    for p in signature.parameters:
        if p.kind == "hidden":
            assert isinstance(p.template, Leaf)
            var = program.params[p.template.index]
            value = captured[p.name]
            mapping[var] = constant = Const(np.array(value) if isinstance(value, np.ndarray) else value, var.type)
            constant.name = p.name
    if not mapping:
        return program, signature
    kept = tuple(v for v in program.params if v not in mapping)
    if kept != program.params[: len(kept)]:
        raise PergradError("hidden parameters stand last", code="PGR799")
    copy = Substitution(mapping)
    params = tuple(copy.fresh(v) for v in kept)
    body = tuple(copy.node(n) for n in program.body)
    new = Program(params, body, copy.atoms(program.results), program.name, program.sizes)
    shown = tuple(p for p in signature.parameters if p.kind != "hidden")
    return new, Signature(signature.name, shown, signature.returns, signature.written)


def imported(name: str, value: Any) -> str:
    """The import of a class or function that the module needs."""
    module, qualname = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
    found = getattr(sys.modules.get(module or ""), qualname, None) if module not in (None, "__main__") else None
    if found is not value or value is None:
        raise PergradError(
            f"{name} cannot be imported by a saved module",
            hint="define it at the top level of a module, or return arrays in plain containers",
        )
    return f"from {module} import {qualname}" + ("" if name == qualname else f" as {name}")


__all__ = ["save"]
