"""``for`` loops. Over what is known Python's own; a long one that carries values of the same types becomes a loop of the Program."""

from __future__ import annotations

import ast
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from ..core.builder import current
from ..core.program import Block, Const, For, Var
from ..errors import Unsupported
from .carried import Carried
from .cells import Cell
from .frames import Frame, exposed, loads, stored
from .session import NeedsStatic
from .source import span_of
from .turns import Turns
from .whiles import used, without_break

if TYPE_CHECKING:
    from .walker import Run, Walker

KEPT_LENGTH = 8  # shorter loops are written out turn by turn


class Loops:
    """Mixed into the walker."""

    def run_For(self: Walker, node: ast.For, frame: Frame) -> Run:
        iterable = self.eval(node.iter, frame)
        self.at(node.iter, frame)
        frame.live.append(loads(node))
        try:
            turns = self.worth_keeping(node, iterable, frame)
            if turns is not None and (yield from self.kept_for(node, turns, frame)):
                return (yield from self.block(node.orelse, frame)) if node.orelse else None
            return (yield from self.iterations(node, self.iterate(iterable), frame))
        finally:
            frame.live.pop()

    # a for of the Program

    def worth_keeping(self: Walker, node: ast.For, iterable: Any, frame: Frame) -> Turns | None:
        """The turns of a loop worth an attempt to keep it: long enough, over numbers or rows of arrays, and left at its end only."""
        if frame.scope.generator or not _names_only(node.target) or _leaves_early(node):
            return None
        turns = Turns.of(iterable)
        if turns is None or turns.known:
            return None
        return turns if (turns.length >= KEPT_LENGTH if isinstance(turns.length, int) else turns.length >= 1) else None

    def kept_for(self: Walker, node: ast.For, turns: Turns, frame: Frame) -> Generator[Any, Any, bool]:
        """Keep a loop whose carried values have the same types at every turn; False where Python needs each turn by itself."""
        birth = Cell(Const(0)).birth
        known = self.known(frame)
        builder = current()
        span, place = span_of(node, frame.file), builder.span
        after = frozenset().union(*frame.live[:-1], frame.scope.shared)
        carried: Carried | None = None
        kept = False
        try:
            trial = yield from self.side(lambda: self.turn(node, turns, frame), birth, known)
            carried = Carried(self, frame, trial, node, birth, known, skipped=stored(node.target) - (stored(*node.body) & after))
            for _ in range(8):
                if carried.flags or not carried.stand_in(after | exposed(node.body)):
                    return False
                holder: dict[str, Any] = {}

                def body(holder: dict[str, Any] = holder) -> Run:
                    holder["params"] = carried.enter()
                    status = yield from self.turn(node, turns, frame)
                    holder["turn"] = turns.params
                    holder["results"] = carried.leave(status)
                    return status

                side = yield from self.side(body, birth, known)
                if turns.written():
                    return False
                if carried.extend(side) or holder["results"] is None:
                    continue
                inits, results = carried.inits(), holder["results"]
                if any(i.type != r.type for i, r in zip(inits, results, strict=True)):
                    if carried.widen(inits, results):
                        continue
                    return False
                if carried.aliases(after, birth, used(side.nodes, results), turns.rows) != []:
                    return False
                kept = True
                break
            else:
                return False
        except NeedsStatic:
            raise
        except Exception:  # noqa: BLE001  whatever it was, the loop turn by turn says it better or does not meet it
            builder.span = place
            return False
        finally:
            if carried is not None and not kept:
                carried.withdraw()
        index, *rows = holder["turn"]
        outs = tuple(Var(i.type, n) for i, n in zip(inits, carried.names(), strict=True))
        builder.append(
            For(
                outs=outs,
                length=turns.length,
                inits=tuple(inits),
                xs=tuple(turns.xs()),
                body=Block((index, *holder["params"], *rows), tuple(side.nodes), tuple(results)),
                span=span,
                section=builder.section,
                helper=builder.helper,
            )
        )
        rebound = {name: frame.locals[name] for name in stored(node.target) - carried.skipped}
        self.unpack(node.target, turns.last(), frame)
        frame.locals.update(rebound)
        carried.finish(outs)
        return True

    def turn(self: Walker, node: ast.For, turns: Turns, frame: Frame) -> Run:
        """One turn of a kept loop."""
        self.unpack(node.target, turns.enter(), frame)
        status = yield from self.block(node.body, frame)
        if status is not None and set(status) - {"continue"}:
            raise Unsupported("leaving a kept loop", span=span_of(node, frame.file))
        return None

    def iterations(self: Walker, node: ast.For, items: Any, frame: Frame) -> Run:
        """Run the body for each item; after a break that depends on a value the rest of the loop runs only where it was not taken."""
        for item in items:
            self.unpack(node.target, item, frame)
            status = yield from self.block(node.body, frame)
            after, left = self.left(status)
            if left is True:
                return after
            if left is not None:
                return without_break((yield from self.unless_left(status, lambda: self.iterations(node, items, frame), frame)))
        if node.orelse:
            return (yield from self.block(node.orelse, frame))
        return None


def _names_only(target: ast.expr) -> bool:
    if isinstance(target, (ast.Tuple, ast.List)):
        return all(map(_names_only, target.elts))
    return isinstance(target, ast.Name)


def _leaves_early(node: ast.For) -> bool:
    """Whether the body may break, return or yield."""
    stack: list[ast.AST] = list(node.body)
    while stack:
        n = stack.pop()
        if isinstance(n, (ast.Break, ast.Return, ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(n, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            stack.extend(ast.iter_child_nodes(n))
    return False
