"""Functions of five lines, of a number and of an array, whose derivatives are nested: what they are in lines and seconds."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import pergrad as pg

_rng = np.random.default_rng(0)
W, M = _rng.normal(size=(4, 3)), _rng.normal(size=(3, 3))
V = _rng.normal(size=3)


def mixed(x):
    a = np.tanh(x)
    b = np.exp(-a * x)
    c = a * b + np.sin(x)
    d = c / (1.0 + b * b)
    return d * d * c


def roots_and_logs(x):
    a = x * x + 1.0
    b = np.log(a)
    c = np.sqrt(a + b * b)
    d = c * b - x / a
    return d * d + c


def waves(x):
    a = np.sin(x)
    b = np.cos(a * x)
    c = np.exp(a + b)
    d = c / (2.0 + a)
    return d * b + c * x


def logistic(x):
    z = 2.0 * x - 1.0
    p = 1.0 / (1.0 + np.exp(-z))
    q = p * (1.0 - p)
    r = np.log(p) * q
    return r * r + z * p


def elementwise(x):
    a = np.tanh(x)
    b = np.exp(-a * x)
    c = a * b + np.sin(x)
    d = c / (1.0 + b * b)
    return np.sum(d * d * c)


def network(x):
    h = np.tanh(W @ x)
    k = np.tanh(W.T @ h)
    r = k - x
    s = r * r
    return np.sum(s)


def softmax(x):
    z = M @ x
    e = np.exp(z - np.max(z))
    p = e / np.sum(e)
    q = p * np.tanh(x)
    return np.sum(q * q)


def log_sum_exp(x):
    h = np.tanh(W @ x)
    e = np.exp(h)
    s = np.log(np.sum(e))
    t = s * np.sum(h * h)
    return t / (1.0 + s * s)


def quadratic_form(x):
    y = M @ x
    q = x @ y
    n = np.sqrt(np.sum(x * x) + 1.0)
    r = q / n
    return np.sin(r) * n


def entries(x):
    a = x[0] * x[1]
    b = np.exp(-a) + x[2]
    c = np.sin(b * x[0])
    d = c / (1.0 + a * a)
    return d * d + b


def bump(x):
    d = x - V
    q = d @ M @ d
    g = np.exp(-0.5 * q)
    h = np.log(1.0 + g)
    return g * h


OF_NUMBERS = (mixed, roots_and_logs, waves, logistic)
OF_ARRAYS = (elementwise, network, softmax, log_sum_exp, quadratic_form, entries, bump)


def derivative(f: Callable[..., Any], order: int) -> Callable[..., Any]:
    """Nested gradients; a gradient that is an array is added up before it is differentiated."""
    number = f in OF_NUMBERS
    for k in range(order):
        f = pg.grad(f if number or not k else summed(f))
    return f


def summed(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: np.sum(f(x))


def argument(f: Callable[..., Any]) -> Any:
    return 0.7 if f in OF_NUMBERS else np.array([0.3, -0.8, 1.1])


def lines(source: str) -> int:
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in source.splitlines())


def nesting() -> dict[str, Any]:
    """Lines of emitted code and seconds to compile, for grad, grad of grad and grad of grad of grad of functions of five lines."""
    results: dict[str, Any] = {}
    print(f"{'':18}{'lines':>18}{'growth':>14}{'seconds':>20}")
    for f in (*OF_NUMBERS, *OF_ARRAYS):
        counts, seconds = [], []
        for order in (1, 2, 3):
            start = time.perf_counter()
            source = derivative(f, order).source(argument(f))
            seconds.append(time.perf_counter() - start)
            counts.append(lines(source))
        growth = [after / before for before, after in itertools.pairwise(counts)]
        results[f.__name__] = {"lines": counts, "seconds": seconds}
        numbers = "".join(f"{n:6}" for n in counts) + "".join(f"{g:7.2f}" for g in growth) + "".join(f"{s:7.3f}" for s in seconds)
        print(f"{f.__name__:18}{numbers}")
    return results
