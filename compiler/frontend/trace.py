"""Tracing: a function and the types of its arguments in, a Program out."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.builder import Builder, Value, atom_of, current
from ..core.program import Apply, Atom, Block, Program, Var, free_vars, walk
from ..core.text import Text
from ..core.trees import Tree, flatten
from ..core.types import Type
from ..errors import Span, Unsupported, VmapViolation, several
from .cells import Array, Cell, Owner, Scalar, wrap
from .frames import Missing
from .generators import KINDS
from .session import Path, session
from .walker import Raised, Walker


@dataclass
class Traced:
    """A function's Program: one parameter per traced leaf of its arguments, one result per array in its output.

    ``tree`` is the output's structure and ``leaves`` its leaves: the position of a result, or what is always the same as ``Same``.
    ``written`` are the parameters that the function wrote, with their new value's position among the results.
    """

    program: Program
    tree: Tree
    leaves: list[Any]
    written: dict[int, int]
    span: Span | None

    def types(self) -> list[Any]:
        """For each leaf of the output its type, or the value that it always is."""
        return [leaf.value if isinstance(leaf, Same) else self.program.results[leaf].type for leaf in self.leaves]

    def outputs(self, results: Sequence[Any]) -> Any:
        """The output tree with values for the results."""
        return self.tree.unflatten([leaf.value if isinstance(leaf, Same) else results[leaf] for leaf in self.leaves])


@dataclass
class Same:
    """A leaf that does not depend on any array."""

    value: Any


@dataclass
class Argument:
    """A leaf of the arguments that is traced: its type inside, its name, and whether a vmap maps it (None: no vmap here)."""

    type: Type
    name: str
    mapped: bool | None = None
    outer: Any = None


def is_number(x: Any) -> bool:
    """Whether a leaf is an array or number that can be traced."""
    return isinstance(x, (Value, np.ndarray, np.generic, int, float, complex)) and not isinstance(x, bool)


def type_inside(x: Any) -> Type:
    """The type of a value as an argument."""
    return atom_of(x).type


def trace(func: Callable[..., Any], leaves: Sequence[Any], tree: Tree, *, name: str) -> Traced:
    """Trace ``func(*args, **kwargs)``, where (args, kwargs) is ``tree`` with ``leaves``: an ``Argument`` is traced, all else static."""
    builder = Builder(wrap)
    walker = Walker()
    s = session()
    params: list[Var] = []
    inside: list[Any] = []
    cells: list[Cell | None] = []
    traced: list[Argument] = []
    # what a view is, is read around the function, not in it
    around = [leaf.outer.atom if isinstance(leaf, Argument) and isinstance(leaf.outer, Value) else None for leaf in leaves]
    with builder.active():
        for leaf, outer in zip(leaves, around, strict=True):
            if not isinstance(leaf, Argument):
                inside.append(leaf)
                continue
            var = Var(leaf.type, identifier(leaf.name))
            params.append(var)
            if outer is not None:
                s.outer[var] = outer
            inside.append(_standing(var, leaf, builder))
            cells.append(inside[-1].cell if isinstance(inside[-1], Array) else None)
            traced.append(leaf)
            if isinstance(inside[-1], Array) and isinstance(leaf.outer, Array):
                s.sharing.origins[inside[-1].cell] = leaf.outer
            if leaf.mapped:
                s.mapped[var] = leaf.name
            elif outer is not None and s.depends_on_mapped(outer):
                s.mapped[var] = leaf.name
        args, kwargs = tree.unflatten(inside)
        for part, word in (*zip(args, argument_words(func, len(args)), strict=True), *((v, k) for k, v in kwargs.items())):
            _remember(part, word)
        before = [c.atom if c else None for c in cells]
        try:
            output = _call(walker, func, args, kwargs)
            raised = output is None and walker.raised
        except Raised:
            raised = True
        except VmapViolation as error:
            # all violations of a function are told at once
            earlier = recorded_violations(builder)
            # a loop's bound that came out of an int() is refused there
            told = any(e.line == error.line for e in earlier) and error.code == "PGR107"
            raise several(earlier if told else [*earlier, error]) from None
        except Unsupported:
            # what only the values know the size of is refused for what it is, before anything that follows from it
            selections = [e for e in recorded_violations(builder) if str(e.code).startswith("PGR4")]
            if selections:
                raise several(selections) from None
            raise
        if raised:
            output = 0.0  # every path raises: nobody will see it, and any transform can take it
        if s.vmaps and not any(leaf.mapped for leaf in leaves if isinstance(leaf, Argument)):
            # under a transform inside a vmap what is not needed is gone before batching sees it
            taken = [e for e in recorded_violations(builder) if str(e.code).startswith("PGR2")]
            if taken:
                raise several(taken)
        for inner, outer in s.outer.items():
            # the parameter of a function is where its argument comes from at every level
            if isinstance(outer, Var) and outer.span is None:
                outer.span = inner.span
        span = builder.span
        out_leaves, out_tree = flatten(output)
        results: list[Atom] = []
        positions: list[Any] = []
        for leaf in out_leaves:
            if isinstance(leaf, Value) or isinstance(leaf, np.ndarray):
                positions.append(len(results))
                results.append(atom_of(leaf))
            else:
                if type(leaf).__name__ == "Conflict":
                    raise Missing(f"a returned value {leaf.reason}", span=span)
                if isinstance(leaf, Text):
                    raise Unsupported(
                        f"text with a value that is known only at run time is returned: `{leaf}`",
                        span=span,
                        hint="return the value, and make the text of the result",
                    )
                positions.append(Same(leaf))
        written: dict[int, int] = {}
        for k, (c, old) in enumerate(zip(cells, before, strict=True)):
            if c is not None and c.atom is not old:
                written[k] = len(results)
                results.append(c.atom)
    program = Program(tuple(params), tuple(builder.nodes), tuple(results), name)
    if written:
        parameters = [(c, leaf.outer) for c, leaf in zip(cells, traced, strict=True) if c and isinstance(leaf.outer, Array)]
        s.sharing.end(parameters, [c for c in (cells[k] for k in written) if c], free_vars(program))
    return Traced(program, out_tree, positions, written, span)


def identifier(name: str) -> str | None:
    """The last word of an access: ``params['W1']`` is W1, ``p.w`` is w, ``layers[0]`` has none of its own."""
    last = name.rpartition(".")[2] if name.rpartition(".")[2].isidentifier() else name.rpartition("[")[2].strip("]'\"")
    return last if last.isidentifier() else None


def recorded_violations(builder: Builder) -> list[VmapViolation]:
    """What batching would refuse in what was recorded so far."""
    found: dict[Any, VmapViolation] = {}
    for body in builder._bodies:
        for node in walk(Block((), tuple(body), ())):
            for atom, error in _refused(node) if isinstance(node, Apply) else ():
                if session().depends_on_mapped(atom):
                    error.trail = tuple(session().trail(atom))
                    found.setdefault((error.code, node.span), error)
    return list(found.values())


def _refused(node: Apply) -> Iterator[tuple[Atom, VmapViolation]]:
    """The operands of a node that may not be mapped, each with what is to be said."""
    from ..ops.host import host_violation, truth_violation
    from ..ops.indexing import mask_violation, masks
    from ..ops.rejected import places_violation

    rules: dict[str, Callable[..., VmapViolation]] = {
        "pergrad.host": host_violation,
        "pergrad.truth": truth_violation,
        "pergrad.nonzero": places_violation,
    }
    if node.op in rules and str(node.params.get("code", "PGR")).startswith("PGR"):
        yield node.args[0], rules[node.op](dict(node.params), node.span)
    for k in masks(node.params.get("index", ())):
        yield node.args[k + (1 if node.op == "pergrad.getitem" else 2)], mask_violation(node.span)


def _standing(var: Var, leaf: Argument, builder: Builder) -> Any:
    if leaf.type.scalar:
        return Scalar(var)
    owner = Owner("argument", leaf.name, leaf.mapped)
    if leaf.mapped is None and isinstance(leaf.outer, Array) and leaf.outer.cell.owner.kind != "local":
        # grad inside vmap: what the vmap says of the argument still holds
        owner = leaf.outer.cell.owner
    cell = Cell(var, builder, owner)
    cell.name = var.name
    return Array(cell)


def argument_words(func: Any, count: int) -> list[str]:
    """The names of the parameters that take ``count`` positional arguments, as far as Python knows them."""
    try:
        names = [p.name for p in inspect.signature(func).parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    except (TypeError, ValueError):
        names = []
    return [*names, *["an argument"] * count][:count]


def _remember(x: Any, word: str) -> None:
    """Note the containers of the arguments: storing into them is refused."""
    if isinstance(x, KINDS):
        session().remember(x, Path("object", x, None, "generator"))
    elif isinstance(x, (list, dict)):
        session().remember(x, Path("argument", x, None, word))
        for key, v in x.items() if isinstance(x, dict) else enumerate(x):
            _remember(v, f"{word}[{key!r}]")
    elif isinstance(x, tuple):
        for k, v in enumerate(x):
            _remember(v, f"{word}[{k}]")


def _call(walker: Walker, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    target = func
    if isinstance(target, types.MethodType):
        session().remember(target.__self__, Path("object", target.__self__, None, "self"))
    elif not isinstance(target, (types.FunctionType, types.BuiltinFunctionType)) and not hasattr(type(target), "__pergrad_trace__"):
        session().remember(target, Path("object", target, None, getattr(target, "__name__", type(target).__name__)))
    return walker.call(func, args, kwargs)


__all__ = ["Argument", "Same", "Traced", "current", "identifier", "is_number", "trace", "type_inside"]
