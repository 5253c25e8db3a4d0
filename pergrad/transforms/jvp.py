"""jvp and linearize: forward mode."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from ..arguments import check_flag, check_function, check_has_aux, check_numbers, check_outputs, check_tangents
from ..compiler.core.builder import Value, atom_of, building, call, current
from ..compiler.core.program import Program, free_vars
from ..compiler.core.trees import flatten, flatten_as
from ..compiler.specialize import Context
from ..compiler.transforms import forward
from ..compiler.transforms.residuals import check_rows
from ..transformed import Aux, Inner, Transformed, replaced, stage
from .halves import Held, Primals, SecondHalf, is_inexact


def jvp(
    func: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...], *, strict: bool = False, has_aux: bool = False
) -> Any:
    """The output of ``func(*primals)`` and its derivative along ``tangents``: ``(output, tangent)``, with ``has_aux`` ``(output, tangent,
    aux)``.

    ``primals`` and ``tangents`` are tuples of one structure; tangents have the shapes and dtypes of their primals. With ``strict`` an
    output that does not depend on the primals is refused instead of getting zeros. Integer and bool primals have no tangent: what is given
    for them counts as zero. Raises ArgumentError for tangents of another number, structure or shape, also where they would broadcast,
    OptionError for another dtype.

    >>> import numpy as np, pergrad as pg
    >>> pg.jvp(np.sin, (np.zeros(2),), (np.ones(2),))
    (array([0., 0.]), array([1., 1.]))
    """
    check_function(func, "jvp")
    check_flag("strict", strict)
    check_flag("has_aux", has_aux)
    check_tangents(func, primals, tangents)
    return Jvp(func, strict=strict, has_aux=has_aux)(primals, tangents)


class Jvp(Transformed):
    """A function's value and directional derivative, as a function of (primals, tangents)."""

    kind = "jvp"

    def _find_cache(self) -> Any:
        found = super()._find_cache()
        found.func = _primals_and_tangents
        return found

    def record(self, args: tuple[Any, ...], kwargs: dict[str, Any], context: Context | None = None) -> Any:
        primals, tangents = args
        o = self._options
        given = check_tangents(self._func, primals, tangents)
        spec = Primals(primals)
        inner = Inner(self._func, primals, {}, wanted=spec.wanted)
        output = inner.traced.outputs([Value(r) for r in inner.program.results])
        aux: Any = None
        if o["has_aux"]:
            output, aux = check_has_aux(self._func, output, "jvp", span=inner.traced.span)
        leaves, tree = flatten(output)
        check_outputs(self._func, tree, leaves, "jvp", integers_ok=True, span=inner.traced.span)
        beside = Aux(aux)
        atoms = [atom_of(x) for x in leaves]
        n = len(atoms)
        program = replaced(inner.program, [*atoms, *beside.atoms])
        flags = inner.selected(spec.wanted)
        self.refuse_constant(program, atoms, flags)
        pushed = stage("differentiated", forward.jvp(program, flags))
        chosen = [typed_tangent(t, p) for t, p, w in zip(given, flatten(primals)[0], spec.wanted, strict=True) if w]
        results = inner.inline(pushed, [*inner.operands, *chosen])
        dots = iter(results[len(program.results) :])
        tangent = tree.unflatten([next(dots) if a.type.inexact else call("numpy.zeros", a.type.shape) for a in atoms])
        out = tree.unflatten(results[:n])
        aux = beside.rebuilt(results[n : len(program.results)])
        return (out, tangent, aux) if o["has_aux"] else (out, tangent)

    def refuse_constant(self, program: Any, atoms: Sequence[Any], flags: Sequence[bool]) -> None:
        """With ``strict`` every output must depend on a primal."""
        if not self._options["strict"]:
            return
        from ..compiler.errors import ArgumentError
        from ..compiler.transforms.activity import activity

        active = activity(program, [p for p, f in zip(program.params, flags, strict=True) if f])
        if any(a not in active for a in atoms):
            name = getattr(self._func, "__name__", "the function")
            raise ArgumentError(f"jvp({name}): with strict=True every output must depend on the primals", hint="strict=False gives zeros")


def _primals_and_tangents(primals: Any, tangents: Any) -> None:
    """The parameters of a directional derivative."""


def typed_tangent(t: Any, primal: Any) -> Any:
    """A tangent in its primal's dtype, a number where the primal is one."""
    wanted, own = atom_of(primal).type, atom_of(t).type
    if wanted.scalar and not own.scalar:
        t = t[()]
    return call("numpy.astype", t, wanted.dtype) if own.dtype != wanted.dtype or own.weak else t


def linearize(func: Callable[..., Any], *primals: Any) -> Any:
    """The output of ``func(*primals)`` and its linear approximation there: ``(output, jvp_fn)``.

    ``jvp_fn(*tangents)`` takes one tangent per primal, of its structure, shapes and dtypes, gives the output's tangent and computes nothing
    of the forward pass again. It may be called many times and be transformed itself. Raises ArgumentError for tangents of another number,
    structure or shape, also where they would broadcast, OptionError for another dtype.

    >>> import numpy as np, pergrad as pg
    >>> out, push = pg.linearize(np.sin, np.zeros(2))
    >>> push(np.ones(2))
    array([1., 1.])
    """
    check_function(func, "linearize")
    pushed = Linearization(func)
    if building():
        out, saved, linear = pushed.split(primals)
        return out, JvpFunction(linear, tuple(saved), primals)
    check_numbers("linearize", func, primals)
    found, captured = pushed.specialisations.get(primals, {})
    output, residuals = found.function(*primals, **captured)
    return output, JvpFunction(found.extra["linear"], tuple(residuals), primals)


class Linear(SecondHalf):
    """The derivative of one compiled call, as a function of residuals and tangents."""

    kind = "linear"
    spoken = "linearize"

    def record(self, args: tuple[Any, ...], kwargs: dict[str, Any], context: Context | None = None) -> Any:
        residuals, tangents = args
        leaves = flatten_as(self.primals.tree, tangents) or []
        chosen = []
        for t, own, wanted in zip(leaves, self.primals.shapes, self.primals.wanted, strict=True):
            if wanted:
                assert own is not None
                given = atom_of(t).type
                chosen.append(call("numpy.astype", t, own.dtype) if given.weak or given.dtype != own.dtype else t)
        stage("linear", self.halves.linear)
        atoms = current().inline(self.halves.linear, [*residuals, *chosen])
        dots = iter([current().wrap(a) for a in atoms])
        return self.tree.unflatten([next(dots) if is_inexact(o) else call("numpy.zeros", o.shape) for o in self.outs])


class Linearization(Transformed):
    """The forward pass with what the derivative needs."""

    kind = "linearized"
    spoken = "linearize"

    def split(self, primals: tuple[Any, ...]) -> tuple[Any, list[Any], Linear]:
        spec = Primals(primals)
        inner = Inner(self._func, primals, {}, wanted=spec.wanted)
        output = inner.traced.outputs([Value(r) for r in inner.program.results])
        leaves, tree = flatten(output)
        check_outputs(self._func, tree, leaves, "linearize", integers_ok=True, span=inner.traced.span)
        atoms = [atom_of(x) for x in leaves]
        split = forward.linearize(replaced(inner.program, atoms), inner.selected(spec.wanted))
        stage("forward", split.forward)
        results = inner.inline(split.forward)
        saved = [v if isinstance(v, Value) else Value(atom_of(v)) for v in split.saved(inner.operands, results)]
        return tree.unflatten(results[: len(atoms)]), saved, Linear(self._func, split, tree, [Value(a) for a in atoms], spec)

    def record(self, args: tuple[Any, ...], kwargs: dict[str, Any], context: Context | None = None) -> Any:
        out, saved, linear = self.split(args)
        assert context is not None
        check_rows(linear.halves.forward, linear.halves.residuals)
        # what the derivative reads of captured arrays is kept as well: it runs in a compilation of its own
        program, n = linear.halves.linear, len(saved)
        free = free_vars(program)
        params = (*program.params[:n], *free, *program.params[n:])
        linear.halves = dataclasses.replace(
            linear.halves, linear=Program(params, program.body, program.results, program.name, program.sizes)
        )
        saved = [*saved, *(Value(v) for v in free)]
        context.extra["linear"] = linear
        return out, saved


class JvpFunction(Held):
    """The linear approximation of one call: tangents in, the output's tangent out."""

    __name__ = "jvp_fn"

    def __init__(self, linear: Linear, residuals: Sequence[Any], primals: tuple[Any, ...]) -> None:
        super().__init__(linear, residuals)
        self.primals = primals

    def argument(self, args: tuple[Any, ...]) -> Any:
        check_tangents(self.half._func, self.primals, args, transform="linearize")
        return args


__all__ = ["Jvp", "JvpFunction", "Linear", "Linearization", "jvp", "linearize"]
