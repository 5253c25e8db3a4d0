"""What is right, by means that share no code with the compiler: loops, central differences, dot products.

Trees are optree's. Derivatives are with respect to floating-point leaves only; a tree of derivatives has the structure of what it is a
derivative of, with zeros at other leaves.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import optree

Tree = Any


def leaves(tree: Tree) -> list[Any]:
    """The leaves of a tree; dataclasses count as trees of their fields."""
    return optree.tree_leaves(tree, none_is_leaf=False, namespace="pergrad")


def tree_map(func: Callable[..., Any], tree: Tree, *rest: Tree) -> Tree:
    return optree.tree_map(func, tree, *rest, namespace="pergrad")


def fresh(tree: Tree) -> Tree:
    """A deep copy, so that a program may write to what it is given."""
    return copy.deepcopy(tree)


def is_float(leaf: Any) -> bool:
    return isinstance(leaf, float) or (hasattr(leaf, "dtype") and np.issubdtype(leaf.dtype, np.floating))


def as_arrays(tree: Tree) -> Tree:
    return tree_map(lambda leaf: np.array(leaf), tree)


def zeros_like(tree: Tree) -> Tree:
    return tree_map(lambda leaf: np.zeros(np.shape(leaf)), tree)


def random_like(tree: Tree, rng: np.random.Generator) -> Tree:
    """A tangent: normal numbers at float leaves, zeros elsewhere, dtypes kept."""

    def one(leaf: Any) -> Any:
        array = np.asarray(leaf)
        return rng.normal(size=array.shape).astype(array.dtype) if is_float(leaf) else np.zeros_like(array)

    return tree_map(one, tree)


def inner(a: Tree, b: Tree) -> float:
    """The dot product of two trees of the same structure."""
    return float(sum(np.vdot(np.asarray(x, dtype=float), np.asarray(y, dtype=float)) for x, y in zip(leaves(a), leaves(b), strict=True)))


def take(tree: Tree, dims: Any, i: int) -> Tree:
    """Sample ``i`` of a tree whose leaves are mapped as ``dims`` says: None, an int for all, or a tree that is a prefix."""
    if dims is None:
        return tree
    if isinstance(dims, int):
        return tree_map(lambda leaf: np.take(leaf, i, axis=dims), tree)
    if isinstance(dims, dict):
        return type(tree)((key, take(tree[key], dims[key], i)) for key in tree)
    parts = [take(part, dim, i) for part, dim in zip(tree, dims, strict=True)]
    return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)


def batch_size(args: Sequence[Tree], in_dims: Sequence[Any]) -> int:
    for arg, dims in zip(args, in_dims, strict=True):
        if isinstance(dims, int):
            return int(np.shape(leaves(arg)[0])[dims])
        if isinstance(dims, dict):
            dims, arg = list(dims.values()), [arg[key] for key in dims]
        if dims is not None:
            try:
                return batch_size(list(arg), list(dims))
            except LookupError:
                continue
    raise LookupError("nothing is mapped")


def stack(results: Sequence[Tree]) -> Tree:
    return tree_map(lambda *rows: np.stack([np.asarray(row) for row in rows]), *results)


def per_sample_loop(func: Callable[..., Tree], args: Sequence[Tree], in_dims: Sequence[Any] | int = 0) -> Tree:
    """``func`` of each sample, one after the other, stacked along a new axis 0."""
    dims = [in_dims] * len(args) if isinstance(in_dims, int) else list(in_dims)
    return stack([func(*(fresh(take(arg, dim, i)) for arg, dim in zip(args, dims, strict=True))) for i in range(batch_size(args, dims))])


def _coordinates(tree: Tree) -> list[tuple[int, tuple[int, ...]]]:
    return [(k, index) for k, leaf in enumerate(leaves(tree)) if is_float(leaf) for index in np.ndindex(np.shape(leaf))]


def _moved(tree: Tree, k: int, index: tuple[int, ...], step: float) -> Tree:
    flat, spec = optree.tree_flatten(fresh(tree), namespace="pergrad")
    if np.ndim(flat[k]) == 0 and not isinstance(flat[k], np.ndarray):
        flat[k] = type(flat[k])(flat[k] + step)
    else:
        flat[k][index] += step
    return optree.tree_unflatten(spec, flat)


def central_differences(func: Callable[..., Tree], args: Sequence[Tree], argnums: int | Sequence[int] = 0, *, step: float = 1e-5) -> Tree:
    """The gradient of a scalar function by fourth-order central differences in float64.

    With an int, the tree of ``args[argnums]``; with a sequence, a tuple of such trees. Every evaluation gets fresh copies, so that what the
    function writes to its arguments is seen by nobody. Abramowitz and Stegun, 25.3.6.
    """
    if not isinstance(argnums, int):
        return tuple(central_differences(func, args, n, step=step) for n in argnums)
    out = zeros_like(args[argnums])
    rows = leaves(out)

    def at(k: int, index: tuple[int, ...], h: float) -> float:
        moved = [_moved(arg, k, index, h) if n == argnums else fresh(arg) for n, arg in enumerate(args)]
        return float(func(*moved))

    for k, index in _coordinates(args[argnums]):
        near = at(k, index, step) - at(k, index, -step)
        far = at(k, index, 2 * step) - at(k, index, -2 * step)
        rows[k][index] = (8 * near - far) / (12 * step)
    return out


def directional_difference(func: Callable[..., Tree], args: Sequence[Tree], tangents: Sequence[Tree], *, step: float = 1e-5) -> Tree:
    """The derivative of a function with any tree of outputs along ``tangents``, by fourth-order central differences."""

    def at(h: float) -> list[np.ndarray]:
        def move(arg: Tree, tangent: Tree) -> Tree:
            return tree_map(lambda leaf, t: leaf + h * t if is_float(leaf) else leaf, fresh(arg), tangent)

        return [np.array(leaf, dtype=float) for leaf in leaves(func(*map(move, args, tangents)))]

    spec = optree.tree_structure(func(*map(fresh, args)), namespace="pergrad")
    rows = zip(at(step), at(-step), at(2 * step), at(-2 * step), strict=True)
    return optree.tree_unflatten(spec, [(8 * (a - b) - (c - d)) / (12 * step) for a, b, c, d in rows])


def dot_product_gap(jvp_tangent: Tree, cotangent: Tree, tangents: Tree, vjp_cotangents: Tree) -> float:
    """How far `<cotangent, J t>` is from `<Jᵀ cotangent, t>`, relative to their size."""
    left, right = inner(cotangent, jvp_tangent), inner(vjp_cotangents, tangents)
    return abs(left - right) / max(1.0, abs(left), abs(right))


def assert_same(actual: Tree, expected: Tree, *, rtol: float = 1e-9, atol: float = 1e-11, text: str = "") -> None:
    """Both trees have the same leaves: shapes and values. ``text`` is printed when they differ."""
    got, want = leaves(actual), leaves(expected)
    if len(got) != len(want):
        raise AssertionError(f"{len(got)} results where {len(want)} are expected\n{actual!r}\n{expected!r}\n{text}")
    for a, b in zip(got, want):
        a, b = np.asarray(a), np.asarray(b)
        numbers = a.dtype.kind in "biufc" and b.dtype.kind in "biufc"
        close = np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True) if numbers and a.shape == b.shape else np.array_equal(a, b)
        if not close:
            raise AssertionError(f"values differ\ngot {a.shape}:\n{a!r}\nexpected {b.shape}:\n{b!r}\n{text}")
