"""vjp: a function's output, and the function that takes cotangents back."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from ..arguments import check_cotangent, check_flag, check_function, check_has_aux, check_numbers, check_outputs
from ..compiler.core.builder import Value, atom_of, building, call, current
from ..compiler.core.program import Program, Var, free_vars
from ..compiler.core.trees import flatten
from ..compiler.specialize import Context
from ..compiler.transforms import reverse
from ..compiler.transforms.residuals import check_rows
from ..transformed import Aux, Inner, Transformed, replaced, stage
from .halves import Held, Primals, SecondHalf, conjugated, is_inexact


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The output of ``func(*primals)`` and its pullback: ``(output, vjp_fn)``, with ``has_aux`` ``(output, vjp_fn, aux)``.

    ``vjp_fn(cotangent)`` takes the output's structure and returns a tuple, one gradient per primal, also for one; integer and bool primals
    get float zeros. It may be called many times and be transformed itself. Raises ArgumentError for a cotangent of another shape or
    structure, also where it would broadcast. Cotangents of complex values are torch's: those of the real parts plus i times those of the
    imaginary ones.

    >>> import numpy as np, pergrad as pg
    >>> out, pullback = pg.vjp(np.sin, np.zeros(2))
    >>> pullback(np.ones(2))
    (array([1., 1.]),)
    """
    check_function(func, "vjp")
    check_flag("has_aux", has_aux)
    forward = Forward(func, has_aux=has_aux, argnums=None)
    if building():
        return forward.pulled(primals)
    check_numbers("vjp", func, primals)
    out, aux, residuals, backward = forward.run(primals, {})
    pullback = VjpFunction(backward, residuals, flatten(out)[0])
    return (out, pullback, aux) if has_aux else (out, pullback)


class Backward(SecondHalf):
    """The backward pass of one compiled forward pass, as a function of residuals and cotangent."""

    kind = "vjp"

    def record(self, args: tuple[Any, ...], kwargs: dict[str, Any], context: Context | None = None) -> Any:
        residuals, cotangent = args
        given = check_cotangent(self._func, self.tree, self.outs, (cotangent,))
        cts = [converted(c, o) for c, o in zip(given, self.outs, strict=True) if is_inexact(o)]
        stage("backward", self.halves.backward)
        atoms = current().inline(self.halves.backward, [*cts, *residuals])
        return self.primals.rebuilt([current().wrap(a) for a in atoms])


def converted(ct: Any, out: Value) -> Any:
    """A cotangent in the dtype of its output, as the transforms take it."""
    t = atom_of(ct).type
    dtype = out.type.dtype
    return conjugated(call("numpy.astype", ct, dtype) if t.dtype != dtype or t.weak else ct)


class Forward(Transformed):
    """The forward pass with what the backward pass needs."""

    kind = "forward"

    def run(self, primals: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, tuple[Any, ...], Backward]:
        """Output, aux, residuals and backward pass of a call."""
        found, captured = self.specialisations.get(primals, kwargs)
        output, residuals = found.function(*primals, **kwargs, **captured)
        out, aux = output if self._options["has_aux"] else (output, None)
        return out, aux, tuple(residuals), found.extra["backward"]

    def pull(self, primals: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, list[Any], Backward]:
        """Record the forward pass: output, aux, residuals, and the backward pass."""
        spec = Primals(primals, self._options["argnums"])
        name = self.spoken or "vjp"
        inner = Inner(self._func, primals, kwargs, wanted=spec.wanted)
        results = [Value(r) for r in inner.program.results]
        output = inner.traced.outputs(results)
        aux: Any = None
        if self._options["has_aux"]:
            output, aux = check_has_aux(self._func, output, name, span=inner.traced.span)
        leaves, tree = flatten(output)
        check_outputs(self._func, tree, leaves, name, complex_ok=not self.spoken, span=inner.traced.span)
        beside = Aux(aux)
        out_atoms = [atom_of(x) for x in leaves]
        program = replaced(inner.program, [*out_atoms, *beside.atoms])
        only = replaced(program, out_atoms)
        pullback = reverse.vjp(only, inner.selected(spec.wanted))
        kept = pullback.forward.results[len(out_atoms) :]
        forward = replaced(pullback.forward, [*out_atoms, *kept, *program.results[len(out_atoms) :]])
        stage("forward", forward)
        values = inner.inline(forward)
        saved = _saved(pullback, inner.operands, values[: len(out_atoms) + len(kept)])
        out = tree.unflatten(values[: len(out_atoms)])
        aux = beside.rebuilt(values[len(out_atoms) + len(kept) :])
        outs = [Value(Var(a.type)) for a in out_atoms]
        return out, aux, saved, Backward(self._func, pullback, tree, outs, spec)

    def pulled(self, primals: tuple[Any, ...]) -> Any:
        """vjp inside a compiled function."""
        out, aux, saved, backward = self.pull(primals, {})
        pullback = VjpFunction(backward, tuple(saved), backward.outs)
        return (out, pullback, aux) if self._options["has_aux"] else (out, pullback)

    def record(self, args: tuple[Any, ...], kwargs: dict[str, Any], context: Context | None = None) -> Any:
        out, aux, saved, backward = self.pull(args, kwargs)
        assert context is not None
        check_rows(backward.halves.forward, backward.halves.residuals)
        # what the backward pass reads of captured arrays is kept as well: it runs in a compilation of its own
        free = free_vars(backward.halves.backward)
        program = backward.halves.backward
        whole = Program((*program.params, *free), program.body, program.results, program.name, program.sizes)
        backward.halves = dataclasses.replace(backward.halves, backward=whole)
        saved = [*saved, *(Value(v) for v in free)]
        context.extra["backward"] = backward
        return ((out, aux) if self._options["has_aux"] else out), saved


def _saved(pullback: reverse.Pullback, operands: Sequence[Any], outs: Sequence[Any]) -> list[Any]:
    return [v if isinstance(v, Value) else Value(atom_of(v)) for v in pullback.saved(operands, outs)]


class VjpFunction(Held):
    """The pullback of one call: cotangents in, a tuple of gradients out."""

    __name__ = "vjp_fn"

    def __init__(self, backward: Backward, residuals: Sequence[Any], outs: Sequence[Any]) -> None:
        super().__init__(backward, residuals)
        self.outs = outs

    def argument(self, args: tuple[Any, ...]) -> Any:
        check_cotangent(self.half._func, self.half.tree, self.outs, args)
        return args[0]


__all__ = ["Backward", "Forward", "VjpFunction", "vjp"]
