"""What .gitignore files hide."""

from __future__ import annotations

import os
import re
from pathlib import Path


class Ignore:
    """The .gitignore files that hold for a folder: its own, those above it in the repository, and those met on the way down."""

    def __init__(self, folder: str) -> None:
        self.patterns: list[tuple[str, re.Pattern[str], bool, bool]] = []
        self.seen: set[str] = set()
        start = Path(folder).resolve()
        above: list[Path] = []
        for parent in (start, *start.parents):
            above.append(parent)
            if (parent / ".git").exists():
                for p in reversed(above):
                    self.enter(str(p))
                break

    def enter(self, folder: str) -> None:
        """Take in a folder's .gitignore, if it has one."""
        real = os.path.realpath(folder)
        if real in self.seen:
            return
        self.seen.add(real)
        file = os.path.join(real, ".gitignore")
        if not os.path.isfile(file):
            return
        with open(file, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                line = line.rstrip("\n").rstrip()
                if not line or line.startswith("#"):
                    continue
                keep = line.startswith("!")
                line = line.lstrip("!") if keep else line
                only_folders = line.endswith("/")
                self.patterns.append((real, translate(line.rstrip("/")), keep, only_folders))

    def hides(self, path: str, is_folder: bool) -> bool:
        if not self.patterns:
            return False
        real = os.path.realpath(path)
        hidden = False
        for base, pattern, keep, only_folders in self.patterns:
            if only_folders and not is_folder:
                continue
            if real.startswith(base + os.sep) and pattern.fullmatch(real[len(base) + 1 :].replace(os.sep, "/")):
                hidden = not keep
        return hidden


def translate(pattern: str) -> re.Pattern[str]:
    """A line of .gitignore as a regular expression over the path below its folder."""
    anchored = "/" in pattern
    pattern = pattern.lstrip("/")
    out = "" if anchored else "(?:.*/)?"
    i = 0
    while i < len(pattern):
        if pattern.startswith("**/", i):
            out += "(?:.*/)?"
            i += 3
        elif pattern.startswith("**", i):
            out += ".*"
            i += 2
        elif pattern[i] == "*":
            out += "[^/]*"
            i += 1
        elif pattern[i] == "?":
            out += "[^/]"
            i += 1
        elif pattern[i] == "[" and "]" in pattern[i + 2 :]:
            end = pattern.index("]", i + 2)
            out += "[" + pattern[i + 1 : end].replace("!", "^", 1) + "]"
            i = end + 1
        else:
            out += re.escape(pattern[i])
            i += 1
    return re.compile(out)
