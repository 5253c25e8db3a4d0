"""Making arrays. With known sizes and contents the result is a constant that remembers how it was written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .families import cast, common_dtype, shape_text
from .select import dtype_text
from .table import op

if TYPE_CHECKING:
    from ..core.types import Type


def constant(value: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    """A known array with its recipe."""
    from ..core.builder import current
    from ..core.program import Const

    return current().wrap(Const(value, recipe=(f"numpy.{name}", args, kwargs)))


def made(name: str, shape: Any, dtype: Any, /, *args: Any, **kwargs: Any) -> Any:
    """An array that depends on a size that varies alone: made at run time, by the call that the user wrote."""
    import numpy as np

    from ..core.builder import current
    from .table import find

    entry = find(f"numpy.{name}")
    assert entry is not None
    return current().apply(entry, [], {"args": args, "kwargs": kwargs, "shape": tuple(shape), "dtype": np.dtype(dtype)})


def _made_type(types: list[Type], params: dict[str, Any]) -> Type:
    from ..core.types import Type

    return Type(params["dtype"], params["shape"])


def _made_text(name: str) -> Any:
    def emit(types: list[Type], params: dict[str, Any], out: Any) -> str:
        parts = [*map(_argument_text, params["args"]), *(f"{k}={_argument_text(v)}" for k, v in params["kwargs"].items())]
        return f"np.{name}({', '.join(parts)})"

    return emit


def _argument_text(x: Any) -> str:
    import numpy as np

    if isinstance(x, np.dtype):
        return dtype_text(x)
    if isinstance(x, tuple):
        return f"({', '.join(map(_argument_text, x))}{',' if len(x) == 1 else ''})"
    return number_text(x)


def made_at_run_time(name: str) -> dict[str, Any]:
    """The fields of an entry whose arrays may be ``made``."""
    return {"infer": _made_type, "emit": _made_text(name)}


def varies(*xs: Any) -> bool:
    """Whether a size that varies is among the arguments."""
    from ..core.sizes import Size

    return any(isinstance(x, Size) or (isinstance(x, tuple) and varies(*x)) for x in xs)


def _dims(shape: Any) -> tuple[Any, ...]:
    from ..core.types import dim

    return tuple(map(dim, shape)) if isinstance(shape, (tuple, list)) else (dim(shape),)


def _filled(shape: Any, value: Any, dtype: Any, name: str) -> Any:
    """An array of one number everywhere; it takes no memory while compiling."""
    import numpy as np

    from ..core.builder import current
    from ..core.types import known
    from .table import find

    dims, dtype = _dims(shape), np.dtype(dtype)
    if known(dims):
        extra = {} if dtype == np.dtype(float) else {"dtype": dtype}
        args = (dims,) if name != "full" else (dims, dtype.type(value).item())
        return constant(np.broadcast_to(np.asarray(value, dtype), dims), name, *args, **extra)
    entry = find("numpy.full")
    assert entry is not None
    return current().apply(entry, [], {"shape": dims, "value": dtype.type(value).item(), "dtype": dtype})


def zeros(shape: Any, dtype: Any = float, order: str = "C", device: Any = None) -> Any:
    return _filled(shape, 0, float if dtype is None else dtype, "zeros")


def ones(shape: Any, dtype: Any = None, order: str = "C", device: Any = None) -> Any:
    return _filled(shape, 1, float if dtype is None else dtype, "ones")


def empty(shape: Any, dtype: Any = float, order: str = "C", device: Any = None) -> Any:
    return zeros(shape, dtype)


def full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C") -> Any:
    import numpy as np

    from ..core.builder import Value, atom_of, call, current
    from ..core.program import Const

    if isinstance(fill_value, Value) and isinstance(fill_value.atom, Const):
        fill_value = fill_value.atom.value
    if varies(fill_value):
        fill_value = current().wrap(atom_of(fill_value))
    if isinstance(fill_value, Value) or np.ndim(fill_value):
        x = call("numpy.array", fill_value) if dtype is None else call("numpy.astype", call("numpy.array", fill_value), dtype)
        return call("numpy.copy", call("numpy.broadcast_to", x, _dims(shape)))
    return _filled(shape, fill_value, np.asarray(fill_value).dtype if dtype is None else dtype, "full")


def _full_type(types: list[Type], params: dict[str, Any]) -> Type:
    from ..core.types import Type

    return Type(params["dtype"], params["shape"])


def _full_text(types: list[Type], params: dict[str, Any], out: Any) -> str:
    import numpy as np

    value, dtype = params["value"], np.dtype(params["dtype"])
    shape = shape_text(params["shape"])
    tail = "" if dtype == np.dtype(float) else f", dtype={dtype_text(dtype)}"
    if value in (0, 1):
        return f"np.{'ones' if value else 'zeros'}({shape}{tail})"
    return f"np.full({shape}, {number_text(value)}{tail})"


def number_text(value: Any) -> str:
    """A number as it is written in source."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float) and (value != value or value in (float("inf"), -float("inf"))):
        return "np.nan" if value != value else "np.inf" if value > 0 else "-np.inf"
    return repr(value)


def _like(name: str) -> Any:
    def like(a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, device: Any = None) -> Any:
        from ..core.builder import atom_of

        t = atom_of(a).type
        return _filled(t.shape if shape is None else shape, int(name == "ones"), t.dtype if dtype is None else dtype, name)

    return like


def full_like(a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None) -> Any:
    from ..core.builder import atom_of

    t = atom_of(a).type
    return full(t.shape if shape is None else shape, fill_value, t.dtype if dtype is None else dtype)


_SIZE = {"shape": "PGR404"}
op("numpy.zeros", signature="shape, dtype=float, order='C'", family="creation", lower=zeros, static=_SIZE, samples="sizes")
op("numpy.ones", signature="shape, dtype=None, order='C'", family="creation", lower=ones, static=_SIZE, samples="sizes")
op("numpy.empty", signature="shape, dtype=float, order='C'", family="creation", lower=empty, static=_SIZE, samples="sizes")
op(
    "numpy.full",
    signature="shape, fill_value, dtype=None, order='C'",
    family="creation",
    lower=full,
    infer=_full_type,
    batch=lambda b: b.bind(b.x),
    emit=_full_text,
    static=_SIZE,
    samples="full",
)
for _name in ("zeros", "ones", "empty"):
    op(
        f"numpy.{_name}_like",
        signature="a, dtype=None, order='K', subok=True, shape=None",
        operands=("a",),
        family="creation",
        lower=_like(_name.replace("empty", "zeros")),
        samples="like",
    )
op(
    "numpy.full_like",
    signature="a, fill_value, dtype=None, order='K', subok=True, shape=None",
    operands=("a",),
    family="creation",
    lower=full_like,
    samples="like",
)


def eye(N: Any, M: Any = None, k: int = 0, dtype: Any = float, order: str = "C") -> Any:
    import numpy as np

    n = _dims(N)[0]
    m = n if M is None else _dims(M)[0]
    dtype = np.dtype(float if dtype is None else dtype)
    kwargs = {**({"k": k} if k else {}), **({} if dtype == np.dtype(float) else {"dtype": dtype})}
    args = (n,) if m == n else (n, m)
    return made("eye", (n, m), dtype, *args, **kwargs) if varies(n, m, k) else constant(np.eye(n, m, k, dtype), "eye", *args, **kwargs)


def identity(n: Any, dtype: Any = None) -> Any:
    return eye(n, dtype=dtype)


op(
    "numpy.eye",
    signature="N, M=None, k=0, dtype=float, order='C'",
    family="creation",
    lower=eye,
    **made_at_run_time("eye"),
    static={"N": "PGR404", "M": "PGR404"},
    samples="eye",
)
op("numpy.identity", signature="n, dtype=None", family="creation", lower=identity, static={"n": "PGR404"}, samples="eye")


def arange(*args: Any, dtype: Any = None, **kwargs: Any) -> Any:
    import numpy as np

    from ..core.builder import Value
    from ..core.program import Const
    from ..core.sizes import range_length

    args = tuple(a.atom.value if isinstance(a, Value) and isinstance(a.atom, Const) else a for a in args)
    args = tuple(kwargs.pop(k) for k in ("start",) if k in kwargs) + args + tuple(kwargs.pop(k) for k in ("stop", "step") if k in kwargs)
    extra = _dtype_keyword(dtype)
    if varies(*args):
        return made("arange", (range_length(*args),), np.int64 if dtype is None else dtype, *args, **extra)
    return constant(np.arange(*args, dtype=dtype), "arange", *args, **extra)


op(
    "numpy.arange",
    signature="start, stop=None, step=None, dtype=None",
    family="creation",
    lower=arange,
    **made_at_run_time("arange"),
    static={"start": "PGR404", "stop": "PGR404", "step": "PGR404"},
    samples="arange",
)


def linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None, axis: int = 0) -> Any:
    import numpy as np

    from ..core.builder import Value, recorded
    from ..core.program import Const

    start, stop = (v.atom.value if isinstance(v, Value) and isinstance(v.atom, Const) else v for v in (start, stop))
    if not isinstance(start, Value) and not isinstance(stop, Value):
        given = tuple(v.tolist() if isinstance(v, np.ndarray) else v for v in (start, stop))
        extra = {} if endpoint else {"endpoint": False}
        if varies(start, stop, num) and np.ndim(start) == np.ndim(stop) == 0 and not retstep:
            return made("linspace", (num,), float if dtype is None else dtype, *given, num, **extra, **_dtype_keyword(dtype))
        y = constant(np.linspace(start, stop, num, endpoint, dtype=dtype, axis=axis), "linspace", *given, num, **extra)
        return (y, (stop - start) / (num - endpoint)) if retstep else y
    dtype_of_steps = common_dtype(start, stop, 1.0)
    start, stop = cast(start, dtype_of_steps), cast(stop, dtype_of_steps)
    step = (stop - start) / max(num - endpoint, 1)
    offset = constant(np.arange(num, dtype=dtype_of_steps), "arange", num, dtype=dtype_of_steps)
    offset = recorded.reshape(offset, (num,) + (1,) * len(step.shape)) if step.shape else offset
    y = start + offset * step
    y = recorded.moveaxis(y, 0, axis) if axis else y
    y = y if dtype is None else recorded.astype(y, dtype)
    return (y, step) if retstep else y


def _dtype_keyword(dtype: Any) -> dict[str, Any]:
    import numpy as np

    return {} if dtype is None else {"dtype": np.dtype(dtype)}


op(
    "numpy.linspace",
    signature="start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0",
    operands=("start", "stop"),
    family="creation",
    lower=linspace,
    **made_at_run_time("linspace"),
    static={"num": "PGR404"},
    samples="linspace",
)


def array(object: Any, dtype: Any = None, copy: Any = True, order: str = "K", subok: bool = False, ndmin: int = 0) -> Any:
    """A nested list with symbolic values is a stack of them."""
    import numpy as np

    from ..core.builder import Value, current, recorded
    from ..core.program import Const

    y = _assembled(object)
    if not isinstance(y, Value):
        value = np.array(y, dtype=dtype)
        y = current().wrap(Const(value))
    elif y.type.scalar:
        y = recorded.reshape(y, ())  # an array of its own: it can be written
    elif y is object:
        y = recorded.copy(y)
    if dtype is not None and y.dtype != np.dtype(dtype):
        y = recorded.astype(y, dtype)
    missing = ndmin - len(y.shape)
    return recorded.expand_dims(y, tuple(range(missing))) if missing > 0 else y


def _assembled(x: Any) -> Any:
    from ..core.builder import Value, atom_of, current, recorded

    if varies(x) and not isinstance(x, tuple):
        return current().wrap(atom_of(x))
    if not isinstance(x, (list, tuple)) or not x:
        return x
    items = [_assembled(v) for v in x]
    if not any(isinstance(v, Value) for v in items):
        return items if isinstance(x, list) else tuple(items)
    return recorded.stack(items)


def asarray(a: Any, dtype: Any = None, order: Any = None, device: Any = None, copy: Any = None, like: Any = None) -> Any:
    from ..core.builder import Value

    if isinstance(a, Value) and not a.type.scalar and (dtype is None or a.dtype == dtype) and not copy:
        return a
    return array(a, dtype)


def copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    """A new array; in a Program, where nothing is ever written, the same value."""
    from ..core.builder import Value, atom_of, current
    from ..core.program import Const

    if not isinstance(a, Value):
        return array(a)
    atom = atom_of(a)
    return current().wrap(atom.copy() if isinstance(atom, Const) else atom)


op("numpy.array", signature="object, dtype=None", operands=("object",), family="creation", lower=array, samples="array")
op(
    "numpy.asarray",
    signature="a, dtype=None",
    operands=("a",),
    family="creation",
    lower=asarray,
    aliases=("numpy.ascontiguousarray", "numpy.asanyarray", "numpy.asfarray"),
    samples="asarray",
)
op("numpy.copy", signature="a, order='K'", operands=("a",), family="creation", lower=copy, methods=("copy",), samples="copy")
