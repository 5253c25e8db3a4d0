"""Differentially private training: each sample's gradient is clipped, then noise is added to the sum.

Abadi et al., "Deep learning with differential privacy", 2016, algorithm 1. A logistic model on two clouds of points.
"""

import argparse

import numpy as np

import pergrad as pg


@pg.per_sample_grad(with_value=True)
def loss(params, x, y):
    """The logistic loss of one point `x` with the label `y`, 1 or -1."""
    margin = y * (x @ params["w"] + params["b"])
    return np.log1p(np.exp(-margin))


def clipped_sum(grads, max_norm):
    """The sum of the per-sample gradients, each scaled down to a norm of at most `max_norm` over all parameters together."""
    squares = sum(np.sum(np.reshape(g, (len(g), -1)) ** 2, axis=1) for g in grads.values())
    scale = np.minimum(1.0, max_norm / np.sqrt(squares))
    return {name: np.tensordot(scale, g, axes=1) for name, g in grads.items()}


def clouds(rng, n, d):
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    return rng.normal(size=(n, d)) + 0.5 * y[:, None], y


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--max-norm", type=float, default=1.0)
    parser.add_argument("--noise", type=float, default=1.1, help="standard deviation of the noise, in units of max-norm")
    options = parser.parse_args()

    rng = np.random.default_rng(0)
    x, y = clouds(rng, options.samples, d=20)
    params = {"w": np.zeros(20), "b": 0.0}
    batch = 250
    for step in range(1, options.steps + 1):
        rows = rng.choice(len(x), size=batch, replace=False)
        grads, values = loss(params, x[rows], y[rows])
        total = clipped_sum(grads, options.max_norm)
        for name, g in total.items():
            noise = options.noise * options.max_norm * rng.normal(size=np.shape(g))
            params[name] = params[name] - 0.5 * (g + noise) / batch
        if step % max(1, options.steps // 5) == 0:
            right = np.mean(np.sign(x @ params["w"] + params["b"]) == y)
            print(f"step {step:4d}   loss {np.mean(values):.3f}   accuracy {right:.3f}")


if __name__ == "__main__":
    main()
