"""Random draws: the functions of np.random and the methods of Generator and RandomState.

``draw`` records one call. A generator is operand 0, a value of dtype object; np.random's own functions have none. The draw itself is the
one primitive ``pergrad.draw``: its ``size`` is spelled out, so that a batch of draws is one draw of a larger size. Location and scale that
are not known are applied after a draw of the unit distribution, with NumPy's own formula: they have derivatives, and may be mapped whether
samples share the draw or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .families import Batching, constant_of, refuse, shape_text, value, whole
from .table import find, op

if TYPE_CHECKING:
    from ..core.types import Type

# method: its parameters before size, with defaults
_FLOATS = {
    "random": "",
    "random_sample": "",
    "standard_normal": "",
    "standard_exponential": "",
    "standard_cauchy": "",
    "normal": "loc=0.0 scale=1.0",
    "uniform": "low=0.0 high=1.0",
    "exponential": "scale=1.0",
    "gumbel": "loc=0.0 scale=1.0",
    "laplace": "loc=0.0 scale=1.0",
    "logistic": "loc=0.0 scale=1.0",
    "lognormal": "mean=0.0 sigma=1.0",
    "rayleigh": "scale=1.0",
    "standard_gamma": "shape",
    "gamma": "shape scale=1.0",
    "beta": "a b",
    "chisquare": "df",
    "noncentral_chisquare": "df nonc",
    "f": "dfnum dfden",
    "noncentral_f": "dfnum dfden nonc",
    "pareto": "a",
    "power": "a",
    "standard_t": "df",
    "triangular": "left mode right",
    "vonmises": "mu kappa",
    "wald": "mean scale",
    "weibull": "a",
}
_INTEGERS = {
    "poisson": "lam=1.0",
    "binomial": "n p",
    "negative_binomial": "n p",
    "geometric": "p",
    "hypergeometric": "ngood nbad nsample",
    "logseries": "p",
    "zipf": "a",
}
_VECTORS = {"dirichlet": "alpha", "multinomial": "n pvals", "multivariate_normal": "mean cov"}
_LOCATED = ("normal", "gumbel", "laplace", "logistic")
_SCALED = ("exponential", "rayleigh")
_UNIT = {"normal": "standard_normal", "exponential": "standard_exponential", "uniform": "random"}
_OTHERS = "rand randn ranf sample randint integers choice permutation shuffle".split()
METHODS = (*_FLOATS, *_INTEGERS, *_VECTORS, *_OTHERS)


def draw(method: str, generator: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
    """Record ``generator.method(*args, **kwargs)``, or np.random's function where the generator is None.

    Returns what NumPy returns; for ``shuffle`` the new value of its argument. Errors: Unsupported for a method or an option without a
    rule, TypeError as NumPy.
    """
    from ..core.sizes import unseen

    args, kwargs = unseen(args), {k: unseen(v) for k, v in (kwargs or {}).items()}
    own = _OWN.get(method)
    if own is not None:
        return own(generator, *args, **kwargs)
    names = {**_FLOATS, **_INTEGERS, **_VECTORS}.get(method)
    if names is None:
        return refuse("numpy.random", method, "draw with a method that has a rule, or outside and pass the numbers")
    bound = _bind(method, names.split(), args, kwargs)
    if kwargs.get("out") is not None:
        refuse(f"numpy.random.{method}", "out")
    options: dict[str, Any] = {k: kwargs[k] for k in ("dtype", "check_valid", "tol", "method") if k in kwargs}
    size = bound.pop("size", None)
    parameters = [value(p) for p in bound.values()]
    if any(constant_of(p) is None for p in parameters):
        located = _located(method, generator, parameters, size)
        if located is not None:
            return located
    return _record(method, generator, parameters, size, options)


def _bind(method: str, names: list[str], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    order = [n.partition("=")[0] for n in names]
    bound: dict[str, Any] = {n: float(d) for n, _, d in (n.partition("=") for n in names) if d}
    places = [*order, "size", "dtype", "out"]
    for place, x in zip(places, args):
        (bound if place in (*order, "size") else kwargs)[place] = x
    for name in (*order, "size"):
        if name in kwargs:
            bound[name] = kwargs.pop(name)
    missing = [n for n in order if n not in bound]
    if missing:
        raise TypeError(f"{method}() is missing argument {missing[0]!r}")
    unknown = set(kwargs) - {"dtype", "out", "check_valid", "tol", "method"}
    if unknown:
        raise TypeError(f"{method}() got an unexpected keyword argument {sorted(unknown)[0]!r}")
    return {**{n: bound[n] for n in order}, "size": bound.get("size")}


def _located(method: str, generator: Any, parameters: list[Any], size: Any) -> Any:
    """Parameters applied to a draw of the unit distribution; None where that is not what the method does."""
    from ..core.builder import recorded as np
    from ..core.types import broadcast

    if method not in (*_LOCATED, *_SCALED, "uniform", "lognormal", "multivariate_normal"):
        return None
    if method == "multivariate_normal":
        mean, cov = parameters
        if constant_of(cov) is None:
            return None
        return mean + _record(method, generator, [value(np.zeros(mean.shape)), cov], size, {})
    wide = broadcast(*(p.shape for p in parameters))
    size = (wide or None) if size is None else size
    if method == "lognormal":
        return np.exp(_located("normal", generator, parameters, size))
    unit = _record(_UNIT.get(method, method), generator, [], size, {})
    if method in _SCALED:
        return unit * parameters[0]
    if method == "uniform":
        low, high = parameters
        return low + (high - low) * unit
    return parameters[0] + parameters[1] * unit


def _dims(size: Any) -> tuple[Any, ...] | None:
    if size is None:
        return None
    return tuple(whole(d, "size") for d in (size if isinstance(size, (tuple, list)) else (size,)))


def _record(method: str, generator: Any, parameters: list[Any], size: Any, options: dict[str, Any]) -> Any:
    from ..core.builder import current
    from ..core.types import broadcast

    dims = _dims(size)
    if dims is None and method not in _VECTORS:
        wide = broadcast(*(p.shape for p in parameters))
        dims = wide or None
    elif dims is None:
        dims = ()
    params = {"method": method, "size": dims, "generator": generator is not None, **options}
    operands = [*([generator] if generator is not None else []), *parameters]
    return current().apply(find("pergrad.draw"), operands, params)  # type: ignore[arg-type]


def _draw_type(types: list[Type], params: dict[str, Any]) -> Any:
    import numpy as np

    from ..core.types import Type

    method, size = params["method"], params["size"]
    floats = method in _FLOATS or method in ("dirichlet", "multivariate_normal")
    dtype = np.dtype(params.get("dtype") or (float if floats else np.int64))
    if size is None:
        weak = method not in ("integers", "choice") and "dtype" not in params
        return Type(dtype, (), weak=weak, scalar=True)
    own: tuple[Any, ...] = ()
    if method in _VECTORS:
        own = types[-1].shape[-1:]
    elif method == "permutation":
        own = (params["n"],)
    return Type(dtype, (*size, *own))


def _draw_text(types: list[Type], params: dict[str, Any], out: Any) -> str:
    method, size = params["method"], params["size"]
    start = int(params["generator"])
    arguments = [f"_{k}" for k in range(start, len(types))]
    arguments += [repr(params[k]) for k in ("n", "low", "high") if k in params]
    if size is not None and method != "permutation" and (size or method not in _VECTORS):
        arguments.append(f"size={shape_text(size)}")
    if "p" in params:
        arguments.append(f"p={list(params['p'])}")
    for name in ("replace", "endpoint", "check_valid", "tol"):
        if name in params:
            arguments.append(f"{name}={params[name]!r}")
    if "dtype" in params:
        from .select import dtype_text

        arguments.append(f"dtype={dtype_text(params['dtype'])}")
    return f"{'_0' if start else 'np.random'}.{method}({', '.join(arguments)})"


def _draw_batch(b: Batching) -> Any:
    """Every sample its own numbers: the batch in front of the size."""
    from ..core.builder import recorded as np

    params, method = b.params, b.params["method"]
    start = int(params["generator"])
    generator = b.x[0] if start else None
    if method == "permutation":
        return np.argsort(_record("random", generator, [], (b.size, params["n"]), {}), axis=-1)
    if method == "choice" and not params.get("replace", True):
        return _without_replacement(b, generator)
    size = params["size"] or ()
    if method in _VECTORS:
        if any(b.mapped):
            from ..core.builder import current
            from ..errors import Unsupported

            message = f"np.random.{method} with mapped parameters has no batching rule"
            raise Unsupported(message, code="PGR702", span=current().span, hint="draw standard_normal and transform it")
        return b.bind(b.x, {**params, "size": (b.size, *size)})
    rank = len(size)
    operands = [b.x[k] if k < start else b.aligned(k, rank) for k in range(len(b.x))]
    return b.bind(operands, {**params, "size": (b.size, *size)})


def _without_replacement(b: Batching, generator: Any) -> Any:
    """The first of a random order; with probabilities, of an order by perturbed logarithms (Gumbel top-k)."""
    import numpy

    from ..core.builder import recorded as np
    from ..core.types import product

    n, size, p = b.params["n"], b.params["size"] or (), b.params.get("p")
    keys = _record("random" if p is None else "gumbel", generator, [], (b.size, n), {})
    if p is not None:
        with numpy.errstate(divide="ignore"):
            keys = -(keys + numpy.log(numpy.asarray(p)))
    order = np.argsort(keys, axis=-1)[:, : product(size)]
    return np.reshape(order, (b.size, *size))


def _no_derivative(d: Any, i: int = 0) -> Any:
    return refuse(f"numpy.random.{d.params['method']}", "a differentiated parameter", "draw the unit distribution and transform it")


op(
    "pergrad.draw",
    vjp=_no_derivative,
    jvp=_no_derivative,
    signature="method, generator, args, kwargs",
    family="random",
    infer=_draw_type,
    batch=_draw_batch,
    emit=_draw_text,
    random=True,
)


# methods with signatures of their own


def _rand(generator: Any, *dims: int) -> Any:
    return _record("random_sample", generator, [], dims or None, {})


def _randn(generator: Any, *dims: int) -> Any:
    return _record("standard_normal", generator, [], dims or None, {})


def _random_sample(generator: Any, size: Any = None) -> Any:
    return _record("random_sample", generator, [], size, {})


def _integers(method: str) -> Any:
    def integers(generator: Any, low: Any, high: Any = None, size: Any = None, dtype: Any = None, endpoint: bool = False) -> Any:
        from ..core.builder import current

        low, high = (None if v is None else whole(v, f"a bound of {method}") for v in (low, high))
        params: dict[str, Any] = {"method": method, "size": _dims(size), "generator": generator is not None, "low": low}
        if high is not None:
            params["high"] = high
        if endpoint:
            params["endpoint"] = True
        if dtype is not None and dtype is not int:
            import numpy

            params["dtype"] = numpy.dtype(dtype)
        return current().apply(find("pergrad.draw"), [] if generator is None else [generator], params)  # type: ignore[arg-type]

    return integers


def _choice(generator: Any, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True) -> Any:
    """Places are drawn, then read."""
    import numpy

    from ..core.builder import current
    from ..core.builder import recorded as np

    population = value(a) if value(a).ndim else None
    n = whole(a, "a of choice") if population is None else population.shape[axis]
    dims = _dims(size)
    if p is not None and constant_of(p) is None:
        if not replace:
            refuse("numpy.random.choice", "p of an array whose values are not known and replace=False, p")
        # NumPy's own way: uniform numbers are looked up in the cumulative probabilities
        steps = np.cumsum(value(p))
        uniform = _record("random" if generator is not None else "random_sample", generator, [], size, {})
        places = np.searchsorted(steps / steps[-1], uniform, side="right")
    else:
        params: dict[str, Any] = {"method": "choice", "size": dims, "generator": generator is not None, "n": n}
        if p is not None:
            params["p"] = tuple(float(v) for v in numpy.asarray(constant_of(p)))
        if not replace:
            params["replace"] = False
        places = current().apply(find("pergrad.draw"), [] if generator is None else [generator], params)  # type: ignore[arg-type]
    return places if population is None else np.take(population, places, axis)


def _permutation(generator: Any, x: Any, axis: int = 0) -> Any:
    from ..core.builder import recorded as np

    if not value(x).ndim:
        return _order(generator, whole(x, "x of permutation"))
    return np.take(value(x), _order(generator, value(x).shape[axis]), axis)


def _order(generator: Any, n: int) -> Any:
    from ..core.builder import current

    params = {"method": "permutation", "size": (), "generator": generator is not None, "n": n}
    return current().apply(find("pergrad.draw"), [] if generator is None else [generator], params)  # type: ignore[arg-type]


_OWN = {
    "rand": _rand,
    "randn": _randn,
    "ranf": _random_sample,
    "sample": _random_sample,
    "randint": _integers("randint"),
    "integers": _integers("integers"),
    "choice": _choice,
    "permutation": _permutation,
    "shuffle": _permutation,
}


def _function(method: str) -> Any:
    return lambda *args, **kwargs: draw(method, None, args, kwargs)


_SIGNATURES = {
    "rand": "*dims",
    "randn": "*dims",
    "ranf": "size=None",
    "sample": "size=None",
    "randint": "low, high=None, size=None, dtype=int",
    "integers": "low, high=None, size=None, dtype=int, endpoint=False",
    "choice": "a, size=None, replace=True, p=None",
    "permutation": "x",
    "shuffle": "x",
}


def signature(method: str) -> str:
    """A method's parameters as NumPy orders them."""
    if method in _SIGNATURES:
        return _SIGNATURES[method]
    own = {**_FLOATS, **_INTEGERS, **_VECTORS}[method]
    return ", ".join([*own.split(), "size=None"])


for _method in METHODS:
    _own = {**_FLOATS, **_INTEGERS, **_VECTORS}.get(_method, "")
    _legacy = _method in ("rand", "randn", "ranf", "sample", "randint", "random_sample")
    _owners = ("Generator.",) if _method == "integers" else ("", "RandomState.") if _legacy else ("", "RandomState.", "Generator.")
    for _owner in _owners:
        op(
            f"numpy.random.{_owner}{_method}",
            signature=signature(_method),
            operands=("x",) if _method in ("permutation", "shuffle") else tuple(p.partition("=")[0] for p in _own.split()),
            family="random",
            lower=_function(_method),
            random=True,
            static={"size": "PGR404"},
            writes=("x",) if _method == "shuffle" else (),
            returns="none" if _method == "shuffle" else "array",
        )
