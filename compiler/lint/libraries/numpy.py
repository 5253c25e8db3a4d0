"""NumPy's functions as the linter sees them: the op table's entries, and plain data for what the table does not hold.

Nothing here imports NumPy.
"""

from __future__ import annotations

from functools import cache

from .facts import Fact, make, table

NAMESPACES = ("numpy.", "scipy.special.")

# Parameters that must be the same for every sample, for functions without an entry in the op table.
FUNCTIONS = table("""
zeros|ones|empty(shape!404, dtype, order)
full(shape!404, fill_value, dtype)
zeros_like|ones_like|empty_like(a, dtype, order, subok, shape!404)
full_like(a, fill_value, dtype, order, subok, shape!404)
arange(start!404, stop!404, step!404, dtype)
linspace|geomspace|logspace(start, stop, num!404, endpoint)
eye(N!404, M!404, k!404)
identity(n!404)
tri(N!404, M!404, k!404)
indices(dimensions!404)
reshape(a, shape!404, order) -> view
resize(a, new_shape!404)
broadcast_to(array, shape!404)
tile(A, reps!405)
repeat(a, repeats!405, axis)
split|array_split(ary, indices_or_sections!404, axis)
pad(array, pad_width!404)
histogram(a, bins, range, density, weights)
expand_dims|squeeze|moveaxis|swapaxes|transpose|flip(a, axis!202, axis2!202)
sum|mean|prod|var|std|cumsum|cumprod(a, axis!202, dtype, out)
max|min|amax|amin|ptp|argmax|argmin(a, axis!202, out)
any|all(a, axis!202, out) -> bool
nonzero|argwhere|flatnonzero(a) -> PGR401
unique|unique_all|unique_counts|unique_inverse|unique_values(ar) -> PGR401
union1d|intersect1d|setdiff1d|setxor1d(ar1, ar2) -> PGR401
extract(condition!401, arr)
compress(condition!401, a, axis, out)
trim_zeros(filt) -> PGR401
where(condition, x, y) -> unless=x PGR401
bincount(x, weights, minlength!404) -> PGR401
delete(arr, obj!401, axis)
insert(arr, obj!401, values, axis)
fromiter(iter) -> PGR401
shape|ndim|size|iscomplexobj|isrealobj|isscalar(a) -> static
result_type|can_cast|promote_types|issubdtype|dtype|iinfo -> static
finfo|min_scalar_type|common_type|broadcast_shapes|errstate|get_printoptions -> static
set_printoptions|seterr|save|savez|savetxt|printoptions -> none
isnan|isfinite|isinf|isclose|logical_and|logical_or|logical_not|logical_xor -> bool
greater|less|equal|not_equal|greater_equal|less_equal|isin|in1d|signbit -> bool
allclose|array_equal|array_equiv -> bool
array2string|array_repr|array_str -> none
copyto(dst, src) -> none writes=dst
put|place|putmask|put_along_axis|fill_diagonal(a) -> none writes=a
einsum(*operands)
take|take_along_axis(a, indices, axis!202, out)
clip(a, a_min, a_max, out)
dot|matmul|outer(a, b, out)
concatenate|stack(arrays, axis!202, out)
round|around(a, decimals!202, out)
asarray|asanyarray|ascontiguousarray(a, dtype) -> view
ravel|atleast_1d|atleast_2d|broadcast_arrays|diagonal|real|imag(a) -> view
""")

UNARY = frozenset(
    """negative positive absolute abs fabs sign rint floor ceil trunc sqrt cbrt square exp exp2 expm1 log log2 log10 log1p reciprocal conj
    conjugate sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh asin acos atan asinh acosh atanh degrees radians
    deg2rad
    rad2deg invert bitwise_not spacing isnan isinf isfinite logical_not signbit""".split()
)
BINARY = frozenset(
    """add subtract multiply divide true_divide floor_divide mod remainder fmod power pow float_power maximum minimum fmax fmin arctan2
    atan2
    hypot logaddexp logaddexp2 copysign nextafter heaviside matmul vecdot matvec vecmat gcd lcm ldexp bitwise_and bitwise_or bitwise_xor
    left_shift right_shift greater greater_equal less less_equal equal not_equal logical_and logical_or logical_xor""".split()
)
TWO_RESULTS = frozenset({"modf", "frexp", "divmod"})

METHODS = table("""
item() -> static PGR201
tolist() -> static PGR203
nonzero() -> PGR401
compress(condition!401, axis, out)
reshape(*shape!404) -> view
resize(*shape!404)
repeat(repeats!405, axis)
any|all(axis!202, out) -> bool
sum|prod|mean|var|std|cumsum|cumprod|max|min|argmax|argmin|ptp|trace(axis!202, dtype, out)
max|min|argmax|argmin|ptp(axis!202, out)
sort|partition(axis!202) -> none writes=self
fill(value) -> none writes=self
put(indices, values) -> none writes=self
itemset(value) -> none writes=self
tobytes|tofile|dump|dumps -> static PGR203
__float__|__int__|__bool__|__index__|__complex__ -> static PGR202
view|transpose|swapaxes|squeeze|ravel|diagonal -> view
setflags -> none
""")

ATTRIBUTES = frozenset({"shape", "ndim", "dtype", "size", "itemsize", "nbytes", "strides", "flags", "__name__", "__class__", "device"})
VIEWS = frozenset({"T", "mT", "real", "imag", "flat"})
METHOD_NAMES = frozenset(METHODS) | frozenset(
    "astype copy flatten dot clip round conj conjugate take searchsorted choose argsort argpartition byteswap".split()
)

# Methods of Generator and RandomState that draw.
DRAWS = frozenset(
    """random rand randn randint random_sample ranf sample random_integers integers normal standard_normal uniform choice permutation
    permuted
    shuffle beta binomial chisquare dirichlet exponential f gamma geometric gumbel hypergeometric laplace logistic lognormal logseries
    multinomial multivariate_hypergeometric multivariate_normal negative_binomial noncentral_chisquare noncentral_f pareto poisson power
    rayleigh standard_cauchy standard_exponential standard_gamma standard_t triangular vonmises wald weibull zipf bytes""".split()
)
GENERATORS = frozenset({"numpy.random.default_rng", "numpy.random.RandomState", "numpy.random.Generator", "random.Random"})
SHUFFLES = frozenset({"shuffle"})

# Functions and methods that the op table has no entry for and that take arrays; what it gains an entry for counts no more.
UNRULED = frozenset(
    """apply_along_axis apply_over_axes array2string array_repr array_str asarray_chkfinite asfortranarray asmatrix bitwise_count bmat
    busday_count busday_offset datetime_as_string frexp from_dlpack frombuffer fromfunction fromiter frompyfunc fromstring
    histogram histogram2d histogram_bin_edges histogramdd i0 is_busday isfortran isin in1d isnat ldexp matvec may_share_memory
    mintypecode nanmedian nanpercentile nanquantile nextafter packbits place save savetxt savez savez_compressed poly polyadd
    polyder polydiv polyfit polyint polymul polysub real_if_close require roots shares_memory sort_complex spacing unpackbits
    unwrap vecmat linalg.eig linalg.eigvals linalg.tensorinv linalg.tensorsolve fft.hfft fft.ihfft""".split()
)
UNRULED_METHODS = frozenset({"byteswap", "getfield", "newbyteorder", "partition", "resize", "setfield", "setflags", "to_device"})

# Only what these raise on values of the array is a numerical failure.
FAILING = frozenset({"inv", "solve", "cholesky", "eig", "eigh", "eigvals", "eigvalsh", "svd", "lstsq", "pinv", "tensorinv", "tensorsolve"})


@cache
def function(name: str) -> Fact | None:
    """The fact of a function by qualified name, e.g. ``"numpy.cumsum"``; None when it is an ordinary array function."""
    if name.startswith("numpy.random."):
        short = name.removeprefix("numpy.random.")
        if name in GENERATORS:
            return Fact(name, ("seed",), returns="generator")
        if short in DRAWS:
            # In draws of a shape, `size` decides it.
            return Fact(
                name,
                random=True,
                static={"size": "PGR404"},
                writes=("x",) if short in SHUFFLES else (),
                parameters=("x",) if short in SHUFFLES else (),
            )
        return Fact(name, returns="none")
    short = name.removeprefix("numpy.")
    ufunc, _, method = short.rpartition(".")
    if method == "at" and ufunc in UNARY | BINARY:
        return Fact(name, ("a", "indices", "b"), writes=("a",), returns="none")
    entry = _entry(name)
    own = make(name, FUNCTIONS[short]) if short in FUNCTIONS else None
    if entry is not None:
        fact = Fact(
            name,
            positional(entry.signature),
            {**numbers(entry.parameters), **entry.static},
            tuple(entry.writes),
            entry.rejected or "",
            own.unless if own else (),
            entry.random,
            own.returns if own and entry.returns == "array" else entry.returns,
            entry.hint,
        )
        if own is None:
            return fact
        return fact._replace(
            parameters=fact.parameters or own.parameters,
            static={**own.static, **fact.static} if set(own.parameters) <= set(fact.parameters) or not fact.parameters else fact.static,
            writes=fact.writes or own.writes,
            rejected=fact.rejected or own.rejected,
        )
    return own


# Parameters that are Python numbers in whichever function has them.
NUMBERS = frozenset({"axis", "axes", "axis1", "axis2", "source", "destination", "kth", "ord", "decimals", "ddof"})


def numbers(parameters: tuple[str, ...]) -> dict[str, str]:
    return {p: "PGR202" for p in parameters if p in NUMBERS}


def positional(text: str) -> tuple[str, ...]:
    """The parameters of a signature that may be given by position; a starred one ends them."""
    out = []
    for part in text.split(","):
        name = part.split("=")[0].strip()
        if name == "*":
            break
        if name and name != "/":
            out.append(name)
        if name.startswith("*"):
            break
    return tuple(out)


def has_rule(name: str) -> bool:
    """Whether the compiler knows a function of NumPy that takes arrays; what is no such function counts as known."""
    return name.removeprefix("numpy.") not in UNRULED or _entry(name) is not None


def out_position(name: str) -> int | None:
    """Where ``out`` may be passed by position, for a universal function."""
    short = name.rpartition(".")[2]
    return 1 if short in UNARY else 2 if short in BINARY else None


@cache
def method(name: str) -> Fact | None:
    """The fact of an ndarray method."""
    if name in METHODS:
        return make(name, METHODS[name])
    from ...ops.table import find_method

    entry = find_method(name)
    if entry is None:
        return None
    parameters = positional(entry.signature)
    first = parameters[:1]
    return Fact(
        name,
        parameters[1:],
        {**numbers(entry.parameters), **entry.static},
        tuple("self" if w in first else w for w in entry.writes),
        entry.rejected or "",
        (),
        entry.random,
        entry.returns,
        entry.hint,
    )


def _entry(name: str):  # type: ignore[no-untyped-def]
    from ...ops.table import find

    return find(name)
