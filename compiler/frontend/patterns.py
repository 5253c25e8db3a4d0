"""`match`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from ..core.builder import Value
from ..errors import Unsupported
from .expressions import is_symbolic
from .frames import Frame
from .source import span_of

if TYPE_CHECKING:
    from .walker import Run, Walker


class Patterns:
    """Mixed into the walker."""

    def run_Match(self: Walker, node: ast.Match, frame: Frame) -> Run:
        subject = self.eval(node.subject, frame)
        return (yield from self.cases(node, subject, node.cases, frame))

    def cases(self: Walker, node: ast.Match, subject: Any, cases: list[ast.match_case], frame: Frame) -> Run:
        if not cases:
            return None
        case, rest = cases[0], cases[1:]
        test = self.matches(case.pattern, subject, frame)
        if test is not False and case.guard is not None and not is_symbolic(test):
            test = self.eval(case.guard, frame)
        if is_symbolic(test):
            self.at(node.subject, frame)
            test = self.truth(test, "match", "PGR101", node.subject, frame)
            live = frame.live[-1] if frame.live else frozenset()
            return (
                yield from self.stage_if(
                    test, lambda: self.block(case.body, frame), lambda: self.cases(node, subject, rest, frame), frame, live
                )
            )
        if test:
            return (yield from self.block(case.body, frame))
        return (yield from self.cases(node, subject, rest, frame))

    def matches(self: Walker, pattern: ast.pattern, subject: Any, frame: Frame) -> Any:
        """Whether a pattern matches; binds its names."""
        match pattern:
            case ast.MatchAs(pattern=None):
                if pattern.name:
                    self.bind(pattern.name, subject, frame)
                return True
            case ast.MatchAs():
                hit = self.matches(pattern.pattern, subject, frame)  # type: ignore[arg-type]
                if hit is not False and pattern.name:
                    self.bind(pattern.name, subject, frame)
                return hit
            case ast.MatchValue():
                value = self.eval(pattern.value, frame)
                return subject == value if not isinstance(value, str) or not isinstance(subject, Value) else False
            case ast.MatchSingleton():
                return subject is pattern.value
            case ast.MatchOr():
                for p in pattern.patterns:
                    hit = self.matches(p, subject, frame)
                    if hit is not False:
                        return hit
                return False
            case ast.MatchSequence():
                return self.match_sequence(pattern, subject, frame)
            case ast.MatchMapping():
                if not isinstance(subject, dict):
                    return False
                keys = [self.eval(k, frame) for k in pattern.keys]
                contents = self.mapping(subject)
                if any(k not in contents for k in keys):
                    return False
                if pattern.rest:
                    self.bind(pattern.rest, {k: v for k, v in contents.items() if k not in keys}, frame)
                return all(self.matches(p, contents[k], frame) for p, k in zip(pattern.patterns, keys, strict=True))
            case ast.MatchClass():
                cls = self.eval(pattern.cls, frame)
                if not self.call(isinstance, (subject, cls), {}):
                    return False
                names = [*getattr(cls, "__match_args__", ())[: len(pattern.patterns)], *pattern.kwd_attrs]
                if cls in (int, float, str, bool, tuple, list, dict, set, bytes) and pattern.patterns:
                    return self.matches(pattern.patterns[0], subject, frame)
                return all(
                    self.matches(p, self.attribute(subject, n), frame)
                    for p, n in zip([*pattern.patterns, *pattern.kwd_patterns], names, strict=True)
                )
        raise Unsupported("this pattern is not supported", span=span_of(pattern, frame.file))

    def match_sequence(self: Walker, pattern: ast.MatchSequence, subject: Any, frame: Frame) -> bool:
        if not isinstance(subject, (list, tuple)):
            return False
        items = list(self.iterate(subject))
        star = next((k for k, p in enumerate(pattern.patterns) if isinstance(p, ast.MatchStar)), None)
        if star is None:
            return len(items) == len(pattern.patterns) and all(
                self.matches(p, v, frame) for p, v in zip(pattern.patterns, items, strict=True)
            )
        tail = len(pattern.patterns) - star - 1
        if len(items) < star + tail:
            return False
        starred = pattern.patterns[star]
        if isinstance(starred, ast.MatchStar) and starred.name:
            self.bind(starred.name, items[star : len(items) - tail], frame)
        pairs = [*zip(pattern.patterns[:star], items), *zip(pattern.patterns[star + 1 :], items[len(items) - tail :])]
        return all(self.matches(p, v, frame) for p, v in pairs)
