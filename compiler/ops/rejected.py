"""Functions whose result's shape depends on values: refused under vmap, by name and with what to write instead."""

from __future__ import annotations

from .table import op

op(
    "numpy.nonzero",
    signature="a",
    operands=("a",),
    rejected="PGR401",
    hint="keep the shape: np.where(condition, value, 0.0), or a known number of indices with np.argsort",
    methods=("nonzero",),
)
