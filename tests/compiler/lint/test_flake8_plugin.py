"""The flake8 plugin reports what the command reports."""

import ast
import json
import subprocess
import sys

import pytest

from pergrad.compiler.lint.flake8_plugin import Plugin
from pergrad.compiler.lint.scan import lint_text

TEXT = "from pergrad import vmap\ndef f(x):\n    return float(x) if x > 0 else x\nF = vmap(f)\n"
SAMPLE = """import numpy as np
from pergrad import vmap

from helper import norm

STATE = []


def f(x, scale=1.0):
    if x.sum() > 0:
        STATE.append(x)
    for _ in range(x.shape[0]):
        scale = scale + np.cos(x)
    return float(x[0]) * norm(scale)


F = vmap(f)


@vmap
def g(x):
    y = np.nonzero(x)  # noqa
    y = np.nonzero(x)  # noqa: PGR401
    y = np.nonzero(x)
    return x.item() + len(y)
"""
HELPER = "def norm(x):\n    return x / x.max() if x.any() else x\n"


def test_same_findings_with_flake8s_columns():
    rows = list(Plugin(ast.parse(TEXT), "stdin", TEXT.splitlines(True)).run())
    found = lint_text("stdin", TEXT).diagnostics
    assert [(line, column + 1, text[:6]) for line, column, text, _ in rows] == [(d.line, d.column, d.code) for d in found]
    assert len(rows) == 2 and all(kind is Plugin for *_, kind in rows)


def test_flake8_itself(tmp_path):
    pytest.importorskip("flake8")
    (tmp_path / "sample.py").write_text(SAMPLE)
    (tmp_path / "helper.py").write_text(HELPER)

    def run(*command):
        done = subprocess.run([sys.executable, "-m", *command], cwd=tmp_path, capture_output=True, text=True)
        assert not done.stderr or "errors in" in done.stderr, done.stderr
        return done.stdout

    # An editable install made before the entry point was added does not declare it: then flake8 is told.
    declared = "pergrad" in run("flake8", "--version").lower()
    local = "" if declared else "[flake8:local-plugins]\nextension =\n    PGR = pergrad.compiler.lint.flake8_plugin:Plugin\n"
    (tmp_path / "config.ini").write_text("[flake8]\n" + local)
    rows = run("flake8", "--config", "config.ini", "--select", "PGR", "--format", "%(row)d %(col)d %(code)s %(text)s", "sample.py")
    report = json.loads(run("pergrad", "lint", "--isolated", "--no-cache", "--output-format", "json", "sample.py", "helper.py"))
    found = report["diagnostics"] if isinstance(report, dict) else report
    ours = [f"{d['line']} {d['column']} {d['code']} {d['message']}" for d in found if d["file"] == "sample.py"]
    assert rows.splitlines() == ours and len(ours) >= 4
    assert any(d["file"] == "helper.py" for d in found)
