"""The README's code runs in the order in which it stands there, and what it shows as printed is what is printed.

`<!-- value of: EXPRESSION -->` before a block says that its text is that expression's value after the code above;
`<!-- output of: COMMAND -->`, that it is what the command prints, run in the checkout. `pytest --update-golden` writes both.
"""

import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
BLOCK = re.compile(r"(?:<!-- (value|output) of: (.*) -->\n)?```(\w*)\n(.*?)```\n", re.DOTALL)


def blocks():
    return list(BLOCK.finditer(README.read_text()))


def run_code(folder, until):
    """The namespace after the code before a place in the text, run from a file so that functions have a source."""
    code = [m[4] for m in blocks() if m[3] == "python" and not m[1] and m.start() < until]
    path = folder / "readme.py"
    path.write_text("\n".join(code))
    namespace = {"__name__": "readme"}
    exec(compile(path.read_text(), path, "exec"), namespace)
    return namespace


def shown(match, folder):
    """What a marked block must say."""
    if match[1] == "value":
        return eval(match[2], run_code(folder, match.start()))
    command = shlex.split(match[2])
    if command[0] == "pergrad":
        command[:1] = [sys.executable, "-m", "pergrad"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout


def test_every_block_of_code_runs(tmp_path):
    run_code(tmp_path, until=len(README.read_text()))


def test_what_is_shown_is_what_is_printed(tmp_path, update_golden):
    text = README.read_text()
    marked = [match for match in blocks() if match[1]]
    assert len(marked) >= 2
    for k, match in reversed(list(enumerate(marked))):
        folder = tmp_path / str(k)
        folder.mkdir()
        expected = shown(match, folder).strip("\n") + "\n"
        if update_golden:
            text = text[: match.start(4)] + expected + text[match.end(4) :]
        else:
            assert match[4] == expected, "rewrite with --update-golden if the new text is as good"
    if update_golden:
        README.write_text(text)


def test_commands_stand_alone_on_a_line():
    commands = [m[4].splitlines() for m in blocks() if m[3] == "sh"]
    assert [len(lines) for lines in commands[:2]] == [1, 1]
    assert commands[0][0].endswith("examples/digits.py")
