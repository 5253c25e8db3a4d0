import numpy as np


def compute_loss_per_sample_grad(weights, example, target):
    z = example @ weights
    y = np.maximum(z, 0.0)
    return np.where(z > 0.0, 2 * (y - target), 0.0)[:, None] * example
