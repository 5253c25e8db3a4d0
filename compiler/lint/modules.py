"""The files of a run: parsed once, their top-level names found without running anything."""

from __future__ import annotations

import ast
import re
from pathlib import Path

MARKS = ("vmap", "per_sample_grad", "clipped_grad_sum")
# Words that mean something else in most programs: only beside an import of a library that has such a transform.
COMMON_MARKS = ("jacfwd", "hessian")
LIBRARIES = re.compile(r"^\s*(?:import|from)\s[^#\n]*\b(?:pergrad|torch|functorch|jax)\b", re.MULTILINE)


class Module:
    """One file: its tree, its lines, and where each top-level name is bound."""

    def __init__(self, file: str, text: str, tree: ast.Module, path: Path | None = None) -> None:
        self.file, self.text, self.tree, self.path = file, text, tree, path
        self.lines = text.splitlines()
        self._bindings: dict[str, list[ast.stmt]] | None = None
        self.live: dict[str, object] = {}
        self.stars = [n for n in tree.body if isinstance(n, ast.ImportFrom) and n.names[0].name == "*"]

    @property
    def bindings(self) -> dict[str, list[ast.stmt]]:
        """The statements that bind each top-level name, in order, those inside of if, try and with included."""
        if self._bindings is None:
            self._bindings = {}
            self._collect(self.tree.body)
        return self._bindings

    def _collect(self, body: list[ast.stmt]) -> None:
        assert self._bindings is not None
        for node in body:
            for name in bound_names(node):
                self._bindings.setdefault(name, []).append(node)
            for part in ("body", "orelse", "finalbody"):
                inner = getattr(node, part, None)
                if inner and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                    self._collect(inner)
            for handler in getattr(node, "handlers", ()):
                self._collect(handler.body)

    def line(self, number: int) -> str:
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""


def bound_names(node: ast.stmt) -> list[str]:
    """The names that a statement itself binds."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.Import):
        return [a.asname or a.name.split(".")[0] for a in node.names]
    if isinstance(node, ast.ImportFrom):
        return [a.asname or a.name for a in node.names]
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = list(node.targets)
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign)):
        targets = [node.target]
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        targets = [node.target]
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        targets = [i.optional_vars for i in node.items if i.optional_vars]
    names: list[str] = []
    while targets:
        target = targets.pop(0)
        if isinstance(target, ast.Name):
            names.append(target.id)
        elif isinstance(target, (ast.Tuple, ast.List)):
            targets.extend(target.elts)
        elif isinstance(target, ast.Starred):
            targets.append(target.value)
    return names


def may_map(text: str) -> bool:
    """Whether a file can hold a map site at all; nearly every file cannot, and needs no more than this."""
    if any(mark in text for mark in MARKS):
        return True
    return any(mark in text for mark in COMMON_MARKS) and LIBRARIES.search(text) is not None


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
