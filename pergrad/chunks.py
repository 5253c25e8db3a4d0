"""Computing so many samples at a time: the memory of one chunk plus the output."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .arguments import check_argnums, check_differentiable, check_numbers
from .compiler.core.trees import Tree, flatten, prefix
from .compiler.frontend.generators import KINDS


def in_chunks(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A vmap over chunks of its batch. Every chunk but the last has ``chunk_size`` samples; results are written where they belong."""
    check_numbers(f.called, f._func, (args, kwargs))
    options = f._options
    whole = type(f)(f._func, **{**options, "chunk_size": None})
    leaves, tree = flatten(args)
    dims = f.axes(args, kwargs)
    size = next(leaf.shape[d] for leaf, d in zip(leaves, dims, strict=True) if d is not None)
    step = options["chunk_size"]
    if size <= step:
        return whole(*args, **kwargs)
    outs: list[Any] = []
    where: list[Any] = []
    out_tree: Any = None
    states: Any = None
    for start in range(0, size, step):
        stop = min(start + step, size)
        part = tree.unflatten([leaf if d is None else _cut(leaf, d, start, stop) for leaf, d in zip(leaves, dims, strict=True)])
        if options["randomness"] == "same":
            states = states or _random_states(whole, part, kwargs)
            states()
        values, out_tree = flatten(whole(*part, **kwargs))
        if not start:
            where = prefix(_unwrapped(options["out_dims"], out_tree), out_tree)
            outs = [v if d is None else _whole(np.asarray(v), d, size) for v, d in zip(values, where, strict=True)]
        _write(outs, values, where, start, stop)
        del values  # before the next chunk is there: never more than one beside the output
    return out_tree.unflatten(outs)


def _write(outs: list[Any], values: list[Any], where: list[Any], start: int, stop: int) -> None:
    for out, v, d in zip(outs, values, where, strict=True):
        if d is not None:
            _cut(out, d, start, stop)[...] = v


def _unwrapped(out_dims: Any, tree: Any) -> Any:
    return out_dims[0] if isinstance(out_dims, tuple) and len(out_dims) == 1 and tree.is_leaf else out_dims


def _cut(x: Any, axis: int, start: int, stop: int) -> Any:
    index: list[Any] = [slice(None)] * x.ndim
    index[axis] = slice(start, stop)
    return x[tuple(index)]


def _whole(v: Any, axis: int, size: int) -> Any:
    shape = list(v.shape)
    shape[axis] = size
    return np.empty(shape, v.dtype)


def _random_states(whole: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Puts the random generators, arguments and captured ones, back to where they are now: one draw for all chunks."""
    captured = whole.specialisations.get(args, kwargs)[1]
    legacy = np.random.get_state()
    states = [(g, _state(g)) for g in (*flatten((args, kwargs))[0], *captured.values()) if isinstance(g, KINDS)]

    def restore() -> None:
        np.random.set_state(legacy)
        for g, state in states:
            if isinstance(g, np.random.Generator):
                g.bit_generator.state = state
            else:
                g.set_state(state)

    return restore


def _state(g: Any) -> Any:
    return g.bit_generator.state if isinstance(g, np.random.Generator) else g.get_state()


def jacobian_in_chunks(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A Jacobian by reverse mode, so many rows at a time: the forward pass once, the backward pass over chunks of the basis."""
    from .transforms.vjp import Forward
    from .transforms.vmap import vmap

    check_numbers("jacrev", f._func, (args, kwargs))
    o = f._options
    argnums = check_argnums(o["argnums"], len(args), f._func, "jacrev")
    check_differentiable(f._func, argnums, args, "jacrev", complex_ok=False)
    chosen = (argnums,) if isinstance(argnums, int) else argnums
    forward = Forward(f._func, has_aux=o["has_aux"], argnums=chosen)
    forward.spoken = "jacrev"
    out, aux, residuals, backward = forward.run(args, kwargs)
    leaves, tree = flatten(out)
    rows = vmap(backward, in_dims=(None, 0))
    parts = []
    for j, leaf in enumerate(leaves):
        if np.shape(leaf):
            grads = _rows_in_chunks(functools.partial(rows, residuals), leaves, tree, j, o["chunk_size"])
        else:
            grads = backward(residuals, tree.unflatten([one[0] for one in _basis(leaves, j, 0, 1)]))
        parts.append(grads if isinstance(argnums, tuple) else grads[0])
    result = tree.unflatten(parts)
    return (result, aux) if o["has_aux"] else result


def _rows_in_chunks(rows: Any, leaves: list[Any], tree: Tree, j: int, step: int) -> Any:
    """The Jacobian of the j-th leaf of the output, ``rows`` being the pullback of several cotangents."""
    n, shape = int(np.size(leaves[j])), np.shape(leaves[j])
    blocks: list[Any] = []
    block_tree: Any = None
    for start in range(0, max(n, 1), step):
        stop = min(start + step, n)
        values, block_tree = flatten(rows(tree.unflatten(_basis(leaves, j, start, stop))))
        if not start:
            blocks = [np.empty((n, *v.shape[1:]), v.dtype) for v in values]
        _write(blocks, values, [0] * len(blocks), start, stop)
        del values
    return block_tree.unflatten([b.reshape((*shape, *b.shape[1:])) for b in blocks])


def _basis(leaves: list[Any], j: int, start: int, stop: int) -> list[Any]:
    """Cotangents of an output's leaves: so many rows of the identity matrix for the j-th, zeros for the others."""
    cts = [np.zeros((stop - start, *np.shape(x)), np.asarray(x).dtype) for x in leaves]
    cts[j].reshape(stop - start, np.size(leaves[j]))[np.arange(stop - start), np.arange(start, stop)] = 1
    return cts


__all__ = ["in_chunks", "jacobian_in_chunks"]
