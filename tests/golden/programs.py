"""The functions whose emitted source is stored in emitted/, with arguments for a batch of five."""

import itertools

import numpy as np

SIZES = (784, 256, 128, 10)


def compute_loss(weights, example, target):
    z = example @ weights
    y = np.maximum(z, 0.0)
    return np.square(y - target)


def logits_of(params, x):
    h1 = np.maximum(x @ params["w1"] + params["b1"], 0.0)
    h2 = np.maximum(h1 @ params["w2"] + params["b2"], 0.0)
    return h2 @ params["w3"] + params["b3"]


def mlp_loss(params, x, label):
    logits = logits_of(params, x)
    return np.log(np.sum(np.exp(logits))) - logits[label]


def mlp_stable_loss(params, x, label):
    logits = logits_of(params, x)
    shifted = logits - np.max(logits)
    return np.log(np.sum(np.exp(shifted))) - shifted[label]


def rnn_loss(params, xs):
    h = np.zeros(3)
    for x in xs:
        h = np.tanh(params["w"] @ h + params["u"] @ x)
    return np.sum(h * h)


def lstm_loss(params, xs, target):
    h = np.zeros(3)
    c = np.zeros(3)
    for x in xs:
        z = params["w"] @ np.concatenate([x, h]) + params["b"]
        i, f, o = (1 / (1 + np.exp(-gate)) for gate in np.split(z[:9], 3))
        c = f * c + i * np.tanh(z[9:])
        h = o * np.tanh(c)
    return np.mean((h - target) ** 2)


def root_loss(a, x):
    r = a
    while np.abs(r * r - a) > 1e-12:
        r = 0.5 * (r + a / r)
    return np.sum((x - r) ** 2)


def smooth_loss(w, x):
    window = np.exp(-0.5 * np.linspace(-2.0, 2.0, 40) ** 2)
    window /= window.sum()
    return np.sum(np.tanh(window * x) * w)


def linear_relu_args(rng):
    return rng.normal(size=6), rng.normal(size=(5, 6)), rng.normal(size=5)


def mlp_args(rng):
    params = {}
    for k, (n, m) in enumerate(itertools.pairwise(SIZES), start=1):
        params[f"w{k}"] = (rng.normal(size=(n, m)) / np.sqrt(n)).astype(np.float32)
        params[f"b{k}"] = (0.1 * rng.normal(size=m)).astype(np.float32)
    return params, rng.normal(size=(5, 784)).astype(np.float32), rng.integers(10, size=5)


def rnn_args(rng):
    return {"w": rng.normal(size=(3, 3)), "u": rng.normal(size=(3, 2))}, rng.normal(size=(5, 4, 2))


def lstm_args(rng):
    return {"w": rng.normal(size=(12, 5)), "b": rng.normal(size=12)}, rng.normal(size=(5, 9, 2)), rng.normal(size=(5, 3))


PROGRAMS = {
    "linear_relu": (compute_loss, linear_relu_args),
    "mlp": (mlp_loss, mlp_args),
    "mlp_stable": (mlp_stable_loss, mlp_args),
    "rnn": (rnn_loss, rnn_args),
    "lstm": (lstm_loss, lstm_args),
    "root": (root_loss, lambda rng: (2.0, rng.normal(size=(5, 3)))),
    "smooth": (smooth_loss, lambda rng: (rng.normal(size=40), rng.normal(size=(5, 40)))),
}
