"""What is timed: a function of one sample, its arguments, and the batched program that a NumPy user would write without much thought.

The functions call only what NumPy, jax.numpy, autograd.numpy and torch have in common: every contender differentiates the same text.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

F32 = np.float32


@dataclass(frozen=True)
class Workload:
    """``transform`` is grad, jacrev or hessian with respect to ``argnum``, mapped over axis 0 of what ``in_dims`` says."""

    name: str
    func: Callable[..., Any]
    make: Callable[[np.random.Generator, int], tuple[Any, ...]]
    batch: int
    by_hand: Callable[..., Any]
    transform: str = "grad"
    argnum: int = 0
    in_dims: tuple[int | None, ...] = (None, 0, 0)


def _normal(rng: np.random.Generator, *shape: int, scale: float = 1.0) -> Any:
    return (scale * rng.normal(size=shape)).astype(F32)


# linear + relu


def linear_relu(w, x, y):
    z = x @ w
    return (np.where(z > 0.0, z, 0.0) - y) ** 2


def linear_relu_args(rng, batch):
    return _normal(rng, 512, scale=0.05), _normal(rng, batch, 512), _normal(rng, batch)


def linear_relu_by_hand(w, x, y):
    z = x @ w
    d_z = np.where(z > 0, 2 * (z - y), 0)
    return d_z[:, None] * x


# logistic regression


def logistic(w, x, y):
    return np.log1p(np.exp(-y * (x @ w)))


def logistic_args(rng, batch):
    return _normal(rng, 1000, scale=0.03), _normal(rng, batch, 1000), np.sign(_normal(rng, batch))


def logistic_by_hand(w, x, y):
    margin = y * (x @ w)
    return (-y / (1 + np.exp(margin)))[:, None] * x


# MLP 784-256-128-10


def mlp(p, x, y):
    z1 = x @ p["w1"] + p["b1"]
    h1 = np.where(z1 > 0.0, z1, 0.0)
    z2 = h1 @ p["w2"] + p["b2"]
    h2 = np.where(z2 > 0.0, z2, 0.0)
    logits = h2 @ p["w3"] + p["b3"]
    return np.log(np.sum(np.exp(logits))) - np.sum(logits * y)


def mlp_args(rng, batch):
    p = {}
    for k, (n, m) in enumerate(itertools.pairwise((784, 256, 128, 10)), start=1):
        p[f"w{k}"], p[f"b{k}"] = _normal(rng, n, m, scale=n**-0.5), _normal(rng, m, scale=0.1)
    return p, _normal(rng, batch, 784), np.eye(10, dtype=F32)[rng.integers(10, size=batch)]


def mlp_by_hand(p, x, y):
    z1 = x @ p["w1"] + p["b1"]
    h1 = np.maximum(z1, 0)
    z2 = h1 @ p["w2"] + p["b2"]
    h2 = np.maximum(z2, 0)
    e = np.exp(h2 @ p["w3"] + p["b3"])
    d3 = e / e.sum(axis=1, keepdims=True) - y
    d2 = (d3 @ p["w3"].T) * (z2 > 0)
    d1 = (d2 @ p["w2"].T) * (z1 > 0)
    return {
        "w1": x[:, :, None] * d1[:, None, :],
        "b1": d1,
        "w2": h1[:, :, None] * d2[:, None, :],
        "b2": d2,
        "w3": h2[:, :, None] * d3[:, None, :],
        "b3": d3,
    }


# Two 3x3 convolutions on 1x28x28, 8 and 16 channels


def conv(p, x, y):
    a = np.stack([x[:, i : i + 26, j : j + 26] for i in range(3) for j in range(3)])
    h = np.tanh(p["k1"] @ np.reshape(a, (9, 676)))
    h = np.reshape(h, (8, 26, 26))
    b = np.stack([h[:, i : i + 24, j : j + 24] for i in range(3) for j in range(3)])
    h = np.tanh(p["k2"] @ np.reshape(b, (72, 576)))
    logits = p["w"] @ np.mean(h, axis=1)
    return np.log(np.sum(np.exp(logits))) - np.sum(logits * y)


def conv_args(rng, batch):
    p = {"k1": _normal(rng, 8, 9, scale=0.3), "k2": _normal(rng, 16, 72, scale=0.1), "w": _normal(rng, 10, 16, scale=0.3)}
    return p, _normal(rng, batch, 1, 28, 28), np.eye(10, dtype=F32)[rng.integers(10, size=batch)]


def conv_by_hand(p, x, y):
    n = len(x)
    a = np.stack([x[:, :, i : i + 26, j : j + 26] for i in range(3) for j in range(3)], axis=1).reshape(n, 9, 676)
    h1 = np.tanh(p["k1"] @ a)
    image = h1.reshape(n, 8, 26, 26)
    b = np.stack([image[:, :, i : i + 24, j : j + 24] for i in range(3) for j in range(3)], axis=1).reshape(n, 72, 576)
    h2 = np.tanh(p["k2"] @ b)
    pooled = h2.mean(axis=2)
    e = np.exp(pooled @ p["w"].T)
    d = e / e.sum(axis=1, keepdims=True) - y
    d_h2 = (d @ p["w"])[:, :, None] / F32(576) * (1 - h2 * h2)
    d_b = (p["k2"].T @ d_h2).reshape(n, 9, 8, 24, 24)
    d_image = np.zeros_like(image)
    for k in range(9):
        i, j = divmod(k, 3)
        d_image[:, :, i : i + 24, j : j + 24] += d_b[:, k]
    d_h1 = d_image.reshape(n, 8, 676) * (1 - h1 * h1)
    return {"k1": d_h1 @ a.transpose(0, 2, 1), "k2": d_h2 @ b.transpose(0, 2, 1), "w": d[:, :, None] * pooled[:, None, :]}


# RNN of 50 steps


def rnn(p, x, y):
    h = p["h0"]
    for t in range(50):
        h = np.tanh(p["w"] @ h + p["u"] @ x[t])
    return np.sum((h - y) ** 2)


def rnn_args(rng, batch):
    p = {"w": _normal(rng, 64, 64, scale=0.1), "u": _normal(rng, 64, 32, scale=0.1), "h0": _normal(rng, 64, scale=0.1)}
    return p, _normal(rng, batch, 50, 32), _normal(rng, batch, 64)


def rnn_by_hand(p, x, y):
    n = len(x)
    h = np.empty((51, n, 64), dtype=x.dtype)
    h[0] = p["h0"]
    for t in range(50):
        h[t + 1] = np.tanh(h[t] @ p["w"].T + x[:, t] @ p["u"].T)
    d_h = 2 * (h[50] - y)
    d_w = np.zeros((n, 64, 64), dtype=x.dtype)
    d_u = np.zeros((n, 64, 32), dtype=x.dtype)
    for t in reversed(range(50)):
        d_z = d_h * (1 - h[t + 1] ** 2)
        d_w += d_z[:, :, None] * h[t][:, None, :]
        d_u += d_z[:, :, None] * x[:, t][:, None, :]
        d_h = d_z @ p["w"]
    return {"w": d_w, "u": d_u, "h0": d_h}


# Attention on 32 tokens of 64 numbers


def attention(p, x, y):
    q, k, v = x @ p["q"], x @ p["k"], x @ p["v"]
    s = np.exp(q @ k.T * 0.125)
    a = s / np.sum(s, axis=1, keepdims=True)
    return np.mean((a @ v + x - y) ** 2)


def attention_args(rng, batch):
    p = {name: _normal(rng, 64, 64, scale=0.1) for name in "qkv"}
    return p, _normal(rng, batch, 32, 64), _normal(rng, batch, 32, 64)


def attention_by_hand(p, x, y):
    q, k, v = x @ p["q"], x @ p["k"], x @ p["v"]
    s = np.exp(q @ k.transpose(0, 2, 1) * F32(0.125))
    a = s / s.sum(axis=2, keepdims=True)
    d_o = 2 * (a @ v + x - y) / F32(32 * 64)
    d_v = a.transpose(0, 2, 1) @ d_o
    d_a = d_o @ v.transpose(0, 2, 1)
    d_s = a * (d_a - np.sum(d_a * a, axis=2, keepdims=True)) * F32(0.125)
    d_q, d_k = d_s @ k, d_s.transpose(0, 2, 1) @ q
    xt = x.transpose(0, 2, 1)
    return {"q": xt @ d_q, "k": xt @ d_k, "v": xt @ d_v}


# A model of three numbers


def scalar_model(p, t, y):
    return (p[0] * np.exp(-p[1] * t) * np.sin(p[2] * t) - y) ** 2


def scalar_args(rng, batch):
    return np.array([1.0, 0.5, 2.0], dtype=F32), np.abs(_normal(rng, batch)), _normal(rng, batch)


def scalar_by_hand(p, t, y):
    e, s, c = np.exp(-p[1] * t), np.sin(p[2] * t), np.cos(p[2] * t)
    f = p[0] * e * s
    d = 2 * (f - y)
    return np.stack([d * e * s, -d * t * f, d * p[0] * e * t * c], axis=1)


def scalar_hessian_by_hand(p, t, y):
    e, s, c = np.exp(-p[1] * t), np.sin(p[2] * t), np.cos(p[2] * t)
    f = p[0] * e * s
    first = np.stack([e * s, -t * f, p[0] * e * t * c], axis=1)
    second = np.empty((len(t), 3, 3), dtype=t.dtype)
    second[:, 0, 0] = 0
    second[:, 0, 1] = second[:, 1, 0] = -t * e * s
    second[:, 0, 2] = second[:, 2, 0] = e * t * c
    second[:, 1, 1] = t * t * f
    second[:, 1, 2] = second[:, 2, 1] = -t * t * p[0] * e * c
    second[:, 2, 2] = -t * t * f
    return 2 * (first[:, :, None] * first[:, None, :] + (f - y)[:, None, None] * second)


# A layer's Jacobian


def layer(w, x):
    return np.tanh(w @ x)


def layer_args(rng, batch):
    return _normal(rng, 32, 32, scale=0.2), _normal(rng, batch, 32)


def layer_by_hand(w, x):
    h = np.tanh(x @ w.T)
    return (1 - h * h)[:, :, None] * w


WORKLOADS = (
    Workload("linear+relu, 512 features, B=256", linear_relu, linear_relu_args, 256, linear_relu_by_hand),
    Workload("logistic, 1000 features, B=4096", logistic, logistic_args, 4096, logistic_by_hand),
    Workload("MLP 784-256-128-10, B=256", mlp, mlp_args, 256, mlp_by_hand),
    Workload("conv 1x28x28, B=64", conv, conv_args, 64, conv_by_hand),
    Workload("RNN 50 steps, hidden 64, B=64", rnn, rnn_args, 64, rnn_by_hand),
    Workload("attention 32x64, B=64", attention, attention_args, 64, attention_by_hand),
    Workload("attention 32x64, B=256", attention, attention_args, 256, attention_by_hand),
    Workload("scalar model, B=1e6", scalar_model, scalar_args, 1_000_000, scalar_by_hand),
    Workload("scalar model, 3x3 Hessians, B=1e5", scalar_model, scalar_args, 100_000, scalar_hessian_by_hand, "hessian"),
    Workload("vmap(jacrev), 32 to 32, B=512", layer, layer_args, 512, layer_by_hand, "jacrev", 1, (None, 0)),
)
