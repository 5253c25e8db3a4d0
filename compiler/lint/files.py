"""Which files are linted: the paths given, folders walked, what .gitignore and the configuration leave out."""

from __future__ import annotations

import os
from collections.abc import Iterator

from .config import ConfigError, Settings, matches, relative_to

SUFFIXES = (".py", ".pyi", ".ipynb")
NEVER = frozenset(
    {".git", ".hg", ".svn", ".venv", "venv", "__pycache__", "node_modules", ".tox", ".nox", ".eggs", ".mypy_cache", ".ruff_cache"}
    | {".pytest_cache", ".ipynb_checkpoints", ".pergrad_cache", ".hypothesis"}
)


def collect(paths: list[str], settings: Settings) -> list[str]:
    """The files to lint, in order, each once. A path given by name is linted whatever it is called."""
    out: dict[str, None] = {}
    for given in paths:
        if os.path.isdir(given):
            for file in walk(given, settings):
                out.setdefault(file)
        elif os.path.exists(given):
            out.setdefault(os.path.normpath(given))
        else:
            raise ConfigError(f"no such file or folder: {given}")
    return list(out)


def walk(folder: str, settings: Settings) -> Iterator[str]:
    ignore = None
    if settings.respect_gitignore:
        from .gitignore import Ignore

        ignore = Ignore(folder)
    for here, folders, files in os.walk(folder):
        if ignore is not None:
            ignore.enter(here)
        kept = []
        for name in sorted(folders):
            path = os.path.join(here, name)
            if name in NEVER or name.endswith(".egg-info") or excluded(path, settings) or (ignore is not None and ignore.hides(path, True)):
                continue
            kept.append(name)
        folders[:] = kept
        for name in sorted(files):
            if name.endswith(SUFFIXES):
                path = os.path.normpath(os.path.join(here, name))
                if not excluded(path, settings) and (ignore is None or not ignore.hides(path, False)):
                    yield path


def excluded(path: str, settings: Settings) -> bool:
    if not settings.exclude:
        return False
    relative = relative_to(path, settings.root)
    return any(matches(relative, pattern) for pattern in settings.exclude)
