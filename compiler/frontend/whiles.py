"""A ``while`` whose test is symbolic, or that is left by a symbolic condition, becomes a loop of the Program."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from ..core.builder import Value, atom_of, call, current
from ..core.program import Block, Const, Var, While, node_vars
from ..errors import Unsupported
from .carried import Carried
from .cells import Cell, Scalar
from .expressions import is_symbolic
from .frames import Frame, exposed, loads
from .joins import Status
from .source import span_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from .walker import Run, Walker


class Whiles:
    """Mixed into the walker."""

    def run_While(self: Walker, node: ast.While, frame: Frame) -> Run:
        frame.live.append(loads(node))
        try:
            while True:
                before = len(current().nodes)
                test = self.eval(node.test, frame)
                if is_symbolic(test):
                    del current().nodes[before:]
                    return (yield from self.staged_while(node, frame))
                if not self.truthy(test):
                    break
                status = yield from self.block(node.body, frame)
                after, left = self.left(status)
                if left is True:
                    return after
                if left is not None:
                    return without_break((yield from self.unless_left(status, lambda: self.staged_while(node, frame), frame)))
            if node.orelse:
                return (yield from self.block(node.orelse, frame))
            return None
        finally:
            frame.live.pop()

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

    def unless_left(self: Walker, status: Status, go_on: Callable[[], Run], frame: Frame) -> Run:
        """Go on with a loop where a turn did not leave it."""
        status, left = self.left(status)
        if left is None:
            return (yield from go_on())
        if left is True:
            return {"break": (True, None)} if status is None else status
        flag, kind, value, others = left

        def leave() -> Run:
            return {kind: (True, value)}
            yield

        return (yield from self.stage_if(flag, leave, lambda: self.unless_left(others, go_on, frame), frame, frozenset()))

    # a while of the Program

    def staged_while(self: Walker, node: ast.While, frame: Frame, peeled: int = 0) -> Run:
        """Find what the loop carries by walking its body once, then walk test and body with the carried values as parameters."""
        birth = Cell(Const(0)).birth
        known = self.known(frame)
        trial = yield from self.side(lambda: self.loop_body(node, frame), birth, known)
        carried = Carried(self, frame, trial, node, birth, known)
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
                carried.withdraw()
                return (yield from self.peel(node, frame, peeled))
            return (yield from self.otherwise(node, attempt, carried.broken, frame))
        raise Unsupported("what this while loop carries could not be found", span=span_of(node, frame.file))

    def otherwise(self: Walker, node: ast.While, status: Status, broken: Scalar | None, frame: Frame) -> Run:
        """The else of a loop, where it was not left."""
        if not node.orelse:
            return status or None
        left: Status = {**(status or {}), **({} if broken is None else {"break": (broken, None)})}
        return without_break((yield from self.unless_left(left or None, lambda: self.block(node.orelse, frame), frame)))

    def peel(self: Walker, node: ast.While, frame: Frame, peeled: int) -> Run:
        """One turn of the loop as a branch, so that the loop starts with the types that it keeps."""
        test = self.eval(node.test, frame)
        if is_symbolic(test):
            test = self.truth(test, "while", "PGR102", node.test, frame)

        def turn() -> Run:
            status = yield from self.block(node.body, frame)
            return (yield from self.unless_left(status, lambda: self.staged_while(node, frame, peeled + 1), frame))

        def stop() -> Run:
            if node.orelse:
                return (yield from self.block(node.orelse, frame))
            return None

        if not isinstance(test, Value):
            return without_break((yield from (turn() if test else stop())))
        return without_break((yield from self.stage_if(test, turn, stop, frame, frozenset())))

    def loop_body(self: Walker, node: ast.While, frame: Frame) -> Run:
        self.eval(node.test, frame)
        return (yield from self.block(node.body, frame))

    def attempt(self: Walker, node: ast.While, frame: Frame, carried: Carried, birth: int, known: set[int]) -> Any:
        """Walk the loop with what is carried so far; None when more turned out to be carried, False when a type does not hold."""
        builder = current()
        span = span_of(node, frame.file)
        holder: dict[str, Any] = {}
        after = frozenset().union(*frame.live[:-1], frame.scope.shared)
        carried.stand_in(after | exposed([node]))

        def test() -> Run:
            holder["params"] = carried.enter()
            holder["pred"] = self.running(node, carried, frame)
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
        shared = carried.aliases(after, birth, used(turn.nodes, results))
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
        status = carried.finish(outs)
        carried.link(shared)
        return status or {}

    def running(self: Walker, node: ast.While, carried: Carried, frame: Frame) -> Any:
        """The loop's test, and that it was not left: a test that may fail is asked only then."""

        def test() -> Any:
            value = self.eval(node.test, frame)
            if not is_symbolic(value):
                carried.endless = self.truthy(value)
                return carried.endless
            return self.truth(value, "while", "PGR102", node.test, frame)

        going: Any = True
        for flag in carried.flags:
            stays = call("numpy.logical_not", Scalar(carried.current[flag]))
            going = stays if going is True else call("numpy.logical_and", going, stays)
        if going is True:
            return test()
        if any(isinstance(n, (ast.Subscript, ast.Call)) for n in ast.walk(node.test)):
            return self.choose(going, test, lambda: False, frame, "a while loop's test")
        value = test()
        return going if value is True else call("numpy.logical_and", going, value)


def used(nodes: list[Any], results: list[Any]) -> set[Any]:
    """What a turn reads."""
    return {*(v for node in nodes for v in node_vars(node)), *(r for r in results if isinstance(r, Var))}


def without_break(status: Status) -> Status:
    """What a loop's status means around it."""
    rest = {k: v for k, v in (status or {}).items() if k not in ("break", "continue")}
    return rest or None
