"""Two names for one array, views, views of views, and copies that are not."""

import copy

import numpy as np

from tests.bank import mat, num, program, shared, vec


@program(vec(4))
def alias_then_augmented(x):
    a = x * 1.0
    b = a
    b += x
    return np.sum(a * b)


@program(vec(4))
def alias_of_the_argument(x):
    y = x
    y *= 2.0
    return np.sum(x * x * y)


@program(vec(4))
def rebinding_is_not_writing(x):
    a = x * 1.0
    b = a
    b = b + x
    return np.sum(a * b)


@program(vec(6))
def view_writes_through(x):
    y = x * x
    v = y[2:5]
    v *= 3.0
    return np.sum(y * y)


@program(vec(6))
def view_of_a_view(x):
    y = x.copy()
    v = y[1:5]
    w = v[::2]
    w[1] = x[0] * x[5]
    w += 1.0
    return np.sum(y * np.arange(6.0) * y)


@program(vec(4))
def read_through_a_view_after_a_write(x):
    y = x * 1.0
    v = y[:2]
    y[0] = x[3] ** 2
    return v[0] * v[1]


@program(vec(4))
def fancy_indexing_copies(x):
    y = x * 1.0
    c = y[[0, 1]]
    c *= 5.0
    return np.sum(y * y) + c @ c


@program(vec(4))
def element_is_a_copy(x):
    y = x * 1.0
    e = y[0]
    y[0] = 7.0 * x[1]
    return e * y[0]


@program(mat(3, 3))
def row_is_a_view(x):
    y = x * 1.0
    row = y[1]
    row[:] = x[0] * x[2]
    return np.sum(y**2)


@program(mat(3, 3))
def transpose_is_a_view(x):
    y = x.copy()
    t = y.T
    t[0] *= 2.0
    return np.sum(y * np.arange(9.0).reshape(3, 3) * y)


@program(mat(2, 6))
def reshape_of_a_fresh_array_is_a_view(x):
    y = x * 1.0
    v = y.reshape(3, 4)
    v[1] = 0.5 * x[0, :4]
    return np.sum(y * y * y)


@program(vec(6))
def ravel_writes_through(x):
    y = np.zeros((2, 3))
    f = y.ravel()
    f[:] = x * x
    return np.sum(y[0] * y[1])


@program(mat(2, 3))
def flatten_copies(x):
    y = x * 1.0
    f = y.flatten()
    f *= 10.0
    return np.sum(y * y) + f[0]


@program(vec(4))
def newaxis_is_a_view(x):
    y = x * 1.0
    col = y[:, None]
    col += 1.0
    return np.prod(y)


@program(mat(3, 4))
def loop_over_row_views(x):
    y = x.copy()
    for row in y:
        row *= row[0]
    return np.sum(y)


@program(mat(3, 4))
def views_in_a_list(x):
    y = x * 1.0
    rows = [y[i] for i in range(3)]
    rows[0] += rows[1]
    rows[2] *= rows[0]
    return np.sum(y * y)


@program(vec(4))
def swap_of_views_has_numpys_order(x):
    y = x * 1.0
    y[:2], y[2:] = y[2:], y[:2]
    return np.sum(y * np.array([1.0, 2.0, 3.0, 4.0]) * y)


@program(vec(5))
def overlapping_slices(x):
    y = x * 1.0
    y[1:] = y[:-1] * 2
    return np.sum(y * y)


@program(vec(5))
def overlapping_augmented(x):
    y = x * 1.0
    y[1:] += y[:-1]
    return np.sum(y**3)


@program(vec(4), shared(vec(4)))
def alias_made_in_a_branch(x, s):
    a, b = x * 1.0, x * 2.0
    if s.sum() < 100:
        c = a
    else:
        c = b
    return np.sum(c * a * b)


@program(vec(4))
def alias_through_a_helper(x):
    def scale(a, k):
        a *= k
        return a

    y = x * 1.0
    z = scale(y, 3.0)
    z[0] = 1.0
    return np.sum(y * y * x)


@program(vec(4))
def alias_in_a_tuple(x):
    y = x * 1.0
    pair = (y, x)
    pair[0][1] = x[0] ** 2
    return np.sum(y * pair[1])


@program(vec(4))
def alias_in_a_dict(x):
    state = {"h": x * 1.0}
    h = state["h"]
    state["h"] += x
    h[0] *= 2.0
    return np.sum(state["h"] ** 2)


@program(vec(4))
def copy_breaks_the_alias(x):
    y = x * 1.0
    z = y.copy()
    y += 5.0
    z[0] = x[1]
    return y @ z


@program(vec(4))
def asarray_does_not_copy(x):
    y = x * 1.0
    z = np.asarray(y)
    z += x
    return np.sum(y * y)


@program(vec(4))
def array_copies(x):
    y = x * 1.0
    z = np.array(y)
    z *= 4.0
    return y @ z + np.sum(y)


@program(mat(2, 2))
def diagonal_through_flat_slice(x):
    y = x * 1.0
    d = y.reshape(-1)[::3]
    d += 2.0
    return y[0, 0] * y[1, 1] - y[0, 1] * y[1, 0]


@program(vec(4))
def alias_carried_by_a_loop(x):
    a = x * 1.0
    b = a
    for _ in range(3):
        a[0] = a[0] * 0.5 + x[1]
        b[1] += a[0]
    return np.sum(a * b)


@program(mat(3, 2))
def previous_row_view_in_a_loop(x):
    y = x * 1.0
    prev = y[0]
    for i in range(1, 3):
        y[i] += prev * 0.5
        prev = y[i]
    prev *= 2.0
    return np.sum(y * y)


@program(vec(3), num())
def same_array_twice(x, s):
    def mix(a, b):
        a[0] = s
        return a @ b

    y = x * 1.0
    return mix(y, y)


@program(vec(4))
def split_gives_views(x):
    y = x * 1.0
    a, b = np.split(y, 2)
    a *= b
    return np.sum(y * y)


@program(vec(4))
def other_names_of_one_memory(x):
    y = x * 2
    y.view()[0] = x[1] * x[2]
    y.astype(float, copy=False)[1] *= x[0]
    np.asarray(y)[2] = x[3] ** 2
    z = copy.deepcopy({"y": y})
    z["y"][3] = 7.0
    y.flat = y[::-1] * x
    return np.sum(y**2) + np.sum(z["y"])


@program(vec(8), shared(num()))
def rows_of_a_loop_are_views(x, c):
    y = np.zeros((8, 3))
    for i in range(8):
        row = y[i]
        row[0] = x[i] * c
        row[1:] = x[i] ** 2
        row *= row[0]
        y[i, 2] += x[0]
        row[1] += row[2]
    return np.sum(y * y)


@program(vec(9))
def names_that_swap_in_a_loop_share(x):
    y = x * 2
    z = x**2
    same = y
    for i in range(8):
        y, z = z, y
        y[i] += x[i + 1]
    return np.sum(y * z) + np.sum(same**2)


@program(vec(9))
def rows_that_swap_in_a_loop(x):
    y = np.zeros((2, 9))
    old, new = y[0], y[1]
    for i in range(8):
        new[i + 1] = old[i] + x[i] * x[i + 1]
        old, new = new, old
    return np.sum(y[0] ** 2) + np.sum(y[1] * x)


@program(vec(9))
def two_names_of_one_result_after_a_loop(x):
    y = x * 2
    z = x + 1
    for _ in range(8):
        y = y * 0.9
        z = y
    z[0] = x[1] * x[2]
    return np.sum(y**2)


@program(mat(3, 4))
def row_at_an_index_of_values(x):
    y = x * 1.0
    row = y[np.argmax(x[:, 0])]
    copied = y[np.array(1)]
    row *= x[0]
    copied[0] = 100.0
    return np.sum(y**2)


@program(vec(4), shared(vec(4)))
def rebound_in_a_branch_of_a_long_loop(x, w):
    b = np.sin(x)
    box = [b]
    for _ in range(9):
        if w[1] > 0.0:
            b = x.copy()
    return np.sum(box[0] ** 2) + np.sum(b * w)


# views that cannot be written, and copies that look like views


@program(mat(3, 4))
def diagonals_see_later_writes(x):
    y = x * 1.0
    d, e, f = y.diagonal(), np.diag(y, 1), np.einsum("ii->i", y[:, :3])
    y[:, 0] += 1.0
    y *= 1.5
    return d.prod() + e.prod() + f.sum() ** 2


@program(mat(3, 4))
def broadcast_views_see_later_writes(x):
    y = x * 1.0
    wide, turned = np.broadcast_to(y[0], (3, 4)), np.einsum("ij->ji", y)
    pairs = np.broadcast_arrays(y, x[0])
    y += 1.0
    return (wide * turned.T).sum() + pairs[0].sum() ** 2


@program(mat(3, 4))
def windows_see_later_writes(x):
    y = x * 1.0
    w = np.lib.stride_tricks.sliding_window_view(y, 2, axis=1)
    y += 1.0
    return (w**2).sum()


@program(mat(3, 4))
def copies_do_not_see_later_writes(x):
    y = x * 1.0
    a, b = np.meshgrid(y[0], y[1])
    c, d, e, f = np.tile(y, 1), np.resize(y, (2, 2)), np.conj(y), np.delete(y, [], axis=0)
    y += 1.0
    for copied in (c, d, e, f):
        copied *= 2.0
    return (y**2).sum() + (a * b).sum() + sum((copied**3).sum() for copied in (c, d, e, f))


@program(mat(3, 4))
def reshaped_column_by_column(x):
    y = x * 1.0
    a = y.reshape(4, 3, order="F")
    b = y.T.reshape((2, 6), order="F")
    b *= 2.0
    return (a * np.arange(12.0).reshape(4, 3)).sum() ** 2 + (y**3).sum()
