"""Sums, means, extremes, products, cumulated, sorted, norms."""

import numpy as np

from tests.bank import mat, pos, program, vec


@program(mat(3, 4))
def sums_over_axes(x):
    return np.sum(x.sum(axis=0) ** 2) + np.sum(np.sum(x, axis=1, keepdims=True) * x) + x.sum() ** 2


@program(mat(2, 3, 4))
def sum_over_two_axes(x):
    return np.sum(np.sum(x, axis=(0, 2)) ** 3) + np.sum(x.sum(axis=(-1, -2)) ** 2)


@program(mat(3, 4))
def means(x):
    m = x.mean(axis=1, keepdims=True)
    return np.sum((x - m) ** 2) + np.mean(x) ** 3


@program(mat(3, 4))
def variance_and_standard_deviation(x):
    return np.sum(np.var(x, axis=0)) + np.std(x) + np.var(x, ddof=1)


@program(mat(3, 4))
def layer_norm(x):
    mu = np.mean(x, axis=-1, keepdims=True)
    sigma = np.sqrt(np.mean((x - mu) ** 2, axis=-1, keepdims=True) + 1e-5)
    return np.sum(((x - mu) / sigma) ** 3)


@program(mat(3, 4))
def extremes(x):
    return np.sum(np.max(x, axis=1) ** 2) + x.min() * x.max()


@program(vec(5))
def products(x):
    return np.prod(x) + np.sum(np.cumprod(x))


@program(mat(3, 3))
def cumulative_sums(x):
    return np.sum(np.cumsum(x, axis=0) ** 2) + np.sum(np.cumsum(x) ** 2)


@program(vec(5))
def softmax(x):
    e = np.exp(x - np.max(x))
    p = e / np.sum(e)
    return np.sum(p * p * np.arange(5.0))


@program(mat(3, 4))
def log_sum_exp(x):
    m = np.max(x, axis=1, keepdims=True)
    return np.sum(np.log(np.sum(np.exp(x - m), axis=1)) + m[:, 0])


@program(vec(5))
def sorted_weighted(x):
    return np.sum(np.sort(x) * np.array([1.0, -1.0, 2.0, 0.5, 3.0]))


@program(vec(5))
def median_and_percentile(x):
    return np.median(x) ** 2 + np.percentile(x, 30) * x[0]


@program(vec(4))
def norms(x):
    return np.linalg.norm(x) + np.linalg.norm(x.reshape(2, 2)) ** 3


@program(mat(3, 4))
def norms_along_an_axis(x):
    return np.sum(np.linalg.norm(x, axis=1) ** 3)


@program(vec(4))
def any_and_all_as_numbers(x):
    return np.sum(x * x) * (1.0 + np.any(x > 100) + np.all(x < 100))


@program(mat(3, 4))
def argmax_is_constant(x):
    return np.sum(x * x) + np.sum(np.argmax(x, axis=1) * 1.0)


@program(vec(5))
def average_with_weights(x):
    return np.average(x**2, weights=np.arange(1.0, 6.0))


@program(vec(6))
def ptp_and_trapezoid(x):
    return np.ptp(x) ** 2 + np.sum(0.5 * (x[1:] + x[:-1]) ** 2)


@program(pos(4))
def entropy(x):
    p = x / x.sum()
    return -(p * np.log(p)).sum()


@program(pos(4))
def geometric_mean(x):
    return np.exp(np.mean(np.log(x))) + 1.0 / np.mean(1.0 / x)


@program(mat(4, 3))
def pairwise_distances(x):
    d = x[:, None, :] - x[None, :, :]
    return np.sum(np.exp(-np.sum(d * d, axis=-1)))


@program(mat(3, 3))
def ufunc_reduce(x):
    return np.add.reduce(x**2, axis=None) + np.sum(np.multiply.reduce(x, axis=0))


@program(mat(3, 4))
def reductions_with_initial_values(x):
    chosen = np.max(x, axis=1, initial=0.2) ** 2
    rest = x.min(initial=-1.0) + x.max(axis=0, where=x > 0, initial=-9.0).sum()
    return chosen.sum() + rest + x.prod(axis=1, initial=3.0).sum() + np.add.reduce(x, axis=None, initial=x[0, 0]) ** 2


@program(mat(3, 4))
def rows_and_columns_put_together(x):
    row = np.r_[x[0], x[1], 2.0, x[0, 0], 0:3]
    return np.sin(row).sum() + (np.c_[x[0], x[1]] @ np.c_[x[:2], x[1:]])[2, 3] ** 2
