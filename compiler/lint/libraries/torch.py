"""PyTorch's functions as the linter sees them. Nothing here imports torch."""

from __future__ import annotations

from functools import cache

from .facts import Fact, make, table

NAMESPACES = ("torch.", "functorch.", "torchvision.")

FUNCTIONS = table("""
zeros|ones|empty(*size!404)
full(size!404, fill_value)
arange|range(start!404, end!404, step!404)
linspace|logspace(start, end, steps!404)
eye(n!404, m!404)
reshape(input, shape!404)
broadcast_to(input, size!404)
tile(input, dims!405)
repeat_interleave(input, repeats!405, dim, output_size)
split|chunk|tensor_split(input, split_size!404, dim)
narrow(input, dim!202, start, length!403)
topk|kthvalue(input, k!202, dim!202)
roll(input, shifts!202, dims!202)
flip(input, dims!202)
nonzero|argwhere(input) -> PGR401
unique|unique_consecutive(input) -> PGR401
masked_select(input, mask) -> PGR402
where(condition, input, other) -> unless=input PGR401
bincount(input, weights, minlength) -> PGR401
combinations|cartesian_prod(input)
allclose|equal|is_nonzero(input, other) -> static PGR202
is_tensor|numel|is_floating_point|is_complex|result_type|promote_types|can_cast(input) -> static
finfo|iinfo|device|Size|broadcast_shapes|is_grad_enabled|get_default_dtype(input) -> static
no_grad|enable_grad|inference_mode|set_grad_enabled|autocast|manual_seed|set_default_dtype -> none
isnan|isfinite|isinf|isclose|logical_and|logical_or|logical_not|logical_xor|gt|lt|eq|ne|ge|le|greater|less|isin|signbit|any|all -> bool
tensor|as_tensor|Tensor|FloatTensor|LongTensor|DoubleTensor|IntTensor|BoolTensor|asarray|scalar_tensor(data) -> build
from_numpy(ndarray) -> PGR205
rand|randn(*size!404) -> random
randint(low!404, high!404, size!404) -> random
randperm(n!404) -> random
rand_like|randn_like|randint_like(input) -> random
bernoulli|multinomial|normal|poisson|binomial(input) -> random
pca_lowrank|svd_lowrank|lobpcg(A) -> random
dropout|alpha_dropout|feature_dropout|feature_alpha_dropout(input, p, train) -> random unless=train
nn.functional.dropout|nn.functional.dropout1d(input, p, training, inplace) -> random unless=training
nn.functional.dropout2d|nn.functional.dropout3d(input, p, training, inplace) -> random unless=training
nn.functional.alpha_dropout|nn.functional.feature_alpha_dropout(input, p, training, inplace) -> random if=training
nn.functional.gumbel_softmax(logits) -> random
nn.functional.rrelu|rrelu(input, lower, upper, training) -> random if=training
nn.functional.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)
nn.functional.one_hot(tensor, num_classes!404) -> PGR401 unless=num_classes
nn.functional.gaussian_nll_loss(input, target, var) -> PGR202
nn.functional.pad(input, pad!404)
nn.functional.interpolate(input, size!404)
nn.utils.rnn.pack_padded_sequence(input, lengths!405) -> PGR401
utils.data.DataLoader -> none
stack|cat|concat|concatenate|hstack|vstack|dstack(tensors, dim!202)
detach|clone(input)
squeeze|unsqueeze|transpose|swapaxes|movedim|permute|select(input) -> view
unbind|view_as_real|diagonal|t|ravel|flatten|atleast_1d|atleast_2d(input) -> view
index_put_|_index_put_impl_(input) -> self writes=input
relu_|dropout_(input) -> self writes=input
""")

METHODS = table("""
item() -> static PGR201
tolist() -> static PGR203
numpy|__array__() -> static PGR205
nonzero|argwhere() -> PGR401
unique|unique_consecutive() -> PGR401
masked_select(mask) -> PGR402
bincount(weights, minlength) -> PGR401
view|reshape|expand|resize_(*shape!404) -> view
repeat|tile(*sizes!405)
repeat_interleave(repeats!405, dim)
narrow(dim!202, start, length!403) -> view
split|chunk|tensor_split(size!404, dim) -> view
new_zeros|new_ones|new_empty(*size!404)
new_full(size!404, fill_value)
new_tensor(data) -> build
topk|kthvalue(k!202, dim!202)
roll(shifts!202, dims!202)
size|dim|ndimension|numel|nelement|stride|is_contiguous -> static
element_size|get_device|is_floating_point|is_complex|type|storage_offset|data_ptr -> static
equal|allclose|is_nonzero(other) -> static PGR202
__float__|__int__|__bool__|__index__|__complex__ -> static PGR202
isnan|isfinite|isinf|isclose|logical_and|logical_or|logical_not|logical_xor|gt|lt|eq|ne|ge|le|greater|less|any|all|isin|signbit|bool -> bool
bernoulli|multinomial() -> random
transpose|permute|squeeze|unsqueeze|t|swapaxes|movedim|view_as -> view
expand_as|select|unbind|diagonal|ravel|flatten|detach|requires_grad_|detach_ -> view
backward|register_hook|retain_grad -> none
""")

# In-place methods that draw; every other method that ends in one underscore writes to its own tensor.
RANDOM_IN_PLACE = frozenset("normal_ uniform_ bernoulli_ random_ exponential_ cauchy_ geometric_ log_normal_".split())
NOT_WRITES = frozenset("requires_grad_ detach_ share_memory_ pin_memory_ rename_".split())

ATTRIBUTES = frozenset(
    """shape ndim dtype size device requires_grad is_cuda is_leaf layout is_sparse is_quantized itemsize nbytes names grad_fn __name__
    __class__""".split()
)
VIEWS = frozenset({"T", "mT", "H", "real", "imag", "data", "grad"})
METHOD_NAMES = frozenset(METHODS) | frozenset(
    """sum mean prod std var max min argmax argmin abs exp log sqrt sin cos tanh sigmoid relu softmax log_softmax clamp clip matmul mm
    mv bmm
    dot add sub mul div pow norm cumsum cumprod sort argsort gather scatter index_select masked_fill where to float double long int half cpu
    cuda clone contiguous type_as neg round floor ceil square reciprocal rsqrt logsumexp tril triu trace det inverse cholesky erf""".split()
)
DRAWS: frozenset[str] = frozenset()
GENERATORS = frozenset({"torch.Generator"})
FAILING = frozenset({"inv", "solve", "cholesky", "eig", "eigh", "svd", "lstsq", "pinv", "inverse", "lu", "lu_factor", "slogdet"})

# Modules with a training mode.
RANDOM_MODULES = ("Dropout", "AlphaDropout", "FeatureAlphaDropout", "RReLU")
NORMS = ("BatchNorm", "SyncBatchNorm", "LazyBatchNorm")
# Layers with parameters; the classes of what functional_call replaces; methods that give back the module.
PARAMETRIC = (
    "Linear", "Bilinear", "Conv", "LazyConv", "LazyLinear", "Embedding", "LSTM", "GRU", "RNN", "PReLU", "Multihead", "Transformer",
    "BatchNorm", "LayerNorm", "GroupNorm", "RMSNorm", "SyncBatchNorm",
)  # fmt: skip
STORED = ("torch.nn.Parameter", "torch.nn.Buffer")
MODULE_RETURNS = frozenset("to to_empty type double float half bfloat16 cuda cpu xpu requires_grad_ share_memory apply".split())
DISTRIBUTION_DRAWS = frozenset({"sample", "rsample", "sample_n"})


@cache
def function(name: str) -> Fact | None:
    """The fact of a function by qualified name; None when it is an ordinary tensor function."""
    short = name.removeprefix("torch.")
    if name.startswith("torch.nn.functional.") and name.endswith("_"):
        return Fact(name, ("input",), writes=("input",), returns="self")
    if name.startswith("torch.nn.init."):
        return Fact(
            name, ("tensor",), writes=("tensor",), returns="self", random=not name.endswith(("constant_", "zeros_", "ones_", "eye_"))
        )
    if name in GENERATORS:
        return Fact(name, returns="generator")
    if name.startswith(("torch.linalg.", "torch.special.")):
        return None
    return make(name, FUNCTIONS[short]) if short in FUNCTIONS else None


def out_position(name: str) -> int | None:
    """torch takes ``out`` by keyword only."""
    return None


@cache
def method(name: str) -> Fact | None:
    """The fact of a tensor method."""
    if name in METHODS:
        return make(name, METHODS[name])
    if name in RANDOM_IN_PLACE:
        return Fact(name, writes=("self",), returns="self", random=True)
    if name.endswith("_") and not name.endswith("__") and not name.startswith("_") and name not in NOT_WRITES:
        return Fact(name, writes=("self",), returns="self")
    return None
