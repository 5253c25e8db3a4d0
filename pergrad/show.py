"""``pergrad show``: the emitted source of a transformed function, for arguments of given types."""

from __future__ import annotations

import importlib
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


def run_show(target: str, specs: list[str]) -> int:
    """Print the emitted source. The module is imported, which is said."""
    module_name, _, path = target.partition(":")
    if not module_name or not path:
        print(f"pergrad: expected MODULE:FUNC, got {target!r}", file=sys.stderr)
        return 2
    sys.path.insert(0, os.getcwd())
    print(f"pergrad: importing {module_name}", file=sys.stderr)
    try:
        found: Any = importlib.import_module(module_name)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        print(f"pergrad: {target}: {error}", file=sys.stderr)
        return 2
    if not hasattr(found, "source"):
        print(f"pergrad: {target} is not transformed: show grad(f), vmap(f) or per_sample_grad(f)", file=sys.stderr)
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
