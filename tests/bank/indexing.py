"""Reading: ints, slices, None, Ellipsis, integer arrays, known masks, dynamic indices."""

import numpy as np

from tests.bank import mat, program, shared, vec


@program(mat(3, 4))
def ints_and_slices(x):
    return x[1, 2] * x[0, -1] + np.sum(x[2, 1:3] * x[:2, 0])


@program(mat(2, 3, 4))
def ellipsis(x):
    return np.sum(x[..., 0] * x[..., -1]) + np.sum(x[0, ..., 1])


@program(vec(4))
def newaxis_outer(x):
    m = x[:, None] * x[None, :]
    return np.sum(m * m * m)


@program(vec(6))
def negative_steps(x):
    return np.sum(x[::-1] * x) + np.sum(x[-2:0:-2])


@program(mat(4, 3))
def integer_array_rows(x):
    return np.sum(x[[0, 2, 2]] ** 2)


@program(mat(4, 3))
def integer_array_pairs(x):
    i, j = np.array([0, 1, 3]), np.array([2, 0, 2])
    return np.prod(x[i, j])


@program(mat(4, 3))
def integer_array_in_the_middle(x):
    return np.sum(x[1:, [0, 2]] ** 3)


@program(mat(4, 4))
def ix(x):
    return np.sum(x[np.ix_([0, 2], [1, 3])] ** 2)


@program(vec(5))
def known_mask(x):
    keep = np.array([True, False, True, True, False])
    return np.prod(x[keep])


@program(vec(5))
def mask_of_mapped_values(x):
    return np.sum(x[x > 0] ** 2) + x[0]  # <- PGR402


@program(vec(5))
def nonzero_of_mapped_values(x):
    return np.sum(x[np.nonzero(x > 0)]) * x[0]  # <- PGR401


@program(mat(5, 3), np.array([1, 4, 4]))
def embedding_lookup(table, tokens):
    return np.sum(np.tanh(table[tokens]).mean(axis=0))


@program(vec(4), 2)
def label_lookup(x, y):
    return np.log(np.sum(np.exp(x))) - x[y]


@program(vec(5))
def argmax_as_an_index(x):
    return x[np.argmax(x)] ** 2 + np.sum(x)


@program(vec(5))
def argsort_as_an_index(x):
    return np.sum(x[np.argsort(x)] * np.arange(5.0))


@program(vec(5))
def take_function(x):
    return np.sum(np.take(x, [0, 3, 3]) ** 2)


@program(mat(3, 4), np.array([[1], [0], [3]]))
def take_along_axis(x, idx):
    return np.sum(np.take_along_axis(x, idx, axis=1) ** 2)


@program(vec(4))
def slice_objects(x):
    front, back = slice(0, 2), slice(2, None)
    return x[front] @ x[back]


@program(vec(4))
def index_from_a_shape(x):
    return x[x.shape[0] - 1] * x[len(x) // 2] * x[x.size - 3]


@program(mat(2, 3))
def unpacking(x):
    (a, b, c), (d, *rest) = x
    return a * d + b * rest[0] - c * rest[1]


@program(mat(3, 3))
def chained_indexing(x):
    return x[1][2] * x[0][1:][0] + x[:, 1][2]


@program(mat(4, 3))
def boolean_rows(x):
    rows = np.array([True, False, False, True])
    return np.sum(x[rows] @ x[rows].T)


@program(mat(2, 3))
def flat_indexing(x):
    return x.flat[4] * x.ravel()[1] + x.reshape(-1)[-1]


@program(vec(4), shared(vec(4)))
def index_from_a_shared_value(x, s):
    k = int(np.argmax(s))
    return x[k] ** 3 + np.sum(x[:k])


@program(vec(4))
def slice_bound_from_a_mapped_value(x):
    k = np.argmax(x)
    return np.sum(x[: k + 1])  # <- PGR403


@program(mat(3, 4))
def index_with_none_and_int(x):
    return np.sum(x[1, None, :] * x[:, 2][:, None])


@program(mat(3, 4))
def iterate_columns(x):
    total = 0.0
    for col in x.T:
        total = total + np.prod(col)
    return total
