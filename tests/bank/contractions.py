"""Products of arrays: dot, matmul, inner, outer, tensordot, einsum, trace, solve."""

import numpy as np

from tests.bank import mat, program, shared, vec


@program(shared(mat(3, 4)), vec(4))
def matrix_vector(w, x):
    return np.sum(np.tanh(w @ x))


@program(shared(mat(4, 3)), vec(4))
def vector_matrix(w, x):
    return np.sum(np.sin(x @ w))


@program(mat(3, 4), mat(4, 2))
def matrix_matrix(a, b):
    return np.sum((a @ b) ** 2)


@program(mat(2, 3, 4), shared(mat(4, 3)))
def stacked_matmul(a, b):
    return np.sum(np.matmul(a, b) ** 2)


@program(vec(4), vec(4))
def inner_products(a, b):
    return (a @ b) ** 2 + np.inner(a, a) + np.vdot(a, b) + a.dot(b)


@program(vec(3), vec(4))
def outer_products(a, b):
    return np.sum(np.outer(a, b) ** 3) + np.sum(np.multiply.outer(a, b))


@program(mat(3, 4), mat(3, 4))
def inner_of_matrices(a, b):
    return np.sum(np.inner(a, b) ** 2)


@program(mat(3, 4), mat(4, 3))
def tensordot(a, b):
    return np.sum(np.tensordot(a, b, axes=1) ** 2) + np.tensordot(a, b, axes=([0, 1], [1, 0]))


@program(mat(3, 4), vec(4))
def einsum_matrix_vector(a, x):
    return np.sum(np.einsum("ij,j->i", a, x) ** 2)


@program(mat(3, 3))
def einsum_trace_and_diagonal(a):
    return np.einsum("ii", a) ** 2 + np.sum(np.einsum("ii->i", a) ** 3)


@program(mat(2, 3), mat(3, 4), mat(4, 2), argnums=(0, 2))
def einsum_three_operands(a, b, c):
    return np.einsum("ij,jk,ki->", a, b, c) ** 2


@program(mat(2, 3, 3))
def einsum_with_an_ellipsis(a):
    return np.sum(np.einsum("...ij,...jk->...ik", a, a) ** 2)


@program(vec(3), shared(mat(3, 3)))
def quadratic_form(x, a):
    return x @ a @ x + (x @ (a + a.T)) @ x**2


@program(vec(3))
def same_operand_twice(x):
    return np.sum(np.outer(x, x) @ np.outer(x, x))


@program(mat(3, 3))
def trace_of_a_product(a):
    return np.trace(a @ a.T @ a)


@program(mat(3, 3), vec(3))
def solve(a, b):
    return np.sum(np.linalg.solve(a @ a.T + 2 * np.eye(3), b) ** 2)


@program(mat(3, 3))
def inverse_and_determinant(a):
    m = a @ a.T + 2 * np.eye(3)
    return np.sum(np.linalg.inv(m)) + np.log(np.linalg.det(m))


@program(mat(3, 3))
def cholesky(a):
    l = np.linalg.cholesky(a @ a.T + 2 * np.eye(3))
    return np.sum(l * np.arange(9.0).reshape(3, 3))


@program(mat(3, 3), vec(3))
def gaussian_log_density(a, x):
    cov = a @ a.T + np.eye(3)
    return -0.5 * x @ np.linalg.solve(cov, x) - 0.5 * np.linalg.slogdet(cov)[1]


@program(mat(4, 3), shared(mat(4, 3)), shared(mat(4, 3)))
def attention(q, k, v):
    s = q @ k.T / np.sqrt(3.0)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    p = e / e.sum(axis=-1, keepdims=True)
    return np.sum((p @ v) ** 2)


@program(vec(3), vec(3))
def cross_product(a, b):
    return np.sum(np.cross(a, b) ** 2)


@program(mat(2, 2))
def matrix_power(a):
    return np.sum(np.linalg.matrix_power(a, 3)) + np.sum(a @ a)


@program(vec(2), vec(3))
def kron(a, b):
    return np.sum(np.kron(a, b) ** 2)


@program(mat(5, 5), shared(mat(2, 2)))
def convolution_by_windows(x, k):
    windows = np.lib.stride_tricks.sliding_window_view(x, (2, 2))
    return np.sum(np.tanh(np.einsum("ijkl,kl->ij", windows, k)))
