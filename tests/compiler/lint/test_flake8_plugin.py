"""The flake8 plugin reports what the command reports."""

import ast

from pergrad.compiler.lint.flake8_plugin import Plugin
from pergrad.compiler.lint.scan import lint_text

TEXT = "from pergrad import vmap\ndef f(x):\n    return float(x) if x > 0 else x\nF = vmap(f)\n"


def test_same_findings_with_flake8s_columns():
    rows = list(Plugin(ast.parse(TEXT), "stdin", TEXT.splitlines(True)).run())
    found = lint_text("stdin", TEXT).diagnostics
    assert [(line, column + 1, text[:6]) for line, column, text, _ in rows] == [(d.line, d.column, d.code) for d in found]
    assert len(rows) == 2 and all(kind is Plugin for *_, kind in rows)
