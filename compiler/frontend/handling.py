"""`with` and `try`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ..core.builder import current
from ..core.program import Effect
from ..errors import PergradError, Unsupported, VmapViolation
from .frames import Frame
from .session import NeedsStatic, session
from .source import span_of

if TYPE_CHECKING:
    from .walker import Run, Walker


def stopped(error: Exception) -> Exception:
    """The walk's blocks are generators: what a user's ``next`` raises arrives as the RuntimeError that Python makes of it."""
    cause = error.__cause__
    return cause if isinstance(error, RuntimeError) and isinstance(cause, StopIteration) else error


class Handling:
    """Mixed into the walker."""

    def run_With(self: Walker, node: ast.With, frame: Frame) -> Run:
        return (yield from self.with_items(list(node.items), node.body, frame))

    def with_items(self: Walker, items: list[ast.withitem], body: list[ast.stmt], frame: Frame) -> Run:
        if not items:
            return (yield from self.block(body, frame))
        manager = self.eval(items[0].context_expr, frame)
        enter, leave = type(manager).__enter__, type(manager).__exit__
        entered = self.call(enter, (manager,), {}) if self.walks(enter) else enter(manager)
        if items[0].optional_vars is not None:
            self.unpack(items[0].optional_vars, entered, frame)
        try:
            status = yield from self.with_items(items[1:], body, frame)
        except (PergradError, NeedsStatic, GeneratorExit):
            leave(manager, None, None, None) if not self.walks(leave) else None
            raise
        except BaseException as error:
            swallowed = (
                self.call(leave, (manager, type(error), error, error.__traceback__), {})
                if self.walks(leave)
                else leave(manager, type(error), error, error.__traceback__)
            )
            if not swallowed:
                raise
            return None
        if self.walks(leave):
            self.call(leave, (manager, None, None, None), {})
        else:
            leave(manager, None, None, None)
        return status

    def run_Try(self: Walker, node: ast.Try, frame: Frame) -> Run:
        """try runs as Python runs it: finally also after what the handlers and else raise, and what it returns replaces that."""
        if not node.finalbody:
            return (yield from self.handled(node, frame))
        try:
            status = yield from self.handled(node, frame)
        except (PergradError, NeedsStatic):
            raise
        except Exception:
            final = yield from self.block(node.finalbody, frame)
            if final is not None:
                return final
            raise
        final = yield from self.block(node.finalbody, frame)
        return final if final is not None else status

    def handled(self: Walker, node: ast.Try, frame: Frame) -> Run:
        """A try without its finally; an op that may fail only at run time inside it is refused."""
        before = len(current().nodes)
        try:
            status = yield from self.block(node.body, frame)
            self.check_try(node, before, frame)
        except (PergradError, NeedsStatic):
            raise
        except Exception as raised:
            error = stopped(raised)
            handler = self.handler(node, error, frame)
            if handler is None:
                raise
            if handler.name:
                frame.assign(handler.name, error)
            frame.handled.append(error)
            try:
                return (yield from self.block(handler.body, frame))
            finally:
                frame.handled.pop()
        if status is None and node.orelse:
            return (yield from self.block(node.orelse, frame))
        return status

    def handler(self: Walker, node: ast.Try, error: Exception, frame: Frame) -> ast.ExceptHandler | None:
        for h in node.handlers:
            kinds = Exception if h.type is None else self.eval(h.type, frame)
            if isinstance(error, kinds):
                return h
        return None

    def check_try(self: Walker, node: ast.Try, before: int, frame: Frame) -> None:
        failing = [
            n
            for n in current().nodes[before:]
            if getattr(n, "op", "").startswith("numpy.linalg.") or (isinstance(n, Effect) and n.kind in ("raise", "assert"))
        ]
        numerical = {"LinAlgError", "FloatingPointError", "ZeroDivisionError", "ArithmeticError", "Exception", "AssertionError"}
        for h in node.handlers:
            names = (
                {n.attr if isinstance(n, ast.Attribute) else n.id for n in ast.walk(h.type) if isinstance(n, (ast.Name, ast.Attribute))}
                if h.type
                else {"Exception"}
            )
            if failing and names & numerical:
                batched = session().vmaps > 0
                raise (VmapViolation if batched else Unsupported)(
                    "data-dependent control flow: `except` for a failure that only happens at run time",
                    code="PGR108" if batched else "PGR701",
                    span=span_of(h, frame.file),
                    hint="test for the failure with np.where, or catch it outside the compiled function",
                )
