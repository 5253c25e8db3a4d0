"""SARIF 2.1.0, with each trail as a code flow and URIs relative to the working folder."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...errors import Span
from ..diagnostics import Diagnostic
from . import Options

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render(diagnostics: Sequence[Diagnostic], options: Options) -> str:
    from ..engine import all_rules

    rules = all_rules()
    index = {r.code: i for i, r in enumerate(rules)}
    driver = {
        "name": "pergrad",
        "rules": [
            {
                "id": r.code,
                "name": "".join(part.capitalize() for part in r.name.split("-")),
                "shortDescription": {"text": summary(r.__doc__)},
                "fullDescription": {"text": " ".join((r.__doc__ or "").split())},
                "help": {"text": f"pergrad explain {r.code}"},
                "defaultConfiguration": {"level": {"PGR902": "note", "PGR903": "warning"}.get(r.code, "error")},
            }
            for r in rules
        ],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"SRCROOT": {"uri": Path.cwd().as_uri() + "/"}},
        "results": [result(d, index, options) for d in diagnostics],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def result(d: Diagnostic, index: dict[str, int], options: Options) -> dict[str, Any]:
    message = d.message + (f" Instead: {d.help}" if d.help else "")
    out: dict[str, Any] = {
        "ruleId": d.code,
        "ruleIndex": index.get(d.code, -1),
        "level": d.severity,
        "message": {"text": message},
        "locations": [{"physicalLocation": physical(d.span)}],
    }
    if d.cell:
        out["properties"] = {"cell": d.cell}
    steps = d.trail if options.full_trail else d.short_trail()
    if steps:
        path = [*((s.span, s.message) for s in steps), (d.span, d.message)]
        flow = [{"location": {"physicalLocation": physical(span), "message": {"text": text}}} for span, text in path]
        out["codeFlows"] = [{"threadFlows": [{"locations": flow}]}]
    return out


def physical(span: Span) -> dict[str, Any]:
    region = {"startLine": span.line, "startColumn": span.column}
    if span.end_line >= span.line and span.end_column:
        region |= {"endLine": span.end_line, "endColumn": span.end_column}
    return {"artifactLocation": artifact(span.file), "region": region}


def artifact(file: str) -> dict[str, str]:
    """A file as a URI: relative to the working folder when it is inside it."""
    from urllib.parse import quote

    if file.startswith("<") or file == "-":
        return {"uri": quote(file)}
    relative = os.path.relpath(file).replace(os.sep, "/")
    if relative.startswith("../"):
        return {"uri": Path(os.path.abspath(file)).as_uri()}
    return {"uri": quote(relative), "uriBaseId": "SRCROOT"}


def summary(doc: str | None) -> str:
    return (doc or "").strip().split("\n\n")[0].replace("\n", " ").strip()
