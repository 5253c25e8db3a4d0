"""grad and grad_and_value: the gradient of a scalar function by reverse mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..arguments import check_argnums, check_differentiable, check_flag, check_function, check_has_aux, check_scalar_output
from ..compiler.core.builder import Value, atom_of, call, current
from ..compiler.core.trees import flatten
from ..compiler.specialize import Context
from ..compiler.transforms import reverse, slopes
from ..transformed import Aux, Inner, Transformed, replaced, stage


def grad(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Grad:
    """The gradient of ``func``, which returns one real number, with respect to the arguments ``argnums``.

    Returns a function of the same arguments whose result has the structure, shapes and dtypes of the argument (a tuple of them for a tuple
    of argnums). With ``has_aux`` the function returns (output, aux) and the gradient (gradient, aux). The caller's arrays are never
    written. Raises ArgumentError for an output that is no scalar, ArgumentTypeError for integer arguments. The gradient of a complex array
    is torch's: the derivative by its real parts plus i times that by its imaginary parts.

    >>> import numpy as np, pergrad as pg
    >>> pg.grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    array([2., 4.])

    Beyond torch.func: the derivative follows in-place writes and loops whose length depends on data.
    """
    check_function(func, "grad")
    check_flag("has_aux", has_aux)
    return Grad(func, argnums=argnums, has_aux=has_aux, value=False)


def grad_and_value(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Grad:
    """As ``grad``; returns (gradient, value), with ``has_aux`` (gradient, (value, aux)).

    >>> import numpy as np, pergrad as pg
    >>> pg.grad_and_value(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    (array([2., 4.]), np.float64(5.0))
    """
    check_function(func, "grad_and_value")
    check_flag("has_aux", has_aux)
    return Grad(func, argnums=argnums, has_aux=has_aux, value=True)


class Grad(Transformed):
    """A function's gradient."""

    kind = "grad"

    def record(self, args: tuple[Any, ...], kwargs: dict[str, Any], context: Context | None = None) -> Any:
        o = self._options
        name = self.spoken or ("grad_and_value" if o["value"] else "grad")
        argnums = check_argnums(o["argnums"], len(args), self._func, name)
        check_differentiable(self._func, argnums, args, name)
        chosen = (argnums,) if isinstance(argnums, int) else argnums
        wanted = leaf_flags(args, chosen)
        inner = Inner(self._func, args, kwargs, wanted=wanted)
        traced = inner.traced
        output = traced.outputs([Value(r) for r in inner.program.results])
        aux: Any = None
        if o["has_aux"]:
            output, aux = check_has_aux(self._func, output, name, span=traced.span)
        check_scalar_output(self._func, output, name, span=traced.span)
        beside = Aux(aux)
        atoms = [atom_of(output), *beside.atoms]
        flags = inner.selected(wanted)
        program = replaced(inner.program, atoms)
        differentiate = slopes.nested_grad if inner.of_higher_order else reverse.grad
        program = stage("differentiated", differentiate(program, flags, value=o["value"]))
        results = inner.inline(program)
        grads, rest = [conjugated(g) for g in results[: sum(flags)]], results[sum(flags) :]
        gradients = gradient_trees(inner, args, chosen, flags, grads)
        result: Any = gradients if isinstance(argnums, tuple) else gradients[0]
        if o["has_aux"]:
            values = rest[1:] if o["value"] else rest
            aux = beside.rebuilt(values)
        if o["value"]:
            return result, (rest[0], aux) if o["has_aux"] else rest[0]
        return (result, aux) if o["has_aux"] else result


def conjugated(x: Any) -> Any:
    """Between torch's cotangents and the transforms' own: of complex values they are each other's conjugates."""
    return call("numpy.conjugate", x) if atom_of(x).type.dtype.kind == "c" else x


def leaf_flags(args: tuple[Any, ...], chosen: tuple[int, ...]) -> list[bool]:
    """For each leaf of the positional arguments whether it belongs to a chosen one."""
    flags: list[bool] = []
    for k, arg in enumerate(args):
        flags.extend([k in chosen] * len(flatten(arg)[0]))
    return flags


def gradient_trees(inner: Inner, args: tuple[Any, ...], chosen: tuple[int, ...], flags: list[bool], grads: list[Any]) -> tuple[Any, ...]:
    """Gradients in the structure of the chosen arguments."""
    order = [i for i, f in enumerate(flags) if f]
    by_parameter = dict(zip(order, grads, strict=True))
    starts, at = [], 0
    for arg in args:
        starts.append(at)
        at += len(flatten(arg)[0])
    out = []
    for k in chosen:
        leaves, tree = flatten(args[k])
        parts = [by_parameter.get(inner.index[starts[k] + j]) for j in range(len(leaves))]  # type: ignore[arg-type]
        out.append(tree.unflatten(parts))
    return tuple(out)


__all__ = ["Grad", "current", "grad", "grad_and_value", "gradient_trees", "leaf_flags"]
