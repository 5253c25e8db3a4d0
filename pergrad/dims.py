"""in_dims and out_dims: which axis of each argument is mapped, where the batch axis goes in each output.

Everything here takes values that have a ``shape``, so that real arrays, symbolic ones and stand-ins are treated alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from .compiler.core.trees import Index, Mismatch, Node, Path, Tree, display, flatten, is_container, parts_of, prefix, write
from .compiler.core.types import Dim
from .compiler.errors import ArgumentError, OptionError
from .compiler.specialize import is_foreign
from .naming import argument, counted, describe, function_name, is_array, kind_of, output, parameter_names, shape_text, short, weak_kind

Dims = tuple[int | None, ...]

_WRITTEN_OUT = 12  # values up to which a correction writes every container out


class MapSpec(NamedTuple):
    """For each value in the positional arguments the mapped axis, counted from the front, or None; and the batch size."""

    dims: Dims
    size: Dim


def map_spec(func: Any, in_dims: Any, args: tuple[Any, ...], *, transform: str = "vmap") -> MapSpec:
    """What ``in_dims`` says about these positional arguments.

    Raises ArgumentError for a wrong structure, range or size, OptionError for a wrong type of in_dims or of what is mapped.
    """
    leaves, tree = flatten(args)
    dims = spread_in_dims(func, in_dims, tree, leaves, transform=transform)
    return MapSpec(dims, mapped_size(func, in_dims, dims, tree, leaves, transform=transform))


def spread_in_dims(func: Any, in_dims: Any, tree: Tree, leaves: Sequence[Any], *, transform: str = "vmap") -> Dims:
    """One axis or None per value of the positional arguments (``tree`` is that of their tuple).

    The result depends on the structure and on the numbers of axes only, so it holds for a whole specialisation.
    """
    call = _Call(func, transform, in_dims, tree, leaves)
    if not tree.node.children:
        raise ArgumentError(
            f"{call}: in_dims={short(in_dims)} maps positional arguments, none were given; keyword arguments are never mapped",
            hint="pass the arrays to map by position",
        )
    if not _is_dim(in_dims) and type(in_dims) is not tuple:
        raise OptionError(
            f"{call}: in_dims={short(in_dims)} is {kind_of(in_dims)}, it must be an int or a tuple with one entry per positional argument",
            hint=call.suggest(tuple(in_dims) if type(in_dims) is list else (in_dims,) if is_container(in_dims) else 0),
        )
    if type(in_dims) is tuple and len(in_dims) != len(tree.node.children):
        entries, given = len(in_dims), counted(len(tree.node.children), "positional argument")
        keyword = "; keyword arguments are never mapped and have no entry" if entries > len(tree.node.children) else ""
        raise ArgumentError(
            f"{call}: in_dims={short(in_dims)} has {entries} {'entry' if entries == 1 else 'entries'} for {given}{keyword}",
            hint=call.suggest(in_dims),
        )
    try:
        raw = prefix(in_dims, tree)
    except Mismatch as wrong:
        raise ArgumentError(
            f"{call}: in_dims={short(in_dims)} does not fit {call.argument(wrong.path)}, which is {_container(wrong)}",
            hint=call.suggest(in_dims),
        ) from None
    dims = tuple(call.axis(i, dim) for i, dim in enumerate(raw))
    if all(d is None for d in dims):
        raise ArgumentError(f"{call}: in_dims={short(in_dims)} maps nothing, at least one array must be mapped", hint=call.suggest(0))
    return dims


def mapped_size(func: Any, in_dims: Any, dims: Sequence[int | None], tree: Tree, leaves: Sequence[Any], *, transform: str = "vmap") -> Dim:
    """The batch size, the same for every mapped axis; ``dims`` as ``spread_in_dims`` gave them. This runs at every call."""
    size: Any = None
    first = -1
    for i, dim in enumerate(dims):
        if dim is not None:
            n = leaves[i].shape[dim]
            if size is None:
                size, first = n, i
            elif n != size:
                _sizes_differ(_Call(func, transform, in_dims, tree, leaves), dims, first, i)
    return size  # type: ignore[no-any-return]


def _sizes_differ(call: _Call, dims: Sequence[int | None], i: int, j: int) -> NoReturn:
    one, other = call.mapped(i, dims[i]), call.mapped(j, dims[j])
    size = call.leaves[i].shape[dims[i]]
    elsewhere = [axis for axis, n in enumerate(call.leaves[j].shape) if n == size]
    better: list[Any] = list(dims)
    better[j] = elsewhere[0] if elsewhere else None
    name = call.argument(call.tree.paths()[j])
    what = f" maps axis {elsewhere[0]} of {name}" if elsewhere else f" shares {name} between all samples"
    raise ArgumentError(
        f"{call}: in_dims={short(call.in_dims)} maps axes of different sizes: {one}, {other}",
        hint=f"in_dims={_spell_parts(call.tree.node, better)}{what}",
    )


class _Call:
    """A call that is being checked, and how messages speak of it."""

    def __init__(self, func: Any, transform: str, in_dims: Any, tree: Tree, leaves: Sequence[Any]) -> None:
        self.func, self.transform, self.in_dims = func, transform, in_dims
        self.tree, self.leaves = tree, leaves

    def __str__(self) -> str:
        return f"{self.transform}({function_name(self.func)})"

    def argument(self, path: Path) -> str:
        return argument(self.func, path, len(self.tree.node.children)) if path else "the positional arguments"

    def mapped(self, i: int, dim: Any) -> str:
        shape = self.leaves[i].shape
        return f"{self.argument(self.tree.paths()[i])} of shape {shape_text(shape)} has size {shape[dim]} on axis {dim}"

    def axis(self, i: int, dim: Any) -> int | None:
        """An entry of in_dims for one value, checked and counted from the front."""
        if dim is None:
            return None
        value = self.leaves[i]
        if _has_axis(value, dim) and type(value) is np.ndarray and value.dtype.kind in "biufc":
            return int(dim) % value.ndim
        where = self.argument(self.tree.paths()[i])
        if not _is_dim(dim):
            raise OptionError(
                f"{self}: in_dims={short(self.in_dims)} has {short(dim)} for {where}, it must be an int or None",
                hint=self.suggest(self.in_dims),
            )
        if not is_array(value):
            raise OptionError(
                f"{self}: in_dims={short(self.in_dims)} maps {where}, which is {describe(value)}, not an array", hint=self._share(i)
            )
        refuse_array(value, f"{self}: {where}")
        ndim = len(value.shape)
        if not -ndim <= dim < ndim:
            axes = f"its axes are {-ndim} to {ndim - 1}" if ndim else "it has no axis to map"
            raise ArgumentError(
                f"{self}: in_dims={short(self.in_dims)} maps axis {int(dim)} of {where}, whose shape is {shape_text(value.shape)}: {axes}",
                hint=self._within(i),
            )
        return int(dim) % ndim

    def _within(self, i: int) -> str:
        """The correction for an axis that value ``i`` does not have: one of the size that another argument is mapped with."""
        shape = self.leaves[i].shape
        flat = self._raw()
        others = [x.shape[d] for j, (x, d) in enumerate(zip(self.leaves, flat)) if j != i and d is not None and _has_axis(x, d)]
        fitting = [axis for axis, n in enumerate(shape) if not others or n == others[0]]
        if not fitting:
            return self._share(i)
        flat[i] = fitting[0]
        return self._spelled(flat)

    def _share(self, i: int) -> str:
        """The correction that leaves value ``i`` out, or the advice to make it an array if nothing else is mapped."""
        top = self.tree.paths()[i][:1]
        if isinstance(top[0], Index) and self.tree.node.children[top[0].index].kind == "list" and self._numbers(top[0].index):
            name = parameter_names(self.func, len(self.tree.node.children))[top[0].index] or "the list"
            return f"pass np.array({name}): a list is a container here, and its items are arguments of their own"
        flat = [d if j != i and _has_axis(x, d) else None for j, (x, d) in enumerate(zip(self.leaves, self._raw()))]
        if all(d is None for d in flat):
            return "pass an array with an axis for the samples, in_dims needs one"
        return f"{self._spelled(flat)} shares {self.argument(self.tree.paths()[i])} between all samples"

    def _spelled(self, flat: Sequence[Any]) -> str:
        return f"in_dims={_spell_parts(self.tree.node, flat)}"

    def _numbers(self, index: int) -> bool:
        return all(weak_kind(x) for x, p in zip(self.leaves, self.tree.paths()) if p[:1] == (Index(index),))

    def _raw(self) -> list[Any]:
        return prefix(self.in_dims, self.tree)

    def suggest(self, near: Any) -> str:
        """in_dims of the right structure, as near to ``near`` as can be."""
        flat: list[int | None] = []
        rest = iter(self.leaves)
        _repair(near, self.tree.node, rest, flat)
        if all(d is None for d in flat):
            flat.clear()
            _repair(0, self.tree.node, iter(self.leaves), flat)
        if all(d is None for d in flat):
            return "pass an array with an axis for the samples, in_dims needs one"
        return f"in_dims={write(self.tree.node, list(map(repr, flat)))}" if len(flat) <= _WRITTEN_OUT else self._spelled(flat)


def refuse_array(value: Any, where: str) -> None:
    """Refuse arrays that are not plain numbers: NumPy's matrices and masked arrays mean something else by the same operators."""
    if isinstance(value, np.ndarray) and is_foreign(value):
        raise OptionError(f"{where} is {describe_class(value)}, only plain arrays can be used", hint="pass np.asarray of it")
    if value.dtype.kind not in "biufc":
        raise OptionError(f"{where} has dtype {value.dtype}, only numbers can be used", hint="convert it with .astype(float)")


def describe_class(value: Any) -> str:
    return "a matrix" if isinstance(value, np.matrix) else "a masked array"


def _is_dim(dim: Any) -> bool:
    return dim is None or (isinstance(dim, (int, np.integer)) and not isinstance(dim, bool))


def _has_axis(value: Any, dim: Any) -> bool:
    return _is_dim(dim) and dim is not None and is_array(value) and -len(value.shape) <= dim < len(value.shape)


def _container(wrong: Mismatch) -> str:
    if wrong.node.kind == "leaf":
        return f"one value, not {kind_of(wrong.got)}"
    return write(wrong.node, ["…"] * wrong.node.leaves())


def _repair(near: Any, node: Node, leaves: Any, out: list[int | None]) -> None:
    """Spread ``near`` over a tree, keeping what fits; 0 for what is missing, None for what has no axis."""
    if node.kind == "leaf":
        value = next(leaves)
        mappable = is_array(value) and len(value.shape) and near is not None
        out.append(int(near) if _has_axis(value, near) else 0 if mappable else None)
        return
    if not is_container(near):
        parts: list[Any] = [near] * len(node.children)
    else:
        parts = parts_of(near, node) or _nearest(near, node)
    for part, child in zip(parts, node.children, strict=True):
        _repair(part, child, leaves, out)


def _nearest(near: Any, node: Node) -> list[Any]:
    if isinstance(near, dict):
        return [near.get(k, 0) for k in node.keys]
    if isinstance(near, (tuple, list)) and node.kind in ("tuple", "list", "namedtuple"):
        return [near[i] if i < len(near) else 0 for i in range(len(node.children))]
    return [0] * len(node.children)


def _spell(node: Node, dims: Sequence[Any]) -> str:
    """A prefix as short as can be: one number where everything below has it."""
    return repr(dims[0]) if len(set(dims)) == 1 else _spell_parts(node, dims)


def _spell_parts(node: Node, dims: Sequence[Any]) -> str:
    texts: list[str] = []
    start = 0
    for child in node.children:
        stop = start + child.leaves()
        texts.append(_spell(child, dims[start:stop]) if child.leaves() else "None")
        start = stop
    return display(node, texts)


def out_spec(func: Any, out_dims: Any, tree: Tree, outs: Sequence[Any], batched: Sequence[bool], *, transform: str = "vmap") -> Dims:
    """Where the batch axis goes in each output, counted from the front, or None for an output that does not depend on the sample.

    ``outs`` are the outputs of one sample, ``batched`` whether each depends on it.
    """
    call = f"{transform}({function_name(func)})"

    raw = _spread_out(call, out_dims, tree)

    def spelled(i: int, dim: int | None) -> str:
        """The correction that has ``dim`` for output ``i``."""
        return _spell_out(tree, [dim if j == i else d if _is_dim(d) else 0 for j, d in enumerate(raw)])

    result: list[int | None] = []
    for i, (dim, value, path) in enumerate(zip(raw, outs, tree.paths(), strict=True)):
        where = output(path)
        if not _is_dim(dim):
            raise OptionError(
                f"{call}: out_dims={short(out_dims)} has {short(dim)} for {where}, it must be an int or None", hint=spelled(i, 0)
            )
        if dim is None:
            if batched[i]:
                raise ArgumentError(
                    f"{call}: out_dims={short(out_dims)} has None for {where}, which depends on a mapped argument", hint=spelled(i, 0)
                )
            result.append(None)
            continue
        if not is_array(value) and weak_kind(value) is None:
            raise OptionError(
                f"{call}: out_dims={short(out_dims)} stacks {where}, which is {describe(value)}, not an array or a number",
                hint=spelled(i, None),
            )
        shape = value.shape if is_array(value) else ()
        rank = len(shape) + 1
        if not -rank <= dim < rank:
            raise ArgumentError(
                f"{call}: out_dims={short(out_dims)} puts the batch axis at {int(dim)} in {where}, whose shape for one sample is "
                f"{shape_text(shape)}: it can be {-rank} to {rank - 1}",
                hint=spelled(i, rank - 1 if dim > 0 else -rank),
            )
        result.append(int(dim) % rank)
    return tuple(result)


def _spread_out(call: str, out_dims: Any, tree: Tree) -> list[Any]:
    if tree.is_leaf and type(out_dims) is tuple and len(out_dims) == 1:
        out_dims = out_dims[0]
    try:
        return prefix(out_dims, tree)
    except Mismatch as wrong:
        flat: list[int | None] = []
        _repair_out(out_dims, tree.node, flat)
        fix = f"out_dims={write(tree.node, list(map(repr, flat)))}" if len(flat) <= _WRITTEN_OUT else _spell_out(tree, flat)
        raise ArgumentError(
            f"{call}: out_dims={short(out_dims)} does not fit {output(wrong.path)}, which is {_container(wrong)}",
            hint=fix,
        ) from None


def _spell_out(tree: Tree, flat: Sequence[Any]) -> str:
    return f"out_dims={_spell(tree.node, flat)}"


def _repair_out(near: Any, node: Node, out: list[int | None]) -> None:
    if node.kind == "leaf":
        if isinstance(near, (tuple, list)) and len(near) == 1:
            near = near[0]
        out.append(near if _is_dim(near) else 0)
        return
    parts = (parts_of(near, node) or _nearest(near, node)) if is_container(near) else [near] * len(node.children)
    for part, child in zip(parts, node.children, strict=True):
        _repair_out(part, child, out)


__all__ = ["Dims", "MapSpec", "map_spec", "mapped_size", "out_spec", "refuse_array", "spread_in_dims"]
