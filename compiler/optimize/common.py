"""Common subexpressions: the same op on the same operands is computed once, in the outermost block that has it first.

Arrays that are made to be written to (``np.zeros`` and the like) stay apart: one buffer for two of them would cost a copy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.program import Apply, Atom, Block, Const, Effect, Node, Program, Var
from ..ops import table
from .rewriting import Rewriting


def eliminate_common(program: Program, tests: bool = False) -> Program:
    """The program with equal computations merged; ``tests`` that control flow asks too, which batching reports each by its line."""
    return _Common(tests).program(program)


class _Common(Rewriting):
    def __init__(self, tests: bool) -> None:
        super().__init__()
        self.tests = tests
        self.seen: list[dict[Any, tuple[Atom, ...]]] = []

    def enter(self, block: Block) -> None:
        self.seen.append({})

    def leave(self, block: Block) -> None:
        self.seen.pop()

    def rewrite(self, node: Node) -> Sequence[Atom] | None:
        if isinstance(node, Effect) and node.kind.startswith("errstate") and not _ignores(node):
            # what warned or did not before may do otherwise from here on
            self.seen = [{} for _ in self.seen]
        if not isinstance(node, Apply) or not mergeable(node):
            return None
        args = [atom_key(a) for a in node.args]
        if node.op in _COMMUTATIVE and node.outs[0].type.dtype.kind != "c":
            args.sort(key=_order)
        key: tuple[Any, ...] = (node.op, tuple(args), params_key(node.params), tuple(v.type for v in node.outs))
        if node.op == "pergrad.truth" and not self.tests:
            key = (*key, node.span)
        for scope in reversed(self.seen):
            if key in scope:
                return scope[key]
        self.seen[-1][key] = node.outs
        return None


_COMMUTATIVE = frozenset({"numpy.add", "numpy.multiply"})


def _order(key: Any) -> tuple[int, Any]:
    """The same for the operands of x * y and y * x."""
    return (key.serial, "") if isinstance(key, Var) else (-1, repr(key))


def _ignores(node: Effect) -> bool:
    """Whether an errstate only silences."""
    return node.kind == "errstate_exit" or all(v == "ignore" for v in dict(node.payload or {}).values())


def mergeable(node: Apply) -> bool:
    """Whether computing a node once instead of twice changes nothing."""
    entry = table.find(node.op)
    return entry is not None and not entry.random and (bool(node.args) or entry.family != "creation")


def atom_key(a: Atom) -> Any:
    """Equal for atoms of the same value: for constants by type and bytes, so that NaN equals itself and -0.0 is not 0.0."""
    return value_key(a.value) if isinstance(a, Const) else a


def params_key(params: Mapping[str, Any]) -> Any:
    """Static parameters as a key; the letters of a contraction by their order of appearance."""
    if "subscripts" in params:
        text = params["subscripts"]
        letters = list(dict.fromkeys(c for c in text if c.isalpha()))
        return tuple(letters.index(c) if c.isalpha() else c for c in text)
    return tuple((name, value_key(params[name])) for name in sorted(params))


def value_key(x: Any) -> Any:
    """A hashable stand-in for a static value."""
    match x:
        case np.ndarray() if x.dtype.hasobject:
            return "object", id(x)
        case np.ndarray():
            return "array", x.dtype, x.shape, x.tobytes() if any(x.strides) else x.ravel()[:1].tobytes()
        case np.generic():
            return "number", x.dtype, x.tobytes()
        case bool() | int() | str() | None:
            return type(x), x
        case float() | complex():
            return type(x), np.asarray(x).tobytes()
        case tuple() | list():
            return type(x), tuple(value_key(v) for v in x)
        case dict():
            return "dict", tuple((value_key(k), value_key(v)) for k, v in x.items())
        case slice():
            return slice, value_key(x.start), value_key(x.stop), value_key(x.step)
    try:
        hash(x)
    except TypeError:
        return "object", id(x)
    return type(x), x
