"""One file: its tree, its lines, and what its top level binds."""

from __future__ import annotations

import ast
from pathlib import Path


def source_lines(text: str) -> list[str]:
    """Lines as Python counts them: a form feed or a Unicode separator ends none."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


class Module:
    """One file: its tree, its lines, and where each top-level name is bound."""

    def __init__(self, file: str, text: str, tree: ast.Module, path: Path | None = None) -> None:
        self.file, self.text, self.tree, self.path = file, text, tree, path
        self.lines = source_lines(text)
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
