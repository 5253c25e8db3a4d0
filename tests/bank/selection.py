"""Selections whose size only the values know: masks, and the places of what is not zero."""

import numpy as np

from tests.bank import mat, pos, program, shared, vec


@program(vec(6))
def sum_of_selected(x):
    return np.sum(x[x > -1.0] ** 3)  # <- PGR402


@program(vec(6), vec(6))
def product_of_selected_vectors(x, w):
    m = x > -1.0
    return x[m] @ (w[m] ** 2)  # <- PGR402


@program(vec(6), vec(6))
def the_same_mask_written_twice(x, w):
    return np.sum(x[w > 0] * w[w > 0] * x[w > 0])  # <- PGR402


@program(vec(6))
def statistics_of_selected(x):
    s = x[x > -1.5]  # <- PGR402
    return s.mean() * s.var() + s.std(ddof=1) + np.linalg.norm(s)


@program(vec(6))
def extrema_of_selected(x):
    s = x[x > -1.5]  # <- PGR402
    return np.max(s) ** 2 - s.min() * np.median(s) + np.percentile(s, 30)


@program(vec(6))
def product_of_selected(x):
    return np.prod(x[x > -1.5])  # <- PGR402


@program(vec(6))
def softmax_of_selected(x):
    s = x[x > -1.5]  # <- PGR402
    e = np.exp(s - s.max())
    return np.sum((e / e.sum()) ** 2)


@program(vec(6), vec(6))
def sorted_and_accumulated(x, w):
    m = w > -1.0
    s = np.sort(x[m])  # <- PGR402
    return np.sum(np.cumsum(s) ** 2) + s[0] * s[-1]


@program(vec(6))
def divided_by_how_many(x):
    s = x[x > 0]  # <- PGR402
    return np.sum(x**2) / max(len(s), 1) + s.size * s.shape[0] * x[0] ** 2


@program(vec(6))
def nothing_is_selected(x):
    s = x[x > 100.0]  # <- PGR402
    if len(s) == 0:
        return np.sum(x**3)
    return s.max()


@program(vec(6), vec(6))
def buffers_of_the_selected_size(x, w):
    s = x[w > -1.5]  # <- PGR402
    z = np.zeros(len(s))
    z[0] = s[0]
    return np.sum((z + s + np.ones(s.shape) + np.zeros_like(s)) ** 3)


@program(mat(3, 4))
def mask_of_two_axes(a):
    return np.sum(np.sin(a[a > -1.0]))  # <- PGR402


@program(mat(4, 3), vec(4))
def rows_by_mask(a, w):
    rows = a[w > -1.5]  # <- PGR402
    return np.sum(rows.mean(axis=0) ** 2) + np.sum((rows @ np.array([1.0, 2.0, 3.0])) ** 2)


@program(mat(3, 4), vec(4))
def columns_by_mask(a, w):
    columns = a[:, w > -1.5]  # <- PGR402
    return np.sum(columns.sum(axis=1) ** 3) + np.trace(columns @ columns.T)


@program(mat(4, 3), vec(4))
def mask_beside_an_int(a, w):
    return np.sum(a[w > -1.5, 2] ** 3)  # <- PGR402


@program(vec(6))
def differences_of_all_pairs(x):
    s = x[x > -1.5]  # <- PGR402
    return np.sum((s[:, None] - s[None, :]) ** 4)


@program(vec(6), vec(6))
def write_selected_to_selected(x, w):
    b = np.zeros(6)
    m = w > 0
    b[m] = np.sin(x[m])  # <- PGR402
    b[~m] = np.cos(x[~m])  # <- PGR402
    return b @ b


@program(vec(6), vec(6))
def update_selected_in_place(x, w):
    b = w * 1.0
    m = w > 0
    b[m] += x[m] ** 2  # <- PGR402
    b[m] *= x[m]  # <- PGR402
    b[m] -= 2.0
    return np.sum(b**2)


@program(vec(6), vec(6))
def selected_in_a_kept_loop(x, w):
    total = 0.0
    for i in range(10):
        total = total + np.sum(x[w > i / 10] ** 3)  # <- PGR402
    return total + x[0] ** 2


@program(pos(6), vec(6))
def selected_in_a_while(x, w):
    s = x[w > -1.5]  # <- PGR402
    total = np.sum(s)
    while total > 1.0:  # <- PGR102
        total = total * 0.5 * np.sum(s / (1.0 + s))
        s = s * 0.5
    return total


@program(vec(6), vec(6))
def selected_in_a_branch(x, w):
    if np.sum(w**2) > -1.0:  # <- PGR101
        return np.sum(x[w > 0] ** 3) + x[0]  # <- PGR402
    return x[0] * 1.0


@program(vec(6), vec(6))
def places_of_what_is_positive(x, w):
    i = np.where(w > 0)[0]  # <- PGR401
    return np.sum(x[i] ** 3) * x[i[0]] + np.sum(x[np.flatnonzero(w < 0)] ** 2)  # <- PGR401


@program(mat(3, 4))
def places_on_two_axes(a):
    rows, columns = np.nonzero(a > -1.0)  # <- PGR401
    return np.sum(a[rows, columns] * (1.0 + rows) * columns) + np.sum(a[0] ** 2)


@program(vec(6), vec(6))
def compressed_and_extracted(x, w):
    a = np.sum(np.compress(w > 0, x) ** 2)  # <- PGR401
    return a + np.sum(np.extract(w < 0, x) ** 3) + x[0]  # <- PGR401


# a mask that all samples share selects the same of each


@program(vec(6), shared(vec(6)))
def shared_mask(x, w):
    m = w > 0
    return np.sum(x[m] ** 3) / len(x[m]) + x[m].mean() * np.prod(x[m]) + x[m] @ w[m]


@program(mat(3, 4), shared(mat(3, 4)))
def shared_mask_of_two_axes(a, w):
    return np.sum(a[w > 0] ** 3) + np.max(a[w < 0])


@program(mat(3, 4), shared(vec(4)))
def shared_mask_of_the_last_axis(a, w):
    return np.sum(a[:, w > 0].mean(axis=1) ** 3)


@program(vec(6), shared(vec(6)))
def shared_mask_writes(x, w):
    b = x * 1.0
    m = w > 0
    b[m] = b[m] * w[m]
    b[~m] += np.sin(x[~m])
    return b @ b


@program(vec(6), shared(vec(6)))
def shared_mask_in_a_kept_loop(x, w):
    total = 0.0
    for i in range(12):
        total = total + np.sum(x[w > i / 12] ** 2) * np.mean(x[w > -1.0 - i])
    return total


@program(vec(6), shared(vec(6)))
def shared_places(x, w):
    i = np.flatnonzero(w > 0)
    return np.sum(x[i] ** 3) + np.sum(np.compress(w > 0, x) ** 2) * x[i[-1]]
