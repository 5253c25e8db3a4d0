"""The code in README.md and docs/ runs in the order in which it stands there, and what is shown as printed is what is printed.

`<!-- value of: EXPRESSION -->` before a block says that its text is that expression's value after the code above;
`<!-- output of: COMMAND -->`, that it is what the command prints, run in the checkout. `pytest --update-golden` writes both.
"""

import contextlib
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
# docs/rules.md has bad examples on purpose; it is compared with the rules' docstrings.
DOCUMENTS = [README, *(path for path in sorted((ROOT / "docs").glob("*.md")) if path.name != "rules.md")]
BLOCK = re.compile(r"(?:<!-- (value|output) of: ([^\n]*) -->\n)?```(\w*)\n(.*?)```\n", re.DOTALL)


def blocks(document):
    return list(BLOCK.finditer(document.read_text()))


def run_code(document, folder, until):
    """The namespace after the code before a place in the text, run from a file so that functions have a source."""
    code = [m[4] for m in blocks(document) if m[3] == "python" and not m[1] and m.start() < until]
    path = folder / "document.py"
    path.write_text("\n".join(code))
    namespace = {"__name__": "document"}
    with contextlib.chdir(folder):  # what the code writes belongs there
        exec(compile(path.read_text(), path, "exec"), namespace)
    return namespace


def shown(document, match, folder):
    """What a marked block must say."""
    if match[1] == "value":
        return eval(match[2], run_code(document, folder, match.start()))
    command = shlex.split(match[2])
    if command[0] == "pergrad":
        command[:1] = [sys.executable, "-m", "pergrad"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_block_of_code_runs(document, tmp_path):
    run_code(document, tmp_path, until=len(document.read_text()))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_what_is_shown_is_what_is_printed(document, tmp_path, update_golden):
    text = document.read_text()
    for k, match in reversed(list(enumerate(blocks(document)))):
        if not match[1]:
            continue
        folder = tmp_path / str(k)
        folder.mkdir()
        expected = shown(document, match, folder).strip("\n") + "\n"
        if update_golden:
            text = text[: match.start(4)] + expected + text[match.end(4) :]
        else:
            assert match[4] == expected, "rewrite with --update-golden if the new text is as good"
    if update_golden:
        document.write_text(text)


def test_the_readme_begins_with_two_commands_of_one_line():
    commands = [m[4].splitlines() for m in blocks(README) if m[3] == "sh"]
    assert [len(lines) for lines in commands[:2]] == [1, 1]
    assert commands[0][0].endswith("examples/digits.py")
