"""Loops. Over what is known Python's own; a ``while`` whose test is symbolic becomes a loop of the Program."""

from __future__ import annotations

import ast
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from ..core.builder import Value, atom_of, call, current
from ..core.program import Block, Const, For, Var, While, node_vars
from ..errors import Unsupported
from .carried import Carried, Span, Turns, turns_of
from .cells import Array, Cell, Scalar
from .expressions import is_symbolic
from .frames import Frame, loads
from .joins import Status
from .session import NeedsStatic
from .source import span_of

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
            if self.may_keep(node, iterable, frame):
                kept = yield from self.kept_for(node, iterable, frame)
                if kept:
                    return (yield from self.block(node.orelse, frame)) if node.orelse else None
            return (yield from self.iterations(node, self.iterate(iterable), frame))
        finally:
            frame.live.pop()

    # a for of the Program

    def may_keep(self: Walker, node: ast.For, iterable: Any, frame: Frame) -> bool:
        """Whether a loop is worth an attempt to keep it: long enough, over numbers or an array's rows, and left at its end only."""
        if frame.scope.generator or not isinstance(node.target, ast.Name) or _leaves_early(node):
            return False
        rows = isinstance(iterable, Array) and is_symbolic(iterable) and iterable.ndim > 0
        if not rows and not isinstance(iterable, (range, Span)):
            return False
        length = turns_of(iterable)
        return length >= KEPT_LENGTH if isinstance(length, int) else length >= 1

    def kept_for(self: Walker, node: ast.For, iterable: Any, frame: Frame) -> Generator[Any, Any, bool]:
        """Keep a loop whose carried values have the same types at every turn; False where Python needs each turn by itself."""
        birth = Cell(Const(0)).birth
        known = self.known(frame)
        builder = current()
        span, place = span_of(node, frame.file), builder.span
        turns = Turns(iterable)
        after = frozenset().union(*frame.live[:-1], frame.scope.shared)
        try:
            trial = yield from self.side(lambda: self.turn(node, turns, frame), birth, known)
            carried = Carried(self, frame, trial, node, skipped=node.target.id)  # type: ignore[attr-defined]
            for _ in range(8):
                if carried.flags or any(name in after for name in carried.unbound):
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
                if carried.aliases(after, birth, _used(side.nodes, results)) != []:
                    return False
                break
            else:
                return False
        except NeedsStatic:
            raise
        except Exception:  # noqa: BLE001  whatever it was, the loop turn by turn says it better or does not meet it
            builder.span = place
            return False
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
        carried.finish(outs)
        self.bind(node.target.id, turns.last(), frame)  # type: ignore[attr-defined]
        return True

    def turn(self: Walker, node: ast.For, turns: Turns, frame: Frame) -> Run:
        """One turn of a kept loop."""
        self.bind(node.target.id, turns.enter(), frame)  # type: ignore[attr-defined]
        status = yield from self.block(node.body, frame)
        if status is not None and set(status) - {"continue"}:
            raise Unsupported("leaving a kept loop", span=span_of(node, frame.file))
        return None

    def iterations(self: Walker, node: ast.For, items: Any, frame: Frame) -> Run:
        """Run the body for each item; after a break that depends on a value the rest of the loop runs only where it was not taken."""
        for item in items:
            self.unpack(node.target, item, frame)
            status = yield from self.block(node.body, frame)
            status, left = self.left(status)
            if left is None:
                continue
            if left is True:
                return status
            flag, kind, value, others = left

            def leave(kind: str = kind, value: Any = value) -> Run:
                return {kind: (True, value)}
                yield

            def go_on(others: Status = others) -> Run:
                return (yield from self.rest_of_loop(node, items, others, frame))

            status = yield from self.stage_if(flag, leave, go_on, frame, frozenset())
            return _without_break(status)
        if node.orelse:
            return (yield from self.block(node.orelse, frame))
        return None

    def rest_of_loop(self: Walker, node: ast.For, items: Any, others: Status, frame: Frame) -> Run:
        if not others:
            return (yield from self.iterations(node, items, frame))
        kind, (flag, value) = next(iter(others.items()))
        rest = {k: v for k, v in others.items() if k != kind}

        def leave() -> Run:
            return {kind: (True, value)}
            yield

        return (yield from self.stage_if(flag, leave, lambda: self.rest_of_loop(node, items, rest, frame), frame, frozenset()))

    def left(self: Walker, status: Status) -> tuple[Status, Any]:
        """What an iteration's status means for the loop: (status of the loop, None to go on, True to leave, or a condition to leave)."""
        if status is None:
            return None, None
        status = {k: v for k, v in status.items() if k != "continue"}
        if not status:
            return None, None
        kind, (flag, value) = next(iter(status.items()))
        if flag is True:
            return (None if kind == "break" else status), True
        return None, (flag, kind, value, {k: v for k, v in status.items() if k != kind})

    def run_While(self: Walker, node: ast.While, frame: Frame) -> Run:
        frame.live.append(loads(node))
        try:
            while True:
                before = len(current().nodes)
                test = self.eval(node.test, frame)
                if is_symbolic(test):
                    del current().nodes[before:]
                    return (yield from self.staged_while(node, frame))
                if not test:
                    break
                status = yield from self.block(node.body, frame)
                status, left = self.left(status)
                if left is True:
                    return status
                if left is not None:
                    flag, kind, value, others = left
                    if others:
                        raise Unsupported("break and return that both depend on values in one while loop", span=span_of(node, frame.file))

                    def leave(kind: str = kind, value: Any = value) -> Run:
                        return {kind: (True, value)}
                        yield

                    return _without_break(
                        (yield from self.stage_if(flag, leave, lambda: self.staged_while(node, frame), frame, frozenset()))
                    )
            if node.orelse:
                return (yield from self.block(node.orelse, frame))
            return None
        finally:
            frame.live.pop()

    # a while of the Program

    def staged_while(self: Walker, node: ast.While, frame: Frame, peeled: int = 0) -> Run:
        """Find what the loop carries by walking its body once, then walk test and body with the carried values as parameters."""
        birth = Cell(Const(0)).birth
        known = self.known(frame)
        trial = yield from self.side(lambda: self.loop_body(node, frame), birth, known)
        carried = Carried(self, frame, trial, node)
        for _ in range(8):
            attempt = yield from self.attempt(node, frame, carried, birth, known)
            if attempt is None:
                continue
            if attempt is False:
                if peeled >= 2:
                    raise Unsupported(
                        "what this while loop carries changes its type at every turn",
                        span=span_of(node.test, frame.file),
                        hint="start with values of the type that the loop computes",
                    )
                return (yield from self.peel(node, frame, peeled))
            if node.orelse:
                if carried.flags:
                    raise Unsupported(
                        "else after a while loop that breaks on a value",
                        span=span_of(node, frame.file),
                        hint="keep a flag and test it after the loop",
                    )
                return (yield from self.block(node.orelse, frame))
            return None
        raise Unsupported("what this while loop carries could not be found", span=span_of(node, frame.file))

    def peel(self: Walker, node: ast.While, frame: Frame, peeled: int) -> Run:
        """One turn of the loop as a branch, so that the loop starts with the types that it keeps."""
        test = self.eval(node.test, frame)
        if is_symbolic(test):
            test = self.truth(test, "while", "PGR102", node.test, frame)

        def turn() -> Run:
            status = yield from self.block(node.body, frame)
            if status is not None and set(status) - {"continue"}:
                raise Unsupported("leaving a while loop whose carried values change their type", span=span_of(node, frame.file))
            return (yield from self.staged_while(node, frame, peeled + 1))

        def stop() -> Run:
            return None
            yield

        if not isinstance(test, Value):
            return (yield from (turn() if test else stop()))
        return (yield from self.stage_if(test, turn, stop, frame, frozenset()))

    def loop_body(self: Walker, node: ast.While, frame: Frame) -> Run:
        self.eval(node.test, frame)
        return (yield from self.block(node.body, frame))

    def attempt(self: Walker, node: ast.While, frame: Frame, carried: Carried, birth: int, known: set[int]) -> Any:
        """Walk the loop with what is carried so far; None when more turned out to be carried, False when a type does not hold."""
        builder = current()
        span = span_of(node, frame.file)
        holder: dict[str, Any] = {}

        def test() -> Run:
            holder["params"] = carried.enter()
            value = self.eval(node.test, frame)
            if is_symbolic(value):
                value = self.truth(value, "while", "PGR102", node.test, frame)
            holder["pred"] = self.running(value, carried)
            return None
            yield

        cond = yield from self.side(test, birth, known)
        cond_params = holder["params"]

        def body() -> Run:
            holder["params"] = carried.enter()
            self.eval(node.test, frame)
            status = yield from self.block(node.body, frame)
            holder["results"] = carried.leave(status)
            return status

        turn = yield from self.side(body, birth, known)
        if carried.extend(turn):
            return None
        results = holder["results"]
        if results is None:
            return None
        inits = carried.inits()
        if any(i.type != r.type for i, r in zip(inits, results, strict=True)):
            return None if carried.widen(inits, results) else False
        used = _used(turn.nodes, results)
        shared = carried.aliases(frozenset().union(*frame.live[:-1], frame.scope.shared), birth, used)
        if shared is None:
            raise Unsupported(
                "this while loop writes into an array that another name shares in some turns only",
                span=span,
                hint="take a copy before the loop, or write into one array by its own name",
            )
        outs = tuple(Var(i.type, n) for i, n in zip(inits, carried.names(), strict=True))
        builder.append(
            While(
                outs=outs,
                inits=tuple(inits),
                cond=Block(tuple(cond_params), tuple(cond.nodes), (atom_of(holder["pred"]),)),
                body=Block(tuple(holder["params"]), tuple(turn.nodes), tuple(results)),
                span=span,
                section=builder.section,
                helper=builder.helper,
            )
        )
        carried.finish(outs)
        carried.link(shared)
        return _DONE

    def running(self: Walker, test: Any, carried: Carried) -> Any:
        """The loop's test, and that it was not left."""
        test = test if isinstance(test, Value) else bool(test)
        for flag in carried.flags:
            going = call("numpy.logical_not", Scalar(carried.current[flag]))
            test = going if test is True else call("numpy.logical_and", going, test)
        return test


def _used(nodes: list[Any], results: list[Any]) -> set[Any]:
    """What a turn reads."""
    return {*(v for node in nodes for v in node_vars(node)), *(r for r in results if isinstance(r, Var))}


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


_DONE: Any = object()


def _without_break(status: Status) -> Status:
    if status is None:
        return None
    rest = {k: v for k, v in status.items() if k not in ("break", "continue")}
    return rest or None
