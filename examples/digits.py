"""Finds wrong labels in a data set of handwritten digits by the size of each sample's own gradient.

A small network is trained in plain NumPy on the 1797 digits that come with scikit-learn, after some labels were changed on purpose. At
a few checkpoints the gradient of every sample's own loss is computed. A sample that keeps pulling hard at the parameters (a large
self-influence: the squared norm of its gradient, summed over the checkpoints) is one the network cannot agree with.

Self-influence is TracIn's: Pruthi, Liu, Sundararajan, Kale, "Estimating training data influence by tracing gradient descent", 2020.
"""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits

import pergrad as pg


@pg.per_sample_grad
def loss(params, x, y):
    """The cross-entropy of one image `x` of 64 pixels with the label `y`."""
    h = np.tanh(x @ params["w1"] + params["b1"])
    logits = h @ params["w2"] + params["b2"]
    shifted = logits - np.max(logits)
    return np.log(np.sum(np.exp(shifted))) - shifted[y]


def initial_parameters(rng, hidden=32):
    return {
        "w1": rng.normal(size=(64, hidden)) / 8.0,
        "b1": np.zeros(hidden),
        "w2": rng.normal(size=(hidden, 10)) / np.sqrt(hidden),
        "b2": np.zeros(10),
    }


def flip_labels(labels, fraction, rng):
    """The labels with a fraction of them changed to another digit, and which ones were."""
    flipped = rng.permutation(len(labels)) < round(fraction * len(labels))
    other = (labels + rng.integers(1, 10, size=len(labels))) % 10
    return np.where(flipped, other, labels), flipped


def train_epoch(params, images, labels, rng, rate=0.1, batch=64):
    """One pass of stochastic gradient descent; the mean of the per-sample gradients is the batch's."""
    order = rng.permutation(len(images))
    for rows in np.array_split(order, len(order) // batch):
        grads = loss(params, images[rows], labels[rows])
        params = {name: value - rate * grads[name].mean(axis=0) for name, value in params.items()}
    return params


def accuracy(params, images, labels):
    h = np.tanh(images @ params["w1"] + params["b1"])
    return np.mean(np.argmax(h @ params["w2"] + params["b2"], axis=1) == labels)


def squared_norms(grads):
    """The squared norm of each sample's gradient, over all parameters together."""
    return sum(np.sum(np.reshape(g, (len(g), -1)) ** 2, axis=1) for g in grads.values())


def draw_suspects(path, images, labels, truth, order):
    """A picture of the digits at the top of the ranking, each under the label it was given."""
    figure = Figure(figsize=(12, 6), layout="constrained")
    axes = figure.subplots(4, 10)
    for ax, i in zip(axes.flat, order, strict=False):
        ax.imshow(images[i].reshape(8, 8), cmap="gray_r")
        wrong = labels[i] != truth[i]
        ax.set_title(
            f"said {labels[i]}, is {truth[i]}" if wrong else f"said {labels[i]}", fontsize=8, color="crimson" if wrong else "black"
        )
    for ax in axes.flat:
        ax.axis("off")
    figure.suptitle("Digits with the largest self-influence; labels changed on purpose in red")
    figure.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--every", type=int, default=3, help="epochs between checkpoints")
    parser.add_argument("--flip", type=float, default=0.05, help="fraction of labels to change")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the picture and the emitted source")
    options = parser.parse_args()

    rng = np.random.default_rng(options.seed)
    data = load_digits()
    images, truth = data.data / 16.0, data.target
    labels, flipped = flip_labels(truth, options.flip, rng)
    print(f"{len(images)} digits, {flipped.sum()} labels changed on purpose ({options.flip:.0%})")

    params = initial_parameters(rng)
    influence = np.zeros(len(images))
    for epoch in range(1, options.epochs + 1):
        params = train_epoch(params, images, labels, rng)
        note = ""
        if epoch % options.every == 0:
            influence += squared_norms(loss(params, images, labels))
            note = f"   checkpoint: the gradients of all {len(images)} samples"
        print(f"epoch {epoch:2d}   accuracy {accuracy(params, images, truth):.3f}{note}", flush=True)

    order = np.argsort(-influence)
    top = flipped.sum()
    found = flipped[order[:top]].sum()
    chance = top * top / len(images)
    print(f"\nof the {top} samples with the largest self-influence, {found} have a changed label; by chance {chance:.1f} would")

    options.out.mkdir(parents=True, exist_ok=True)
    draw_suspects(options.out / "suspects.png", images, labels, truth, order)
    (options.out / "loss_per_sample_grad.py").write_text(loss.source())
    print(f"the most suspicious digits: {options.out / 'suspects.png'}")
    print(f"the source that computed the gradients: {options.out / 'loss_per_sample_grad.py'}")


if __name__ == "__main__":
    main()
