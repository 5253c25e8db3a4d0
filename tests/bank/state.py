"""State: globals, captured containers and arrays, running statistics; local containers; printing, errstate, randomness."""

import contextlib
import math
import warnings

import numpy as np

from tests.bank import num, pos, program, shared, vec

COUNT = 0
LOG = []
STATS = {"mean": np.zeros(3)}
SCALE = np.array([1.0, 2.0, 3.0])
TABLE = np.zeros(3)


@program(vec(3))
def writes_a_global(x):
    global COUNT
    COUNT = COUNT + 1  # <- PGR601 always
    return np.sum(x * x)


@program(vec(3))
def appends_to_a_captured_list(x):
    LOG.append(x)  # <- PGR602 always
    return np.sum(x * x)


@program(vec(3))
def updates_a_captured_dict(x):
    STATS["last"] = x  # <- PGR602 always
    return np.sum(x * x)


@program(vec(3))
def writes_a_captured_array(x):
    TABLE[0] += 1.0  # <- PGR602 always
    return np.sum(x * x) + TABLE[1]


@program(vec(3), checks=("vmap_grad",))
def writes_a_mapped_value_into_a_captured_array(x):
    TABLE[:] = x  # <- PGR301
    return np.sum(x * x)


@program({"w": shared(vec(3))}, vec(3), checks=("vmap_grad",))
def puts_into_an_argument_dict(p, x):
    p["h"] = x * 2  # <- PGR602
    return np.sum(p["w"] * p["h"])


@program(vec(3))
def reads_a_global_array(x):
    return np.sum(SCALE * x * x)


@program(vec(3))
def reads_a_captured_dict(x):
    return np.sum((x - STATS["mean"]) ** 2 * SCALE[1])


@program(vec(3))
def local_list(x):
    seen = []
    for v in x:
        seen.append(v * v)
    seen.reverse()
    return seen[0] * seen[1] + seen[-1]


@program(vec(3))
def local_dict(x):
    cache = {}
    for i in range(3):
        cache[i % 2] = cache.get(i % 2, 0.0) + x[i] ** 2
    return cache[0] * cache[1]


@program(vec(3))
def local_set_of_numbers(x):
    seen = set()
    total = 0.0
    for k in (1, 2, 1, 3):
        if k not in seen:
            seen.add(k)
            total = total + np.sum(x**k)
    return total


@program(pos(3))
def errstate(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.log(x) / x
    return np.sum(y)


@program(vec(3))
def where_under_errstate(x):
    with np.errstate(all="ignore"):
        y = np.where(x > 0, np.sqrt(np.abs(x)), x * x)
    return np.sum(y)


@contextlib.contextmanager
def plain():
    yield 2.0


@program(vec(3))
def plain_context_manager(x):
    with plain() as k:
        y = x * k
    return np.sum(y * y)


@program(vec(3))
def try_around_code_that_cannot_fail(x):
    options = {"scale": 3.0}
    try:
        k = options["power"]
    except KeyError:
        k = 2
    return np.sum(x**k)


@program(vec(3))
def try_finally(x):
    done = []
    try:
        y = np.sin(x)
    finally:
        done.append(1)
    return np.sum(y) * len(done)


@program(num())
def math_functions(x):
    return math.sin(x) * math.exp(x) + math.sqrt(x)  # <- PGR204


@program(shared(num()), vec(3))
def math_functions_of_a_shared_value(s, x):
    return np.sum(x * x) * math.log(s) + math.pi * s


@program(vec(3))
def float_of_an_element(x):
    return float(x[0]) * x[1] * float(np.sum(x))  # <- PGR202


@program(shared(vec(3)), vec(3))
def float_of_a_shared_element(s, x):
    return float(s[0]) ** 2 * np.sum(x) + float(s @ s)


@program(vec(3))
def item_of_an_element(x):
    return x[0].item() * x[1]  # <- PGR201


@program(shared(vec(3)), vec(3))
def item_of_a_shared_element(s, x):
    return s[0].item() * np.sum(x) * s[1]


@program(vec(3))
def tolist(x):
    values = x.tolist()  # <- PGR203
    return values[0] * values[1]


@program(vec(4))
def builtin_max(x):
    return max(x[0], x[1]) ** 2 + x[2]  # <- PGR106


@program(vec(4))
def builtin_sum_of_squares(x):
    return sum(x * x)


@program(vec(4))
def builtin_abs_and_pow(x):
    return np.sum(abs(x)) + np.sum(pow(x, 2)) + x[0].__abs__()


@program(vec(4))
def comprehension_filter(x):
    return sum(v * v for v in x if v > 0) + x[0]  # <- PGR105


@program(vec(4), shared(vec(4)))
def comprehension_filter_on_a_static_value(x, s):
    return sum(x[k] * s[k] for k in range(4) if k != 2)


@program(vec(4))
def range_of_a_mapped_value(x):
    total = x[0]
    for _ in range(int(np.argmax(x))):  # <- PGR202
        total = total * x[1]
    return total


@program(vec(3))
def random_draw(x):
    noise = np.random.normal(size=3)  # <- PGR501
    return np.sum(x * x) + 0.0 * np.sum(noise)


@program(vec(3))
def generator_from_a_constant_seed(x):
    noise = np.random.default_rng(0).normal(size=3)
    return np.sum(x * x * noise)


@program(vec(3))
def static_logging(x):
    messages = []
    messages.append(f"shape {x.shape}")
    assert messages == ["shape (3,)"]
    return np.sum(x * x)


@program(vec(3))
def warnings_on_static_conditions(x):
    if x.ndim != 1:
        warnings.warn("not a vector", stacklevel=2)
    return np.prod(x)
