"""What the transforms accept: every check of an option, of what a function is differentiated with respect to, and of what it returned.

Real arrays, symbolic ones and stand-ins are treated alike: only ``shape`` and ``dtype`` are read. Where to find the rest: in_dims and
out_dims are in ``dims``. The names of functions and arguments are looked up only when something is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from .compiler.core.trees import Index, Path, Tree, flatten, flatten_as, is_container
from .compiler.core.types import Size
from .compiler.errors import ArgumentError, ArgumentTypeError, OptionError, Span
from .compiler.specialize import is_foreign
from .dims import Dims, MapSpec, map_spec, mapped_size, out_spec, refuse_array, spread_in_dims
from .naming import argument, counted, describe, function_name, is_array, kind_of, output, shape_text, short, structure, weak_kind
from .shapes import ShapeDtype

Argnums = int | tuple[int, ...]


_AT_ONCE = {  # the transforms that take the function's arguments themselves, and lint
    "jvp": "jvp(f, (x,), (tangent,)), not jvp(f(x), …)",
    "linearize": "linearize(f, x), not linearize(f(x))",
    "lint": "lint(f), not lint(f(x))",
    "vjp": "vjp(f, x), not vjp(f(x))",
}


def check_function(func: Any, transform: str) -> None:
    """Refuse what cannot be called."""
    if not callable(func):
        fix = _AT_ONCE.get(transform, f"{transform}(f)(x), not {transform}(f(x))")
        raise ArgumentTypeError(f"{transform} takes a function, got {describe(func)}", hint=fix)


def check_numbers(transform: str, func: Any, values: Any) -> None:
    """Refuse stand-ins where numbers are computed with."""
    if any(isinstance(x, ShapeDtype) for x in flatten(values)[0]):
        raise ArgumentTypeError(
            f"{transform}({function_name(func)}): a ShapeDtype has no numbers to compute with",
            hint="pass an array; stand-ins are for source(), stages() and save()",
        )


# ---------------------------------------------------------------------------------------------------------------------------------- options


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Refuse anything but one of the words that an option takes."""
    if not isinstance(value, str) or value not in choices:
        words = " or ".join([", ".join(map(repr, choices[:-1])), repr(choices[-1])])
        error = ArgumentError if isinstance(value, str) else OptionError
        raise error(f"{name}={short(value)} is not one of its values, {words}", hint=f"{name}={choices[0]!r}")


def check_randomness(value: Any) -> None:
    """``randomness`` is "error", "different" or "same"."""
    check_choice("randomness", value, ("error", "different", "same"))


def check_control_flow(value: Any) -> None:
    """``control_flow`` is "error" or "mask"."""
    check_choice("control_flow", value, ("error", "mask"))


def check_remove(value: Any) -> None:
    """``remove`` of functionalize is "mutations" or "mutations_and_views"."""
    check_choice("remove", value, ("mutations", "mutations_and_views"))


def check_flag(name: str, value: Any) -> None:
    """Refuse anything but True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise OptionError(f"{name}={short(value)} is {kind_of(value)}, it must be True or False", hint=f"{name}=True")


def check_chunk_size(value: Any) -> None:
    """``chunk_size`` is None or a positive int."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise OptionError(f"chunk_size={short(value)} is {kind_of(value)}, it must be a positive int or None", hint=_whole(value))
    if value < 1:
        raise ArgumentError(f"chunk_size={value} must be a positive int or None", hint="chunk_size=None computes the whole batch at once")


def _whole(value: Any) -> str:
    fits = isinstance(value, (float, np.floating)) and value >= 1 and float(value).is_integer()
    return f"chunk_size={int(value)}" if fits else "chunk_size=None computes the whole batch at once"


def check_argnums(argnums: Any, count: int, func: Any, transform: str = "grad") -> Argnums:
    """``argnums`` counted from the front, an int or a tuple of ints, for ``count`` positional arguments.

    Raises OptionError for anything but an int or a non-empty tuple of them, ArgumentError for one out of range or named twice.
    """
    if type(argnums) is int and 0 <= argnums < count:
        return argnums
    call = f"{transform}({function_name(func)})"
    if type(argnums) is not tuple:
        return _argnum(argnums, argnums, count, call)
    if not argnums:
        raise ArgumentError(f"{call}: argnums=() names no argument", hint="argnums=0")
    found = tuple(_argnum(n, argnums, count, call) for n in argnums)
    if len(set(found)) != len(found):
        raise ArgumentError(
            f"{call}: argnums={argnums} names an argument twice",
            hint=f"argnums={_tuple(dict.fromkeys(found)) if len(set(found)) > 1 else found[0]}",
        )
    return found


def _argnum(n: Any, argnums: Any, count: int, call: str) -> int:
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)):
        fix = _tuple(argnums) if isinstance(argnums, list) and argnums and all(type(a) is int for a in argnums) else "0"
        verb = "has" if type(argnums) is tuple else "is"
        raise OptionError(
            f"{call}: argnums={short(argnums)} {verb} {kind_of(n)}, it must be an int or a tuple of ints", hint=f"argnums={fix}"
        )
    if not -count <= n < count:
        given = counted(count, "positional argument") + (" was" if count == 1 else " were")
        fix = f"argnums={count - 1}" if count else "pass the arguments to differentiate by position"
        raise ArgumentError(f"{call}: argnums={short(argnums)} names argument {int(n)}, but {given} given", hint=fix)
    return int(n) % count


def _tuple(items: Any) -> str:
    return repr(tuple(items))


# ----------------------------------------------------------------------------------------------------------------------------- what went in


def check_differentiable(func: Any, argnums: Argnums, args: tuple[Any, ...], transform: str, *, complex_ok: bool = True) -> None:
    """Refuse arguments that have no derivative: integers, bools, None and other objects; complex ones unless ``complex_ok``.

    ``argnums`` as ``check_argnums`` gave them. Raises ArgumentTypeError naming argument and dtype.
    """
    for n in (argnums,) if isinstance(argnums, int) else argnums:
        leaves, tree = flatten(args[n])
        for value, path in zip(leaves, tree.paths()):
            kind = value.dtype.kind if is_array(value) else weak_kind(value)
            if kind == "f" and not isinstance(value, np.ndarray):
                continue
            _differentiable(func, (Index(n), *path), len(args), value, kind, transform, complex_ok)


def _differentiable(func: Any, path: Path, count: int, value: Any, kind: str | None, transform: str, complex_ok: bool) -> None:
    where = f"{transform}({function_name(func)}): {argument(func, path, count)}"
    option = "primals" if transform == "jvp" else "argnums"
    if kind is None:
        raise ArgumentTypeError(
            f"{where} is {describe(value)}, which has no derivative", hint=f"leave it out of {option}, or pass an array of floats"
        )
    if kind in "biu":
        what = f"has dtype {value.dtype}" if is_array(value) else f"is {describe(value)}"
        fix = "pass it as .astype(float)" if is_array(value) else "pass it as a float"
        raise ArgumentTypeError(f"{where} {what}, which has no derivative: it must be floating", hint=f"{fix}, or leave it out of {option}")
    if is_array(value):
        refuse_array(value, where)
    if kind == "c" and not complex_ok:
        what = f"has dtype {value.dtype}" if is_array(value) else f"is {describe(value)}"
        raise ArgumentTypeError(
            f"{where} {what}: {transform} is for real arguments", hint="pass real and imaginary parts as two real arrays"
        )


def check_tangents(func: Any, primals: Any, tangents: Any, *, transform: str = "jvp") -> list[Any]:
    """The values in ``tangents``, which must have the structure, shapes and dtypes of ``primals``, also where they would broadcast.

    Both are tuples; the keys of dicts may stand in any order. A Python float is the tangent of anything 0-d, None that of what is no array.
    ``transform`` is "jvp", or "linearize" when ``tangents`` are the arguments of its function. Raises ArgumentError for structure, number
    and shape, OptionError for dtype and for what is not a tuple.
    """
    call = f"{transform}({function_name(func)})"
    for name, value in (("primals", primals), ("tangents", tangents)):
        if type(value) is not tuple:
            raise OptionError(
                f"{call}: {name} must be a tuple with one item per positional argument, got {describe(value)}",
                hint=f"{name}=({', '.join(['…'] * len(value))},)" if type(value) is list else f"{name}=({name[:-1]},)",
            )
    if not primals:
        raise ArgumentError(f"{call}: primals=() is empty, there is nothing to differentiate", hint="primals=(x,)")
    if len(primals) != len(tangents):
        raise ArgumentError(
            f"{call}: got {counted(len(tangents), 'tangent')} for {counted(len(primals), 'primal')}; tangents has one item per primal",
            hint=_spelled_tangents(["…"] * len(primals), transform),
        )
    leaves, tree = flatten(primals)
    given = flatten_as(tree, tangents)
    if given is None:
        _structures_differ(func, primals, tangents, transform)
    for i, (primal, tangent) in enumerate(zip(leaves, given)):
        if type(tangent) is float and weak_kind(primal) == "f":
            continue
        alike = is_array(primal) and is_array(tangent) and tuple(primal.shape) == tuple(tangent.shape) and primal.dtype == tangent.dtype
        if alike and not is_foreign(tangent):
            continue
        _tangent(func, tree.paths()[i], len(primals), primal, tangent, call)
    return given


def _spelled_tangents(items: list[str], transform: str) -> str:
    """How tangents are given: to jvp as a tuple, to the function of linearize one by one."""
    one_by_one = transform == "linearize"
    return f"{'jvp_fn' if one_by_one else 'tangents='}({', '.join(items)}{',' if len(items) == 1 and not one_by_one else ''})"


def _structures_differ(func: Any, primals: tuple[Any, ...], tangents: tuple[Any, ...], transform: str) -> NoReturn:
    for i, (primal, tangent) in enumerate(zip(primals, tangents)):
        want, got = flatten(primal)[1], flatten(tangent)[1]
        if flatten_as(want, tangent) is None:
            where = argument(func, (Index(i),), len(primals))
            has = "is one value" if got.is_leaf else f"has the structure {structure(got, lambda _: '…')}"
            expected = "is one value" if want.is_leaf else f"has {structure(want, lambda _: '…')}"
            items = [structure(want, lambda _: "…") if j == i else "…" for j in range(len(primals))]
            raise ArgumentError(
                f"{transform}({function_name(func)}): in tangents, that of {where} {has}, {where} {expected}",
                hint=_spelled_tangents(items, transform),
            )
    raise AssertionError("equal structures")


def _tangent(func: Any, path: Path, count: int, primal: Any, tangent: Any, call: str) -> None:
    where = argument(func, path, count)
    if not is_array(primal) and weak_kind(primal) is None:
        if tangent is not None:
            raise OptionError(
                f"{call}: {where} is {describe(primal)}, which has no derivative: its entry in tangents is None",
                hint=f"None for {where} in tangents",
            )
        return
    shape = tuple(primal.shape) if is_array(primal) else ()
    dtype = primal.dtype if is_array(primal) else np.dtype(float)
    expected = f"tangents must have the shape of their primals, {shape_text(shape)}"
    if not is_array(tangent) and weak_kind(tangent) is None:
        raise OptionError(f"{call}: the tangent of {where} is {describe(tangent)}, {expected}", hint=_zeros(shape))
    if is_array(tangent):
        refuse_array(tangent, f"{call}: the tangent of {where}")
    given = tuple(tangent.shape) if is_array(tangent) else ()
    if given != shape:
        what = f"has shape {shape_text(given)}" if is_array(tangent) else f"is {describe(tangent)}"
        fix = f"np.broadcast_to(tangent, {shape_text(shape)})" if _broadcasts(given, shape) else _zeros(shape)
        raise ArgumentError(f"{call}: the tangent of {where} {what}, {expected}", hint=fix)
    if not is_array(tangent):
        return
    if tangent.dtype != dtype if is_array(primal) else tangent.dtype.kind != "f":
        raise OptionError(
            f"{call}: the tangent of {where} has dtype {tangent.dtype}, tangents must have the dtype of their primals, {dtype}",
            hint=f"tangent.astype(np.{dtype})",
        )


def check_cotangent(func: Any, tree: Tree, outs: Sequence[Any], given: tuple[Any, ...]) -> list[Any]:
    """The values in the cotangent that a function from ``vjp`` was called with, which must have the outputs' structure and shapes.

    ``given`` are its arguments, one. ``tree`` and ``outs`` are the outputs. A Python float is the cotangent of anything 0-d. Values are
    given back as they are: of another real dtype than the output's they are to be converted.
    """
    name = function_name(func)
    if len(given) != 1:
        fix = f"vjp_fn(({', '.join(['…'] * len(given))}))" if len(given) > 1 else f"vjp_fn({structure(tree, lambda _: '…')})"
        raise ArgumentError(f"vjp({name}): the result takes one cotangent, with the structure of the output, got {len(given)}", hint=fix)
    leaves = flatten_as(tree, given[0])
    if leaves is None:
        other = flatten(given[0])[1]
        want, got = structure(tree, lambda _: "…"), structure(other, lambda _: "…")
        if tree.is_leaf:
            raise ArgumentError(
                f"vjp({name}): the cotangent is {describe(given[0])}, the output is one array", hint=f"vjp_fn({_ones(outs[0])})"
            )
        raise ArgumentError(
            f"vjp({name}): the cotangent has the structure {got if not other.is_leaf else 'of one value'}, the output has {want}",
            hint=f"vjp_fn({structure(tree, lambda i: _ones(outs[i]))})",
        )
    for i, (out, cotangent) in enumerate(zip(outs, leaves)):
        _cotangent(name, tree, i, out, cotangent)
    return leaves


def _fits(given: tuple[Any, ...], shape: tuple[Any, ...]) -> bool:
    """Whether a shape is the output's, as far as it is known while compiling."""
    return len(given) == len(shape) and all(isinstance(d, Size) or g == d for g, d in zip(given, shape))


def _cotangent(name: str, tree: Tree, i: int, out: Any, cotangent: Any) -> None:
    shape = tuple(out.shape) if is_array(out) else ()
    real = (out.dtype.kind if is_array(out) else weak_kind(out)) != "c"
    foreign = is_foreign(cotangent)
    if is_array(cotangent) and not foreign and _fits(tuple(cotangent.shape), shape):
        if cotangent.dtype.kind in ("biuf" if real else "biufc"):
            return
    where = output(tree.paths()[i])
    if foreign:
        refuse_array(cotangent, f"vjp({name}): the cotangent of {where}")
    fix = f"vjp_fn({structure(tree, lambda j: _ones(out) if j == i else '…')})"
    expected = f"cotangents must have the shape of their outputs, {shape_text(shape)}"
    if not is_array(cotangent) and weak_kind(cotangent) is None:
        raise OptionError(f"vjp({name}): the cotangent of {where} is {describe(cotangent)}, {expected}", hint=fix)
    given = tuple(cotangent.shape) if is_array(cotangent) else ()
    if not _fits(given, shape):
        what = f"has shape {shape_text(given)}" if is_array(cotangent) else f"is {describe(cotangent)}"
        raise ArgumentError(f"vjp({name}): the cotangent of {where} {what}, {expected}", hint=fix)
    kind = cotangent.dtype.kind if is_array(cotangent) else weak_kind(cotangent)
    if kind == "c" and real:
        raise OptionError(f"vjp({name}): the cotangent of {where} is complex, {where} is real", hint="vjp_fn(cotangent.real)")
    if kind not in tuple("biufc"):
        raise OptionError(f"vjp({name}): the cotangent of {where} has dtype {cotangent.dtype}, it must be numbers", hint=fix)


def _ones(out: Any) -> str:
    return _filled("ones", tuple(out.shape)) if is_array(out) and out.shape else "1.0"


def _zeros(shape: tuple[Any, ...]) -> str:
    return _filled("zeros", shape) if shape else "0.0"


def _filled(name: str, shape: tuple[Any, ...]) -> str:
    return f"np.{name}({shape[0] if len(shape) == 1 else shape_text(shape)})"


def _broadcasts(shape: Sequence[Any], to: Sequence[Any]) -> bool:
    return len(shape) <= len(to) and all(n in (1, m) for n, m in zip(reversed(shape), reversed(to)))


# ---------------------------------------------------------------------------------------------------------------------------- what came out


def check_has_aux(func: Any, result: Any, transform: str = "grad", *, span: Span | None = None) -> tuple[Any, Any]:
    """The output and the auxiliary part of what a function returned under ``has_aux=True``: it must be a tuple of two."""
    if isinstance(result, tuple) and len(result) == 2:
        return result[0], result[1]
    name = function_name(func)
    raise OptionError(
        f"{transform}({name}): with has_aux=True {name} must return a tuple (output, aux), it returned {describe(result)}",
        span=span,
        hint="return output, aux" if not isinstance(result, tuple) or len(result) < 2 else "return output, (aux, …)",
    )


def check_scalar_output(func: Any, result: Any, transform: str = "grad", *, span: Span | None = None) -> None:
    """Refuse an output of which there is no gradient: anything but one real number, 0-d.

    ``span`` is the ``return`` that it came from. Raises ArgumentError for a shape, ArgumentTypeError for what is no real number.
    """
    name = function_name(func)
    need = f"{transform}({name}): {name} must return a scalar"
    if is_container(result):
        aux = isinstance(result, tuple) and len(result) == 2
        fix = "has_aux=True, if only the first item is to be differentiated" if aux else f"return one number, or use jacrev({name})"
        raise OptionError(f"{need}, it returned {describe(result)}", span=span, hint=fix)
    if not is_array(result) and weak_kind(result) is None:
        raise OptionError(f"{need}, it returned {describe(result)}", span=span, hint="return one number")
    if not is_array(result):
        if weak_kind(result) in ("b", "c"):
            raise ArgumentTypeError(f"{need} that is real, it returned {describe(result)}", span=span, hint="return a float")
        return
    shape, dtype = tuple(result.shape), result.dtype
    if shape:
        one = all(n == 1 for n in shape)
        first = ", ".join(["0"] * len(shape))
        fix = f"return y[{first}] or y.sum()" if one else f"return y.sum(), or use jacrev({name}) for all derivatives of an array"
        advice = f", or jacrev({name}) for the derivative of an array" if one else ""
        raise ArgumentError(f"{need}, it returned an array of shape {shape_text(shape)}", span=span, hint=fix + advice)
    if dtype.kind == "c":
        raise ArgumentTypeError(f"{need} that is real, it returned dtype {dtype}", span=span, hint="return y.real or np.abs(y)")
    if dtype.kind != "f":
        raise ArgumentTypeError(
            f"{need} that is floating, it returned dtype {dtype}, which has no derivative", span=span, hint="return float values"
        )


def check_outputs(
    func: Any,
    tree: Tree,
    outs: Sequence[Any],
    transform: str,
    *,
    integers_ok: bool = False,
    complex_ok: bool = True,
    span: Span | None = None,
) -> None:
    """Refuse outputs that have no derivative: what is no number, integers unless ``integers_ok``, complex unless ``complex_ok``."""
    name = function_name(func)
    for i, value in enumerate(outs):
        kind = value.dtype.kind if is_array(value) else weak_kind(value)
        if kind == "f" or (kind == "c" and complex_ok) or (kind is not None and kind in "biu" and integers_ok):
            continue
        where = output(tree.paths()[i])
        if where == "the output":
            where = f"the output of {name}"
        what = f"has dtype {value.dtype}" if is_array(value) else f"is {describe(value)}"
        why = f"{transform} is for real outputs" if kind == "c" else "which has no derivative"
        fix = (
            "return real and imaginary parts as two arrays"
            if kind == "c"
            else "return output, aux with has_aux=True for what is not to be differentiated"
        )
        raise ArgumentTypeError(f"{transform}({name}): {where} {what}, {why}", span=span, hint=fix)


__all__ = [
    "Argnums",
    "Dims",
    "MapSpec",
    "check_argnums",
    "check_choice",
    "check_chunk_size",
    "check_control_flow",
    "check_cotangent",
    "check_differentiable",
    "check_flag",
    "check_function",
    "check_has_aux",
    "check_outputs",
    "check_randomness",
    "check_remove",
    "check_scalar_output",
    "check_tangents",
    "map_spec",
    "mapped_size",
    "out_spec",
    "spread_in_dims",
]
