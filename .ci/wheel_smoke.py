"""What an installed wheel must do: per-sample gradients that equal a loop, emitted source that stands alone, the linter's command."""

import importlib.resources
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

import pergrad as pg


@pg.per_sample_grad
def loss(w, x, y):
    h = np.tanh(x @ w["hidden"])
    return np.sum((h @ w["out"] - y) ** 2)


def check_gradients() -> None:
    rng = np.random.default_rng(0)
    w = {"hidden": rng.normal(size=(5, 4)), "out": rng.normal(size=(4, 3))}
    X, Y = rng.normal(size=(7, 5)), rng.normal(size=(7, 3))
    grads = loss(w, X, Y)
    for i in range(len(X)):
        h = np.tanh(X[i] @ w["hidden"])
        d_out = 2 * (h @ w["out"] - Y[i])
        d_hidden = (w["out"] @ d_out) * (1 - h * h)
        np.testing.assert_allclose(grads["out"][i], np.outer(h, d_out), rtol=1e-9)
        np.testing.assert_allclose(grads["hidden"][i], np.outer(X[i], d_hidden), rtol=1e-9)
    assert "import pergrad" not in loss.source(), loss.source()


def check_linter() -> None:
    shutil.copy("wheel_lint.py.txt", "branch.py")
    command = Path(sys.executable).with_name("pergrad")
    done = subprocess.run([command, "lint", "--output-format", "json", "branch.py"], capture_output=True, text=True)
    findings = json.loads(done.stdout)
    assert done.returncode == 1, done
    assert [(f["code"], f["line"]) for f in findings] == [("PGR101", 7)], findings


def main() -> None:
    place = Path(pg.__file__).resolve()
    assert "site-packages" in place.parts, f"imported from {place}"
    assert importlib.resources.files("pergrad").joinpath("py.typed").is_file()
    check_gradients()
    check_linter()
    print(f"Python {sys.version_info.major}.{sys.version_info.minor}: wheel works")


if __name__ == "__main__":
    main()
