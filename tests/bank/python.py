"""Python around arrays: arguments, unpacking, strings, numbers, scope, inner transforms' plain forms."""

import numpy as np
from numpy import exp, sin

from tests.bank import mat, num, pos, program, vec

RATE = 0.5
sq, cube = (lambda a: a * a), (lambda a: a * a * a)


@program(vec(3))
def default_arguments(x, k=2.0, *, power=3):
    return np.sum(k * x**power)


@program(vec(3))
def names_imported_from_numpy(x):
    return (sin(x) * exp(x)).sum()


@program(vec(3))
def two_lambdas_on_one_line(x):
    return np.sum(sq(x)) + np.sum(cube(x))


@program(vec(3))
def global_number(x):
    return RATE * np.sum(x * x)


@program(vec(3))
def star_arguments(x):
    def total(*parts, weight=1.0, **options):
        return weight * sum(p @ p for p in parts) * options["k"]

    return total(x, x * 2, weight=0.5, k=3.0)


@program(vec(4))
def starred_unpacking(x):
    first, *middle, last = x
    return first * last + sum(m * m for m in middle)


@program(vec(3))
def augmented_tuple_and_number_of_python(x):
    sizes = (1,)
    sizes += (2, 3)
    k = 1
    k += 2
    k //= 2
    return np.sum(x * np.array(sizes)) * k * x[0]


@program(vec(3))
def shadowed_name(x):
    sum = x[0] * x[1]
    x = x * sum
    return x[2] * x[0]


@program(vec(3))
def names_that_numpy_code_uses(x):
    np_ = x * 2
    range_ = np_ * x
    lambda_, d_x, y = range_[0], range_[1], range_[2]
    return lambda_ * d_x + y


@program(vec(3))
def chained_assignment(x):
    a = b = x * x
    a = a + 1.0
    return np.sum(a * b)


@program(vec(3))
def deleted_name(x):
    t = x * x
    y = t + x
    del t
    return np.sum(y * y)


@program(vec(3))
def formatted_key(x):
    table = {f"w{i}": x[i] ** (i + 1) for i in range(3)}
    return table["w0"] * table["w1"] + table["w2"]


@program(vec(3))
def isinstance_of_an_array(x):
    y = x * x if isinstance(x, np.ndarray) else np.asarray(x)
    return np.sum(y)


@program(vec(3))
def getattr_and_hasattr(x):
    y = getattr(np, "tanh")(x)
    return np.sum(y) * (2.0 if hasattr(x, "shape") else 1.0)


@program(mat(3, 2))
def shape_unpacking(x):
    n, m = x.shape
    return np.sum(x) ** 2 / (n * m)


@program(num(), num())
def pure_numbers(a, b):
    return a * b + a**2 / b - (a - b) ** 3


@program(num())
def number_to_array(a):
    return np.sum(np.ones(3) * a * np.arange(3.0)) * a


@program(num(), 3)
def integer_exponent(a, n):
    return a**n + a**-n


@program(vec(3))
def unary_and_binary_operators(x):
    return np.sum(-x + +x * 2 - (x / 2) ** 2 % 7.0)


@program(vec(3))
def floor_division_by_one(x):
    return np.sum(x * x) + np.sum((x * 0) // 1.0)


@program(vec(3))
def constant_folding(x):
    k = 2 * np.pi / 3 + len("abc") * np.float64(0.5)
    return np.sum(x * x * k)


@program(vec(3))
def zero_times_is_kept(x):
    return np.sum(x**2) + np.sum(0.0 * np.sin(x))


@program(vec(3))
def expression_statement_and_docstring(x):
    """A docstring."""
    x.shape
    "another string"
    return np.sum(x**2)


@program(vec(3))
def annotated_assignment(x: np.ndarray) -> float:
    y: np.ndarray = x * 2
    z: float
    z = y @ x
    return z


@program(vec(3))
def nested_functions_of_two_levels(x):
    def outer(a):
        k = a[0]

        def inner(b):
            return b * k + a

        return inner(inner(a))

    return np.sum(outer(x))


@program(vec(3))
def returned_function(x):
    def make(k):
        return lambda a: np.sum(a**k)

    return make(2)(x) + make(3)(x)


@program(vec(3))
def loop_closure_binds_late(x):
    funcs = [lambda a: a * k for k in (1.0, 2.0, 3.0)]
    return np.sum(funcs[0](x) * x)


@program(pos(3))
def helper_called_twice(x):
    def norm(a):
        s = np.sqrt(np.sum(a * a))
        return a / s

    return norm(x) @ norm(x * x)


@program(vec(3))
def deep_expression(x):
    return np.sum(np.tanh(np.sin(x * x + 1.0) * np.exp(-np.abs(x)) + np.cos(x) / (1.0 + x**2)) ** 2)


@program(vec(3))
def value_used_many_times(x):
    y = np.tanh(x)
    z = y * y
    return np.sum(z * y) + np.sum(z) * np.sum(y) + y[0] * z[1]


@program(vec(3))
def unused_work(x):
    unused = np.exp(x) * 3.0
    also = unused[0]
    return np.sum(x * x)


@program(vec(3))
def sum_with_start(x):
    return sum([x[0] * 2, x[1]], x[2] ** 2)


@program(vec(3))
def zip_star(x):
    pairs = [(x[0], 1.0), (x[1], 2.0), (x[2], 3.0)]
    values, weights = zip(*pairs)
    return sum(v * v * w for v, w in zip(values, weights))


@program(vec(3))
def any_and_all_of_python_values(x):
    if all(n == 3 for n in x.shape) and not any(n > 5 for n in x.shape):
        return np.sum(x**3)
    return np.sum(x)


@program(vec(3))
def augmented_containers_keep_their_identity(x):
    parts = [x[0], x[1] * x[2]]
    same = parts
    parts *= 2
    names = {"a"}
    others = names
    names |= {"b", "c"}
    return sum(same) ** 2 * len(others)


@program(vec(3))
def finally_runs_after_everything(x):
    seen = []
    y = x
    try:
        try:
            {}["missing"]
        except KeyError:
            raise
        finally:
            seen.append(1)
            y = y * x
    except KeyError:
        y = y * 2
    try:
        try:
            seen.append(2)
        except ValueError:
            y = y * 100
        else:
            raise ValueError("past the handlers beside it")
    except ValueError:
        y = y + x
    return np.sum(y**2) * len(seen)


@program(vec(3))
def stop_iteration_is_caught(x):
    numbers = iter([2.0, 3.0])
    y = x
    try:
        while True:
            y = y * x * next(numbers)
    except StopIteration:
        y = y + x
    return np.sum(y)


@program(vec(4))
def chosen_by_keys(x):
    largest = max(x, key=lambda v: -v * v)  # <- PGR106
    parts = [x[0] * x[1], x[2]]
    parts.sort(key=lambda v: v**2)  # <- PGR106
    return largest * parts[0] ** 2


@program(vec(4))
def full_of_infinities(x):
    best = np.full(5000, np.inf)
    best[:4] = x * x
    return np.min(best) ** 2 + np.sum(x**3)
