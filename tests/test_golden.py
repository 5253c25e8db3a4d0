"""Emitted source against what is stored, against hand-written programs, and on its own with only NumPy imported."""

import inspect
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pergrad as pg
from tests import oracles
from tests.golden import count_numpy_calls, linear_relu_handwritten, mlp_handwritten, mlp_stable_handwritten
from tests.golden.programs import PROGRAMS

FOLDER = Path(__file__).parent / "golden"
HANDWRITTEN = {
    "linear_relu": linear_relu_handwritten.compute_loss_per_sample_grad,
    "mlp": mlp_handwritten.loss_per_sample_grad,
    "mlp_stable": mlp_stable_handwritten.loss_per_sample_grad,
}


def emitted(name):
    func, make_args = PROGRAMS[name]
    args = make_args(np.random.default_rng(1))
    return pg.per_sample_grad(func).source(*args), args


def run_alone(source, args):
    """The last function of the text, run with nothing but NumPy to import."""
    namespace = {}
    exec(compile(source, "<emitted>", "exec"), namespace)
    return [value for value in namespace.values() if inspect.isfunction(value)][-1](*args)


@pytest.mark.parametrize("name", PROGRAMS)
def test_emitted_source_is_the_stored_one(name, update_golden):
    source, _ = emitted(name)
    path = FOLDER / "emitted" / f"{name}.py"
    if update_golden:
        path.write_text(source)
    assert path.read_text() == source, "rewrite with --update-golden if the new source is as good"


@pytest.mark.parametrize("name", PROGRAMS)
def test_stored_source_is_a_module_that_imports_only_numpy(name):
    lines = (FOLDER / "emitted" / f"{name}.py").read_text().splitlines()
    assert [line for line in lines if "import" in line.split("#")[0].split()] == ["import numpy as np"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_emitted_source_gives_the_gradients_of_the_loop(name):
    source, args = emitted(name)
    func, _ = PROGRAMS[name]
    got = run_alone(source, args)
    if name in HANDWRITTEN:
        expected = HANDWRITTEN[name](*args)
    else:
        in_dims = (None,) + (0,) * (len(args) - 1)
        samples = [tuple(oracles.take(arg, dim, i) for arg, dim in zip(args, in_dims)) for i in range(5)]
        expected = oracles.stack([oracles.central_differences(func, sample) for sample in samples])
    tolerance = 1e-5 if name.startswith("mlp") else 1e-7
    oracles.assert_same(got, expected, rtol=tolerance, atol=tolerance, text=source)


@pytest.mark.parametrize("name", HANDWRITTEN)
def test_handwritten_programs_are_right(name):
    func, make_args = PROGRAMS[name]
    args = make_args(np.random.default_rng(2))
    gradients = HANDWRITTEN[name](*args)
    rng = np.random.default_rng(3)
    for i in range(5):
        sample = (args[0], *(arg[i] for arg in args[1:]))
        sample = oracles.tree_map(lambda leaf: np.asarray(leaf, dtype=float) if oracles.is_float(leaf) else leaf, sample)
        direction = oracles.random_like(sample[0], rng)
        held = sample[1:]
        slope = oracles.directional_difference(lambda w, held=held: func(w, *held), sample[:1], (direction,), step=1e-7)
        actual = oracles.inner(oracles.take(gradients, 0, i), direction)
        np.testing.assert_allclose(actual, slope, rtol=2e-3, atol=1e-3)


@pytest.mark.parametrize("name", ["linear_relu", "mlp", "mlp_stable"])
def test_emitted_source_does_no_more_than_a_careful_person(name):
    source, _ = emitted(name)
    by_hand = (FOLDER / f"{name}_handwritten.py").read_text()
    assert count_numpy_calls(source) <= count_numpy_calls(by_hand), source


@pytest.mark.parametrize("name", HANDWRITTEN)
def test_no_loop_over_samples(name):
    source, _ = emitted(name)
    words = [line.split()[0] for line in source.splitlines() if line.split()]
    assert "for" not in words and "while" not in words, source


def test_the_text_is_the_same_in_every_process():
    code = (
        "import numpy as np, pergrad as pg\n"
        "from tests.golden.programs import PROGRAMS\n"
        "for func, make in PROGRAMS.values():\n"
        "    print(pg.per_sample_grad(func).source(*make(np.random.default_rng(1))))\n"
    )
    texts = set()
    for seed in ("0", "1", "777"):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", code], cwd=FOLDER.parent.parent, env=env, capture_output=True, text=True, check=True)
        texts.add(done.stdout)
    assert len(texts) == 1


def test_the_counter_counts_operations_on_arrays():
    text = (
        "def f(x, w):\n    y = np.tanh(x @ w) * 2.0\n    y -= y.sum() / x.shape[0]\n    y[:, None]\n    return -y + (1.0 / 3.0) * len(x)\n"
    )
    assert count_numpy_calls(text) == 8
