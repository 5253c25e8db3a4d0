"""Every example runs from the command line, says what it promises and writes what it says."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"


def run(name, *options, cwd):
    done = subprocess.run([sys.executable, EXAMPLES / name, *map(str, options)], cwd=cwd, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_digits_finds_changed_labels(tmp_path):
    pytest.importorskip("sklearn")
    pytest.importorskip("matplotlib")
    out = tmp_path / "results"
    text = run("digits.py", "--epochs", 4, "--every", 2, "--out", out, cwd=tmp_path)
    top, found, chance = re.search(r"of the (\d+) samples .*, (\d+) have a changed label; by chance ([\d.]+)", text).groups()
    assert int(found) > 5 * float(chance) and int(found) > int(top) // 3
    assert (out / "suspects.png").read_bytes().startswith(b"\x89PNG")
    source = (out / "loss_per_sample_grad.py").read_text()
    assert "import numpy as np" in source and "pergrad" not in [line.split()[-1] for line in source.splitlines() if "import" in line]
    assert str(out / "suspects.png") in text and str(out / "loss_per_sample_grad.py") in text


def test_dp_sgd_learns(tmp_path):
    text = run("dp_sgd.py", "--steps", 40, "--samples", 500, cwd=tmp_path)
    assert float(text.split()[-1]) > 0.9


def test_jacobian_reaches_the_goal(tmp_path):
    text = run("jacobian.py", cwd=tmp_path)
    assert "(1000, 2, 3)" in text
    assert float(text.split()[-1]) < 1e-6


def lint(name):
    command = [sys.executable, "-m", "pergrad", "lint", "--output-format", "json", EXAMPLES / "linting" / name]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, [(f["code"], f["line"]) for f in json.loads(done.stdout) if f["severity"] == "error"]


def test_linting_before_and_after():
    assert lint("before.py") == (1, [("PGR101", 14), ("PGR602", 16), ("PGR201", 17)])
    assert lint("after.py") == (0, [])
