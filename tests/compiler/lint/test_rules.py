"""Each rule's own examples: the bad one is reported with its code, the good one is clean."""

import sys
import textwrap
from pathlib import Path

import pytest

from pergrad.compiler.lint import engine, explain
from pergrad.compiler.lint import rules as rules_package
from pergrad.compiler.lint.scan import lint_text
from pergrad.compiler.lint.suppress import apply

RULES = engine.all_rules()
CODES = """101 102 103 104 105 106 107 108 201 202 203 204 205 206 301 302 401 402 403 404 405 501 502 601 602 603 701 702 901 902 903"""


def codes(text):
    return {d.code for d in apply("example.py", text, lint_text("example.py", text).diagnostics)}


def test_the_rules_are_those_of_the_table():
    assert [r.code for r in RULES] == [f"PGR{c}" for c in CODES.split()]
    assert len({r.name for r in RULES}) == len(RULES)


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.code)
def test_bad_example_is_reported(rule):
    assert rule.code in codes(rule.bad)


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.code)
def test_good_example_is_clean(rule):
    assert codes(rule.good) == set()


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.code)
def test_docstring_says_what_and_why(rule):
    text = explain.explain(rule)
    for part in ("What it does:", "Why it is bad:", "Bad:", "Good:", rule.code, rule.name):
        assert part in text


def test_documentation_is_generated():
    page = Path(__file__).parents[3] / "docs" / "rules.md"
    assert page.read_text() == explain.rules_page(), "write it again: pergrad rules --markdown > docs/rules.md"


NEW_RULE = '''
from pergrad.compiler.lint.rule import Rule


class NoPrint(Rule):
    """A print of a batched value."""

    code = "PGR999"
    name = "no-print"

    def visit_call(self, call, facts):
        batch = facts.machine.deep_all(call.args)
        if call.name == "builtins.print" and batch.any:
            yield self.finding(call.node, "prints a batch", batch)
'''


def test_a_rule_is_one_new_file(tmp_path, monkeypatch):
    (tmp_path / "pgr999.py").write_text(NEW_RULE)
    monkeypatch.setattr(rules_package, "__path__", [*rules_package.__path__, str(tmp_path)])
    engine.all_rules.cache_clear()
    engine.hooks.cache_clear()
    try:
        text = textwrap.dedent("""
            from pergrad import vmap
            def f(x):
                print(x.shape)
                print(x)
                return x
            F = vmap(f)
        """)
        assert [(d.code, d.line) for d in lint_text("new.py", text).diagnostics] == [("PGR999", 5)]
    finally:
        sys.modules.pop("pergrad.compiler.lint.rules.pgr999", None)
        engine.all_rules.cache_clear()
        engine.hooks.cache_clear()
