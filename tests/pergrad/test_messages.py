"""Messages about options, arguments, tangents and outputs, compared whole: given, expected, one correction spelled out."""

import numpy as np
import pytest

from pergrad import arguments as check
from pergrad.compiler.core.trees import flatten
from pergrad.compiler.errors import ArgumentError, ArgumentTypeError, OptionError, PergradError

X, V = np.ones((3, 4)), np.ones(3)


def loss(params, x=0.0, y=0.0):
    return x


def argnums(value, count=2):
    return check.check_argnums(value, count, loss)


def differentiable(*args, transform="grad", complex_ok=True, argnums=0):
    return check.check_differentiable(loss, argnums, args, transform, complex_ok=complex_ok)


def tangents(primals, tangents, **options):
    return check.check_tangents(loss, primals, tangents, **options)


def cotangent(result, *given):
    outs, tree = flatten(result)
    return check.check_cotangent(loss, tree, outs, given)


def outputs(result, transform="vjp", **options):
    outs, tree = flatten(result)
    return check.check_outputs(loss, tree, outs, transform, **options)


def aux(result):
    return check.check_has_aux(loss, result)


def scalar(result, transform="grad"):
    return check.check_scalar_output(loss, result, transform)


# The message, its correction, the class, and the call.
REFUSED = {
    "argnums out of range": (
        "grad(loss): argnums=2 names argument 2, but 2 positional arguments were given",
        "argnums=1",
        ArgumentError,
        lambda: argnums(2),
    ),
    "argnums negative out of range": (
        "grad(loss): argnums=(0, -3) names argument -3, but 2 positional arguments were given",
        "argnums=1",
        ArgumentError,
        lambda: argnums((0, -3)),
    ),
    "argnums without arguments": (
        "grad(loss): argnums=0 names argument 0, but 0 positional arguments were given",
        "pass the arguments to differentiate by position",
        ArgumentError,
        lambda: argnums(0, count=0),
    ),
    "argnums empty": (
        "grad(loss): argnums=() names no argument",
        "argnums=0",
        ArgumentError,
        lambda: argnums(()),
    ),
    "argnums a list": (
        "grad(loss): argnums=[0, 1] is a list, it must be an int or a tuple of ints",
        "argnums=(0, 1)",
        OptionError,
        lambda: argnums([0, 1]),
    ),
    "argnums a float": (
        "grad(loss): argnums=1.0 is a float, it must be an int or a tuple of ints",
        "argnums=0",
        OptionError,
        lambda: argnums(1.0),
    ),
    "argnums a bool": (
        "grad(loss): argnums=(True,) has a bool, it must be an int or a tuple of ints",
        "argnums=0",
        OptionError,
        lambda: argnums((True,)),
    ),
    "argnums None": (
        "grad(loss): argnums=None is None, it must be an int or a tuple of ints",
        "argnums=0",
        OptionError,
        lambda: argnums(None),
    ),
    "argnums twice": (
        "grad(loss): argnums=(0, 1, -1) names an argument twice",
        "argnums=(0, 1)",
        ArgumentError,
        lambda: argnums((0, 1, -1)),
    ),
    "chunk_size zero": (
        "chunk_size=0 must be a positive int or None",
        "chunk_size=None computes the whole batch at once",
        ArgumentError,
        lambda: check.check_chunk_size(0),
    ),
    "chunk_size a float": (
        "chunk_size=16.0 is a float, it must be a positive int or None",
        "chunk_size=16",
        OptionError,
        lambda: check.check_chunk_size(16.0),
    ),
    "chunk_size a bool": (
        "chunk_size=True is a bool, it must be a positive int or None",
        "chunk_size=None computes the whole batch at once",
        OptionError,
        lambda: check.check_chunk_size(True),
    ),
    "randomness": (
        "randomness='maybe' is not one of its values, 'error', 'different' or 'same'",
        "randomness='error'",
        ArgumentError,
        lambda: check.check_randomness("maybe"),
    ),
    "randomness None": (
        "randomness=None is not one of its values, 'error', 'different' or 'same'",
        "randomness='error'",
        OptionError,
        lambda: check.check_randomness(None),
    ),
    "control_flow": (
        "control_flow='select' is not one of its values, 'error' or 'mask'",
        "control_flow='error'",
        ArgumentError,
        lambda: check.check_control_flow("select"),
    ),
    "remove": (
        "remove='views' is not one of its values, 'mutations' or 'mutations_and_views'",
        "remove='mutations'",
        ArgumentError,
        lambda: check.check_remove("views"),
    ),
    "has_aux not a bool": (
        "has_aux='yes' is a string, it must be True or False",
        "has_aux=True",
        OptionError,
        lambda: check.check_flag("has_aux", "yes"),
    ),
    "no function": (
        "grad takes a function, got a Python float (3.0)",
        "grad(f)(x), not grad(f(x))",
        ArgumentTypeError,
        lambda: check.check_function(3.0, "grad"),
    ),
    "has_aux without a pair": (
        "grad(loss): with has_aux=True loss must return a tuple (output, aux), it returned an array of shape (3, 4) and dtype float64",
        "return output, aux",
        OptionError,
        lambda: aux(X),
    ),
    "has_aux with a list": (
        "grad(loss): with has_aux=True loss must return a tuple (output, aux), it returned a list of 2 items",
        "return output, aux",
        OptionError,
        lambda: aux([X, X]),
    ),
    "has_aux with three": (
        "grad(loss): with has_aux=True loss must return a tuple (output, aux), it returned a tuple of 3 items",
        "return output, (aux, …)",
        OptionError,
        lambda: aux((X, X, X)),
    ),
    "grad of a vector": (
        "grad(loss): loss must return a scalar, it returned an array of shape (3,)",
        "return y.sum(), or use jacrev(loss) for all derivatives of an array",
        ArgumentError,
        lambda: scalar(V),
    ),
    "grad of one number in an array": (
        "grad(loss): loss must return a scalar, it returned an array of shape (1,)",
        "return y[0] or y.sum(), or jacrev(loss) for the derivative of an array",
        ArgumentError,
        lambda: scalar(V[:1]),
    ),
    "grad of one number in a matrix": (
        "grad_and_value(loss): loss must return a scalar, it returned an array of shape (1, 1)",
        "return y[0, 0] or y.sum(), or jacrev(loss) for the derivative of an array",
        ArgumentError,
        lambda: scalar(X[:1, :1], "grad_and_value"),
    ),
    "grad of a pair": (
        "grad(loss): loss must return a scalar, it returned a tuple of 2 items",
        "has_aux=True, if only the first item is to be differentiated",
        OptionError,
        lambda: scalar((V, V)),
    ),
    "grad of a dict": (
        "grad(loss): loss must return a scalar, it returned a dict of 1 item",
        "return one number, or use jacrev(loss)",
        OptionError,
        lambda: scalar({"loss": 1.0}),
    ),
    "grad of None": (
        "grad(loss): loss must return a scalar, it returned None",
        "return one number",
        OptionError,
        lambda: scalar(None),
    ),
    "grad of text": (
        "grad(loss): loss must return a scalar, it returned a string ('text')",
        "return one number",
        OptionError,
        lambda: scalar("text"),
    ),
    "grad of an integer output": (
        "grad(loss): loss must return a scalar that is floating, it returned dtype int64, which has no derivative",
        "return float values",
        ArgumentTypeError,
        lambda: scalar(np.int64(3)),
    ),
    "grad of a bool output": (
        "grad(loss): loss must return a scalar that is real, it returned a Python bool (True)",
        "return a float",
        ArgumentTypeError,
        lambda: scalar(True),
    ),
    "grad of a complex output": (
        "grad(loss): loss must return a scalar that is real, it returned dtype complex128",
        "return y.real or np.abs(y)",
        ArgumentTypeError,
        lambda: scalar(np.complex128(1)),
    ),
    "grad by an integer array": (
        "grad(loss): argument `params` has dtype int64, which has no derivative: it must be floating",
        "pass it as .astype(float), or leave it out of argnums",
        ArgumentTypeError,
        lambda: differentiable(np.arange(3)),
    ),
    "grad by a bool array": (
        "grad(loss): argument `params['mask']` has dtype bool, which has no derivative: it must be floating",
        "pass it as .astype(float), or leave it out of argnums",
        ArgumentTypeError,
        lambda: differentiable({"w": X, "mask": X > 0}),
    ),
    "grad by a Python int": (
        "grad(loss): argument `params` is a Python int (3), which has no derivative: it must be floating",
        "pass it as a float, or leave it out of argnums",
        ArgumentTypeError,
        lambda: differentiable(3),
    ),
    "grad by None": (
        "grad(loss): argument `x` is None, which has no derivative",
        "leave it out of argnums, or pass an array of floats",
        ArgumentTypeError,
        lambda: differentiable(X, None, argnums=(0, 1)),
    ),
    "grad by text": (
        "grad(loss): argument `params['mode']` is a string ('fast'), which has no derivative",
        "leave it out of argnums, or pass an array of floats",
        ArgumentTypeError,
        lambda: differentiable({"w": X, "mode": "fast"}),
    ),
    "grad by a masked array": (
        "grad(loss): argument `params` is a masked array, only plain arrays can be used",
        "pass np.asarray of it",
        OptionError,
        lambda: differentiable(np.ma.array([1.0])),
    ),
    "jvp by an integer array": (
        "jvp(loss): argument `params` has dtype int64, which has no derivative: it must be floating",
        "pass it as .astype(float), or leave it out of primals",
        ArgumentTypeError,
        lambda: differentiable(np.arange(3), transform="jvp"),
    ),
    "jacrev by a complex array": (
        "jacrev(loss): argument `params` has dtype complex128: jacrev is for real arguments",
        "pass real and imaginary parts as two real arrays",
        ArgumentTypeError,
        lambda: differentiable(V + 1j, transform="jacrev", complex_ok=False),
    ),
    "primals a list": (
        "jvp(loss): primals must be a tuple with one item per positional argument, got a list of 1 item",
        "primals=(…,)",
        OptionError,
        lambda: tangents([V], (V,)),
    ),
    "tangents an array": (
        "jvp(loss): tangents must be a tuple with one item per positional argument, got an array of shape (3,) and dtype float64",
        "tangents=(tangent,)",
        OptionError,
        lambda: tangents((V,), V),
    ),
    "tangents too few": (
        "jvp(loss): got 1 tangent for 2 primals; tangents has one item per primal",
        "tangents=(…, …)",
        ArgumentError,
        lambda: tangents((V, V), (V,)),
    ),
    "no primals": (
        "jvp(loss): primals=() is empty, there is nothing to differentiate",
        "primals=(x,)",
        ArgumentError,
        lambda: tangents((), ()),
    ),
    "tangents of another structure": (
        "jvp(loss): in tangents, that of argument `x` has the structure {'b': …}, argument `x` has {'a': …}",
        "tangents=(…, {'a': …})",
        ArgumentError,
        lambda: tangents((V, {"a": V}), (V, {"b": V})),
    ),
    "tangents an array for a dict": (
        "jvp(loss): in tangents, that of argument `params` is one value, argument `params` has {'a': …}",
        "tangents=({'a': …},)",
        ArgumentError,
        lambda: tangents(({"a": V},), (V,)),
    ),
    "tangents of another shape": (
        "jvp(loss): the tangent of argument `params` has shape (2,), tangents must have the shape of their primals, (3,)",
        "np.zeros(3)",
        ArgumentError,
        lambda: tangents((V,), (np.ones(2),)),
    ),
    "tangents that would broadcast": (
        "jvp(loss): the tangent of argument `params['a']` has shape (4,), tangents must have the shape of their primals, (3, 4)",
        "np.broadcast_to(tangent, (3, 4))",
        ArgumentError,
        lambda: tangents(({"a": X},), ({"a": np.ones(4)},)),
    ),
    "tangents a number for an array": (
        "jvp(loss): the tangent of argument `params` is a Python float (1.0), tangents must have the shape of their primals, (3,)",
        "np.broadcast_to(tangent, (3,))",
        ArgumentError,
        lambda: tangents((V,), (1.0,)),
    ),
    "tangents None": (
        "jvp(loss): the tangent of argument `x` is None, tangents must have the shape of their primals, ()",
        "0.0",
        OptionError,
        lambda: tangents((V, 2.0), (V, None)),
    ),
    "tangents of another dtype": (
        "jvp(loss): the tangent of argument `params` has dtype float32, tangents must have the dtype of their primals, float64",
        "tangent.astype(np.float64)",
        OptionError,
        lambda: tangents((V,), (V.astype(np.float32),)),
    ),
    "tangents of linearize": (
        "linearize(loss): the tangent of argument `params` has shape (2,), tangents must have the shape of their primals, (3,)",
        "np.zeros(3)",
        ArgumentError,
        lambda: tangents((V,), (np.ones(2),), transform="linearize"),
    ),
    "cotangent of another shape": (
        "vjp(loss): the cotangent of the output has shape (3,), cotangents must have the shape of their outputs, (2,)",
        "vjp_fn(np.ones(2))",
        ArgumentError,
        lambda: cotangent(V[:2], V),
    ),
    "cotangent that would broadcast": (
        "vjp(loss): the cotangent of the output has shape (1,), cotangents must have the shape of their outputs, (3,)",
        "vjp_fn(np.ones(3))",
        ArgumentError,
        lambda: cotangent(V, np.ones(1)),
    ),
    "cotangent a number for an array": (
        "vjp(loss): the cotangent of the output is a Python float (1.0), cotangents must have the shape of their outputs, (3,)",
        "vjp_fn(np.ones(3))",
        ArgumentError,
        lambda: cotangent(V, 1.0),
    ),
    "cotangent an array for a number": (
        "vjp(loss): the cotangent of the output has shape (1,), cotangents must have the shape of their outputs, ()",
        "vjp_fn(1.0)",
        ArgumentError,
        lambda: cotangent(2.0, np.ones(1)),
    ),
    "cotangent inside a tuple": (
        "vjp(loss): the cotangent of `output[1]` has shape (3,), cotangents must have the shape of their outputs, (3, 4)",
        "vjp_fn((…, np.ones((3, 4))))",
        ArgumentError,
        lambda: cotangent((V, X), (V, V)),
    ),
    "cotangent a list for a tuple": (
        "vjp(loss): the cotangent has the structure […, …], the output has (…, …)",
        "vjp_fn((np.ones(3), np.ones((3, 4))))",
        ArgumentError,
        lambda: cotangent((V, X), [V, X]),
    ),
    "cotangent an array for a dict": (
        "vjp(loss): the cotangent has the structure of one value, the output has {'a': …, 'b': …}",
        "vjp_fn({'a': np.ones(3), 'b': 1.0})",
        ArgumentError,
        lambda: cotangent({"a": V, "b": 1.0}, V),
    ),
    "cotangent a dict for an array": (
        "vjp(loss): the cotangent is a dict of 1 item, the output is one array",
        "vjp_fn(np.ones(3))",
        ArgumentError,
        lambda: cotangent(V, {"a": V}),
    ),
    "cotangents one by one": (
        "vjp(loss): the result takes one cotangent, with the structure of the output, got 2",
        "vjp_fn((…, …))",
        ArgumentError,
        lambda: cotangent((V, X), V, X),
    ),
    "no cotangent": (
        "vjp(loss): the result takes one cotangent, with the structure of the output, got 0",
        "vjp_fn((…, …))",
        ArgumentError,
        lambda: cotangent((V, X)),
    ),
    "cotangent None": (
        "vjp(loss): the cotangent of the output is None, cotangents must have the shape of their outputs, (3,)",
        "vjp_fn(np.ones(3))",
        OptionError,
        lambda: cotangent(V, None),
    ),
    "cotangent complex": (
        "vjp(loss): the cotangent of the output is complex, the output is real",
        "vjp_fn(cotangent.real)",
        OptionError,
        lambda: cotangent(V, V + 1j),
    ),
    "vjp of an integer output": (
        "vjp(loss): the output of loss has dtype int64, which has no derivative",
        "return output, aux with has_aux=True for what is not to be differentiated",
        ArgumentTypeError,
        lambda: outputs(np.arange(3)),
    ),
    "jacrev of an output with text": (
        "jacrev(loss): `output[1]` is a string ('text'), which has no derivative",
        "return output, aux with has_aux=True for what is not to be differentiated",
        ArgumentTypeError,
        lambda: outputs((V, "text"), "jacrev"),
    ),
    "jacrev of a complex output": (
        "jacrev(loss): the output of loss has dtype complex128, jacrev is for real outputs",
        "return real and imaginary parts as two arrays",
        ArgumentTypeError,
        lambda: outputs(V + 1j, "jacrev", complex_ok=False),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_message(name):
    message, hint, kind, call = REFUSED[name]
    with pytest.raises(PergradError) as caught:
        call()
    assert str(caught.value) == f"{message}\n  instead: {hint}"
    assert type(caught.value) is kind
    for word in ("pytree", "tracer", "leaf", "leaves", "abstract"):
        assert word not in message + hint
