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


@program(vec(4), vec(4))
def return_inside(x, w):
    t = 5.0 + np.sum(x**2)
    while t > 0.01:  # <- PGR102
        t = t * 0.5 * np.cos(0.1 * x[0])
        if t < 0.3:  # <- PGR101
            return t * np.sum(w**2)
    return t * 3.0


@program(vec(4), vec(4))
def break_and_return(x, w):
    t = 5.0 + np.sum(x**2)
    k = 0
    while t > 0.01:  # <- PGR102
        t = t * 0.5
        if np.sin(t) > 0.99:  # <- PGR101
            return t * w[0] ** 2 + x[1]
        if t < 0.2:  # <- PGR101
            break
        k += 1
    return t * 3.0 * x[0] + k


@program(vec(4), vec(4))
def else_after_a_break(x, w):
    t = 1.0 + np.sum(x**2)
    while t > 0.5:  # <- PGR102
        t = t * 0.7
        if np.cos(t) > 0.95:  # <- PGR101
            break
    else:
        t = t * w[0]
    return t * x[1]


@program(vec(4), vec(4))
def else_after_break_and_return(x, w):
    t = 1.0 + np.sum(x**2)
    while t > 0.5:  # <- PGR102
        t = t * 0.7
        if np.cos(t) > 0.95:  # <- PGR101
            break
        if np.cos(t) < -0.9:  # <- PGR101
            return t * x[0]
    else:
        t = t * w[0]
    return t * x[1]


@program(vec(4), vec(4))
def endless_but_for_a_return(x, w):
    t = 1.0 + np.sum(x**2)
    while True:
        t = t * 0.7
        if t < 0.3:  # <- PGR101
            return t * w[0] + x[1] ** 2


@program(vec(4))
def continue_and_return(x):
    t = 1.0 + np.sum(x**2)
    s = 0.0
    while t > 0.1:  # <- PGR102
        t = t * 0.7
        if np.sin(10 * t) > 0.5:  # <- PGR101
            continue
        s = s + t**2
        if s > 3.0:  # <- PGR101
            return s * x[0]
    return s


@program(vec(4), vec(4))
def a_helper_returns_arrays_from_its_loop(x, w):
    def shrink(v):
        steps = 0
        while np.sum(v * v) > 1.0:  # <- PGR102
            v = v * 0.8
            if np.sum(v * w) > 0.5:  # <- PGR101
                return v, steps
            steps += 1
        return v * 2.0, steps

    v, steps = shrink(2.0 * x)
    return np.sum(v**3) * (1 + steps)


@program(vec(4))
def a_helper_with_a_loop_for_each_element(x):
    def reduced(v):
        while v > 1.0:  # <- PGR102
            if v > 10.0:  # <- PGR101
                return v / 20.0
            v = v / 1.5
        return v

    return sum(reduced(5.0 * v * v) for v in x)


@program(vec(4), vec(4))
def a_counted_loop_that_breaks_and_returns(x, w):
    i = 0
    s = x[0]
    while i < 20:
        s = s * 1.1 + w[i % 4]
        i += 1
        if s > 3.0:  # <- PGR101
            return s * x[1]
        if s < -3.0:  # <- PGR101
            break
    return s


@program(vec(4))
def return_from_the_inner_of_two(x):
    t = 2.0 + np.sum(x**2)
    while t > 0.1:  # <- PGR102
        s = t
        while s > 1.0:  # <- PGR102
            s = s * 0.5
            if np.sin(s) > 0.95:  # <- PGR101
                return s * x[0]
        t = t * 0.6 + 0.01 * s
        if t < 0.2:  # <- PGR101
            break
    return t
