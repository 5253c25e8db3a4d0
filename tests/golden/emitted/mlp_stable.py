import numpy as np


def mlp_stable_loss_per_sample_grad(params, x, label):
    w1 = params["w1"]
    b1 = params["b1"]
    w2 = params["w2"]
    b2 = params["b2"]
    w3 = params["w3"]
    b3 = params["b3"]
    batch = len(x)
    # forward
    # from logits_of()
    t = x @ w1 + b1
    h1 = np.maximum(t, 0.0)
    u = h1 @ w2 + b2
    h2 = np.maximum(u, 0.0)
    logits = h2 @ w3 + b3
    shifted = logits - np.max(logits, axis=-1, keepdims=True)
    d_shifted = np.exp(shifted)
    # backward
    d_shifted /= np.sum(d_shifted, axis=-1, keepdims=True)
    d_shifted[np.arange(batch), label] -= 1.0
    # from logits_of()
    d_w3 = d_shifted[:, None, :] * h2[:, :, None]
    d_b2 = np.where(u > 0.0, d_shifted @ w3.T, 0.0)
    d_w2 = d_b2[:, None, :] * h1[:, :, None]
    d_b1 = np.where(t > 0.0, d_b2 @ w2.T, 0.0)
    return {
        "w1": d_b1[:, None, :] * x[:, :, None],
        "b1": d_b1,
        "w2": d_w2,
        "b2": d_b2,
        "w3": d_w3,
        "b3": d_shifted,
    }
