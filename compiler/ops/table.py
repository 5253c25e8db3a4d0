"""THE op table: one entry per NumPy function, read by every pass, by the linter, the tests and the documentation.

An entry is keyed by its qualified name. Importing the table imports neither NumPy nor any rule's dependencies: rules are
functions that meet NumPy when they are first called, partials are source that is compiled when it is first needed.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Op:
    """One NumPy function.

    What each pass reads:

    - ``signature``: NumPy's own parameters in order, e.g. ``"a, axis=None, keepdims=False"``; ``operands`` names those that are arrays
      (``"*xs"`` for one parameter that holds a sequence of arrays). Every other parameter is static.
    - ``lower``: the meaning in terms of other NumPy functions; an op without it is a primitive and has ``infer``.
    - ``infer(types, params)``: the types of the results.
    - ``vjp(c)``, ``jvp(c)``, ``batch(c)``: see ``families.py`` for what ``c`` offers.
    - ``emit(args, params, types)``: the expression that prints a primitive; None prints a call of the function.
    - ``linear`` or ``analytic``: the rules hold for complex values too. Cotangents of complex values are those of the real parts minus i
      times those of the imaginary ones, so that a partial multiplies them as it stands; the transforms turn them into torch's at the end.
    - ``view``: for an op whose result shares its operand's memory, ``put(base, value, params)``: the base after a write through the view.

    What the linter reads, plain data: ``static`` (parameter -> the code of a batched value there), ``writes`` (parameters written in
    place), ``rejected`` (the code under vmap), ``hint`` (what to write instead), ``random``, ``returns`` ("array", "static": a value that
    never depends on the array's elements, or "none").
    """

    name: str
    signature: str = ""
    operands: tuple[str, ...] = ()
    family: str = ""
    lower: Callable[..., Any] | None = None
    prepare: Callable[..., Any] | None = None
    infer: Callable[..., Any] | None = None
    vjp: Callable[..., Any] | None = None
    jvp: Callable[..., Any] | None = None
    batch: Callable[..., Any] | None = None
    emit: Callable[..., Any] | None = None
    view: Callable[..., Any] | None = None
    partials: tuple[str, ...] = ()
    linear: bool = False
    analytic: bool = False
    static: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    writes: tuple[str, ...] = ()
    rejected: str | None = None
    hint: str = ""
    random: bool = False
    returns: str = "array"
    samples: Any = None

    @property
    def short(self) -> str:
        return self.name.removeprefix("numpy.")

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters in NumPy's positional order, without stars and defaults."""
        parts = (p.split("=")[0].strip() for p in self.signature.split(","))
        return tuple(p.lstrip("*") for p in parts if p and p not in ("*", "/"))


_OPS: dict[str, Op] = {}
_ALIASES: dict[str, str] = {}
_METHODS: dict[str, str] = {}
_loaded = False
_HELPERS = ("table", "families", "contraction_text", "contraction_path", "document")  # modules of this package without entries


def op(
    name: str, rules: Mapping[str, Any] | None = None, /, *, aliases: tuple[str, ...] = (), methods: tuple[str, ...] = (), **fields: Any
) -> Op:
    """Add one entry. ``rules`` is what a function of ``families.py`` returns; ``fields`` override it.

    ``methods`` are the ndarray methods that mean this function; ``aliases`` other qualified names of it.
    """
    entry = Op(name=name, **{**(rules or {}), **fields})
    if name in _OPS:
        raise ValueError(f"{name} has an entry already")
    _OPS[name] = entry
    for alias in aliases:
        _ALIASES[alias] = name
    for method in methods:
        _METHODS[method] = name
    return entry


def amend(name: str, **fields: Any) -> Op:
    """Give an entry more fields: a composition that also records a primitive of the same name."""
    _OPS[name] = replace(_OPS[name], **fields)
    return _OPS[name]


def remove(name: str) -> None:
    """Take one entry out again (tests add entries of their own)."""
    del _OPS[name]
    for mapping in (_ALIASES, _METHODS):
        for key in [k for k, v in mapping.items() if v == name]:
            del mapping[key]


def restore(entry: Op) -> None:
    """Put an entry back as it was (tests replace some for a while)."""
    _OPS[entry.name] = entry


def find(name: str) -> Op | None:
    """The entry of a function by qualified name or alias, or None."""
    _load()
    return _OPS.get(_ALIASES.get(name, name))


def find_method(name: str) -> Op | None:
    """The entry that an ndarray method means, e.g. ``"cumsum"``; its first parameter is the array itself."""
    _load()
    qualified = _METHODS.get(name)
    return _OPS.get(qualified) if qualified else None


def entries() -> Iterator[Op]:
    """All entries, by name."""
    _load()
    return iter([_OPS[name] for name in sorted(_OPS)])


def names() -> Iterator[tuple[str, Op]]:
    """Every qualified name, aliases included, with its entry."""
    _load()
    yield from list(_OPS.items())
    yield from ((alias, _OPS[name]) for alias, name in _ALIASES.items())


def methods() -> Iterator[tuple[str, str]]:
    """Every ndarray method with the name of the entry that it means."""
    _load()
    return iter(sorted(_METHODS.items()))


def _load() -> None:
    """Import the families' modules once: each adds its entries."""
    global _loaded
    if _loaded:
        return
    _loaded = True
    package = importlib.import_module(__package__ or "pergrad.compiler.ops")
    for module in sorted(m.name for m in pkgutil.iter_modules(package.__path__)):
        if module not in _HELPERS:
            importlib.import_module(f"{package.__name__}.{module}")


__all__ = ["Op", "amend", "entries", "find", "find_method", "methods", "names", "op", "remove", "replace", "restore"]
