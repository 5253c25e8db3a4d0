"""Writes docs/ops.md from the table: ``python -m pergrad.compiler.ops.document > docs/ops.md``."""

from __future__ import annotations

from collections import defaultdict

from . import table
from .table import Op

_HEAD = """# The functions of NumPy that have a rule

Generated from the op table by `python -m pergrad.compiler.ops.document > docs/ops.md`; a test keeps it up to date.

- **Derivative**: for an elementwise function its partial derivatives, in terms of the arguments `x`, `x1`, `x2` and the result `y`;
  "linear" where the function is its own derivative; "rule" where the table has one; "of its parts" where the function is written in other
  functions of this table; "none" where the result is made of integers, booleans or places.
- **Batching** (`vmap`): "as it stands" where the same call takes a leading axis; "rule" where the table says how; "of its parts".
- Ties of a maximum are shared evenly; against a known number the derivative at the tie is 0, as for relu. `norm` and `abs` have gradient 0
  at 0. `x**p` with a known `p` never takes a logarithm.
- An option that has no rule is refused by name.
- Random: the methods of Generator and RandomState of the same names too. Location and scale have derivatives.
"""


def text() -> str:
    """The whole page."""
    families: dict[str, list[Op]] = defaultdict(list)
    for entry in table.entries():
        methods_of_generators = entry.name.startswith(("numpy.random.Generator.", "numpy.random.RandomState."))
        if entry.name.startswith("numpy.") and not methods_of_generators and (entry.lower or entry.infer or entry.rejected):
            families[_family(entry)].append(entry)
    parts = [_HEAD]
    names = _other_names()
    for family in sorted(families):
        parts.append(f"## {family[:1].upper()}{family[1:]}\n\n| function | other names | derivative | batching |\n|---|---|---|---|")
        parts.append("\n".join(_row(e, names[e.name]) for e in families[family]) + "\n")
    return "\n".join(parts)


def _family(entry: Op) -> str:
    return {"": "other", "linear": "shape", "static": "known without the elements", "composed": "written in other functions"}.get(
        entry.family, entry.family
    )


def _other_names() -> dict[str, list[str]]:
    names: dict[str, list[str]] = defaultdict(list)
    for name, entry in table.names():
        if name != entry.name:
            names[entry.name].append(f"`{name.replace('numpy.', 'np.', 1)}`")
    for method, name in table.methods():
        names[name].append(f"`.{method}()`")
    return names


def _row(entry: Op, others: list[str]) -> str:
    cells = [
        f"`{entry.name.replace('numpy.', 'np.', 1)}({_escaped(entry.signature)})`",
        ", ".join(others),
        _derivative(entry),
        _batching(entry),
    ]
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def _derivative(entry: Op) -> str:
    if entry.rejected:
        return f"{entry.hint}"
    if entry.random:
        return "location and scale"
    if entry.returns == "static":
        return "none"
    if entry.partials:
        shown = [f"`{_escaped(p)}`" if isinstance(p, str) else "rule" for p in entry.partials]
        return "none" if set(entry.partials) == {"0"} else ", ".join(shown)
    if entry.infer is None or (entry.lower is not None and entry.vjp is None):
        return "none" if entry.family == "creation" and not entry.operands else "of its parts"
    if entry.linear:
        return "linear"
    if entry.vjp is not None and entry.vjp.__module__ == "pergrad.compiler.ops.families" and "no_derivative" in entry.vjp.__qualname__:
        return "none"
    return "rule" if entry.vjp else "none"


def _batching(entry: Op) -> str:
    if entry.random:
        return "by `randomness`"
    if entry.rejected:
        return f"refused: {entry.rejected}"
    if entry.returns == "static":
        return "as it stands"
    if entry.batch is None:
        return "of its parts"
    return "as it stands" if entry.batch.__name__ in ("same_batch", "elementwise_batch") else "rule"


if __name__ == "__main__":
    print(text(), end="")
