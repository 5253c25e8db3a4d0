import numpy as np

window = np.exp(-0.5 * np.linspace(-2.0, 2.0, 40) ** 2)
window = window / np.float64(23.4583255087621)


def smooth_loss_per_sample_grad(w, x):
    return np.tanh(window * x)
