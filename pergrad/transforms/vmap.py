"""vmap: a function of one sample becomes a function of a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..arguments import check_chunk_size, check_control_flow, check_function, check_randomness
from ..compiler.core.builder import Value, atom_of, call
from ..compiler.core.sizes import Size
from ..compiler.core.trees import flatten
from ..compiler.frontend.session import session
from ..compiler.frontend.trace import Same
from ..compiler.specialize import Context
from ..compiler.transforms.batch import batch
from ..dims import mapped_size, out_spec, spread_in_dims
from ..transformed import Inner, Transformed, stage


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
    control_flow: str = "error",
) -> Vmap:
    """Map ``func``, written for one sample, over an axis of its arguments, as one batched program without a loop over samples.

    ``in_dims``: an int, None (shared), or a tuple that is a prefix of the positional arguments' tree; negative axes count from the end.
    ``out_dims`` likewise says where the batch axis goes in each output; None for an output that does not depend on the sample. Keyword
    arguments are passed whole. ``chunk_size`` computes so many samples at a time. ``randomness``: "error" refuses draws, "different" gives
    every sample its own numbers, "same" one draw for all. ``control_flow="mask"`` turns branches on samples' values into selections.

    Outputs have the per-sample shape and dtype with the batch axis added. Raises ArgumentError (a ValueError) for in_dims, out_dims and
    sizes that do not fit, VmapViolation for Python that a sample's value would decide.

    >>> import numpy as np, pergrad as pg
    >>> pg.vmap(np.dot)(np.ones((2, 3)), np.ones((2, 3)))
    array([3., 3.])

    Beyond torch.func: NumPy code, writes into arrays made inside, ``control_flow="mask"``, and the source to read.
    """
    check_function(func, "vmap")
    check_randomness(randomness)
    check_chunk_size(chunk_size)
    check_control_flow(control_flow)
    return Vmap(func, in_dims=in_dims, out_dims=out_dims, randomness=randomness, chunk_size=chunk_size, control_flow=control_flow)


class Vmap(Transformed):
    """A function mapped over a batch."""

    kind = spoken = "vmap"

    def in_chunks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        from ..chunks import in_chunks

        return in_chunks(self, args, kwargs)

    def axes(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Sequence[int | None]:
        leaves, tree = flatten(args)
        dims = spread_in_dims(self._func, self._options["in_dims"], tree, leaves, transform=self.spoken)
        mapped_size(self._func, self._options["in_dims"], dims, tree, leaves, transform=self.spoken)
        return dims

    def record(self, args: tuple[Any, ...], kwargs: dict[str, Any], context: Context | None = None) -> Any:
        o = self._options
        leaves, tree = flatten(args)
        dims = spread_in_dims(self._func, o["in_dims"], tree, leaves, transform=self.spoken)
        size = mapped_size(self._func, o["in_dims"], dims, tree, leaves, transform=self.spoken)
        s = session()
        s.vmaps += 1
        try:
            inner = Inner(self._func, args, kwargs, mapped=dims)
        finally:
            s.vmaps -= 1
        flags = inner.selected([d is not None for d in dims])
        program, batched = batch(inner.program, flags, size, randomness=o["randomness"], control_flow=o["control_flow"])
        stage("batched", program)
        results = inner.inline(program)
        outs = self.outputs(inner, results, batched, size)
        if inner.traced.written:
            inner.write_back(results, lambda leaf, v: call("numpy.moveaxis", v, 0, dims[leaf]) if dims[leaf] else v)
        return outs

    def outputs(self, inner: Inner, results: Sequence[Any], batched: Sequence[bool], size: Any) -> Any:
        """The outputs with the batch axis where out_dims says."""
        traced = inner.traced
        values = [_number(leaf.value) if isinstance(leaf, Same) else Value(traced.program.results[leaf]) for leaf in traced.leaves]
        depends = [not isinstance(leaf, Same) and batched[leaf] for leaf in traced.leaves]
        where = out_spec(self._func, self._options["out_dims"], traced.tree, values, depends, transform=self.spoken)
        out: list[Any] = []
        for leaf, known, dim, mapped in zip(traced.leaves, values, where, depends, strict=True):
            value = known if isinstance(leaf, Same) else results[leaf]
            if dim is not None:
                if not mapped:
                    value = call("numpy.broadcast_to", value, (size, *atom_of(value).type.shape))
                value = call("numpy.moveaxis", value, 0, dim) if dim else value
            out.append(value)
        return traced.tree.unflatten(out)


def _number(x: Any) -> Any:
    """A size that varies is stacked as the number that it is."""
    return Value(atom_of(x)) if isinstance(x, Size) else x


__all__ = ["Vmap", "vmap"]
