"""jacrev, jacfwd and hessian: whole Jacobians as batched code over a basis that is folded away where it can be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..arguments import (
    check_argnums,
    check_chunk_size,
    check_differentiable,
    check_flag,
    check_function,
    check_has_aux,
    check_outputs,
    check_randomness,
)
from ..compiler.core.builder import Value, atom_of, call, current, recorded
from ..compiler.core.program import Const, Program
from ..compiler.core.trees import flatten
from ..compiler.core.types import Type, known
from ..compiler.specialize import Context
from ..compiler.transforms import forward, reverse
from ..compiler.transforms.batch import batch
from ..compiler.transforms.entries import made_of_entries, read_by_entries, units
from ..transformed import Aux, Inner, Transformed, replaced, stage
from .grad import gradient_trees, leaf_flags


def jacrev(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, *, has_aux: bool = False, chunk_size: int | None = None) -> JacRev:
    """The Jacobian of ``func`` by reverse mode: one batched backward pass over a basis of the output.

    For an output and an input array of shapes ``out`` and ``in`` the Jacobian has shape ``out + in``; for trees it is an output tree of
    input trees. ``chunk_size`` takes so many rows at a time. Raises ArgumentTypeError for integer and complex inputs and outputs.

    >>> import numpy as np, pergrad as pg
    >>> pg.jacrev(np.sin)(np.zeros(2))
    array([[1., 0.],
           [0., 1.]])

    Beyond torch.func: the basis is folded away where it is only multiplied, so an elementwise function's Jacobian is a diagonal at once.
    """
    check_function(func, "jacrev")
    check_flag("has_aux", has_aux)
    check_chunk_size(chunk_size)
    return JacRev(func, argnums=argnums, has_aux=has_aux, chunk_size=chunk_size)


def jacfwd(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False, *, randomness: str = "error") -> JacFwd:
    """The Jacobian of ``func`` by forward mode: one batched tangent pass over a basis of the input.

    Shapes and trees as for ``jacrev``. ``randomness`` as for ``vmap``: "different" draws for every column.

    >>> import numpy as np, pergrad as pg
    >>> pg.jacfwd(np.cumsum)(np.zeros(2))
    array([[1., 0.],
           [1., 1.]])

    Beyond torch.func: negative argnums mean what they say.
    """
    check_function(func, "jacfwd")
    check_flag("has_aux", has_aux)
    check_randomness(randomness)
    return JacFwd(func, argnums=argnums, has_aux=has_aux, randomness=randomness)


def hessian(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0) -> Hessian:
    """All second derivatives of ``func``: ``jacfwd(jacrev(func))``.

    For an output and an input of shapes ``out`` and ``in`` the result has shape ``out + in + in``; for trees, and for a tuple of argnums,
    it is a tree of trees of them. Raises ArgumentTypeError for integer and complex inputs and outputs; random draws are refused.

    >>> import numpy as np, pergrad as pg
    >>> pg.hessian(lambda x: np.sum(x**3))(np.ones(2))
    array([[6., 0.],
           [0., 6.]])

    Beyond torch.func: negative argnums mean what they say.
    """
    check_function(func, "hessian")
    return Hessian(func, argnums)


class Jacobian(Transformed):
    """What both modes share."""

    def prepared(self, args: tuple[Any, ...], kwargs: dict[str, Any], name: str) -> Any:
        """Trace the function: the inner call, the chosen arguments, the output's leaves and the auxiliary part."""
        argnums = check_argnums(self._options["argnums"], len(args), self._func, name)
        check_differentiable(self._func, argnums, args, name, complex_ok=False)
        chosen = (argnums,) if isinstance(argnums, int) else argnums
        wanted = leaf_flags(args, chosen)
        inner = Inner(self._func, args, kwargs, wanted=wanted)
        output = inner.traced.outputs([Value(r) for r in inner.program.results])
        aux: Any = None
        if self._options["has_aux"]:
            output, aux = check_has_aux(self._func, output, name, span=inner.traced.span)
        leaves, tree = flatten(output)
        check_outputs(self._func, tree, leaves, name, complex_ok=False, span=inner.traced.span)
        return argnums, chosen, inner, inner.selected(wanted), leaves, tree, aux

    def finished(self, argnums: Any, tree: Any, parts: list[Any], aux: Any) -> Any:
        """The output tree of input trees, and the auxiliary part if asked for."""
        result = tree.unflatten([p if isinstance(argnums, tuple) else p[0] for p in parts])
        return (result, aux) if self._options["has_aux"] else result


class JacRev(Jacobian):
    """A Jacobian by reverse mode."""

    kind = "jacobian"

    def in_chunks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        from ..chunks import jacobian_in_chunks

        return jacobian_in_chunks(self, args, kwargs)

    def record(self, args: tuple[Any, ...], kwargs: dict[str, Any], context: Context | None = None) -> Any:
        argnums, chosen, inner, flags, leaves, tree, aux = self.prepared(args, kwargs, self.spoken or "jacrev")
        n_in = [operand for operand, f in zip(inner.operands, flags, strict=True) if f]
        beside = Aux(aux)
        wanted = [p for p, f in zip(inner.program.params, flags, strict=True) if f]
        parts: list[Any] = []
        for leaf in leaves:
            t = atom_of(leaf).type
            program = replaced(inner.program, [atom_of(leaf)])
            if t.shape and sum(flags) == 1 and read_by_entries(program, wanted[0]):
                # a few columns, each with a pass of its own, where rows would be mostly zeros
                pushed = forward.jvp(program, flags)
                tangents = Program(pushed.params, pushed.body, pushed.results[1:], pushed.name, pushed.sizes)
                (dots,) = by_entries(inner, tangents, wanted[0].type)
                with current().stamped(section="tangent"):
                    parts.append(gradient_trees(inner, args, chosen, flags, [as_columns(dots, wanted[0].type)]))
                continue
            pullback = reverse.vjp(program, flags)
            values = inner.inline(pullback.forward)
            saved = [v if isinstance(v, Value) else Value(atom_of(v)) for v in pullback.saved(inner.operands, values)]
            if made_of_entries(inner.program, atom_of(leaf), wanted):
                stage("differentiated", pullback.backward)
                rows = [inner.inline(pullback.backward, [row, *saved]) for row in units(t)]
                with current().stamped(section="backward"):
                    parts.append(gradient_trees(inner, args, chosen, flags, [recorded.stack(each) for each in zip(*rows, strict=True)]))
                continue
            program, mapped = along(pullback.backward, [True, *[False] * len(saved)], t, "error")
            stage("differentiated", program)
            with current().stamped(section="backward"):
                grads = [current().wrap(a) for a in current().inline(program, [basis(t), *saved])]
            shaped = []
            for g, m, x in zip(grads, mapped, n_in, strict=True):
                shaped.append(g if m else recorded.broadcast_to(g, (*t.shape, *atom_of(x).type.shape)))
            parts.append(gradient_trees(inner, args, chosen, flags, shaped))
        if beside.atoms:
            aux = beside.rebuilt(inner.inline(replaced(inner.program, beside.atoms)))
        return self.finished(argnums, tree, parts, aux)


class JacFwd(Jacobian):
    """A Jacobian by forward mode."""

    kind = "jacobian"

    def record(self, args: tuple[Any, ...], kwargs: dict[str, Any], context: Context | None = None) -> Any:
        argnums, chosen, inner, flags, leaves, tree, aux = self.prepared(args, kwargs, self.spoken or "jacfwd")
        atoms = [atom_of(x) for x in leaves]
        beside = Aux(aux)
        operands = [x for x, f in zip(inner.operands, flags, strict=True) if f]
        columns: list[list[Any]] = []
        for k, x in enumerate(operands):
            own = atom_of(x).type
            only = one_of(flags, k)
            pushed = forward.jvp(replaced(inner.program, atoms), only)
            tangents = Program(pushed.params, pushed.body, pushed.results[len(atoms) :], pushed.name, pushed.sizes)
            if read_by_entries(inner.program, inner.program.params[only.index(True)]):
                passes = by_entries(inner, tangents, own)
                with current().stamped(section="tangent"):
                    columns.append([self.gathered(dots, own, m == k) for m, dots in enumerate(passes)])
                continue
            mapped = [*[False] * len(inner.operands), True]
            program, batched = along(tangents, mapped, own, self._options["randomness"])
            stage("differentiated", program)
            with current().stamped(section="tangent"):
                dots = [current().wrap(a) for a in current().inline(program, [*inner.operands, basis(own)])]
                column: list[Any] = []
                for dot, m, a in zip(dots, batched, atoms, strict=True):
                    dot = dot if m else recorded.broadcast_to(dot, (*own.shape, *a.type.shape))
                    column.append(self.turned(dot, own, a.type, len(column) == k))
            columns.append(column)
        parts = [gradient_trees(inner, args, chosen, flags, [c[j] for c in columns]) for j in range(len(atoms))]
        if beside.atoms:
            aux = beside.rebuilt(inner.inline(replaced(inner.program, beside.atoms)))
        return self.finished(argnums, tree, parts, aux)

    def turned(self, dot: Any, own: Type, out: Type, same: bool) -> Any:
        """The tangents over a basis of an operand, with its axes last; ``same``: the output stands at the operand's own place."""
        n = len(own.shape)
        return recorded.moveaxis(dot, tuple(range(n)), tuple(range(-n, 0))) if n and out.shape else dot

    def gathered(self, dots: list[Any], own: Type, same: bool) -> Any:
        """The tangents for each unit vector of an operand, as one array."""
        return as_columns(dots, own)


class Hessian(JacFwd):
    """The Jacobian, by forward mode, of the Jacobian by reverse mode."""

    kind = spoken = "hessian"

    def turned(self, dot: Any, own: Type, out: Type, same: bool) -> Any:
        """As they are where they are symmetric."""
        return dot if same and own.shape == out.shape else super().turned(dot, own, out, same)

    def gathered(self, dots: list[Any], own: Type, same: bool) -> Any:
        """With the entries below the diagonal those above it."""
        if not same or own.shape != dots[0].shape or len(own.shape) != 1:
            return super().gathered(dots, own, same)
        n = len(dots)
        return recorded.stack([recorded.stack([dots[max(i, j)][min(i, j)] for j in range(n)]) for i in range(n)])

    def __init__(self, func: Callable[..., Any], argnums: int | tuple[int, ...]) -> None:
        inner = JacRev(func, argnums=argnums, has_aux=False, chunk_size=None)
        inner.spoken = "hessian"
        super().__init__(inner, argnums=argnums, has_aux=False, randomness="error")
        self.__wrapped__ = func

    def __reduce__(self) -> Any:
        found = super().__reduce__()
        return found if isinstance(found, str) else (Hessian, (self.__wrapped__, self._options["argnums"]))


def basis(t: Type) -> Any:
    """The unit vectors of a type: shape (*shape, *shape)."""
    import numpy as np

    if len(t.shape) == 1 or not known(t.shape):
        identity = call("numpy.eye", t.size, dtype=t.dtype)
        return identity if len(t.shape) == 1 else recorded.reshape(identity, (*t.shape, *t.shape))
    return current().wrap(Const(np.eye(int(t.size), dtype=t.dtype).reshape((*t.shape, *t.shape))))  # type: ignore[arg-type]


def along(program: Program, mapped: list[bool], t: Type, randomness: str) -> tuple[Program, list[bool]]:
    """A program over the unit vectors of a type: batched once for every axis of it, so that the axes stay apart."""
    flags = [True] * len(program.results)
    if not t.shape:
        return program, flags
    for n, size in enumerate(reversed(t.shape)):
        program, batched = batch(program, mapped, size, randomness=randomness)
        flags = [bool(b) if not n else f or bool(b) for f, b in zip(flags, batched, strict=True)]
    return program, flags


def by_entries(inner: Inner, tangents: Program, own: Type) -> list[list[Any]]:
    """For each result its tangents, one for each unit vector of an operand, which a pass of its own gives."""
    stage("differentiated", tangents)
    return list(map(list, zip(*(inner.inline(tangents, [*inner.operands, unit]) for unit in units(own)), strict=True)))


def as_columns(dots: list[Any], own: Type) -> Any:
    """Tangents as one array, with the axes of their operand last."""
    columns = recorded.stack(dots, axis=-1)
    return recorded.reshape(columns, (*columns.shape[:-1], *own.shape)) if len(own.shape) > 1 else columns


def one_of(flags: list[bool], k: int) -> list[bool]:
    """The k-th of the set flags alone."""
    chosen = [i for i, f in enumerate(flags) if f]
    return [i == chosen[k] for i in range(len(flags))]


__all__ = ["Hessian", "JacFwd", "JacRev", "basis", "hessian", "jacfwd", "jacrev"]
