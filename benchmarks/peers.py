"""The contenders: each makes a call without arguments out of a workload, or None where its library is missing.

A call computes the results into the library's own arrays: nobody pays for conversions. Peers run the workload's text with their own module
in place of `np`.
"""

from __future__ import annotations

import functools
import importlib
import types
from collections.abc import Callable
from typing import Any

import numpy as np

import pergrad as pg
from benchmarks.workloads import Workload

Call = Callable[[], Any]
MOST_IN_A_LOOP = 256


def with_module(func: Callable[..., Any], module: Any) -> Callable[..., Any]:
    """The same function with another module under the name `np`."""
    return types.FunctionType(func.__code__, {**func.__globals__, "np": module}, func.__name__, func.__defaults__, func.__closure__)


def tree_map(func: Callable[[Any], Any], tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: tree_map(func, part) for key, part in tree.items()}
    return tuple(tree_map(func, part) for part in tree) if isinstance(tree, tuple) else func(tree)


def optional(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def emitted(work: Workload) -> Any:
    """The transformed function itself, not yet called."""
    if work.transform == "grad" and work.argnum == 0 and work.in_dims[0] is None and all(dim == 0 for dim in work.in_dims[1:]):
        return pg.per_sample_grad(work.func)
    return pg.vmap(getattr(pg, work.transform)(work.func, argnums=work.argnum), in_dims=work.in_dims)


def pergrad_call(work: Workload, args: tuple[Any, ...]) -> Call:
    return functools.partial(emitted(work), *args)


def by_hand_call(work: Workload, args: tuple[Any, ...]) -> Call:
    return functools.partial(work.by_hand, *args)


def loop_call(work: Workload, args: tuple[Any, ...]) -> Call:
    """The hand-written program on one sample after the other; for `MOST_IN_A_LOOP` samples at most."""
    one_by_one = [
        tuple(arg if dim is None else arg[i : i + 1] for arg, dim in zip(args, work.in_dims, strict=True))
        for i in range(min(work.batch, MOST_IN_A_LOOP))
    ]
    return lambda: [work.by_hand(*sample) for sample in one_by_one]


def jax_call(work: Workload, args: tuple[Any, ...]) -> Call | None:
    jax = optional("jax")
    if jax is None:
        return None
    func = with_module(work.func, importlib.import_module("jax.numpy"))
    compiled = jax.jit(jax.vmap(getattr(jax, work.transform)(func, argnums=work.argnum), in_axes=work.in_dims))
    inputs = tree_map(jax.numpy.asarray, args)
    return lambda: jax.block_until_ready(compiled(*inputs))


def torch_call(work: Workload, args: tuple[Any, ...]) -> Call | None:
    torch = optional("torch")
    if torch is None:
        return None
    func = with_module(work.func, torch)
    transformed = torch.func.vmap(getattr(torch.func, work.transform)(func, argnums=work.argnum), in_dims=work.in_dims)
    inputs = tree_map(torch.from_numpy, args)
    return lambda: transformed(*inputs)


def autograd_call(work: Workload, args: tuple[Any, ...]) -> Call | None:
    """A loop over samples, as autograd has no vmap; for `MOST_IN_A_LOOP` samples at most."""
    autograd = optional("autograd")
    if autograd is None:
        return None
    func = with_module(work.func, importlib.import_module("autograd.numpy"))
    name = {"jacrev": "jacobian"}.get(work.transform, work.transform)
    derivative = getattr(autograd, name)(func, work.argnum)
    samples = [
        tuple(arg if dim is None else arg[i] for arg, dim in zip(args, work.in_dims, strict=True))
        for i in range(min(work.batch, MOST_IN_A_LOOP))
    ]
    return lambda: [derivative(*sample) for sample in samples]


PEERS: dict[str, Callable[[Workload, tuple[Any, ...]], Call | None]] = {
    "torch": torch_call,
    "jax": jax_call,
    "autograd": autograd_call,
}
CONTENDERS = {"pergrad": pergrad_call, "by hand": by_hand_call, "loop": loop_call, **PEERS}
LOOPS = ("loop", "autograd")


def as_numpy(result: Any, name: str) -> Any:
    """A contender's result as NumPy arrays, samples along axis 0."""
    if name == "autograd":
        first = result[0]
        if isinstance(first, dict):
            return {key: np.stack([row[key] for row in result]) for key in first}
        return np.stack(result)
    if name == "loop":
        first = result[0]
        if isinstance(first, dict):
            return {key: np.concatenate([row[key] for row in result]) for key in first}
        return np.concatenate(result)
    return tree_map(np.asarray, result)


def gap(result: Any, expected: Any) -> float:
    """The largest difference, relative to the largest value."""
    if isinstance(expected, dict):
        return max(gap(result[key], expected[key]) for key in expected)
    expected = expected[: len(result)]
    return float(np.max(np.abs(result - expected)) / (np.max(np.abs(expected)) or 1.0))
