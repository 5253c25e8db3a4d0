"""Buffers made inside the function: zeros, empty_like, out=, copyto, fill, filled by batched values later."""

import numpy as np

from tests.bank import mat, num, pos, program, shared, vec


@program(vec(4))
def zeros_then_add(x):
    acc = np.zeros(4)
    acc += x
    acc += x * x
    return np.sum(acc * acc)


@program(vec(4))
def zeros_like_then_slices(x):
    out = np.zeros_like(x)
    out[:2] = x[2:] * x[:2]
    out[2:] = np.sin(x[:2])
    return np.sum(out)


@program(vec(3))
def full_then_element(x):
    y = np.full(3, 2.0)
    y[1] = x[0] * x[1]
    return np.prod(y) + x[2] ** 2


@program(vec(4))
def out_into_a_buffer(x):
    y = np.empty(4)
    np.multiply(x, x, out=y)
    np.add(y, 1.0, out=y)
    return np.sum(np.log(y))


@program(mat(3, 4), vec(4))
def matmul_out(w, x):
    h = np.empty(3)
    np.matmul(w, x, out=h)
    np.tanh(h, out=h)
    return h @ h


@program(vec(4))
def ufunc_out_positional(x):
    y = np.empty_like(x)
    np.exp(x, y)
    return np.sum(y)


@program(vec(4))
def copyto(x):
    y = np.ones(4)
    np.copyto(y, x * x)
    return np.sum(y * x)


@program(vec(4))
def copyto_where(x):
    y = x * x
    np.copyto(y, 0.0, where=np.array([True, False, True, False]))
    return np.sum(y * y)


@program(vec(4))
def fill(x):
    y = x * 1.0
    z = y * y
    y.fill(2.0)
    return np.sum(z * y)


@program(vec(3))
def fill_with_a_value(x):
    y = np.zeros(3)
    y.fill(x[0])
    return np.sum(y * x)


@program(vec(4))
def buffer_written_late(x):
    table = np.zeros((2, 4))
    for i in range(4):
        table[0, i] = i
    table[1] = x
    return np.sum(np.prod(table + 1.0, axis=0) * x)


@program(mat(5, 2))
def states_kept_in_a_buffer(x):
    h = np.zeros((6, 2))
    for t in range(5):
        h[t + 1] = np.tanh(h[t] + x[t])
    return np.sum(h[5] * h[3])


@program(vec(5))
def dynamic_programming(x):
    best = np.zeros(6)
    for i in range(5):
        best[i + 1] = np.logaddexp(best[i], x[i])
    return best[5]


@program(vec(6))
def finite_difference_stencil(x):
    d = np.empty(6)
    d[1:-1] = 0.5 * (x[2:] - x[:-2])
    d[0] = x[1] - x[0]
    d[-1] = x[-1] - x[-2]
    return np.sum(d**2)


@program(mat(4, 4))
def diffusion_steps(u):
    for _ in range(2):
        v = u.copy()
        v[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
        u = v
    return np.sum(u * u * u)


@program(mat(5, 5))
def moving_window(x):
    out = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            out[i, j] = np.sum(x[i : i + 3, j : j + 3] ** 2)
    return np.sum(np.sqrt(out))


@program(vec(6), vec(3))
def convolution_by_hand(x, k):
    y = np.zeros(4)
    for i in range(4):
        for j in range(3):
            y[i] += x[i + j] * k[j]
    return np.sum(np.tanh(y))


@program(pos(4))
def cholesky_by_hand(d):
    a = np.diag(d + 2.0) + 0.3
    l = np.zeros((4, 4))
    for i in range(4):
        for j in range(i + 1):
            s = a[i, j] - l[i, :j] @ l[j, :j]
            l[i, j] = np.sqrt(s) if i == j else s / l[j, j]
    return np.sum(np.log(np.diag(l)))


@program(vec(3), vec(3))
def forward_substitution(d, b):
    l = np.eye(3) * 2 + np.tril(np.ones((3, 3)), -1) * d
    x = np.zeros(3)
    for i in range(3):
        x[i] = (b[i] - l[i, :i] @ x[:i]) / l[i, i]
    return x @ x


@program(vec(5))
def prefix_sums_by_hand(x):
    out = np.empty(5)
    total = 0.0
    for i, v in enumerate(x):
        total = total + v
        out[i] = total
    return np.sum(out * out)


@program(vec(4))
def buffer_reused_between_rounds(x):
    buf = np.zeros(4)
    total = 0.0
    for k in range(3):
        buf[:] = x * (k + 1)
        buf *= buf
        total = total + np.sin(buf).sum()
    return total


@program(vec(4))
def two_buffers_swapped(x):
    a, b = x.copy(), np.zeros(4)
    for _ in range(3):
        b[1:] = a[:-1] * 0.5
        b[0] = a[-1]
        a, b = b, a
    return np.sum(a * a * a) + np.sum(b)


@program(num(), vec(3))
def buffer_of_an_integer_dtype_cast(s, x):
    y = np.arange(3).astype(float)
    y += x * s
    return np.sum(y * y)


@program(vec(4), shared(vec(4)))
def buffer_written_in_a_branch_only(x, s):
    y = np.zeros(4)
    if s[0] < 100:
        y[:] = np.exp(x)
    return np.sum(y * x)


@program(mat(2, 3))
def object_of_buffers(x):
    rows = [np.zeros(3) for _ in range(2)]
    for row, value in zip(rows, x):
        row += value
        row[0] *= 2
    return rows[0] @ rows[1]


@program(pos(4))
def divide_where_into_a_buffer(x):
    y = np.zeros(4)
    np.divide(1.0, x - x[0], out=y, where=np.arange(4) > 0)
    np.sqrt(x[1:3], out=y[:2], where=x[1:3] > 0.0)
    return np.sum(y * x)


@program(mat(3, 4))
def methods_into_buffers(x):
    rows = np.empty(3)
    x.mean(axis=1, out=rows)
    columns = np.empty(4)
    x.sum(0, None, columns)
    return np.sum(rows**2) * np.sum(columns**2)
