"""per_sample_grad: the gradient of every sample, the main job."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..arguments import check_argnums, check_choice, check_chunk_size, check_control_flow, check_flag, check_function, check_randomness
from ..compiler.errors import ArgumentError
from ..compiler.specialize import Context
from ..naming import function_name
from ..transformed import Transformed
from .grad import Grad
from .vmap import Vmap


def per_sample_grad(
    func: Callable[..., Any] | None = None,
    argnums: int | tuple[int, ...] = 0,
    *,
    in_dims: Any = None,
    out_dims: Any = 0,
    has_aux: bool = False,
    with_value: bool = False,
    randomness: str = "error",
    chunk_size: int | None = None,
    control_flow: str = "error",
    lint: str = "error",
) -> Any:
    """Every sample's gradient of ``func``, a scalar loss written for one sample, as one batched program: ``vmap(grad(func))``.

    Use it as a decorator, bare or with options, or call it. The arguments named by ``argnums`` are shared, every other positional argument
    is mapped over its axis 0; ``in_dims`` says otherwise, as in ``vmap``. Gradients have the structure of the arguments, each array with a
    leading batch axis. ``with_value`` returns (gradients, values), with ``has_aux`` (gradients, (values, aux)).

    ``lint="error"`` raises at decoration for what the function's source proves to be impossible for a batch, "warn" warns, "off" is silent.

    >>> import numpy as np, pergrad as pg
    >>> @pg.per_sample_grad
    ... def loss(w, x, y):
    ...     return (x @ w - y) ** 2
    >>> loss(np.ones(2), np.ones((3, 2)), np.zeros(3))
    array([[4., 4.],
           [4., 4.],
           [4., 4.]])

    Source: the per-sample gradients of a batch are the batched program of one sample's reverse mode; see Goodfellow, "Efficient per-example
    gradient computations" (2015), for the case of a linear layer.
    """
    check_flag("has_aux", has_aux)
    check_flag("with_value", with_value)
    check_randomness(randomness)
    check_chunk_size(chunk_size)
    check_control_flow(control_flow)
    check_choice("lint", lint, ("error", "warn", "off"))
    options = {
        "argnums": argnums,
        "in_dims": in_dims,
        "out_dims": out_dims,
        "has_aux": has_aux,
        "with_value": with_value,
        "randomness": randomness,
        "chunk_size": chunk_size,
        "control_flow": control_flow,
        "lint": lint,
    }
    if func is None:
        return lambda f: _decorated(f, options)
    return _decorated(func, options)


def _decorated(func: Callable[..., Any], options: dict[str, Any]) -> PerSampleGrad:
    check_function(func, "per_sample_grad")
    new = PerSampleGrad(func, **options)
    if options["lint"] != "off":
        from ..linting import check

        check(new, options["lint"])
    return new


class PerSampleGrad(Transformed):
    """Per-sample gradients of a function."""

    kind = "per_sample_grad"

    def mapped(self, args: tuple[Any, ...]) -> Vmap:
        """The vmap of grad that this is, for so many arguments."""
        o = self._options
        argnums = check_argnums(o["argnums"], len(args), self._func, "per_sample_grad")
        chosen = (argnums,) if isinstance(argnums, int) else argnums
        in_dims = o["in_dims"]
        if in_dims is None:
            in_dims = tuple(None if k in chosen else 0 for k in range(len(args)))
            if all(d is None for d in in_dims):
                raise ArgumentError(
                    f"per_sample_grad({function_name(self._func)}): every positional argument is one of argnums={o['argnums']}, which all "
                    "samples share unless in_dims says otherwise: no argument holds the samples",
                    hint=f"pass them by position after the parameters, or in_dims={(0,) * len(args)}",
                )
        inner = Grad(self._func, argnums=o["argnums"], has_aux=o["has_aux"], value=o["with_value"])
        rest = {name: o[name] for name in ("out_dims", "randomness", "chunk_size", "control_flow")}
        outer = Vmap(inner, in_dims=in_dims, **rest)
        inner.spoken = outer.spoken = "per_sample_grad"
        return outer

    def in_chunks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self.mapped(args)(*args, **kwargs)

    def axes(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Sequence[int | None]:
        return self.mapped(args).axes(args, kwargs)

    def record(self, args: tuple[Any, ...], kwargs: dict[str, Any], context: Context | None = None) -> Any:
        return self.mapped(args).record(args, kwargs)


__all__ = ["PerSampleGrad", "per_sample_grad"]
