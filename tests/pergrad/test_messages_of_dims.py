"""Messages about in_dims and out_dims, compared whole: what was given, what was expected, one correction spelled out."""

import dataclasses

import numpy as np
import pytest

from pergrad import arguments as check
from pergrad.compiler.core.trees import flatten
from pergrad.compiler.errors import ArgumentError, OptionError, PergradError

X, Y, V = np.ones((3, 4)), np.ones((5, 4)), np.ones(3)


@dataclasses.dataclass
class Layer:
    weights: object
    bias: object = None


def loss(params, x=0.0, y=0.0):
    return x


def model(*arrays):
    return arrays


def in_dims(dims, *args, func=loss, transform="vmap"):
    return check.map_spec(func, dims, args, transform=transform)


def out_dims(dims, result, batched=True):
    outs, tree = flatten(result)
    return check.out_spec(loss, dims, tree, outs, [batched] * len(outs))


# The message, its correction, the class, and the call.
REFUSED = {
    "in_dims a list": (
        "vmap(loss): in_dims=[0, None] is a list, it must be an int or a tuple with one entry per positional argument",
        "in_dims=(0, None)",
        OptionError,
        lambda: in_dims([0, None], X, V),
    ),
    "in_dims a dict": (
        "vmap(loss): in_dims={'a': 0} is a dict, it must be an int or a tuple with one entry per positional argument",
        "in_dims=({'a': 0},)",
        OptionError,
        lambda: in_dims({"a": 0}, {"a": X}),
    ),
    "in_dims a set": (
        "vmap(loss): in_dims={0} is a set, it must be an int or a tuple with one entry per positional argument",
        "in_dims=(0,)",
        OptionError,
        lambda: in_dims({0}, X),
    ),
    "in_dims a float": (
        "vmap(loss): in_dims=0.0 is a float, it must be an int or a tuple with one entry per positional argument",
        "in_dims=(0, 0)",
        OptionError,
        lambda: in_dims(0.0, X, X),
    ),
    "in_dims a string": (
        "vmap(loss): in_dims='0' is a string, it must be an int or a tuple with one entry per positional argument",
        "in_dims=(0,)",
        OptionError,
        lambda: in_dims("0", X),
    ),
    "in_dims a bool": (
        "vmap(loss): in_dims=True is a bool, it must be an int or a tuple with one entry per positional argument",
        "in_dims=(0,)",
        OptionError,
        lambda: in_dims(True, X),
    ),
    "in_dims an array": (
        "vmap(loss): in_dims=array([0, 0]) is an array, it must be an int or a tuple with one entry per positional argument",
        "in_dims=(0, 0)",
        OptionError,
        lambda: in_dims(np.array([0, 0]), X, X),
    ),
    "in_dims holds a string": (
        "vmap(loss): in_dims=(0, 'y') has 'y' for argument `x`, it must be an int or None",
        "in_dims=(0, 0)",
        OptionError,
        lambda: in_dims((0, "y"), X, X),
    ),
    "in_dims holds a bool": (
        "vmap(loss): in_dims=(0, True) has True for argument `x`, it must be an int or None",
        "in_dims=(0, 0)",
        OptionError,
        lambda: in_dims((0, True), X, X),
    ),
    "in_dims too short": (
        "vmap(loss): in_dims=(0,) has 1 entry for 2 positional arguments",
        "in_dims=(0, 0)",
        ArgumentError,
        lambda: in_dims((0,), X, X),
    ),
    "in_dims too long": (
        "vmap(loss): in_dims=(0, 0, 0) has 3 entries for 2 positional arguments; keyword arguments are never mapped and have no entry",
        "in_dims=(0, 0)",
        ArgumentError,
        lambda: in_dims((0, 0, 0), X, X),
    ),
    "in_dims of other keys": (
        "vmap(loss): in_dims=({'b': 0},) does not fit argument `params`, which is {'a': …}",
        "in_dims=({'a': 0},)",
        ArgumentError,
        lambda: in_dims(({"b": 0},), {"a": X}),
    ),
    "in_dims of another container": (
        "vmap(loss): in_dims=((0, 1), 0) does not fit argument `params`, which is […, …]",
        "in_dims=([0, 1], 0)",
        ArgumentError,
        lambda: in_dims(((0, 1), 0), [X, X.T], X),
    ),
    "in_dims a dict for a dataclass": (
        "vmap(loss): in_dims=({'weights': 0},) does not fit argument `params`, which is Layer(weights=…, bias=…)",
        "in_dims=(Layer(weights=0, bias=None),)",
        ArgumentError,
        lambda: in_dims(({"weights": 0},), Layer(X)),
    ),
    "in_dims a dataclass for a dict": (
        "vmap(loss): in_dims=(Layer(weights=0, bias=None),) does not fit argument `params`, which is {'w': …, 'b': …}",
        "in_dims=({'w': 0, 'b': None},)",
        ArgumentError,
        lambda: in_dims((Layer(0),), {"w": X, "b": 1.0}),
    ),
    "in_dims deeper than an array": (
        "vmap(loss): in_dims=(0, [0]) does not fit argument `x`, which is one value, not a list",
        "in_dims=(0, 0)",
        ArgumentError,
        lambda: in_dims((0, [0]), X, X),
    ),
    "in_dims deep inside": (
        "vmap(loss): in_dims=({'a': [0, 0]},) does not fit argument `params['a']`, which is […, …, …]",
        "in_dims=({'a': [0, 0, None]},)",
        ArgumentError,
        lambda: in_dims(({"a": [0, 0]},), {"a": [X, X, 1.0]}),
    ),
    "in_dims maps nothing": (
        "vmap(loss): in_dims=None maps nothing, at least one array must be mapped",
        "in_dims=(0, None)",
        ArgumentError,
        lambda: in_dims(None, X, 1.0),
    ),
    "in_dims maps nothing of a tuple": (
        "vmap(loss): in_dims=(None, None) maps nothing, at least one array must be mapped",
        "in_dims=(None, 0)",
        ArgumentError,
        lambda: in_dims((None, None), 1.0, X),
    ),
    "in_dims maps nothing as there is no array": (
        "vmap(loss): in_dims=0 maps nothing, at least one array must be mapped",
        "pass an array with an axis for the samples, in_dims needs one",
        ArgumentError,
        lambda: in_dims(0, {}),
    ),
    "no arguments": (
        "vmap(loss): in_dims=0 maps positional arguments, none were given; keyword arguments are never mapped",
        "pass the arrays to map by position",
        ArgumentError,
        lambda: in_dims(0),
    ),
    "axis out of range": (
        "vmap(loss): in_dims=(0, 2) maps axis 2 of argument `x`, whose shape is (3, 4): its axes are -2 to 1",
        "in_dims=(0, 0)",
        ArgumentError,
        lambda: in_dims((0, 2), X, X),
    ),
    "axis out of range, no other fits": (
        "vmap(loss): in_dims=(0, 1) maps axis 1 of argument `x`, whose shape is (4,): its axes are -1 to 0",
        "in_dims=(0, None) shares argument `x` between all samples",
        ArgumentError,
        lambda: in_dims((0, 1), X, np.ones(4)),
    ),
    "negative axis out of range": (
        "vmap(loss): in_dims=(-3,) maps axis -3 of argument `params`, whose shape is (3, 4): its axes are -2 to 1",
        "in_dims=(0,)",
        ArgumentError,
        lambda: in_dims((-3,), X),
    ),
    "axis out of range inside a dict": (
        "vmap(loss): in_dims=1 maps axis 1 of argument `params['b']`, whose shape is (3,): its axes are -1 to 0",
        "in_dims=({'w': 1, 'b': None},) shares argument `params['b']` between all samples",
        ArgumentError,
        lambda: in_dims(1, {"w": X, "b": V}),
    ),
    "0-d array mapped": (
        "vmap(loss): in_dims=0 maps axis 0 of argument `x`, whose shape is (): it has no axis to map",
        "in_dims=(0, None) shares argument `x` between all samples",
        ArgumentError,
        lambda: in_dims(0, X, np.float64(1.0)),
    ),
    "a number mapped": (
        "vmap(loss): in_dims=0 maps argument `x`, which is a Python float (2.0), not an array",
        "in_dims=(0, None) shares argument `x` between all samples",
        OptionError,
        lambda: in_dims(0, X, 2.0),
    ),
    "the only argument a number": (
        "vmap(loss): in_dims=0 maps argument `params`, which is a Python float (2.0), not an array",
        "pass an array with an axis for the samples, in_dims needs one",
        OptionError,
        lambda: in_dims(0, 2.0),
    ),
    "a list of numbers mapped": (
        "vmap(loss): in_dims=0 maps argument `params[0]`, which is a Python float (1.0), not an array",
        "pass np.array(params): a list is a container here, and its items are arguments of their own",
        OptionError,
        lambda: in_dims(0, [1.0, 2.0]),
    ),
    "None mapped": (
        "vmap(loss): in_dims=0 maps argument `x`, which is None, not an array",
        "in_dims=(0, None) shares argument `x` between all samples",
        OptionError,
        lambda: in_dims(0, X, None),
    ),
    "text mapped": (
        "vmap(loss): in_dims=0 maps argument `x`, which is a string ('mean'), not an array",
        "in_dims=(0, None) shares argument `x` between all samples",
        OptionError,
        lambda: in_dims(0, X, "mean"),
    ),
    "an object mapped": (
        "vmap(loss): in_dims=0 maps argument `x`, which is a Generator, not an array",
        "in_dims=(0, None) shares argument `x` between all samples",
        OptionError,
        lambda: in_dims(0, X, np.random.default_rng(0)),
    ),
    "a number in a dict mapped": (
        "vmap(loss): in_dims=0 maps argument `params['rate']`, which is a Python float (0.1), not an array",
        "in_dims=({'w': 0, 'rate': None}, 0) shares argument `params['rate']` between all samples",
        OptionError,
        lambda: in_dims(0, {"w": X, "rate": 0.1}, X),
    ),
    "text in a dataclass mapped": (
        "vmap(loss): in_dims=0 maps argument `params.bias`, which is a string ('none'), not an array",
        "in_dims=(Layer(weights=0, bias=None),) shares argument `params.bias` between all samples",
        OptionError,
        lambda: in_dims(0, Layer(X, "none")),
    ),
    "an array of text mapped": (
        "vmap(loss): argument `params` has dtype <U1, only numbers can be used",
        "convert it with .astype(float)",
        OptionError,
        lambda: in_dims(0, np.array(["a"])),
    ),
    "a masked array mapped": (
        "vmap(loss): argument `params` is a masked array, only plain arrays can be used",
        "pass np.asarray of it",
        OptionError,
        lambda: in_dims(0, np.ma.array([1.0])),
    ),
    "sizes differ": (
        "vmap(loss): in_dims=0 maps axes of different sizes: argument `params` of shape (3, 4) has size 3 on axis 0, argument `x` "
        "of shape (5, 4) has size 5 on axis 0",
        "in_dims=(0, None) shares argument `x` between all samples",
        ArgumentError,
        lambda: in_dims(0, X, Y),
    ),
    "sizes differ, another axis fits": (
        "vmap(loss): in_dims=0 maps axes of different sizes: argument `params` of shape (3, 4) has size 3 on axis 0, argument `x` "
        "of shape (4, 3) has size 4 on axis 0",
        "in_dims=(0, 1) maps axis 1 of argument `x`",
        ArgumentError,
        lambda: in_dims(0, X, np.ones((4, 3))),
    ),
    "sizes differ by parts of one argument": (
        "vmap(loss): in_dims=0 maps axes of different sizes: argument `params['w']` of shape (3, 4) has size 3 on axis 0, "
        "argument `params['b']` of shape (5, 4) has size 5 on axis 0",
        "in_dims=({'w': 0, 'b': None}, 0) shares argument `params['b']` between all samples",
        ArgumentError,
        lambda: in_dims(0, {"w": X, "b": Y}, X),
    ),
    "sizes differ on negative axes": (
        "vmap(loss): in_dims=(0, -1) maps axes of different sizes: argument `params` of shape (3, 4) has size 3 on axis 0, "
        "argument `x` of shape (3, 4) has size 4 on axis 1",
        "in_dims=(0, 0) maps axis 0 of argument `x`",
        ArgumentError,
        lambda: in_dims((0, -1), X, X),
    ),
    "sizes differ under per_sample_grad": (
        "per_sample_grad(loss): in_dims=(None, 0, 0) maps axes of different sizes: argument `x` of shape (3, 4) has size 3 on "
        "axis 0, argument `y` of shape (2,) has size 2 on axis 0",
        "in_dims=(None, 0, None) shares argument `y` between all samples",
        ArgumentError,
        lambda: in_dims((None, 0, 0), 1.0, X, V[:2], transform="per_sample_grad"),
    ),
    "sizes differ, star-arguments": (
        "vmap(model): in_dims=0 maps axes of different sizes: argument `arrays[0]` of shape (3, 4) has size 3 on axis 0, argument "
        "`arrays[1]` of shape (5, 4) has size 5 on axis 0",
        "in_dims=(0, None) shares argument `arrays[1]` between all samples",
        ArgumentError,
        lambda: in_dims(0, X, Y, func=model),
    ),
    "sizes differ, no names": (
        "vmap(normal): in_dims=0 maps axes of different sizes: argument `loc` of shape (3, 4) has size 3 on axis 0, argument "
        "`scale['a']` of shape (5, 4) has size 5 on axis 0",
        "in_dims=(0, None) shares argument `scale['a']` between all samples",
        ArgumentError,
        lambda: in_dims(0, X, {"a": Y}, func=np.random.default_rng(0).normal),
    ),
    "out_dims a list": (
        "vmap(loss): out_dims=[0, 1] does not fit the output, which is (…, …)",
        "out_dims=(0, 1)",
        ArgumentError,
        lambda: out_dims([0, 1], (X, X)),
    ),
    "out_dims a list for one output": (
        "vmap(loss): out_dims=[1] does not fit the output, which is one value, not a list",
        "out_dims=1",
        ArgumentError,
        lambda: out_dims([1], X),
    ),
    "out_dims too short": (
        "vmap(loss): out_dims=(0,) does not fit the output, which is (…, …)",
        "out_dims=(0, 0)",
        ArgumentError,
        lambda: out_dims((0,), (X, X)),
    ),
    "out_dims too long for one output": (
        "vmap(loss): out_dims=(0, 1) does not fit the output, which is one value, not a tuple",
        "out_dims=0",
        ArgumentError,
        lambda: out_dims((0, 1), X),
    ),
    "out_dims of other keys": (
        "vmap(loss): out_dims={'b': 1} does not fit the output, which is {'a': …}",
        "out_dims={'a': 0}",
        ArgumentError,
        lambda: out_dims({"b": 1}, {"a": X}),
    ),
    "out_dims deeper than the output": (
        "vmap(loss): out_dims=(0, {'a': 0}) does not fit `output[1]`, which is one value, not a dict",
        "out_dims=(0, 0)",
        ArgumentError,
        lambda: out_dims((0, {"a": 0}), (X, X)),
    ),
    "out_dims a string": (
        "vmap(loss): out_dims='0' has '0' for the output, it must be an int or None",
        "out_dims=0",
        OptionError,
        lambda: out_dims("0", X),
    ),
    "out_dims holds a float": (
        "vmap(loss): out_dims=(0, 1.0) has 1.0 for `output[1]`, it must be an int or None",
        "out_dims=0",
        OptionError,
        lambda: out_dims((0, 1.0), (X, X)),
    ),
    "out_dims out of range": (
        "vmap(loss): out_dims=3 puts the batch axis at 3 in the output, whose shape for one sample is (3, 4): it can be -3 to 2",
        "out_dims=2",
        ArgumentError,
        lambda: out_dims(3, X),
    ),
    "out_dims out of range for a number": (
        "vmap(loss): out_dims=(0, 1) puts the batch axis at 1 in `output[1]`, whose shape for one sample is (): it can be -1 to 0",
        "out_dims=0",
        ArgumentError,
        lambda: out_dims((0, 1), (X, 1.0)),
    ),
    "out_dims None of a batched output": (
        "vmap(loss): out_dims=(0, None) has None for `output[1]`, which depends on a mapped argument",
        "out_dims=0",
        ArgumentError,
        lambda: out_dims((0, None), (X, V)),
    ),
    "None returned": (
        "vmap(loss): out_dims=0 stacks the output, which is None, not an array or a number",
        "out_dims=None",
        OptionError,
        lambda: out_dims(0, None, batched=False),
    ),
    "text returned": (
        "vmap(loss): out_dims=0 stacks `output[1]`, which is a string ('text'), not an array or a number",
        "out_dims=(0, None)",
        OptionError,
        lambda: out_dims(0, (X, "text"), batched=False),
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
