"""Small programs of the kinds that users of torch.func, JAX and pergrad report, each with what must be found in it.

A file of ``programs/`` holds many, each under a line ``### name``. ``# E:101`` marks a line with that error (``101|202``: one of them),
``# W:502`` one with an error or a warning. Nothing else may be an error, and every map site must be analysed.
"""

import re
from pathlib import Path

import pytest

from pergrad.compiler.lint.scan import lint_text
from pergrad.compiler.lint.suppress import apply

MARK = re.compile(r"# ([EW]):([0-9|]+)")


def programs():
    for file in sorted((Path(__file__).parent / "programs").glob("*.txt")):
        for block in file.read_text().split("### ")[1:]:
            name, _, text = block.partition("\n")
            yield pytest.param(text, id=name.strip())


@pytest.mark.parametrize("text", programs())
def test_program(text):
    result = lint_text("program.py", text)
    found = apply("program.py", text, result.diagnostics)
    lines = text.splitlines()
    errors = {(d.line, d.code) for d in found if d.severity == "error"}
    likely = errors | {(d.line, d.code) for d in found if d.severity == "warning"}
    faults = []
    for number, line in enumerate(lines, 1):
        for kind, codes in MARK.findall(line):
            wanted = {(number, f"PGR{code}") for code in codes.split("|")}
            if not wanted & (errors if kind == "E" else likely):
                faults.append(f"not found: {number} {codes}: {line.strip()}")
            errors -= wanted
    faults += [f"false: {number} {code}: {lines[number - 1].strip()}" for number, code in sorted(errors)]
    assert not faults, "\n".join(faults)
    assert result.analysed == result.sites
