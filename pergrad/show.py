"""``pergrad show``: the emitted source of a transformed function, for arguments of given types."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from typing import Any

SPEC = re.compile(r"\s*(?P<dtype>[A-Za-z_]+\d*)\s*\[(?P<shape>[\d,\s]*)\]\s*")


def stand_in(spec: str) -> Any:
    """An argument from its description: ``f8[64,10]`` a ShapeDtype, anything else a Python literal. Raises ValueError."""
    import ast

    import numpy as np

    import pergrad as pg

    match = SPEC.fullmatch(spec)
    if match:
        shape = tuple(int(n) for n in match["shape"].split(",") if n.strip())
        try:
            return pg.ShapeDtype(shape, np.dtype(match["dtype"]))
        except TypeError as error:
            raise ValueError(f"--arg {spec!r}: {error}") from None
    try:
        return ast.literal_eval(spec)
    except (ValueError, SyntaxError):
        raise ValueError(f"--arg {spec!r} is neither a type such as f8[64,10] nor a Python literal") from None


def _imported(name: str) -> Any:
    """A module by its dotted name, from the current folder too, or by its file."""
    if not name.endswith(".py"):
        sys.path.insert(0, os.getcwd())
        return importlib.import_module(name)
    folder, file = os.path.split(os.path.abspath(name))
    sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(file.removesuffix(".py"), name)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def run_show(target: str, specs: list[str]) -> int:
    """Print the emitted source. The module, a dotted name or a file, is imported, which is said."""
    module_name, _, path = target.rpartition(":")
    if not module_name or not path:
        print(f"pergrad: expected MODULE:FUNC, such as model:grads or model.py:grads, got {target!r}", file=sys.stderr)
        return 2
    print(f"pergrad: importing {module_name}", file=sys.stderr)
    try:
        found: Any = _imported(module_name)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, OSError) as error:
        print(f"pergrad: {target}: {error}", file=sys.stderr)
        return 2
    if not hasattr(found, "source"):
        name = f"{path.rpartition('.')[2]}_grads"
        print(
            f"pergrad: {target} is not transformed\n  instead: write {name} = per_sample_grad({path}) there and show {name}",
            file=sys.stderr,
        )
        return 2
    if not specs and not found.cache_info().currsize:
        print(f"pergrad: {target} has no arguments to be compiled for\n  instead: --arg 'f8[64,10]' for each argument", file=sys.stderr)
        return 2
    import pergrad as pg

    try:
        arguments = [stand_in(s) for s in specs]
        print(found.source(*arguments))
    except ValueError as error:
        print(f"pergrad: {error}", file=sys.stderr)
        return 2
    except pg.PergradError as error:
        print(f"pergrad: {error}", file=sys.stderr)
        return 1
    return 0
