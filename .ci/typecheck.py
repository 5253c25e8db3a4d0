"""Runs mypy over the package as it is installed.

`compiler/` and `runtime/` are installed as `pergrad.compiler` and `pergrad.runtime`, which no search path over the checkout says. So the
layout is laid out once more in build/typecheck, as symbolic links, and mypy runs there. Arguments are handed on to mypy.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TREE = ROOT / "build" / "typecheck"


def lay_out() -> None:
    """The installed package's folders, linked to the checkout's."""
    shutil.rmtree(TREE, ignore_errors=True)
    package = TREE / "pergrad"
    package.mkdir(parents=True)
    for entry in sorted((ROOT / "pergrad").iterdir()):
        if entry.name != "__pycache__":
            os.symlink(entry, package / entry.name)
    for folder in ("compiler", "runtime"):
        os.symlink(ROOT / folder, package / folder)


def main() -> int:
    lay_out()
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(ROOT / ".mypy_cache")]
    done = subprocess.run([*command, "-p", "pergrad", *sys.argv[1:]], cwd=TREE, stdout=subprocess.PIPE, text=True)
    print(re.sub(r"^pergrad/(compiler|runtime)/", r"\1/", done.stdout, flags=re.MULTILINE), end="")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
