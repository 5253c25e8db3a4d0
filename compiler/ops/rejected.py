"""Functions whose result's shape depends on values: refused under vmap, by name and with what to write instead. Of known arrays they are
computed; the places of the elements that are not zero have a size that only the values know; what else is not known is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .families import Batching, no_derivative, value
from .table import find, op

if TYPE_CHECKING:
    from ..core.types import Type
    from ..errors import VmapViolation

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


def places(a: Any, name: str) -> tuple[Any, ...]:
    """For each axis, where the elements stand that are not zero, as the NumPy function of that name gives it."""
    from ..core.builder import current
    from ..core.types import counted_size
    from .indexing import first_made

    a = value(a)
    mask = first_made(a if a.dtype == bool else value(a != 0))
    entry = find("pergrad.nonzero")
    assert entry is not None
    y = current().apply(entry, [mask], {"count": counted_size(mask.atom.serial), "name": name})
    return y if isinstance(y, tuple) else (y,)


def _nonzero_type(types: list[Type], params: dict[str, Any]) -> Any:
    import numpy as np

    from ..core.types import Type

    outs = tuple(Type(np.dtype(np.intp), (params["count"],)) for _ in types[0].shape)
    return outs[0] if len(outs) == 1 else outs


def _nonzero_batch(b: Batching) -> Any:
    from ..core.builder import current

    raise places_violation(b.params, current().span)


def places_violation(params: dict[str, Any], span: Any) -> VmapViolation:
    """Each sample has another number of places."""
    from ..errors import VmapViolation

    return VmapViolation(_message(params["name"]), code="PGR401", span=span, hint=_KEEP)


def _message(name: str) -> str:
    if name == "where":
        return "data-dependent shape: np.where with one argument gives as many indices as there are true elements"
    return f"data-dependent shape: how many elements np.{name} gives depends on values"


op(
    "pergrad.nonzero",
    signature="mask, count, name",
    operands=("mask",),
    family="indexing",
    infer=_nonzero_type,
    **no_derivative(),
    batch=_nonzero_batch,
    emit=lambda types, params, out: "np.flatnonzero(_0)" if types[0].ndim == 1 else "np.nonzero(_0)",
)

_PLACES: dict[str, Any] = {
    "nonzero": lambda a: places(a, "nonzero"),
    "flatnonzero": lambda a: places(_recorded().ravel(a), "flatnonzero")[0],
    "argwhere": lambda a: _recorded().stack(places(a, "argwhere"), -1),
}


def _recorded() -> Any:
    from ..core.builder import recorded

    return recorded


def _lower(name: str, hint: str) -> Any:
    def lower(*args: Any, **kwargs: Any) -> Any:
        import numpy

        from ..core.builder import current
        from ..errors import Unsupported
        from .families import constant_of

        values = [constant_of(a) for a in args]
        if any(v is None for v in values) and name in _PLACES and value(args[0]).ndim:
            return _PLACES[name](*args, **kwargs)
        if any(v is None for v in values):
            raise Unsupported(
                _message(name),
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
