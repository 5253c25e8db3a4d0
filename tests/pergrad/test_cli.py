"""The command line: formats, exit status, configuration, suppressions, cache, notebooks."""

import json
import subprocess
import sys
import textwrap

import pytest

from pergrad import cli

BAD = """
import numpy as np
from pergrad import vmap

def f(x, t):
    h = x * 2
    if h.sum() > 0:
        return h
    return t

F = vmap(f, in_dims=(0, None))
"""
GOOD = BAD.replace("if h.sum() > 0:", "if h.ndim > 0:")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")

    def write(**files):
        for name, text in files.items():
            path = tmp_path / (name.replace("__", "/") + ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))
        return tmp_path

    return write


def run(capsys, *arguments):
    status = cli.main([str(a) for a in arguments])
    out = capsys.readouterr()
    return status, out.out, out.err


def lint(capsys, *arguments):
    status, out, _ = run(capsys, "lint", "--output-format", "json", *arguments)
    return status, json.loads(out)


def test_exit_status_says_whether_there_are_errors(folder, capsys):
    folder(bad=BAD, good=GOOD)
    assert lint(capsys, "good.py") == (0, [])
    status, found = lint(capsys, "bad.py")
    assert status == 1
    assert [(f["code"], f["line"], f["severity"]) for f in found] == [("PGR101", 7, "error")]
    assert lint(capsys, "bad.py", "--exit-zero")[0] == 0


def test_json_has_every_field(folder, capsys):
    folder(bad=BAD)
    (found,) = lint(capsys, "bad.py")[1]
    assert list(found) == "code name severity message file line column end_line end_column trail help".split()
    assert found["name"] == "data-dependent-branch"
    assert (found["column"], found["end_column"], found["file"]) == (8, 19, "bad.py")
    assert [(t["line"], t["message"]) for t in found["trail"]] == [(11, "x is mapped here (axis 0)"), (6, "h depends on x")]
    assert all(set(t) == {"file", "line", "column", "message"} for t in found["trail"])
    assert "np.where(h.sum() > 0" in found["help"]


def test_faults_of_use_exit_with_2(folder, capsys):
    folder(bad=BAD)
    assert run(capsys, "lint", "missing.py")[0] == 2
    assert run(capsys, "lint", "bad.py", "--select", "XYZ")[0] == 2
    assert run(capsys, "explain", "PGR1234")[0] == 2
    assert run(capsys)[0] == 2
    with pytest.raises(SystemExit) as stop:
        cli.main(["lint", "--no-such-option"])
    assert stop.value.code == 2


def test_a_file_that_cannot_be_parsed_is_a_finding(folder, capsys):
    folder(bad=BAD, broken="def f(:\n    pass\n")
    status, found = lint(capsys, ".")
    assert status == 1
    assert [(f["code"], f["file"], f["line"]) for f in found] == [("PGR101", "bad.py", 7), ("PGR901", "broken.py", 1)]


def test_full_format_has_path_caret_and_rewrite(folder, capsys):
    folder(bad=BAD)
    _, out, _ = run(capsys, "lint", "bad.py")
    lines = out.splitlines()
    assert lines[0].startswith("bad.py:7:8: PGR101 error: data-dependent control flow")
    at = next(i for i, line in enumerate(lines) if "if h.sum() > 0:" in line and i > 0)
    assert lines[at + 1].strip(" |") == "^" * len("h.sum() > 0")
    assert lines[at + 1].index("^") == lines[at].index("h.sum()")
    assert any("x is mapped here" in line and "vmap(f" in line for line in lines)
    assert any(line.startswith("  instead: np.where(") for line in lines)
    assert lines[-1] == "1 error in 1 file; analysed 1 of 1 map site"


def test_colour_only_when_asked(folder, capsys, monkeypatch):
    folder(bad=BAD)
    assert "\x1b[" not in run(capsys, "lint", "bad.py")[1]
    assert "\x1b[" in run(capsys, "lint", "bad.py", "--color", "always")[1]


def test_concise_and_github(folder, capsys):
    folder(bad=BAD)
    assert run(capsys, "lint", "--output-format", "concise", "bad.py")[1].startswith("bad.py:7:8: PGR101 error: ")
    out = run(capsys, "lint", "--output-format", "github", "bad.py")[1]
    assert out.startswith("::error file=bad.py,line=7,endLine=7,col=8,endColumn=19,title=PGR101 data-dependent-branch::data-dependent")
    assert "%0A" in out and out.count("\n") == 1


def test_sarif(folder, capsys):
    folder(bad=BAD, **{"deep dir__worse": BAD})
    log = json.loads(run(capsys, "lint", "--output-format", "sarif", ".")[1])
    assert log["version"] == "2.1.0" and len(log["runs"]) == 1
    (sarif,) = log["runs"]
    rules = sarif["tool"]["driver"]["rules"]
    assert len({r["id"] for r in rules}) == len(rules)
    uris = []
    for result in sarif["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == "PGR101"
        assert result["level"] == "error" and result["message"]["text"]
        place = result["locations"][0]["physicalLocation"]
        uris.append(place["artifactLocation"]["uri"])
        assert place["artifactLocation"]["uriBaseId"] == "SRCROOT"
        assert place["region"] == {"startLine": 7, "startColumn": 8, "endLine": 7, "endColumn": 19}
        steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
        assert [s["location"]["physicalLocation"]["region"]["startLine"] for s in steps] == [11, 6, 7]
    assert uris == ["bad.py", "deep%20dir/worse.py"]


def test_select_ignore_statistics(folder, capsys):
    folder(bad=BAD)
    assert lint(capsys, "bad.py", "--select", "PGR2,PGR3") == (0, [])
    assert lint(capsys, "bad.py", "--ignore", "PGR101") == (0, [])
    assert lint(capsys, "bad.py", "--select", "PGR1")[0] == 1
    _, out, _ = run(capsys, "lint", "--statistics", "bad.py")
    assert out.split()[:3] == ["1", "PGR101", "data-dependent-branch"]


def test_configuration(folder, capsys):
    root = folder(bad=BAD, tests__bad=BAD, skipped__bad=BAD)
    (root / "pyproject.toml").write_text(
        '[tool.pergrad.lint]\nexclude = ["skipped"]\nignore = ["PGR6"]\n[tool.pergrad.lint.per-file-ignores]\n"tests/*" = ["PGR101"]\n'
    )
    assert [f["file"] for f in lint(capsys, ".")[1]] == ["bad.py"]
    assert [f["file"] for f in lint(capsys, ".", "--isolated")[1]] == ["bad.py", "skipped/bad.py", "tests/bad.py"]
    (root / "pyproject.toml").write_text("[tool.pergrad.lint]\nselekt = []\n")
    status, _, err = run(capsys, "lint", ".")
    assert status == 2 and "selekt" in err and "per-file-ignores" in err
    (root / "pyproject.toml").write_text('[tool.pergrad.lint]\nstrict = "yes"\n')
    assert run(capsys, "lint", ".")[0] == 2


def test_suppressions_and_unused_ones(folder, capsys):
    folder(
        one=BAD.replace("> 0:", "> 0:  # noqa: PGR101"),
        two=BAD.replace("> 0:", "> 0:  # noqa"),
        three=BAD.replace("> 0:", "> 0:  # noqa: PGR201, PGR1"),
        text=BAD.replace("h = x * 2", 'h = x * 2; s = "# noqa: PGR301"'),
    )
    assert lint(capsys, "one.py") == (0, [])
    assert lint(capsys, "two.py") == (0, [])
    status, found = lint(capsys, "three.py")
    assert status == 0
    assert [(f["code"], f["severity"], f["line"]) for f in found] == [("PGR903", "warning", 7)] and "PGR201" in found[0]["message"]
    assert [f["code"] for f in lint(capsys, "text.py")[1]] == ["PGR101"]


def test_stdin(folder, capsys, monkeypatch):
    import io

    class Stdin:
        buffer = io.BytesIO(BAD.encode())

    folder()
    monkeypatch.setattr(sys, "stdin", Stdin)
    status, found = lint(capsys, "-", "--stdin-filename", "editor.py")
    assert status == 1 and found[0]["file"] == "editor.py"


def test_gitignore(folder, capsys):
    root = folder(bad=BAD, build__bad=BAD, keep__me=BAD, keep__other=BAD)
    (root / ".git").mkdir()
    (root / ".gitignore").write_text("/build/\n*.tmp\nother.py\n")
    (root / "keep" / ".gitignore").write_text("!other.py\n")
    assert [f["file"] for f in lint(capsys, ".")[1]] == ["bad.py", "keep/me.py", "keep/other.py"]


def test_nothing_is_imported_or_run(folder, tmp_path):
    folder(bad="open('ran', 'w').close()\n" + BAD, good=GOOD)
    code = (
        "import sys; from pergrad.cli import main; main(['lint', 'bad.py', 'good.py', '--no-cache'])\n"
        "print([m for m in sys.modules if m.partition('.')[0] in ('numpy', 'optree', 'astor') or m.startswith('pergrad.compiler.core.p')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == "[]", done.stdout + done.stderr
    assert not (tmp_path / "ran").exists()


def test_module_runs_as_the_command(folder, tmp_path):
    folder(bad=BAD)
    done = subprocess.run([sys.executable, "-m", "pergrad", "lint", "bad.py"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1 and "PGR101" in done.stdout and not done.stderr


def test_cache_follows_content_and_imports(folder, capsys):
    root = folder(
        helper="def g(v):\n    if v > 0:\n        return v\n    return 0\n",
        main="from pergrad import vmap\nfrom helper import g\nF = vmap(g)\n",
    )
    first = lint(capsys, "main.py", "helper.py")
    assert [(f["file"], f["line"]) for f in first[1]] == [("helper.py", 2)]
    assert list((root / ".pergrad_cache").glob("lint-*.json"))
    assert lint(capsys, "main.py", "helper.py") == first
    (root / "helper.py").write_text("def g(v):\n    return v\n")
    assert lint(capsys, "main.py", "helper.py") == (0, [])


def test_jobs_give_the_same_report(folder, capsys):
    folder(**{f"m{i}": BAD for i in range(6)})
    assert lint(capsys, ".", "--jobs", "2", "--no-cache") == lint(capsys, ".", "--jobs", "1", "--no-cache")


def test_notebook(folder, capsys):
    root = folder()
    cells = [
        {"cell_type": "markdown", "source": ["# text"]},
        {"cell_type": "code", "source": ["%matplotlib inline\n", "from pergrad import vmap\n", "!ls"]},
        {"cell_type": "code", "source": "def f(x):\n    if x > 0:\n        return x\n    return -x"},
        {"cell_type": "code", "source": ["F = vmap(f)\n"]},
        {"cell_type": "code", "source": ["def broken(:"]},
    ]
    (root / "book.ipynb").write_text(json.dumps({"cells": cells, "nbformat": 4}))
    (root / "no.ipynb").write_text("[]")
    status, found = lint(capsys, "book.ipynb")
    assert status == 1
    assert [(f["code"], f["cell"], f["line"]) for f in found] == [("PGR101", 2, 2), ("PGR901", 4, 1)]
    assert "book.ipynb:cell 2:2:8" in run(capsys, "lint", "book.ipynb")[1]
    assert [f["code"] for f in lint(capsys, "no.ipynb")[1]] == ["PGR901"]


def test_notes_only_under_strict(folder, capsys):
    folder(open_="from pergrad import vmap\ndef run(f, data):\n    return vmap(f)(data)\n")
    assert lint(capsys, "open_.py") == (0, [])
    status, found = lint(capsys, "open_.py", "--strict")
    assert status == 0 and [(f["code"], f["severity"], f["line"]) for f in found] == [("PGR902", "note", 3)]
    assert "analysed 0 of 1 map site" in run(capsys, "lint", "open_.py")[1]


def test_assume_batched(folder, capsys):
    folder(plain="import numpy as np\ndef f(x, n=3):\n    if n > 2 and x.ndim:\n        x = -x\n    return x if x > 0 else n\n")
    assert lint(capsys, "plain.py") == (0, [])
    assert [(f["code"], f["line"]) for f in lint(capsys, "plain.py", "--assume-batched", "all")[1]] == [("PGR101", 5)]


def test_short_and_full_trails(folder, capsys):
    text = "from pergrad import vmap\ndef f(a):\n" + "".join(f"    {y} = {x} + 1\n" for x, y in zip("abcdef", "bcdefg"))
    folder(long=text + "    return g if g > 0 else a\nF = vmap(f)\n")
    (short,) = lint(capsys, "long.py")[1]
    (full,) = lint(capsys, "long.py", "--trail", "full")[1]
    assert [t["message"] for t in short["trail"]] == ["a is mapped here (axis 0)", "e depends on d", "f depends on e", "g depends on f"]
    assert len(full["trail"]) == 7


def test_explain_and_rules(folder, capsys):
    status, out, _ = run(capsys, "explain", "PGR101")
    assert status == 0 and "What it does" in out and "Bad:" in out and "Good:" in out
    assert run(capsys, "explain", "data-dependent-branch")[1] == out
    table = run(capsys, "rules")[1].splitlines()
    assert table[0].startswith("PGR101  data-dependent-branch") and len(table) >= 30


def test_show_prints_the_emitted_source(folder, tmp_path):
    folder(shown="import numpy as np\nimport pergrad as pg\n\n\n@pg.per_sample_grad\ndef loss(w, x):\n    return np.sum((x @ w) ** 2)\n")
    command = [sys.executable, "-m", "pergrad", "show", "shown:loss"]
    done = subprocess.run([*command, "--arg", "f8[5]", "--arg", "f8[7,5]"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0 and "def loss_per_sample_grad(w, x):" in done.stdout and "importing shown" in done.stderr
    assert subprocess.run([*command, "--arg", "f8[5"], capture_output=True, cwd=tmp_path).returncode == 2
    done = subprocess.run(
        [*command[:-1], "shown.py:loss", "--arg", "f8[5]", "--arg", "f8[7,5]"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0 and "def loss_per_sample_grad(w, x):" in done.stdout
    assert b"--arg" in subprocess.run(command, capture_output=True, cwd=tmp_path).stderr


def test_odd_files_are_shown_as_python_counts_lines(folder, tmp_path, capsys):
    folder(feed='from pergrad import vmap\n\x0c\ndef f(x):\n    s = "a\x0cb"\n    if x > 0:\n        return x\n    return -x\nvmap(f)\n')
    assert "  5 |     if x > 0:" in run(capsys, "lint", "feed.py")[1]
    cells = [3, {"cell_type": "code"}, {"cell_type": "code", "source": None}, {"cell_type": "code", "source": ["def f(:\n"]}]
    (tmp_path / "odd.ipynb").write_text(json.dumps({"cells": cells}))
    assert "odd.ipynb:cell 3:1:7: PGR901" in run(capsys, "lint", "odd.ipynb")[1]


@pytest.mark.parametrize("text", [b"[tool.pergrad]\nlint = 3\n", b"[tool.pergrad.lint]\n# \xff\n"])
def test_broken_settings_are_said_in_one_line(folder, tmp_path, capsys, text):
    folder(empty="")
    (tmp_path / "pyproject.toml").write_bytes(text)
    status, _, said = run(capsys, "lint", "empty.py")
    assert status == 2 and "pyproject.toml: " in said and "internal error" not in said
    assert run(capsys, "lint", "--isolated", "empty.py", "--output-file", "nowhere/report")[0] == 2
