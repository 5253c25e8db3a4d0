"""Branches: if, elif, conditional expressions, early returns, and/or, assert, match; on shared and on mapped values."""

import numpy as np

from tests.bank import mat, num, pos, program, shared, vec


@program(shared(mat(3, 4)), vec(4))
def clipped_norm(w, x):
    h = w @ x
    n = np.sqrt(h @ h)
    if n > 1.0:  # <- PGR101
        h = h / n
    return np.sum(h * h * h)


@program(vec(4), shared(vec(4)))
def branch_on_a_shared_value(x, s):
    if s.sum() > 0:
        y = np.sin(x)
    else:
        y = x * x * s
    return y @ s


@program(vec(3), shared(vec(3)))
def elif_chain_on_a_shared_value(x, s):
    t = s.mean()
    if t > 10:
        y = x
    elif t > 5:
        y = 2 * x
    elif t > -5:
        y = x**3
    else:
        y = -x
    return np.sum(y)


@program(vec(3))
def elif_chain_on_a_mapped_value(x):
    t = x.sum()
    if t > 1:  # <- PGR101
        y = np.sin(x)
    elif t > -1:  # <- PGR101
        y = np.exp(x)
    else:
        y = x * x
    return np.sum(y)


@program(num())
def conditional_expression(x):
    y = x * x if x > 1.0 else 3.0 * x  # <- PGR101
    return y * x


@program(vec(4), shared(num()))
def nested_conditional_expressions(x, s):
    k = 1.0 if s < 0.1 else (2.0 if s < 5.0 else 3.0)
    return np.sum(k * x * x)


@program(vec(4))
def early_return(x):
    s = x @ x
    if s > 3.0:  # <- PGR101
        return np.sqrt(s)
    y = x * s
    return y.sum()


@program(vec(4), shared(vec(4)))
def early_return_from_nested_branches(x, s):
    if s[0] > 100.0:
        return x.sum()
    if s[1] < 100.0:
        if s[2] > 100.0:
            return x @ x
        y = np.exp(x)
        if s[3] < 100.0:
            return y @ s
    else:
        y = np.log(x * x)
    return y.sum()


@program(vec(4), shared(vec(4)))
def bound_in_one_branch_only(x, s):
    if s @ s > 0:
        scale = np.tanh(s[0])
        y = x * scale
    else:
        y = x
    return y @ y


@program(vec(4), shared(vec(4)))
def several_names_in_a_branch(x, s):
    a, b = x, np.cos(x)
    if s.max() > -100:
        a, b = b, a
        c = a * b
    else:
        c = a + b
    return np.sum(a * a * b + c)


@program(vec(3), "relu")
def branch_on_a_string(x, kind):
    if kind == "relu":
        y = np.where(x > 0, x, 0.0)
    elif kind == "tanh":
        y = np.tanh(x)
    else:
        raise ValueError(kind)
    return np.sum(y * y)


@program(vec(3), None)
def branch_on_none(x, bias):
    y = x * x
    if bias is not None:
        y = y + bias
    return np.sum(y * x)


@program(mat(3, 4))
def branch_on_a_shape(x):
    if x.ndim == 2 and x.shape[0] < x.shape[1]:
        x = x.T
    return np.sum(x[0] * x[1] * x[2])


@program(vec(4), shared(vec(4)))
def and_or_of_shared_values(x, s):
    if s[0] > 100 or (s[1] < 100 and not s[2] > 100):
        return np.sum(x**2)
    return np.sum(x)


@program(vec(4))
def and_of_mapped_values(x):
    if x[0] > 0 and x[1] > 0:  # <- PGR104
        return x @ x
    return np.sum(x)


@program(vec(4), shared(num()))
def chained_comparison(x, s):
    if 0.0 < s < 10.0:
        return np.sum(x * s * x)
    return s


@program(pos(4))
def assert_on_a_mapped_value(x):
    assert np.all(x > 0)  # <- PGR103
    return np.sum(np.log(x))


@program(vec(4), shared(pos(4)))
def assert_on_a_shared_value(x, s):
    assert np.all(s > 0), "scales must be positive"
    return np.sum(x * x / s)


@program(vec(4))
def assert_on_a_shape(x):
    assert x.shape == (4,), x.shape
    assert x.dtype == np.float64
    return np.prod(x)


@program(vec(4), shared(vec(4)))
def raise_in_a_branch_not_taken(x, s):
    if s.sum() > 1e6:
        raise ValueError("too large")
    return np.sum(np.sin(x) * s)


@program(vec(4), ("scale", 2.0))
def match_on_a_tuple(x, action):
    match action:
        case ("shift", amount):
            y = x + amount
        case ("scale", amount):
            y = x * amount
        case _:
            y = x
    return np.sum(y * y)


@program(vec(3), shared(num()))
def different_python_values_in_branches(x, s):
    if s > 0.1:
        power = 3
    else:
        power = 2
    return np.sum(x**power)


@program(vec(3), shared(vec(3)))
def pass_in_a_branch(x, s):
    y = x * x
    if s[0] > 100:
        pass
    else:
        y = y * x
    return np.sum(y)


@program(num(1.1, 1.9))
def piecewise_polynomial(x):
    if x < 1.0:  # <- PGR101
        return x * x
    elif x < 2.0:  # <- PGR101
        return x * x * x - x
    else:
        return 5.0 * x


@program(vec(4), shared(vec(4)))
def branch_in_a_helper(x, s):
    def safe(a, b):
        if b @ b > 1e-12:
            return a / (b @ b)
        return a

    return np.sum(safe(x, s) * x) + safe(x, s * 2.0).sum()


@program(vec(4))
def where_instead_of_branch(x):
    s = x @ x
    y = np.where(s > 2.0, x / np.sqrt(s), x)
    return np.sum(y**3)


@program(vec(4), shared(vec(4)))
def walrus_in_a_test(x, s):
    if (n := s @ s) > 0.0:
        return np.sum(x * x) / n
    return n


@program(vec(3), shared(vec(3)))
def branch_result_used_twice(x, s):
    if s[0] < 100:
        h = np.tanh(x)
    else:
        h = x
    a = h * 2
    b = h * h
    return a @ b


@program(vec(4))
def branch_nested_on_mapped_values(x):
    y = x * 1.0
    if x[0] > 0:  # <- PGR101
        if x[1] > 0:  # <- PGR101
            y = np.exp(y)
        else:
            y = y * y
    return y.sum()


@program(vec(4), True)
def branch_on_a_flag(x, training):
    scale = 0.5 if training else 1.0
    return np.sum(x * x * scale)


@program(vec(4))
def written_on_one_side_and_rebound_on_the_other(x):
    y = x.copy()
    if x[0] > x[1]:  # <- PGR101
        y[0] = 2 * x[1] * x[2]
        y *= x
    else:
        y = y * x + x
    return np.sum(y * y)


@program(vec(4))
def returned_as_written_or_new(x):
    def scaled(z):
        if x[0] < x[1]:  # <- PGR101
            z *= x[2] * x
            return z
        return z**2 + x

    return np.sum(scaled(x * 2) ** 2)


# names that are bound on some paths only


@program(mat(9, 2))
def best_row(xs):
    best = -np.inf
    for x in xs:
        v = np.sin(x.sum())
        if v > best:  # <- PGR101
            best = v
            arg = x
    return best + (arg**2).sum()


@program(mat(3, 2))
def best_of_few_rows(xs):
    best = -np.inf
    for x in xs:
        v = np.sin(x.sum())
        if v > best:  # <- PGR101
            best = v
            arg = x
    return best + (arg**2).sum()


@program(mat(3, 2))
def bound_under_one_test_and_read_under_another(xs):
    if xs[0, 0] < 1.0:  # <- PGR101
        y = xs * 2
    if xs[0, 0] < 0.5:  # <- PGR101
        return y.sum() ** 2
    return xs.sum()


@program(mat(3, 2))
def different_names_on_the_two_sides(xs):
    c = xs[0, 0] < 0
    if c:  # <- PGR101
        y = xs * 2
        k = 3
    else:
        z = xs.sum() ** 2
    if c:  # <- PGR101
        r = y.sum() * k
    else:
        r = z
    return r


@program(mat(3, 2))
def bound_in_a_while(xs):
    s = np.abs(xs.sum())
    while s < 30.0:  # <- PGR102
        last = np.sin(s)
        s = s + last + 2
    return last * s


@program(mat(3, 2))
def bound_and_left(xs):
    s = np.abs(xs.sum())
    while s < 30.0:  # <- PGR102
        s = s + 2
        if s > 10:  # <- PGR101
            first = s * s
            break
    return first


@program(mat(9, 2))
def kept_from_an_earlier_turn(xs):
    s = 0.0
    w = xs[0]
    for x in xs:
        if x[0] > -0.5:  # <- PGR101
            w = x * 2
            seen = x[1]
        if x[0] > 0.0:  # <- PGR101
            s = s + (w**2).sum() * seen
    return s
