"""Functions whose result's shape depends on values. Of known arrays they are computed; of any other refused, by name and with what to
write instead."""

from __future__ import annotations

from typing import Any

from .table import op

_KEEP = "keep the shape: np.where(condition, value, 0.0), or a known number of places with np.argsort"
_SORTED = "np.sort(x), and np.where on neighbours that differ"

_REFUSED = {
    "nonzero": ("a", _KEEP),
    "argwhere": ("a", _KEEP),
    "flatnonzero": ("a", _KEEP),
    "unique": ("ar, return_index=False, return_inverse=False, return_counts=False, axis=None, equal_nan=True", _SORTED),
    "unique_all": ("x", _SORTED),
    "unique_counts": ("x", _SORTED),
    "unique_inverse": ("x", _SORTED),
    "unique_values": ("x", _SORTED),
    "union1d": ("ar1, ar2", _SORTED),
    "intersect1d": ("ar1, ar2, assume_unique=False, return_indices=False", "np.isin keeps the shape"),
    "setdiff1d": ("ar1, ar2, assume_unique=False", "np.isin keeps the shape"),
    "setxor1d": ("ar1, ar2, assume_unique=False", "np.isin keeps the shape"),
    "trim_zeros": ("filt, trim='fb', axis=None", _KEEP),
}


def _lower(name: str, hint: str) -> Any:
    def lower(*args: Any, **kwargs: Any) -> Any:
        import numpy

        from ..core.builder import current
        from ..errors import Unsupported
        from .families import constant_of, value

        values = [constant_of(a) for a in args]
        if any(v is None for v in values):
            raise Unsupported(
                f"data-dependent shape: how many elements np.{name} gives depends on values",
                code="PGR401",
                span=current().span,
                hint=hint,
            )
        y = getattr(numpy, name)(*values, **kwargs)
        if isinstance(y, tuple):
            parts = [value(v) for v in y]
            return type(y)(*parts) if hasattr(y, "_fields") else tuple(parts)
        return value(y)

    return lower


for _name, (_signature, _hint) in _REFUSED.items():
    op(
        f"numpy.{_name}",
        signature=_signature,
        operands=tuple(p for p in _signature.split(", ") if "=" not in p),
        family="refused under vmap",
        lower=_lower(_name, _hint),
        rejected="PGR401",
        hint=_hint,
        methods=("nonzero",) if _name == "nonzero" else (),
        samples="known places",
    )
