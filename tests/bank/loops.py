"""`for`: ranges, arrays, zip, enumerate, reversed, nesting, carried values, lists grown in loops."""

import numpy as np

from tests.bank import mat, num, program, shared, vec


@program(vec(3))
def repeated_step(x):
    for _ in range(5):
        x = x + 0.1 * np.sin(x)
    return np.sum(x)


@program(mat(3, 3), vec(3))
def repeated_matmul(w, h):
    for _ in range(4):
        h = np.tanh(w @ h)
    return h @ h


@program(vec(5))
def running_product(x):
    p = 1.0
    for i in range(5):
        p = p * (1.0 + x[i] ** 2)
    return p


@program(mat(4, 3))
def over_rows(x):
    h = np.zeros(3)
    for row in x:
        h = np.tanh(h + row)
    return np.sum(h)


@program(mat(4, 3))
def over_reversed_rows(x):
    h = np.ones(3)
    for row in reversed(x):
        h = 0.5 * h * row + row
    return np.sum(h)


@program(mat(4, 3), mat(4, 3))
def zipped(a, b):
    total = 0.0
    for u, v in zip(a, b):
        total = total + (u @ v) ** 2
    return total


@program(vec(4))
def enumerated(x):
    total = 0.0
    for i, v in enumerate(x, start=1):
        total = total + v**i
    return total


@program(vec(6))
def range_with_a_step(x):
    total = 0.0
    for i in range(5, 0, -2):
        total = total + x[i] * x[i - 1]
    return total


@program(mat(3, 4))
def nested_ranges(x):
    total = 0.0
    for i in range(3):
        for j in range(4):
            total = total + x[i, j] ** 2 * (i + 2 * j)
    return total


@program(mat(3, 3))
def triangular_loop(x):
    total = 0.0
    for i in range(3):
        for j in range(i):
            total += x[i, j] * x[j, i]
    return total


@program(vec(5))
def list_grown_then_stacked(x):
    states = []
    h = 0.0
    for v in x:
        h = np.tanh(h + v)
        states.append(h)
    return np.sum(np.stack(states) ** 2)


@program(mat(4, 2))
def list_of_rows_concatenated(x):
    parts = [x[0]]
    for row in x[1:]:
        parts.append(parts[-1] * row)
    return np.sum(np.concatenate(parts) ** 2)


@program(vec(4))
def list_comprehension_of_arrays(x):
    return np.sum(np.array([x * k for k in range(1, 4)]) ** 2)


@program(vec(4))
def dict_comprehension(x):
    powers = {k: x**k for k in (1, 2, 3)}
    return np.sum(powers[1] * powers[3]) + np.sum(powers[2])


@program(vec(4))
def for_with_break(x):
    total = 0.0
    for i in range(10):
        if i == 3:
            break
        total = total + x[i] ** 2
    return total


@program(vec(4))
def for_with_continue(x):
    total = 0.0
    for i in range(4):
        if i % 2:
            continue
        total = total + np.exp(x[i])
    return total


@program(vec(4))
def for_with_else(x):
    for k in range(3):
        x = x * 1.1
        if k > 5:
            break
    else:
        x = x * x
    return np.sum(x)


@program(vec(4), shared(vec(4)))
def for_with_break_on_a_shared_value(x, s):
    total = 0.0
    for i in range(4):
        total = total + x[i] ** 2
        if s[i] > 100.0:
            break
    return total


@program(vec(4), shared(vec(4)))
def for_with_a_branch_on_shared_values(x, s):
    total = 0.0
    for i in range(4):
        if s[i] > 0:
            total = total + x[i]
        else:
            total = total - x[i] ** 2
    return total


@program(vec(4))
def for_with_a_branch_on_mapped_values(x):
    total = x[0]
    for i in range(4):
        if x[i] > 0:  # <- PGR101
            total = total + x[i] ** 2
    return total


@program(vec(4), shared(vec(4)))
def return_from_a_loop(x, s):
    total = 0.0
    for i in range(4):
        total = total + x[i] ** 2
        if s[i] * s[i] > 1e-9:
            return total * s[0]
    return total


@program(vec(4))
def loop_variable_used_afterwards(x):
    for i in range(3):
        y = x[i] * i
    return y * x[i]


@program(vec(3))
def loop_changing_the_type(x):
    total = 0
    for v in x:
        total = total + v * v
    return total


@program(vec(3))
def loop_growing_the_shape(x):
    y = x
    for _ in range(2):
        y = np.concatenate([y, y * 0.5])
    return np.sum(y * y)


@program(num())
def loop_over_numbers(x):
    y = x
    for k in (1.0, 0.5, 2.0):
        y = y * k + x
    return y * y


@program(vec(4), 3)
def loop_count_from_an_argument(x, n):
    for _ in range(n):
        x = x * 0.5 + x**2 * 0.1
    return np.sum(x)


@program(vec(3))
def fibonacci_like(x):
    a, b = x, x * x
    for _ in range(4):
        a, b = b, a + 0.5 * b
    return np.sum(b)


@program(mat(6, 2))
def scan_in_chunks(x):
    total = np.zeros(2)
    for start in range(0, 6, 2):
        total = total + np.prod(x[start : start + 2], axis=0)
    return total @ total


@program({"a": shared(vec(2)), "b": shared(vec(2))}, vec(2))
def over_dict_items(p, x):
    total = 0.0
    for name, value in p.items():
        total = total + np.sum(value**2 * x) * len(name)
    return total


@program(vec(3))
def horner(x):
    y = 0.0 * x
    for c in (1.0, -2.0, 0.5, 3.0):
        y = y * x + c
    return np.sum(y)


@program(vec(2))
def runge_kutta(y):
    def f(t, y):
        return np.stack([y[1], -np.sin(y[0]) + 0.1 * t])

    t, h = 0.0, 0.1
    for _ in range(4):
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h / 2 * k1)
        k3 = f(t + h / 2, y + h / 2 * k2)
        k4 = f(t + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t = t + h
    return y[0] * y[1]


@program(vec(3))
def gradient_descent_unrolled(x):
    theta = np.zeros(3)
    for _ in range(5):
        theta = theta - 0.2 * (2 * (theta - x) + np.sin(theta))
    return theta @ theta


# long enough to be kept as loops


@program(mat(9, 2))
def row_rebound_in_the_body(xs):
    s = 0.0
    for x in xs:
        x = x * 2
        s = s + x.sum()
    return s + (x**3).sum()


@program(mat(9, 2))
def rows_of_what_the_body_writes(xs):
    xs = xs.copy()
    s = 0.0
    for x in xs:
        s = s + (x**2).sum()
        xs *= 1.1
    return s


@program(mat(9, 2))
def row_written_after_the_loop(xs):
    xs = xs * 1.0
    y = xs[0]
    s = 0.0
    for x in xs:
        s = s + (y * x).sum()
        y = x
    y *= 3.0
    return (xs**2).sum() + s


@program(mat(9, 2))
def previous_row(xs):
    y = xs[0]
    s = 0.0
    for x in xs:
        s = s + (y * x).sum()
        y = x
    return s + (y**2).sum()


@program(mat(9, 2))
def bound_first_in_the_body(xs):
    h = np.zeros(2)
    for x in xs:
        m = np.tanh(h + x)
        h = m * x
    return (m * h).sum()


@program(mat(9, 2))
def nested_and_bound_first(xs):
    s = 0.0
    for i in range(9):
        for k in range(8):
            m = np.sin(xs[i].sum() * k)
            s = s + m * m
    return s + m


@program(mat(10, 2))
def enumerated_zip(xs):
    h = np.zeros(2)
    for i, (a, b) in enumerate(zip(xs[:-1], xs[1:]), 2):
        h = np.tanh(h * a + b * i)
    return h.sum() * i


@program(mat(10, 2))
def zip_ends_with_the_shortest(xs):
    h = np.zeros(2)
    for a, b, k in zip(xs, xs[1:], range(3, 40)):
        h = np.tanh(h * a + b * k)
    return h.sum() + a.sum() * k


@program(mat(9, 2))
def reversed_rows_and_numbers(xs):
    h = np.zeros(2)
    for a in reversed(xs):
        h = np.tanh(h + a)
    for i in reversed(range(9)):
        h = h * xs[i] + i
    return h.sum() * (i + 1)


@program(mat(9, 2))
def iterator_begun_before(xs):
    rows = enumerate(xs)
    i, h = next(rows)
    for i, a in rows:
        h = np.tanh(h * a) + i
    return h.sum()


@program(mat(9, 2))
def rows_unpacked(xs):
    s = 0.0
    for a, b in xs:
        s = s + np.sin(a * b)
    return s


@program(mat(9, 2))
def tuple_carried(xs):
    state = (np.zeros(2), 0.0)
    for x in xs:
        h, c = state
        state = (np.tanh(h + x), c + h.sum())
    return state[1] + state[0].sum()
