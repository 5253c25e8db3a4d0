"""Saved modules run with NumPy alone."""

import subprocess
import sys
from collections import namedtuple

import numpy as np
import pytest

import pergrad as pg

TABLE = np.linspace(0.0, 1.0, 400).reshape(20, 20)
SHIFT = np.array([1.0, 2.0])
Point = namedtuple("Point", "x y")


def loss(w, x):
    return np.sum((x @ TABLE[:2, :2] + w * SHIFT) ** 2)


def heavy(w, x):
    return np.sum(np.tanh(TABLE @ w) * x)


def plain(w):
    return np.sum(w * SHIFT)


def run_saved(path, call):
    """The printed value of a call, in an interpreter where pergrad cannot be imported."""
    start = f"import sys; sys.modules['pergrad'] = None; sys.path.insert(0, {str(path.parent)!r})"
    code = f"{start}; import numpy as np; import {path.stem} as saved; print({call})"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_captured_arrays_become_constants(tmp_path):
    g = pg.grad(loss)
    w, x = np.array([0.5, 2.0]), np.array([1.0, -1.0])
    g.save(tmp_path / "small", w, x)
    assert (tmp_path / "small.py").read_text().startswith("import numpy as np\n")
    got = run_saved(tmp_path / "small.py", "saved.loss_grad(np.array([0.5, 2.0]), np.array([1.0, -1.0])).tolist()")
    np.testing.assert_allclose(eval(got), g(w, x), rtol=1e-14)


def test_big_arrays_stand_beside(tmp_path):
    g = pg.grad(heavy)
    w, x = np.linspace(-1, 1, 20), np.linspace(0, 1, 20)
    g.save(tmp_path / "big.py", w, x)
    assert (tmp_path / "big.npz").exists()
    got = run_saved(tmp_path / "big.py", "saved.heavy_grad(np.linspace(-1, 1, 20), np.linspace(0, 1, 20)).tolist()")
    np.testing.assert_allclose(eval(got), g(w, x), rtol=1e-14)


def test_no_file_of_arrays_where_none_is_needed(tmp_path):
    pg.grad(plain).save(tmp_path / "small.py", np.ones(2))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["small.py"]


def test_what_cannot_be_imported_is_refused(tmp_path):
    Local = namedtuple("Local", "x y")

    def pair(p):
        return np.sum(p.x * p.y)

    with pytest.raises(pg.PergradError, match="Local"):
        pg.grad(pair).save(tmp_path / "m.py", Local(np.ones(2), np.ones(2)))


def test_classes_are_imported(tmp_path):
    def pair(p):
        return np.sum(p.x * p.y)

    pg.grad(pair).save(tmp_path / "m.py", Point(np.ones(2), np.ones(2)))
    assert f"from {Point.__module__} import Point" in (tmp_path / "m.py").read_text()
