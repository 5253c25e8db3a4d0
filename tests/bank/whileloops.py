"""`while`: counts decided by shared values, by mapped values, by Python; break, continue, else."""

import numpy as np

from tests.bank import mat, num, pos, program, shared, vec


@program(vec(3), shared(num(20.0, 30.0)))
def halve_until_small(x, s):
    while s > 1.0:
        x = np.sin(x) + x
        s = s / 2
    return np.sum(x)


@program(num(5.0, 90.0))
def halve_a_mapped_value(x):
    n = x
    while n > 1.0:  # <- PGR102
        n = n / 2
    return n * n * x


@program(num(1.5, 3.0))
def newton_square_root(a):
    x = a
    while abs(x * x - a) > 1e-3:  # <- PGR102
        x = 0.5 * (x + a / x)
    return x * a


@program(shared(num(1.5, 3.0)), vec(3))
def newton_on_a_shared_value(a, x):
    r = a
    while np.abs(r * r - a) > 1e-3:
        r = 0.5 * (r + a / r)
    return np.sum(r * x * x)


@program(vec(3))
def while_with_a_counter(x):
    k = 0
    while k < 4:
        x = np.tanh(x) + 0.1 * x
        k += 1
    return np.sum(x)


@program(vec(3))
def while_with_break(x):
    k = 0
    while True:
        x = x * np.cos(x)
        k += 1
        if k == 3:
            break
    return np.sum(x)


@program(vec(3), shared(num(6.0, 9.0)))
def while_with_break_on_a_shared_value(x, s):
    while True:
        s = s * 0.5
        x = x * s
        if s < 1.0:
            break
    return x @ x


@program(vec(3), shared(num(6.0, 9.0)))
def while_with_continue(x, s):
    k = 0
    while k < 5:
        k += 1
        if s > k:
            continue
        x = x * 1.5 + np.sin(x)
    return np.sum(x)


@program(vec(3), shared(num(6.0, 9.0)))
def while_with_else(x, s):
    while s > 1:
        s = s - 1.0
        x = x + 0.1 * x * x
    else:
        x = x * s
    return np.sum(x)


@program(vec(3))
def while_with_return_inside(x):
    k = 0
    while k < 10:
        x = x * 0.9 + 0.05 * x**3
        if k == 2:
            return x.sum()
        k += 1
    return x @ x


@program(shared(mat(3, 3)), pos(3))
def power_iteration(a, v):
    a = a @ a.T + np.eye(3)
    k = 0
    while k < 3:
        v = a @ v
        v = v / np.sqrt(v @ v)
        k += 1
    return v @ a @ v


@program(vec(4))
def while_over_a_python_list(x):
    todo = [0, 1, 2, 3]
    total = 0.0
    while todo:
        i = todo.pop()
        total = total + x[i] * x[i] * (i + 1)
    return total


@program(vec(6))
def while_halving_the_length(x):
    y = x * x
    while len(y) > 1:
        y = y[: len(y) // 2] * y[len(y) - len(y) // 2 :]
    return y[0] + x[2]


@program(shared(num(3.0, 4.0)), vec(3))
def while_that_never_runs(s, x):
    while s > 100.0:
        x = x * s
        s = s / 2
    return np.sum(x) * s


@program(shared(num(20.0, 30.0)), vec(2))
def while_writing_a_buffer(s, x):
    out = np.zeros(10)
    k = 0
    while s > 1.0:
        out[k] = s * x[0]
        s = s / 2
        k += 1
    return np.sum(out * out) + x[1]


@program(vec(3), shared(num(20.0, 30.0)))
def while_carrying_a_tuple(x, s):
    a, b = x, x * x
    while s > 5.0:
        a, b = b, 0.5 * a + b
        s = s * 0.6
    return np.sum(a * b)


@program(vec(3), shared(num(3.0, 4.0)))
def nested_whiles(x, s):
    while s > 1.0:
        t = s
        while t > 1.0:
            x = x + 0.1 * np.sin(x) * t
            t = t - 1.0
        s = s - 1.0
    return np.sum(x)


@program(vec(4), shared(num(0.05, 0.2)))
def while_that_does_not_run_and_would_forget(x, s):
    v = x[1:3] * 2.0
    n = s * 4.0
    while n > 1.0:
        n = n * 0.5
        v = np.sin(x[:2])
    return np.sum(v * v)
