"""A run over files: read, lint, suppress, merge. Nothing that is read is imported."""

from __future__ import annotations

import gc
import os
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .cache import Cache, content_key
from .config import Settings
from .project import Project
from .scan import Result, lint_text, unparsable

if TYPE_CHECKING:
    from ..errors import Span
    from .diagnostics import Diagnostic

# Below this many files a second process costs more than it saves.
FILES_PER_JOB = 40


class Report(NamedTuple):
    """The findings of a run, in order, and how many of the map sites met were analysed."""

    diagnostics: list[Diagnostic]
    files: int
    sites: int
    analysed: int


def display(file: str) -> str:
    """A path as it is shown: relative to the working folder when it is inside it."""
    if file.startswith("<") or file == "-":
        return file
    relative = os.path.relpath(file)
    return file if relative.startswith("..") and os.path.isabs(file) else relative


def lint_file(file: str, data: bytes, project: Project, assume: bool) -> Result:
    """Lint one file's bytes, a notebook's too."""
    try:
        text = decode(data)
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        return Result((unparsable(file, f"cannot parse: {error}"),))
    if file.endswith(".ipynb"):
        from . import notebook

        try:
            book = notebook.read(file, text)
        except ValueError as error:
            return Result((unparsable(file, f"cannot parse: {error}"),))
        result = lint_text(file, book.text, project, Path(os.path.abspath(file)), assume)
        found = suppressed(file, book.text, result.diagnostics)
        return result._replace(diagnostics=(*book.broken, *[notebook.put_back(book, d) if d.span.file == file else d for d in found]))
    result = lint_text(file, text, project, Path(os.path.abspath(file)), assume)
    if result.diagnostics or "noqa" in text:
        result = result._replace(diagnostics=tuple(suppressed(file, text, result.diagnostics)))
    return result


def suppressed(file: str, text: str, found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Findings after the suppressions of their own files."""
    from .suppress import apply

    own = [d for d in found if d.span.file == file]
    out = apply(file, text, own)
    others: dict[str, list[Diagnostic]] = {}
    for d in found:
        if d.span.file != file:
            others.setdefault(d.span.file, []).append(d)
    for other, theirs in others.items():
        try:
            other_text = Path(other).read_text(encoding="utf-8")
        except (OSError, ValueError):
            other_text = ""
        out += [d for d in apply(other, other_text, theirs) if d.code != "PGR903"]
    return out


def decode(data: bytes) -> str:
    """A source file's text, by its coding line or byte order mark."""
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    head = data[:200]
    if b"coding" in head:
        import io
        import tokenize

        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding)
    return data.decode("utf-8")


def lint_batch(files: list[str], assume: bool, keyed: bool, project: Project) -> list[tuple[str, str, Result]]:
    """Lint files one by one in this process: (file, key of its content, result)."""
    out = []
    collecting = gc.isenabled()
    # Trees are acyclic and die with their file; the collector would only walk them.
    gc.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for i, file in enumerate(files):
                try:
                    data = Path(file).read_bytes()
                except OSError as error:
                    out.append((file, "", unreadable(file, error)))
                    continue
                out.append((file, content_key(data) if keyed else "", lint_file(file, data, project, assume)))
                if i % 200 == 199:
                    gc.collect(0)
    finally:
        if collecting:
            gc.enable()
    return out


def unreadable(file: str, error: OSError) -> Result:
    return Result((unparsable(file, f"cannot read: {error.strerror}"),))


def lint_files(files: list[str], settings: Settings) -> Report:
    """Lint files, from the cache where their content and all they depend on are unchanged, with several processes where that pays."""
    assume = settings.assume_batched == "all"
    cache = Cache.load(assume) if settings.cache else None
    known = cached(files, cache) if cache is not None and cache.entries else {}
    others = [f for f in files if f not in known]
    jobs = settings.jobs or min(os.cpu_count() or 1, max(1, len(others) // FILES_PER_JOB))
    if jobs <= 1 or len(others) < 2:
        made = lint_batch(others, assume, cache is not None, Project())
    else:
        from .parallel import lint_in_parallel

        made = lint_in_parallel(others, assume, cache is not None, jobs)
    found = known | {file: (file, key, result) for file, key, result in made}
    results = [found[f] for f in files]
    if cache is not None:
        cache.update(results)
        cache.save()
    return merge(results, settings)


def cached(files: list[str], cache: Cache) -> dict[str, tuple[str, str, Result]]:
    """What the cache holds of these files as they are now."""
    out = {}
    for file in files:
        try:
            key = content_key(Path(file).read_bytes())
        except OSError:
            continue
        result = cache.get(file, key)
        if result is not None:
            out[file] = (file, key, result)
    return out


def merge(results: list[tuple[str, str, Result]], settings: Settings) -> Report:
    """One report: each finding once, though several files may lead to it, in the order of files and lines."""
    found: dict[tuple[object, ...], Diagnostic] = {}
    sites = analysed = 0
    for _, _, result in results:
        sites += result.sites
        analysed += result.analysed
        for d in result.diagnostics:
            file = display(d.span.file)
            shown = d if file == d.span.file else relocate(d)
            key = (os.path.abspath(d.span.file), d.cell, d.span.line, d.span.column, d.code)
            old = found.get(key)
            if old is None or (old.severity != "error" and d.severity == "error"):
                found[key] = shown
    kept = [d for d in found.values() if settings.wants(d.code, d.file) and (d.severity != "note" or settings.strict)]
    return Report(sorted(kept, key=lambda d: d.key), len(results), sites, analysed)


def relocate(d: Diagnostic) -> Diagnostic:
    """The same finding with the paths that are shown."""
    from dataclasses import replace

    def shown(span: Span) -> Span:
        return replace(span, file=display(span.file))

    return replace(d, span=shown(d.span), trail=tuple(replace(s, span=shown(s.span)) for s in d.trail))
