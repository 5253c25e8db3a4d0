"""Writes in place: elements, slices, masks, augmented assignment, in loops and branches."""

import numpy as np

from tests.bank import mat, num, pos, program, shared, vec


@program(vec(4))
def element_store(x):
    y = np.zeros(4)
    y[0] = x[1] * x[2]
    y[3] = x[0]
    return np.sum(y * y) + x[3]


@program(vec(4))
def element_store_in_a_copy(x):
    y = x.copy()
    y[1] = y[0] * y[2]
    return np.sum(y**2)


@program(vec(4))
def store_into_the_argument(x):
    x[1] = x[0] * x[2]
    return np.sum(x * x)


@program(vec(4))
def augmented_element(x):
    y = x * 2
    y[2] += x[0] ** 2
    y[0] *= x[3]
    y[1] -= y[2]
    return np.prod(y)


@program(vec(4))
def augmented_name(x):
    y = x * 2
    y += x**2
    y *= x
    y -= 1.0
    y /= 2.0
    return np.sum(y)


@program(vec(4))
def augmented_argument(x):
    x *= x
    x += 1.0
    return np.sum(np.log(x))


@program(mat(3, 4))
def row_store(x):
    y = np.ones((3, 4))
    y[1] = x[0] * x[2]
    y[2, :] += x[1]
    return np.sum(y * y)


@program(mat(3, 4))
def column_store(x):
    y = np.empty_like(x)
    y[:, 0] = x[:, 1]
    y[:, 1:] = x[:, :3] * x[:, 1:]
    return np.sum(y * y * y)


@program(vec(6))
def stepped_slice_store(x):
    y = np.zeros(6)
    y[::2] = x[:3]
    y[1::2] = x[3:] ** 2
    y[::-1][0] += x[0]
    return np.sum(y * np.arange(6.0) * y)


@program(vec(5))
def store_broadcasts_a_number(x):
    y = x * x
    y[1:3] = 0.5
    y[4] = x[0]
    return np.sum(y * y)


@program(vec(5))
def masked_store_of_a_number(x):
    y = x.copy()
    y[x < 0] = 0.0
    return np.sum(y * y * y) + x[0]


@program(vec(5))
def masked_augmented_store(x):
    y = x * x
    y[x > 0] *= 3.0
    return np.sum(y * x)


@program(mat(3, 3))
def diagonal_store(x):
    y = x @ x
    i = np.arange(3)
    y[i, i] = x[0]
    return np.sum(y * y)


@program(mat(3, 3))
def fill_diagonal(x):
    y = x * x
    np.fill_diagonal(y, 0.0)
    return np.sum(y * x)


@program(vec(4))
def integer_array_store(x):
    y = np.zeros(6)
    y[[5, 0, 2, 3]] = x * x
    return np.sum(y * np.arange(6.0)) + y[5] * x[1]


@program(vec(4), np.array([0, 1, 1, 2]))
def add_at(x, idx):
    y = np.zeros(3)
    np.add.at(y, idx, x * x)
    return np.sum(y * y)


@program(vec(4), np.array([0, 1, 1, 2]))
def fancy_augmented_store_counts_once(x, idx):
    y = np.ones(3)
    y[idx] += x
    return np.sum(y**3) + x[1] * x[0]


@program(vec(4))
def overwritten_after_use(x):
    y = x * 1.0
    z = np.exp(y)
    y[:] = 0.0
    return np.sum(z * z + y)


@program(vec(4))
def value_saved_for_backward_then_overwritten(x):
    h = np.tanh(x)
    s = np.sum(h * h)
    h *= 2.0
    h[0] = s
    return np.sum(h * h)


@program(vec(4))
def square_in_place_twice(x):
    y = x.copy()
    y *= y
    y *= y
    return np.sum(y)


@program(vec(5))
def cumulative_in_a_loop(x):
    y = x.copy()
    for i in range(1, 5):
        y[i] += y[i - 1] * 0.5
    return np.sum(y * y)


@program(vec(5))
def store_all_in_a_loop(x):
    y = np.zeros(5)
    for i in range(5):
        y[i] = np.sin(x[i]) * i
    return np.sum(y * y)


@program(vec(5))
def bubble_pass(x):
    y = x.copy()
    for i in range(4):
        y[i], y[i + 1] = y[i + 1], y[i] * 2
    return np.sum(y * np.array([1.0, 2.0, 3.0, 4.0, 5.0]) * y)


@program(vec(4))
def swap_elements(x):
    y = x * 1.0
    y[0], y[1] = y[1], y[0]
    return y[0] * y[0] + y[1] * y[2] * y[3]


@program(mat(3, 2))
def swap_rows_by_index(x):
    y = x.copy()
    y[[0, 2]] = y[[2, 0]]
    return np.sum(y * np.arange(6.0).reshape(3, 2) * y)


@program(vec(4), shared(vec(4)))
def write_in_a_branch(x, s):
    y = x * x
    if s.sum() < 100:
        y[0] = x[1] ** 3
    else:
        y[1:] = 0.0
    return np.sum(y)


@program(vec(4))
def write_in_a_mapped_branch(x):
    y = x * x
    if x[0] > 0:  # <- PGR101
        y[1] = x[2] * x[3]
    return np.sum(y * y)


@program(shared(vec(4)), vec(4))
def write_into_a_shared_argument(w, x):
    w[0] = x[1]  # <- PGR301
    return np.sum(w * w * x)


@program(vec(4), shared(vec(4)))
def add_into_a_shared_argument(x, w):
    w += x  # <- PGR301
    return np.sum(w * w)


@program(shared(mat(2, 2)), vec(2))
def out_into_a_shared_argument(w, x):
    np.multiply(w, x, out=w)  # <- PGR302
    return np.sum(w * w)


@program(num(), shared(num()))
def augmented_numbers(x, s):
    y = x
    y += s
    y *= x
    return y + x


@program(vec(3))
def augmented_number_is_rebound(x):
    a = x[0]
    b = a
    b += x[1]
    return a * b * x[2]


@program(pos(4))
def normalise_in_place(x):
    p = np.exp(x)
    p /= p.sum()
    return -np.sum(p * np.log(p))


@program(mat(3, 3))
def gaussian_elimination(a):
    m = a @ a.T + 3 * np.eye(3)
    det = 1.0
    for k in range(3):
        det = det * m[k, k]
        for i in range(k + 1, 3):
            m[i] -= m[k] * (m[i, k] / m[k, k])
    return np.log(det)


@program(vec(4))
def array_without_axes_is_written(x):
    total = np.zeros(())
    same = total
    total += x[0] * x[1]
    same *= x[2]
    other = np.array(x[3])
    other[()] = other * 2
    other += total
    return total * other


@program(vec(4))
def multiply_at_repeats(x):
    y = np.ones(3)
    np.multiply.at(y, [0, 0, 2], x[:3] * x[1:])
    np.maximum.at(y, [1], x[3] + 20.0)
    return np.sum(y * y)
