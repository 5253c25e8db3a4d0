"""Reductions over axes. Axes are kept counted from the end, so that a batch axis in front changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .counts import extent
from .families import Derivative, expand, linear_jvp, refuse, same_batch
from .table import op

if TYPE_CHECKING:
    from ..core.types import Type


def prepare(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None, where: Any = None
) -> Any:
    from ..core.builder import atom_of, call
    from ..core.types import normal_axes

    for parameter, given in (("out", out), ("initial", initial), ("where", None if where is True else where)):
        if given is not None:
            refuse("numpy reduction", parameter, "np.where(mask, x, the neutral element) before it" if parameter == "where" else "")
    if dtype is not None:
        a = call("numpy.astype", a, dtype)
    return [a], {"axis": normal_axes(axis, atom_of(a).type.ndim), "keepdims": bool(keepdims)}


def with_where(neutral: Any, plain: Callable[..., Any]) -> Callable[..., Any]:
    """``where=`` puts the neutral element where it is false."""

    def prepared(a: Any, *args: Any, where: Any = None, **options: Any) -> Any:
        from ..core.builder import call

        if where is not None and where is not True:
            a = call("numpy.where", where, a, neutral)
        return plain(a, *args, **options)

    return prepared


def with_initial(name: str, combine: str, plain: Callable[..., Any], *, chooses: bool = False) -> Callable[..., Any]:
    """``initial=`` is one more element; where the reduction chooses one, it also stands for those that ``where=`` leaves out."""

    def prepared(a: Any, *args: Any, initial: Any = None, where: Any = None, **options: Any) -> Any:
        from ..core.builder import atom_of, call, current

        if initial is None:
            return plain(a, *args, **options, **({} if where is None else {"where": where}))
        if chooses and where is not None and where is not True:
            a = current().wrap(atom_of(a))
            a, where = call("numpy.where", where, a, call("numpy.astype", initial, a.dtype)), None
        rest = call(f"numpy.{name}", a, *args, **options, **({} if where is None else {"where": where}))
        return call(combine, rest, call("numpy.astype", initial, rest.dtype))

    return prepared


def reduced(shape: Any, axis: tuple[int, ...], keepdims: bool) -> tuple[Any, ...]:
    """The shape after reducing over axes."""
    axes = {a % len(shape) for a in axis} if shape else set()
    if keepdims:
        return tuple(1 if n in axes else d for n, d in enumerate(shape))
    return tuple(d for n, d in enumerate(shape) if n not in axes)


def _reduction_type(kind: Callable[[Any], Any]) -> Callable[..., Any]:
    def infer(types: list[Type], params: dict[str, Any]) -> Type:
        from ..core.types import Type

        shape = reduced(types[0].shape, params["axis"], params["keepdims"])
        return Type(kind(types[0].dtype), shape, scalar=not shape)

    return infer


def _same(dtype: Any) -> Any:
    return dtype


def summed_dtype(dtype: Any) -> Any:
    import numpy as np

    return np.sum(np.zeros(1, dtype)).dtype


def _averaged(dtype: Any) -> Any:
    import numpy as np

    return dtype if dtype.kind in "fc" else np.dtype(float)


def _boolean(dtype: Any) -> Any:
    import numpy as np

    return np.dtype(bool)


def axis_text(params: Any, ndim: int) -> str:
    """axis= and keepdims= as source; nothing where NumPy's default says the same."""
    axis = params["axis"]
    parts = [] if len(axis) == ndim else [f"axis={axis[0] if len(axis) == 1 else axis}"]
    return ", ".join([*parts, *(["keepdims=True"] if params["keepdims"] else [])])


def _emit(name: str) -> Callable[..., str]:
    def emit(types: list[Type], params: dict[str, Any], out: Any) -> str:
        text = axis_text(params, types[0].ndim)
        return f"np.{name}(_0{', ' + text if text else ''})"

    return emit


def kept(y: Any, d: Derivative) -> Any:
    """A reduction's result or cotangent with the reduced axes as 1 again."""
    ndim = d.x[0].ndim
    if d.params["keepdims"] or len(y.shape) == 0:
        return y
    return expand(y, sorted(a % ndim for a in d.params["axis"]))


def _count(d: Derivative) -> Any:
    return extent(d.x[0], d.params["axis"])


def reduction(name: str, vjp: Any, *, kind: Callable[[Any], Any] = _same, is_linear: bool = False, **fields: Any) -> None:
    op(
        f"numpy.{name}",
        signature=fields.pop("signature", "a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None"),
        operands=("a",),
        family="reduction",
        methods=(name,),
        prepare=fields.pop("prepare", prepare),
        infer=_reduction_type(kind),
        vjp=vjp,
        jvp=linear_jvp if is_linear else fields.pop("jvp", None),
        batch=same_batch,
        emit=_emit(name),
        linear=is_linear,
        writes=("out",),
        samples=fields.pop("samples", "arrays with axis"),
        **fields,
    )


reduction(
    "sum",
    lambda d, i: kept(d.ct, d),
    prepare=with_initial("sum", "numpy.add", with_where(0, prepare)),
    kind=summed_dtype,
    is_linear=True,
)
reduction("mean", lambda d, i: kept(d.ct, d) / _count(d), kind=_averaged, is_linear=True)


def _chosen(d: Derivative) -> Any:
    """Where the extremum is, as a share: ties have equal parts of 1."""
    from ..core.builder import recorded as np

    hit = d.x[0] == kept(d.y, d)
    return hit, np.sum(hit, axis=d.params["axis"], keepdims=True)


def _extremum_vjp(d: Derivative, i: int) -> Any:
    from ..core.builder import recorded as np

    hit, ties = _chosen(d)
    ct = kept(d.ct, d)
    return np.where(hit, ct / np.astype(ties, ct.dtype), 0.0)


def _extremum_jvp(d: Derivative) -> Any:
    from ..core.builder import recorded as np

    hit, ties = _chosen(d)
    total = np.sum(np.where(hit, d.dx[0], 0.0), axis=d.params["axis"], keepdims=d.params["keepdims"])
    count = ties if d.params["keepdims"] else np.squeeze(ties, axis=d.params["axis"])
    return total / np.astype(count, total.dtype)


def _prepare_extremum(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None, where: Any = None) -> Any:
    return prepare(a, axis, None, out, keepdims, initial, where)


_BARE = "a, axis=None, out=None, keepdims=False, initial=None, where=None"
for _name in ("max", "min"):
    reduction(
        _name,
        _extremum_vjp,
        jvp=_extremum_jvp,
        prepare=with_initial(_name, f"numpy.{_name}imum", _prepare_extremum, chooses=True),
        signature=_BARE,
        aliases=(f"numpy.a{_name}",),
        samples="distinct with axis",
    )
for _name, _neutral in (("any", False), ("all", True)):
    _prepared = with_where(_neutral, _prepare_extremum)
    reduction(_name, lambda d, i: None, kind=_boolean, prepare=_prepared, signature=_BARE, samples="booleans with axis")
