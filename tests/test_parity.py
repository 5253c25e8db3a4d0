"""The linter against the compiler's verdicts: the marks of the bank, over which both are run, with code and line."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bank import FAMILIES, bank

MEMORY = "which memory a name stands for depends on the turn of a branch or a loop: the compiler's limit, mapped or not"
# What text alone cannot show: program -> why. Its marks are not asked for; what is reported besides is a fault there too.
TEXT_CANNOT_SHOW = {
    "joins.view_of_an_inner_branch_and_a_write_after_it": MEMORY,
    "joins.view_of_a_turn_that_may_be_the_last": MEMORY,
    "joins.argument_of_a_helper_that_may_have_returned_it": MEMORY,
    "joins.one_of_two_lists": MEMORY,
    "joins.one_list_under_two_names_on_one_side": MEMORY,
    "joins.while_writes_a_name_that_its_branch_binds_to_another": MEMORY,
    "joins.write_after_a_while_whose_branch_bound_the_name": MEMORY,
    "joins.while_that_swaps_views_and_writes_their_base": MEMORY,
}


def without_entries(text):
    """The text with its `@program(...)` decorators blanked, so that the linter sees plain functions on the same lines."""
    lines = text.splitlines()
    for node in ast.parse(text).body:
        for entry in getattr(node, "decorator_list", []):
            if isinstance(entry, ast.Call) and getattr(entry.func, "id", "") == "program":
                lines[entry.lineno - 1 : entry.end_lineno] = [""] * (entry.end_lineno - entry.lineno + 1)
    return "\n".join(lines)


def lint(family, folder):
    """What the linter reports for a family's file, with every program mapped at its end: by code and line."""
    programs = list(bank(family))
    module = Path(sys.modules[programs[0].func.__module__].__file__)
    calls = [f"_pg.vmap(_pg.grad({p.func.__name__}, argnums={p.argnums!r}), in_dims={p.in_dims!r})" for p in programs]
    path = folder / f"{family}.py"
    path.write_text("\n".join([without_entries(module.read_text()), "import pergrad as _pg", "", *calls, ""]))
    command = [sys.executable, "-m", "pergrad", "lint", "--output-format", "json", path]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert done.returncode in (0, 1), done.stderr
    return {(f["code"], f["line"]): f for f in json.loads(done.stdout)}


def lines_of(program):
    start = program.func.__code__.co_firstlineno
    return range(start, start + len(program.source.splitlines()))


@pytest.mark.parametrize("family", FAMILIES)
def test_the_linter_reports_the_marked_lines_and_no_others(family, tmp_path):
    found = lint(family, tmp_path)
    faults = []
    for program in bank(family):
        marked = {(v.code, v.line) for v in program.violations}
        reported = {key for key in found if key[1] in lines_of(program)}
        wrong = {key for key in reported - marked if found[key]["severity"] == "error"}
        missed = marked - reported if program.name not in TEXT_CANNOT_SHOW else set()
        faults += [f"{program.name}: {code} on line {line} not reported" for code, line in sorted(missed)]
        faults += [f"{program.name}: {key[0]} on line {key[1]} reported: {found[key]['message']}" for key in sorted(wrong)]
    assert not faults, "\n".join(faults)


def test_exceptions_name_programs_of_the_bank():
    assert set(TEXT_CANNOT_SHOW) <= {program.name for program in bank() if {v.code for v in program.violations} == {"PGR701"}}
