"""Losses of one sample as people write them."""

import numpy as np

from tests.bank import mat, pos, program, shared, vec

MLP = {"w1": shared(mat(5, 4)), "b1": shared(vec(5)), "w2": shared(mat(3, 5)), "b2": shared(vec(3))}


@program(shared(vec(4)), vec(4), pos(1))
def linear_regression(w, x, y):
    return (w @ x - y[0]) ** 2


@program(shared(vec(4)), vec(4))
def logistic_regression(w, x):
    return np.log1p(np.exp(-(w @ x)))


@program(shared(mat(4, 3)), vec(4), vec(3))
def linear_relu(weights, example, target):
    z = example @ weights
    y = np.maximum(z, 0.0)
    return np.sum((y - target) ** 2)


@program(MLP, vec(4), 1)
def mlp_cross_entropy(p, x, label):
    h = np.tanh(p["w1"] @ x + p["b1"])
    logits = p["w2"] @ h + p["b2"]
    logits = logits - np.max(logits)
    return np.log(np.sum(np.exp(logits))) - logits[label]


@program(MLP, vec(4), vec(3))
def mlp_relu_squared(p, x, y):
    h = np.where(p["w1"] @ x + p["b1"] > 0, p["w1"] @ x + p["b1"], 0.0)
    return np.mean((p["w2"] @ h + p["b2"] - y) ** 2)


@program({"w": shared(mat(3, 3)), "u": shared(mat(3, 2))}, mat(5, 2))
def recurrent_network(p, xs):
    h = np.zeros(3)
    for x in xs:
        h = np.tanh(p["w"] @ h + p["u"] @ x)
    return h @ h


@program({"w": shared(mat(12, 3)), "u": shared(mat(12, 2)), "b": shared(vec(12))}, mat(3, 2))
def lstm(p, xs):
    def sigmoid(z):
        return 1.0 / (1.0 + np.exp(-z))

    h = c = np.zeros(3)
    for x in xs:
        i, f, o, g = np.split(p["w"] @ h + p["u"] @ x + p["b"], 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
    return np.sum(h * h)


@program({"k": shared(mat(2, 3, 3)), "v": shared(mat(10, 8))}, mat(4, 4), 3)
def small_convolution(p, image, label):
    maps = np.zeros((2, 2, 2))
    for i in range(2):
        for j in range(2):
            maps[:, i, j] = np.sum(p["k"] * image[i : i + 3, j : j + 3], axis=(1, 2))
    logits = p["v"] @ np.tanh(maps).reshape(-1)
    return np.log(np.sum(np.exp(logits))) - logits[label]


@program(shared(mat(6, 3)), np.array([1, 4, 2]), vec(3))
def bag_of_embeddings(table, tokens, y):
    return np.sum((np.mean(table[tokens], axis=0) - y) ** 2)


@program({"mean": shared(vec(3)), "log_std": shared(vec(3))}, vec(3))
def gaussian_nll(p, x):
    z = (x - p["mean"]) / np.exp(p["log_std"])
    return 0.5 * np.sum(z**2) + np.sum(p["log_std"])


@program({"means": shared(mat(3, 2)), "logits": shared(vec(3))}, vec(2))
def mixture_of_gaussians(p, x):
    logw = p["logits"] - np.log(np.sum(np.exp(p["logits"])))
    logp = -0.5 * np.sum((x - p["means"]) ** 2, axis=1) + logw
    m = np.max(logp)
    return -(m + np.log(np.sum(np.exp(logp - m))))


@program(shared(vec(3)), vec(3))
def poisson_regression(w, x):
    rate = w @ x
    return np.exp(rate) - 2.0 * rate


@program(shared(vec(4)), vec(3))
def hidden_rosenbrock(theta, x):
    total = x @ x
    for i in range(3):
        total = total + 10.0 * (theta[i + 1] - theta[i] ** 2) ** 2 + (x[i] - theta[i]) ** 2
    return total


@program({"w": shared(mat(4, 4)), "gamma": shared(vec(4)), "beta": shared(vec(4))}, vec(4))
def layer_norm_block(p, x):
    h = p["w"] @ x
    h = (h - h.mean()) / np.sqrt(h.var() + 1e-5)
    h = h * p["gamma"] + p["beta"]
    return np.sum(np.tanh(h) + x * h)


@program({"q": shared(mat(3, 3)), "k": shared(mat(3, 3)), "v": shared(mat(3, 3))}, mat(4, 3))
def attention_block(p, tokens):
    q, k, v = tokens @ p["q"], tokens @ p["k"], tokens @ p["v"]
    scores = q @ k.T / np.sqrt(q.shape[-1])
    scores = scores + np.triu(np.full((4, 4), -30.0), 1)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return np.mean((weights @ v + tokens) ** 2)


@program(shared(vec(3)), vec(1))
def damped_oscillator(p, t):
    amplitude, decay, frequency = p
    y = amplitude * np.exp(-np.abs(decay) * t[0]) * np.cos(frequency * t[0])
    return (y - 0.3) ** 2


@program(shared(vec(3)), vec(3))
def huber_with_where(w, x):
    r = w * x - 1.0
    return np.sum(np.where(np.abs(r) < 1.0, 0.5 * r * r, np.abs(r) - 0.5))


@program(shared(vec(3)), vec(3), vec(3), vec(3))
def triplet(w, a, p, n):
    d = np.sum(w * w * (a - p) ** 2) - np.sum(w * w * (a - n) ** 2)
    return np.log1p(np.exp(d))
