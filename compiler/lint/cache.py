"""A cache of results by content: a result holds while the file, the files read for it and the linter itself are unchanged."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .scan import Result

if TYPE_CHECKING:
    from .diagnostics import Diagnostic

FOLDER = ".pergrad_cache"


def content_key(data: bytes) -> str:
    try:
        # hashlib would load OpenSSL, a twentieth of the time to start.
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b
    return blake2b(data, digest_size=16).hexdigest()


def linter_key() -> str:
    """A key of the linter's own files: another linter, another cache."""
    here = os.path.dirname(__file__)
    folders = [here, *(os.path.join(here, f) for f in ("formats", "libraries", "rules")), os.path.join(os.path.dirname(here), "ops")]
    files = []
    for folder in folders:
        with os.scandir(folder) as entries:
            files += [(e.path, e.stat()) for e in entries if e.name.endswith(".py")]
    text = "".join(f"{name}{s.st_size}{s.st_mtime_ns}" for name, s in sorted(files))
    return content_key(text.encode())


class Cache:
    """Results by file; what is written is plain JSON."""

    def __init__(self, path: Path, entries: dict[str, Any]) -> None:
        self.path, self.entries, self.changed = path, entries, False
        self._keys: dict[str, str] = {}

    @classmethod
    def load(cls, assume: bool) -> Cache:
        path = Path(FOLDER) / f"lint-{linter_key()}{'-assumed' if assume else ''}.json"
        try:
            entries = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            entries = {}
        return cls(path, entries if isinstance(entries, dict) else {})

    def get(self, file: str, key: str) -> Result | None:
        entry = self.entries.get(file)
        if entry is None or entry["key"] != key:
            return None
        if any(self.key_of(other) != known for other, known in entry["read"].items()) or any(os.path.exists(m) for m in entry["missing"]):
            return None
        found = tuple(diagnostic(d) for d in entry["found"])
        return Result(found, entry["sites"], entry["analysed"], tuple(entry["read"]), tuple(entry["missing"]))

    def key_of(self, file: str) -> str:
        if file not in self._keys:
            try:
                self._keys[file] = content_key(Path(file).read_bytes())
            except OSError:
                self._keys[file] = ""
        return self._keys[file]

    def update(self, results: list[tuple[str, str, Result]]) -> None:
        for file, key, result in results:
            old = self.entries.get(file)
            if not key or (
                old is not None
                and old["key"] == key
                and list(old["read"]) == list(result.read)
                and len(old["found"]) == len(result.diagnostics)
            ):
                if old is not None and all(self.key_of(o) == k for o, k in old["read"].items()):
                    continue
                if not key:
                    continue
            self.changed = True
            self.entries[file] = {
                "key": key,
                "read": {other: self.key_of(other) for other in result.read},
                "missing": list(result.missing),
                "sites": result.sites,
                "analysed": result.analysed,
                "found": [plain(d) for d in result.diagnostics],
            }

    def save(self) -> None:
        """Write the cache; where that cannot be done there is none."""
        if not self.changed:
            return
        try:
            self.path.parent.mkdir(exist_ok=True)
            ignore = self.path.parent / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n")
            for other in self.path.parent.glob("lint-*.json"):
                if other.name.partition(".")[0].removesuffix("-assumed") != self.path.name.partition(".")[0].removesuffix("-assumed"):
                    other.unlink(missing_ok=True)
            temporary = self.path.with_suffix(f".{os.getpid()}.tmp")
            temporary.write_text(json.dumps(self.entries), encoding="utf-8")
            temporary.replace(self.path)
        except OSError:
            pass


def plain(d: Diagnostic) -> dict[str, Any]:
    return {**d.as_dict(full=True), "cell": d.cell, "ends": [(s.span.end_line, s.span.end_column) for s in d.trail]}


def diagnostic(data: dict[str, Any]) -> Diagnostic:
    from ..errors import Span, Step
    from .diagnostics import Diagnostic

    span = Span(data["file"], data["line"], data["column"], data["end_line"], data["end_column"])
    trail = tuple(Step(Span(s["file"], s["line"], s["column"], *end), s["message"]) for s, end in zip(data["trail"], data["ends"]))
    return Diagnostic(data["code"], data["name"], data["severity"], data["message"], span, trail, data["help"], data["cell"])
