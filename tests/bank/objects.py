"""Classes, dataclasses, properties, __call__, generators, closures, partial."""

import dataclasses
import functools
import itertools
import operator
from typing import NamedTuple

import numpy as np

from tests.bank import mat, pos, program, shared, vec


class Dense:
    """A layer that holds its arrays."""

    def __init__(self, w, b):
        self.w, self.b = w, b

    def __call__(self, x):
        return np.tanh(self.w @ x + self.b)

    @property
    def size(self):
        return self.w.size

    def __getitem__(self, k):
        return self.w[k]

    @staticmethod
    def penalty(a):
        return np.sum(a * a)

    @classmethod
    def scaled(cls, w, b, k):
        return cls(w * k, b * k)


@dataclasses.dataclass
class Gaussian:
    mean: np.ndarray
    log_std: np.ndarray

    def log_density(self, x):
        z = (x - self.mean) * np.exp(-self.log_std)
        return -0.5 * np.sum(z * z) - np.sum(self.log_std)


class Moments(NamedTuple):
    mean: float
    var: float


@program(mat(3, 4), shared(vec(4)))
def layer_object(w, x):
    layer = Dense(w, np.ones(3))
    return np.sum(layer(x))


@program(mat(3, 4), shared(vec(4)))
def layer_properties_and_items(w, x):
    layer = Dense(w, 0.0)
    return layer[1] @ x * layer.size + Dense.penalty(layer.w)


@program(mat(3, 4), shared(vec(4)))
def layer_classmethod(w, x):
    return np.sum(Dense.scaled(w, np.zeros(3), 0.5)(x) ** 2)


@program(vec(3), vec(3))
def dataclass_inside(mean, x):
    return Gaussian(mean, np.zeros(3) + 0.1).log_density(x)


@program(vec(3))
def dataclass_replaced(x):
    g = Gaussian(x, x * 0.1)
    h = dataclasses.replace(g, mean=g.mean * 2)
    return h.log_density(np.zeros(3)) + g.log_density(np.ones(3))


@program(vec(4))
def namedtuple_result(x):
    def moments(a):
        m = a.mean()
        return Moments(m, np.mean((a - m) ** 2))

    m = moments(x)
    return m.mean**2 + m.var * m[1]


class Counter:
    """A local object that is written to."""

    def __init__(self):
        self.total = 0.0
        self.calls = 0

    def add(self, value):
        self.total = self.total + value
        self.calls += 1
        return self


@program(vec(4))
def attribute_state_of_a_local_object(x):
    c = Counter()
    for v in x:
        c.add(v * v)
    c.add(x[0]).add(x[1] * x[2])
    return c.total / c.calls


class Residual(Dense):
    def __call__(self, x):
        return x + super().__call__(x)


@program(mat(4, 4), shared(vec(4)))
def inheritance(w, x):
    net = [Residual(w, 0.1), Dense(w.T, 0.0), Residual(w * 0.5, 0.0)]
    for layer in net:
        x = layer(x)
    return x @ x


class Vector:
    """Operators of a user's own class."""

    def __init__(self, data):
        self.data = data

    def __add__(self, other):
        return Vector(self.data + other.data)

    def __mul__(self, k):
        return Vector(self.data * k)

    __rmul__ = __mul__

    def __matmul__(self, other):
        return self.data @ other.data

    def __len__(self):
        return len(self.data)


@program(vec(4))
def operators_of_a_class(x):
    v = Vector(x)
    return (v + 2.0 * v) @ (v * 0.5) / len(v)


@program(vec(7))
def parameters_by_a_generator(theta):
    def parts(*shapes):
        start = 0
        for shape in shapes:
            size = int(np.prod(shape))
            yield theta[start : start + size].reshape(shape)
            start += size

    w, b, v = parts((2, 2), (2,), (1,))
    return np.sum(np.tanh(w @ b)) * v[0]


@program(vec(4))
def generator_expression_summed(x):
    return sum(x[i] * x[i - 1] for i in range(4))


@program(vec(4))
def closure_over_a_local(x):
    s = np.sin(x)

    def inner(y):
        return y @ s

    return inner(x) + inner(s)


@program(vec(4))
def closure_rebinding_a_local(x):
    total = 0.0

    def add(v):
        nonlocal total
        total = total + v * v

    for v in x:
        add(v)
    return total * x[0]


@program(vec(4))
def lambdas_in_a_dict(x):
    acts = {"sin": lambda a: np.sin(a), "sq": lambda a: a * a}
    return np.sum(acts["sq"](acts["sin"](x)))


@program(vec(4))
def partial_application(x):
    def power(a, k, scale=1.0):
        return scale * a**k

    cube = functools.partial(power, k=3, scale=0.5)
    return np.sum(cube(x))


@program(vec(5))
def functools_reduce(x):
    return functools.reduce(lambda a, b: a * 0.5 + b * b, x)


@program(vec(5))
def functools_reduce_with_operator(x):
    return functools.reduce(operator.mul, [x[0], x[1] + 2.0, x[2]]) + x[3]


@program(vec(4))
def itertools_pairs(x):
    total = 0.0
    for i, j in itertools.combinations(range(4), 2):
        total = total + (x[i] - x[j]) ** 2
    return total


@program(vec(4))
def itertools_accumulate(x):
    return np.sum(np.stack(list(itertools.accumulate(list(x), lambda a, b: a * 0.5 + b))) ** 2)


def compose(*funcs):
    def run(x):
        for f in funcs:
            x = f(x)
        return x

    return run


NETWORK = compose(np.tanh, lambda a: a * a, np.sum)


@program(vec(4))
def composed_functions(x):
    return NETWORK(x)


def factorial_like(x, n):
    return x if n == 0 else x * factorial_like(x + 1.0, n - 1)


@program(vec(3))
def recursion_on_a_static_value(x):
    return np.sum(factorial_like(x, 3))


@program(vec(3))
def recursion_over_a_tree(x):
    def total(node):
        if isinstance(node, (list, tuple)):
            return sum(total(child) for child in node)
        return node @ node

    return total([x, (x * 2, [np.sin(x)])])


class Kernel:
    def __init__(self, log_scale):
        self.scale = np.exp(log_scale)

    def matrix(self, a):
        d = a[:, None] - a[None, :]
        return np.exp(-0.5 * (d / self.scale) ** 2)


@program(pos(1), shared(vec(4)))
def kernel_object(log_scale, a):
    k = Kernel(log_scale[0]).matrix(a)
    return np.sum(k) + np.sum(k @ a)


@program(vec(4))
def wrapped_decorator(x):
    def twice(f):
        @functools.wraps(f)
        def run(a):
            return f(f(a))

        return run

    @twice
    def step(a):
        return a + 0.1 * np.sin(a)

    return np.sum(step(x))


@program(vec(4))
def map_filter_and_sorted(x):
    squares = list(map(lambda v: v * v, x))
    odd = filter(lambda k: k % 2 == 1, range(4))
    return sum(squares[k] for k in odd) + sum(squares[k] for k in sorted([2, 0], reverse=True))


@program(vec(3))
def local_classes_see_the_function_around(x):
    class Layer:
        power = 2

        def __init__(self, w):
            self.w = w

        def value(self):
            return self.w**self.power * scale

    class Double(Layer):
        def value(self):
            return super().value() + self.w

        def __iadd__(self, other):
            self.w = self.w + other
            return self

    scale = x[0]
    layer = Double(x)
    same = layer
    layer += 1.0
    return np.sum(same.value())
