"""pergrad: per-sample gradients and function transforms for plain NumPy, from source to readable source."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .compiler.errors import ArgumentError as ArgumentError
    from .compiler.errors import PergradError as PergradError
    from .compiler.errors import VmapViolation as VmapViolation
    from .compiler.lint import Diagnostic as Diagnostic
    from .linting import lint as lint
    from .shapes import ShapeDtype as ShapeDtype
    from .transforms.compile import compile as compile
    from .transforms.functionalize import functionalize as functionalize
    from .transforms.grad import grad as grad
    from .transforms.grad import grad_and_value as grad_and_value
    from .transforms.jacobian import hessian as hessian
    from .transforms.jacobian import jacfwd as jacfwd
    from .transforms.jacobian import jacrev as jacrev
    from .transforms.jvp import jvp as jvp
    from .transforms.jvp import linearize as linearize
    from .transforms.per_sample import per_sample_grad as per_sample_grad
    from .transforms.vjp import vjp as vjp
    from .transforms.vmap import vmap as vmap

__version__ = "0.1.0"

_PLACES = {
    "ArgumentError": "compiler.errors",
    "Diagnostic": "compiler.lint",
    "PergradError": "compiler.errors",
    "ShapeDtype": "shapes",
    "VmapViolation": "compiler.errors",
    "compile": "transforms.compile",
    "functionalize": "transforms.functionalize",
    "grad": "transforms.grad",
    "grad_and_value": "transforms.grad",
    "hessian": "transforms.jacobian",
    "jacfwd": "transforms.jacobian",
    "jacrev": "transforms.jacobian",
    "jvp": "transforms.jvp",
    "linearize": "transforms.jvp",
    "lint": "linting",
    "per_sample_grad": "transforms.per_sample",
    "vjp": "transforms.vjp",
    "vmap": "transforms.vmap",
}


def __getattr__(name: str) -> Any:
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module 'pergrad' has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{place}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_PLACES])


__all__ = [
    "ArgumentError",
    "Diagnostic",
    "PergradError",
    "ShapeDtype",
    "VmapViolation",
    "compile",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "lint",
    "per_sample_grad",
    "vjp",
    "vmap",
]
