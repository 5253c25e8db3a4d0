"""Whole programs with the lines that must be reported, and no others."""

import re
from pathlib import Path

import pytest

from pergrad.compiler.lint.scan import lint_text

FOLDER = Path(__file__).parent / "fixtures"
MARK = re.compile(r"#\s*(expect|warn):\s*([A-Z0-9, ]+)")
SEVERITIES = {"expect": "error", "warn": "warning"}


def marks(text):
    return {
        (number, code.strip(), SEVERITIES[kind])
        for number, line in enumerate(text.splitlines(), 1)
        for kind, codes in MARK.findall(line)
        for code in codes.split(",")
    }


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.py")), ids=lambda p: p.stem)
def test_marked_lines_and_no_others(file):
    text = file.read_text()
    found = lint_text(file.name, text).diagnostics
    wanted = marks(text)
    errors = {(d.line, d.code, d.severity) for d in found if d.severity == "error"}
    warnings = {(d.line, d.code, d.severity) for d in found if d.severity == "warning"}
    lines = text.splitlines()
    missed = sorted(wanted - errors - warnings)
    false = sorted(errors - wanted)
    assert not missed and not false, "\n".join(
        [f"missed {n} {code} {severity}: {lines[n - 1].strip()}" for n, code, severity in missed]
        + [f"false {n} {code}: {lines[n - 1].strip()}" for n, code, _ in false]
    )
