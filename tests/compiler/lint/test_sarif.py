"""SARIF output holds to the schema of SARIF 2.1.0."""

import json
from pathlib import Path

import pytest

from pergrad.cli import main

jsonschema = pytest.importorskip("jsonschema")
SCHEMA = json.loads((Path(__file__).parent / "data" / "sarif-2.1.0-rtm.5.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft4Validator(SCHEMA)
FIXTURES = Path(__file__).parent / "fixtures"


def sarif(capsys, *arguments):
    main(["lint", "--isolated", "--no-cache", "--output-format", "sarif", *arguments])
    return json.loads(capsys.readouterr().out)


def faults(log):
    return [f"{'/'.join(map(str, e.absolute_path))}: {e.message}" for e in VALIDATOR.iter_errors(log)]


def test_the_schema_is_a_schema_and_refuses():
    jsonschema.Draft4Validator.check_schema(SCHEMA)
    assert faults({"version": "2.1.0"}) and faults({"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x"}}, "results": [{}]}]})


@pytest.mark.parametrize("options", [(), ("--trail", "full"), ("--strict", "--assume-batched", "all")], ids=" ".join)
def test_every_fixture_at_once(capsys, options):
    log = sarif(capsys, *options, str(FIXTURES))
    assert not faults(log)
    results = log["runs"][0]["results"]
    assert len(results) > 50 and any("codeFlows" in r for r in results)


def test_nothing_found_unparsable_files_odd_names_and_notebooks(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("clean.py").write_text("x = 1\n")
    assert not faults(sarif(capsys, "clean.py"))
    bad = "from pergrad import vmap\ndef f(x):\n    return float(x)\nF = vmap(f)\n"
    Path("a file, ä.py").write_text(bad)
    Path("broken.py").write_text("def f(:\n")
    Path("book.ipynb").write_text(
        json.dumps(
            {"cells": [{"cell_type": "code", "source": bad.splitlines(True), "outputs": [], "metadata": {}, "execution_count": None}]}
        )
    )
    log = sarif(capsys, "--strict", ".")
    assert not faults(log)
    locations = {r["ruleId"]: [] for r in log["runs"][0]["results"]}
    for r in log["runs"][0]["results"]:
        locations[r["ruleId"]].append(r["locations"][0]["physicalLocation"]["artifactLocation"])
    assert {l["uri"] for l in locations["PGR202"]} == {"a%20file%2C%20%C3%A4.py", "book.ipynb"}
    assert locations["PGR901"] == [{"uri": "broken.py", "uriBaseId": "SRCROOT"}]
