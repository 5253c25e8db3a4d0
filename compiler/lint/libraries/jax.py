"""JAX's functions as the linter sees them. Nothing here imports jax."""

from __future__ import annotations

from functools import cache

from .facts import Fact, make, table

NAMESPACES = ("jax.",)

FUNCTIONS = table("""
zeros|ones|empty(shape!404, dtype)
full(shape!404, fill_value)
zeros_like|ones_like|empty_like(a, dtype, shape!404)
full_like(a, fill_value, dtype, shape!404)
arange(start!404, stop!404, step!404)
linspace|geomspace|logspace(start, stop, num!404)
eye(N!404, M!404, k!404)
identity(n!404)
tri(N!404, M!404, k!404)
indices(dimensions!404)
reshape(a, shape!404)
resize(a, new_shape!404)
broadcast_to(array, shape!404)
tile(A, reps!405)
repeat(a, repeats!405, axis, total_repeat_length) -> unless=total_repeat_length
split|array_split(ary, indices_or_sections!404, axis!202)
pad(array, pad_width!404)
sum|mean|prod|var|std|cumsum|cumprod(a, axis!202)
max|min|amax|amin|ptp|argmax|argmin(a, axis!202)
any|all(a, axis!202) -> bool
nonzero|argwhere|flatnonzero(a) -> PGR401 unless=size
unique|unique_all|unique_counts|unique_inverse|unique_values(ar) -> PGR401 unless=size
union1d|intersect1d|setdiff1d|setxor1d(ar1, ar2) -> PGR401 unless=size
extract(condition, arr) -> PGR401 unless=size
compress(condition, a) -> PGR401 unless=size
trim_zeros(filt) -> PGR401
where(condition, x, y) -> unless=x+size PGR401
bincount(x, weights, minlength!404, length) -> unless=length PGR401
delete(arr, obj!401, axis)
shape|ndim|size|iscomplexobj|isrealobj|isscalar(a) -> static
result_type|can_cast|promote_types|issubdtype|dtype|iinfo|finfo|broadcast_shapes -> static
isnan|isfinite|isinf|isclose|logical_and|logical_or|logical_not|logical_xor|greater -> bool
less|equal|not_equal|greater_equal|less_equal|isin|signbit|allclose|array_equal|array_equiv -> bool
""")

OTHERS = table("""
jax.nn.one_hot(x, num_classes!404)
jax.lax.iota(dtype, size!404)
jax.lax.broadcast_in_dim(operand, shape!404)
jax.lax.reshape(operand, new_sizes!404)
jax.lax.dynamic_slice(operand, start_indices, slice_sizes!403)
jax.lax.dynamic_slice_in_dim(operand, start_index, slice_size!403, axis!202)
jax.lax.slice(operand, start_indices!403, limit_indices!403)
jax.lax.slice_in_dim(operand, start_index!403, limit_index!403)
jax.lax.top_k(operand, k!202)
jax.device_get(x) -> view
jax.eval_shape|jax.make_jaxpr|jax.devices|jax.device_count|jax.local_device_count|jax.default_backend|jax.ShapeDtypeStruct -> static
jax.process_index|jax.process_count|jax.local_devices -> static
jax.lax.axis_index|jax.lax.psum|jax.lax.pmean(x)
jax.tree_util.tree_structure|jax.tree.structure|jax.tree_util.treedef_is_leaf|jax.core.get_aval|jax.typeof -> static
jax.dtypes.issubdtype|jax.dtypes.canonicalize_dtype|jax.dtypes.result_type -> static
jax.debug.print|jax.debug.callback|jax.debug.breakpoint|jax.experimental.io_callback|jax.experimental.host_callback.id_print -> none
jax.named_scope|jax.default_matmul_precision|jax.ensure_compile_time_eval|jax.disable_jit -> none
""")

METHODS = table("""
item() -> static PGR201
tolist() -> static PGR203
__array__() -> static PGR205
__float__|__int__|__bool__|__index__|__complex__ -> static PGR202
nonzero() -> PGR401 unless=size
compress(condition, axis) -> PGR401 unless=size
reshape(*shape!404)
repeat(repeats!405, axis, total_repeat_length) -> unless=total_repeat_length
any|all(axis!202) -> bool
sum|prod|mean|var|std|cumsum|cumprod|max|min|argmax|argmin|ptp(axis!202)
block_until_ready|copy_to_host_async|delete|devices -> none
tobytes -> static PGR203
""")

ATTRIBUTES = frozenset({"shape", "ndim", "dtype", "size", "itemsize", "nbytes", "aval", "sharding", "weak_type", "__name__", "__class__"})
VIEWS = frozenset({"T", "mT", "real", "imag"})
METHOD_NAMES = frozenset(METHODS) | frozenset(
    """astype copy flatten dot clip round conj conjugate take searchsorted argsort sort transpose swapaxes squeeze ravel diagonal
    trace""".split()
)

# jax.random: the key decides the numbers.
KEYED = table("""
bits|cauchy|exponential|gumbel|laplace|logistic|maxwell|normal|rademacher|randint|uniform(key, shape!404)
bernoulli|chisquare|choice|dirichlet|gamma|generalized_normal|geometric|loggamma|lognormal|pareto(key, p, shape!404)
poisson|rayleigh|t|wald(key, p, shape!404)
ball(key, d!404, p, shape!404)
orthogonal(key, n!404, shape!404)
beta|binomial|categorical|double_sided_maxwell|f|multivariate_normal|truncated_normal|weibull_min(key, a, b, shape!404)
triangular(key, left, mode, right, shape!404)
multinomial(key, n, p)
permutation|shuffle(key, x)
""")
KEY_MAKERS = frozenset({"PRNGKey", "key", "wrap_key_data"})
DRAWS: frozenset[str] = frozenset()
GENERATORS: frozenset[str] = frozenset()
FAILING = frozenset({"inv", "solve", "cholesky", "eig", "eigh", "eigvals", "eigvalsh", "svd", "lstsq", "pinv"})


@cache
def function(name: str) -> Fact | None:
    """The fact of a function by qualified name; None when it is an ordinary array function."""
    if name in OTHERS:
        return make(name, OTHERS[name])
    if name.startswith("jax.random."):
        short = name.removeprefix("jax.random.")
        if short in KEYED:
            return make(name, KEYED[short])._replace(key="key")
        return make(name, ("key, num!404", "array")) if short == "split" else Fact(name)
    for prefix in ("jax.numpy.", "jax.scipy."):
        if name.startswith(prefix):
            short = name.removeprefix(prefix)
            return make(name, FUNCTIONS[short]) if short in FUNCTIONS else None
    return None


def out_position(name: str) -> int | None:
    """No function of jax takes ``out``."""
    return None


@cache
def method(name: str) -> Fact | None:
    """The fact of an array method."""
    return make(name, METHODS[name]) if name in METHODS else None
