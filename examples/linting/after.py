"""The loss of before.py, written so that it can be mapped: selects instead of branches, state returned instead of kept."""

import numpy as np

import pergrad as pg


@pg.per_sample_grad(has_aux=True)
def loss(w, x, y):
    h = x @ w
    n = np.sqrt(np.sum(h * h))
    h = np.where(n > 1.0, h / n, h)
    return (h - y).sum() ** 2, n
