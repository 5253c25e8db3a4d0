"""The files of a run and what they name in one another, found without running anything."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .modules import Module


class Project:
    """Finds the files that imports name: beside the importing file, and from the root of its package."""

    def __init__(self) -> None:
        self._modules: dict[Path, Module | None] = {}
        self._exists: dict[Path, bool] = {}
        self.read: set[Path] = set()
        self.missing: set[Path] = set()

    def start(self, module: Module) -> None:
        """Begin with a file: what is consulted from now on is consulted for it."""
        self.read, self.missing = set(), set()
        if module.path is not None:
            self._modules[module.path] = module

    def consulted(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The other files read, and those looked for in vain: what a cached result depends on."""
        return tuple(sorted(map(str, self.read))), tuple(sorted(map(str, self.missing)))

    def load(self, path: Path) -> Module | None:
        """The module in a file, or None when it does not exist or cannot be parsed."""
        if path not in self._modules:
            import ast

            from .modules import Module

            module = None
            try:
                text = path.read_text(encoding="utf-8")
                module = Module(str(path), text, ast.parse(text), path)
            except (OSError, SyntaxError, ValueError, RecursionError):
                pass
            self._modules[path] = module
        self.read.add(path)
        return self._modules[path]

    def exists(self, path: Path) -> bool:
        found = self._exists.get(path)
        if found is None:
            found = self._exists[path] = path.is_file()
        if not found:
            self.missing.add(path)
        return found

    def find(self, importer: Module, name: str, level: int) -> Module | None:
        """The module that ``from <dots><name> import …`` means in a file, when it is the user's."""
        if importer.path is None:
            return None
        here = importer.path.parent
        parts = [p for p in name.split(".") if p]
        if level:
            for _ in range(level - 1):
                here = here.parent
            return self._at(here.joinpath(*parts))
        if not parts:
            return None
        root, inside = here, False
        for _ in range(12):
            if not self.exists(root / "__init__.py"):
                break
            root, inside = root.parent, True
        if inside and self.exists(root / parts[0] / "__init__.py"):
            return self._at(root.joinpath(*parts))
        return None if inside else self._at(here.joinpath(*parts))

    def _at(self, base: Path) -> Module | None:
        for path in (base.with_name(base.name + ".py"), base / "__init__.py"):
            if path in self._modules or self.exists(path):
                return self.load(path)
        return None
