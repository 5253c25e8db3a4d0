"""A loss that works for one sample and cannot be mapped: three lines decide something by a sample's own value."""

import numpy as np

import pergrad as pg

SEEN = []


@pg.per_sample_grad
def loss(w, x, y):
    h = x @ w
    n = np.sqrt(np.sum(h * h))
    if n > 1.0:
        h = h / n
    SEEN.append(n)
    return (h - y).sum().item() ** 2
