"""Configuration: ``[tool.pergrad.lint]`` in pyproject.toml, and what the command line says over it."""

from __future__ import annotations

import os
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple


class ConfigError(Exception):
    """A fault of the configuration or of the command line: exit status 2."""


class Settings(NamedTuple):
    """What is linted and what is reported. Codes are prefixes: ``PGR1`` means the family."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    strict: bool = False
    assume_batched: str = ""
    respect_gitignore: bool = True
    jobs: int = 0
    cache: bool = True
    root: str = "."

    def wants(self, code: str, file: str) -> bool:
        """Whether a code is reported for a file."""
        if self.select and not code.startswith(self.select):
            return False
        if self.ignore and code.startswith(self.ignore):
            return False
        relative = relative_to(file, self.root)
        return not any(code.startswith(codes) and matches(relative, pattern) for pattern, codes in self.per_file_ignores)


KEYS: dict[str, type] = {
    "select": list,
    "ignore": list,
    "exclude": list,
    "per-file-ignores": dict,
    "strict": bool,
    "assume-batched": str,
    "respect-gitignore": bool,
    "jobs": int,
    "cache": bool,
}


def relative_to(file: str, root: str) -> str:
    path = os.path.relpath(file, root) if file and not file.startswith("<") else file
    return path.replace(os.sep, "/")


def matches(path: str, pattern: str) -> bool:
    """Whether a path, a folder of it or its name is what a pattern says."""
    pattern = pattern.rstrip("/")
    parts = path.split("/")
    return fnmatch(path, pattern) or any(
        fnmatch("/".join(parts[:i]), pattern) or fnmatch(parts[i - 1], pattern) for i in range(1, len(parts) + 1)
    )


def find_pyproject(start: Path) -> Path | None:
    """The nearest pyproject.toml that has a ``[tool.pergrad.lint]`` table, upwards from a folder."""
    for folder in (start, *start.parents):
        file = folder / "pyproject.toml"
        if file.is_file() and "tool.pergrad" in file.read_text(encoding="utf-8", errors="replace"):
            return file
    return None


def load(file: Path | None) -> Settings:
    """The settings of a pyproject.toml; unknown keys and wrong types are refused."""
    if file is None:
        return Settings()
    import tomllib

    try:
        data: Any = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{file}: {error}") from None
    tool = data.get("tool", {})
    table = tool.get("pergrad", {}) if isinstance(tool, dict) else {}
    for name, value in (("tool.pergrad", table), ("tool.pergrad.lint", table.get("lint", {}) if isinstance(table, dict) else {})):
        if not isinstance(value, dict):
            raise ConfigError(f"{file}: [{name}] must be a table")
    unknown = sorted(set(table) - {"lint"})
    if unknown:
        raise ConfigError(f"{file}: unknown key {unknown[0]!r} in [tool.pergrad]; known: lint")
    table = table.get("lint", {})
    for key, value in table.items():
        if key not in KEYS:
            raise ConfigError(f"{file}: unknown key {key!r} in [tool.pergrad.lint]; known: {', '.join(KEYS)}")
        if not isinstance(value, KEYS[key]) or (KEYS[key] is int and isinstance(value, bool)):
            raise ConfigError(f"{file}: {key} in [tool.pergrad.lint] must be a {KEYS[key].__name__}")
    ignores = []
    for pattern, given in table.get("per-file-ignores", {}).items():
        ignores.append((pattern, codes(given, f"{file}: per-file-ignores")))
    assume = table.get("assume-batched", "")
    if assume not in ("", "all"):
        raise ConfigError(f"{file}: assume-batched in [tool.pergrad.lint] must be 'all'")
    return Settings(
        select=codes(table.get("select", []), f"{file}: select"),
        ignore=codes(table.get("ignore", []), f"{file}: ignore"),
        exclude=tuple(table.get("exclude", [])),
        per_file_ignores=tuple(ignores),
        strict=table.get("strict", False),
        assume_batched=assume,
        respect_gitignore=table.get("respect-gitignore", True),
        jobs=table.get("jobs", 0),
        cache=table.get("cache", True),
        root=str(file.parent),
    )


def codes(given: Any, where: str) -> tuple[str, ...]:
    """A list of codes or families, checked against the rules there are."""
    parts = given.split(",") if isinstance(given, str) else given
    if not isinstance(parts, (list, tuple)):
        raise ConfigError(f"{where}: expected a list of codes such as PGR101 or PGR1")
    out = tuple(p.strip() for p in parts if isinstance(p, str) and p.strip())
    if len(out) != len([p for p in parts if p != ""]):
        raise ConfigError(f"{where}: expected a list of codes such as PGR101 or PGR1")
    if out:
        from .engine import all_rules

        known = [r.code for r in all_rules()]
        for code in out:
            if not any(k.startswith(code) for k in known) or not code.startswith("P"):
                raise ConfigError(f"{where}: unknown code {code!r}; `pergrad rules` lists them")
    return out
