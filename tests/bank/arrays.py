"""Making and rearranging arrays: stack, concatenate, reshape, transpose, pad, tile, split, eye, broadcasting."""

import numpy as np

from tests.bank import mat, num, pos, program, vec


@program(vec(3))
def array_of_elements(x):
    return np.sum(np.array([x[0], x[1] * x[2], 1.0]) ** 2)


@program(vec(4))
def rotation_matrix(x):
    c, s = np.cos(x[0]), np.sin(x[0])
    r = np.array([[c, -s], [s, c]])
    return np.sum((r @ x[2:]) ** 3)


@program(vec(3), vec(3))
def stacked(a, b):
    return np.sum(np.stack([a, b, a * b], axis=1) ** 3)


@program(vec(3), vec(2))
def concatenated(a, b):
    y = np.concatenate([a, b, a[:1]])
    return y @ y[::-1]


@program(vec(3), vec(3))
def hstack_and_vstack(a, b):
    return np.sum(np.hstack([a, b]) ** 2) + np.prod(np.vstack([a, b])[:, 0])


@program(vec(6))
def reshaped(x):
    y = x.reshape(2, 3)
    return np.sum(y[0] * y[1]) + np.sum(y.reshape(3, -1) ** 3)


@program(mat(2, 3, 4))
def transposed(x):
    y = np.transpose(x, (2, 0, 1))
    return np.sum(y[0] * y[1]) + np.sum(x.T[0, 0])


@program(mat(2, 3))
def swapped_and_moved(x):
    return np.sum(np.swapaxes(x, 0, 1) @ x) + np.moveaxis(x, 0, -1)[0, 1] ** 2


@program(mat(1, 3, 1))
def squeezed(x):
    return np.sum(np.squeeze(x) ** 3) + np.squeeze(x, axis=0)[1, 0]


@program(vec(3))
def expanded(x):
    return np.sum(np.expand_dims(x, 0) * np.expand_dims(x, 1) ** 2)


@program(vec(3))
def broadcast_to(x):
    return np.sum(np.broadcast_to(x, (4, 3)) * np.arange(12.0).reshape(4, 3) * x)


@program(vec(3))
def tiled_and_repeated(x):
    return np.sum(np.tile(x, 2) * np.repeat(x, 2))


@program(vec(3))
def padded(x):
    return np.sum(np.pad(x, (1, 2))[:4] * np.pad(x, 1, mode="edge")[1:])


@program(vec(5))
def rolled_and_flipped(x):
    return np.sum(np.roll(x, 2) * x) + np.sum(np.flip(x) * x**2)


@program(vec(5))
def differences(x):
    return np.sum(np.diff(x) ** 2) + np.sum(np.diff(x, n=2) ** 3)


@program(vec(3))
def diagonal_matrix(x):
    return np.sum((np.diag(x) + np.eye(3)) @ x) + np.sum(np.diag(np.outer(x, x)))


@program(mat(3, 3))
def triangles(x):
    return np.sum(np.triu(x) ** 2) + np.sum(np.tril(x, -1) ** 3)


@program(vec(3))
def meshgrid(x):
    a, b = np.meshgrid(x, x[:2])
    return np.sum(a * b * b)


@program(num(), vec(3))
def linspace_weights(s, x):
    return np.sum(np.linspace(0.0, 1.0, 3) * x * s)


@program(pos(4))
def elementwise_zoo(x):
    return np.sum(np.exp(-x) * np.sqrt(x) + np.log1p(x) - np.expm1(x) / np.cosh(x) + np.arctan(x))


@program(vec(4))
def maximum_and_minimum(x):
    return np.sum(np.maximum(x, 0.1) ** 2) + np.sum(np.minimum(x, -0.2)) + x[0]


@program(vec(4))
def clipped(x):
    return np.sum(np.clip(x, -0.5, 0.7) * x)


@program(vec(4), vec(4))
def two_argument_functions(a, b):
    return np.sum(np.hypot(a, b) + np.arctan2(a, b) + np.logaddexp(a, b))


@program(vec(4))
def dtype_casts(x):
    y = x.astype(np.float64)
    return np.sum(y * np.arange(4) + y**2)


@program(vec(4))
def comparison_as_a_factor(x):
    return np.sum((x > 0) * x**2 - (x <= 0) * x)


@program(vec(4))
def sign_and_abs(x):
    return np.sum(np.sign(x) * x**2) + np.sum(np.abs(x) ** 1.5)


@program(vec(4))
def methods_of_arrays(x):
    return x.sum() * x.mean() + x.prod() + x.dot(x) + x.reshape(2, 2).trace() + x.T.max()


@program(vec(4))
def split_parts(x):
    a, b = np.split(x, [1])
    return a[0] * np.sum(b**2)


@program(vec(4))
def where_with_arrays(x):
    return np.sum(np.where(x > 0, np.exp(x), x**3))


@program(vec(4))
def select_nested_where(x):
    return np.sum(np.where(x > 1, x, np.where(x > 0, x**2, -(x**3))))


@program(vec(2))
def block_matrix(x):
    m = np.block([[np.outer(x, x), np.eye(2)], [np.zeros((2, 2)), np.diag(x)]])
    return np.sum(m @ m)


@program(vec(4))
def power_variants(x):
    return np.sum(x**2 + x**3 - 2.0 ** (0.1 * x)) + np.sum(np.square(x)) + np.sum(np.power(np.abs(x), 2.5))
