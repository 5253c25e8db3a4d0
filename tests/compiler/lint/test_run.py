"""Runs over files: the parts of several processes, and what a run leaves out because it can change nothing."""

import sys

from pergrad.compiler.lint import run, suppress
from pergrad.compiler.lint.config import Settings
from pergrad.compiler.lint.parallel import parts

HELPER = "def pick(v):\n    if v > 0:\n        return v\n    return 0.0\n"
USER = "from pergrad import vmap\nfrom helper import pick\nF{0} = vmap(lambda x: pick(x))\n"


def test_parts_hold_every_file_once_and_neighbours_together(tmp_path):
    files = []
    for i in range(20):
        path = tmp_path / f"f{i:02}.py"
        path.write_text("x = 1\n" * (100 if i == 7 else 1))
        files.append(str(path))
    made = parts(files, 4)
    assert sorted(f for part in made for f in part) == files
    assert files[7] in made[0]
    assert all(part == files[files.index(part[0]) : files.index(part[0]) + len(part)] for part in made)


def test_processes_follow_imports_between_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "helper.py").write_text(HELPER)
    files = ["helper.py"]
    for i in range(6):
        (tmp_path / f"user{i}.py").write_text(USER.format(i))
        files.append(f"user{i}.py")
    one, two = (run.lint_files(files, Settings(jobs=jobs, cache=False)) for jobs in (1, 2))
    assert [(d.file, d.line, d.code) for d in one.diagnostics] == [("helper.py", 2, "PGR101")]
    assert one == two
    # What is cached is not sent anywhere, and gives the same again.
    cached = [run.lint_files(files, Settings(jobs=jobs)) for jobs in (2, 2, 1)]
    assert all(report == one for report in cached)


def test_comments_are_looked_for_only_where_they_can_matter(monkeypatch):
    monkeypatch.setattr(suppress, "suppressions", lambda text: sys.exit("read"))
    assert suppress.apply("a.py", "import os  # noqa: F401\n", []) == []
