"""What holds of every Program: checked after each pass in the tests, and of no interest to users.

Each variable is assigned once and read only where it is in scope; each op is in the table and its declared types are what its entry
infers; the parameters, results and outs of branches and loops agree in dtype, shape and weakness.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import PergradError
from ..ops import table
from .program import Apply, Atom, Block, Const, Effect, For, If, Node, Program, Var, While
from .types import Type


class InvalidProgram(PergradError):
    """A pass made a Program that breaks an invariant: a fault of the compiler, not of the user's function."""

    code = "PGR799"


def verify(program: Program) -> None:
    """Raise InvalidProgram at the first broken invariant."""
    _Verifier(program).block(program, "the program")
    for name, (parameter, axis) in program.sizes.items():
        if parameter >= len(program.params) or axis >= program.params[parameter].type.ndim:
            raise InvalidProgram(f"size {name} is read at axis {axis} of parameter {parameter}, which does not exist")


class _Verifier:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.assigned: set[Var] = set()
        self.scope: set[Var] = set()

    def fail(self, message: str, node: Node | None = None) -> None:
        raise InvalidProgram(f"{self.program.name}: {message}", span=node.span if node else None)

    def assign(self, variables: Sequence[Var], node: Node | None = None) -> None:
        for v in variables:
            if v in self.assigned:
                self.fail(f"{v!r} is assigned twice", node)
            self.assigned.add(v)
            self.scope.add(v)

    def read(self, atoms: Sequence[Atom], where: str, node: Node | None = None) -> None:
        for a in atoms:
            if not isinstance(a, Const) and a not in self.scope:
                self.fail(f"{where} reads {a!r}, which is {'out of scope' if a in self.assigned else 'not assigned'} there", node)

    def block(self, block: Block, where: str) -> None:
        outer = set(self.scope)
        self.assign(block.params)
        for node in block.body:
            self.node(node)
            self.assign(node.outs, node)
        self.read(block.results, f"the result of {where}")
        self.scope = outer

    def node(self, node: Node) -> None:
        match node:
            case Apply():
                self.read(node.args, node.op, node)
                self.apply(node)
            case Effect():
                self.read(node.args, node.kind, node)
            case If():
                self.branch(node)
            case For():
                self.for_loop(node)
            case While():
                self.while_loop(node)
            case _:
                self.fail(f"{type(node).__name__} is no node", node)

    def apply(self, node: Apply) -> None:
        entry = table.find(node.op)
        if entry is None or entry.infer is None:
            self.fail(f"{node.op} is {'not in the table' if entry is None else 'no primitive'}", node)
            return
        types = [a.type for a in node.args]
        try:
            inferred = entry.infer(types, dict(node.params))
        except (ValueError, TypeError) as error:
            self.fail(f"{node.op}({', '.join(map(str, types))}) {dict(node.params)}: {error}", node)
            return
        expected = inferred if isinstance(inferred, tuple) else (inferred,)
        self.count(node, len(expected), f"results of {node.op}")
        for v, t in zip(node.outs, expected):
            # arithmetic of Python scalars stays a Python scalar, which infer cannot know
            of_scalars = v.type.weak and v.type.dtype == t.dtype and all(s.weak or s.dtype.kind == "b" for s in types)
            if v.type != t and not of_scalars:
                self.fail(f"{v!r} = {node.op}({', '.join(map(str, types))}): declared {describe(v.type)}, inferred {describe(t)}", node)

    def branch(self, node: If) -> None:
        self.read([node.pred], "if", node)
        if node.pred.type.shape != ():
            self.fail(f"the test of an if has shape {node.pred.type.shape}", node)
        for name, block in (("then", node.then), ("else", node.orelse)):
            if block.params:
                self.fail(f"the {name} branch has parameters", node)
            self.block(block, f"the {name} branch")
            self.agree(node, [r.type for r in block.results], [v.type for v in node.outs], f"{name} results", "outs")

    def for_loop(self, node: For) -> None:
        length = node.length.type if isinstance(node.length, (Var, Const)) else None
        if length is not None:
            self.read([node.length], "for", node)  # type: ignore[list-item]
            if length.shape != () or length.dtype.kind not in "iu":
                self.fail(f"the length of a for is {describe(length)}", node)
        self.read([*node.inits, *node.xs], "for", node)
        n = node.carried
        if len(node.body.params) != 1 + n + len(node.xs):
            self.fail(f"a for with {n} carries and {len(node.xs)} xs has {len(node.body.params)} parameters", node)
        index, *params = (p.type for p in node.body.params)
        if index.shape != () or index.dtype.kind not in "iu":
            self.fail(f"the index of a for is {describe(index)}", node)
        self.block(node.body, "a for")
        results = [r.type for r in node.body.results]
        self.carries(node, [a.type for a in node.inits], params[:n], results)
        for x, p in zip(node.xs, params[n:]):
            self.slice_of(node, x.type, p, f"xs {x!r}")
            if length is None and x.type.shape and x.type.shape[0] != node.length:
                self.fail(f"xs {x!r} has not the loop's length {node.length}", node)
        self.stacked(node, results)
        for v in node.outs[n:]:
            if length is None and v.type.shape[0] != node.length:
                self.fail(f"ys {v!r} has not the loop's length {node.length}", node)

    def while_loop(self, node: While) -> None:
        self.read(node.inits, "while", node)
        self.block(node.cond, "the test of a while")
        if len(node.cond.results) != 1 or node.cond.results[0].type.shape != ():
            self.fail("the test of a while is not one scalar", node)
        self.block(node.body, "a while")
        inits = [a.type for a in node.inits]
        results = [r.type for r in node.body.results]
        self.agree(node, [p.type for p in node.cond.params], inits, "parameters of the test", "inits")
        self.carries(node, inits, [p.type for p in node.body.params], results)
        self.stacked(node, results, int(node.counted))
        if node.counted and (node.outs[-1].type.shape != () or node.outs[-1].type.dtype.kind not in "iu"):
            self.fail(f"the trip count of a while is {describe(node.outs[-1].type)}", node)

    def carries(self, node: For | While, inits: Sequence[Type], params: Sequence[Type], results: Sequence[Type]) -> None:
        n = node.carried
        self.agree(node, params, inits, "carried parameters", "inits")
        self.agree(node, results[:n], inits, "carried results", "inits")
        self.agree(node, [v.type for v in node.outs[:n]], inits, "outs", "inits")

    def stacked(self, node: For | While, results: Sequence[Type], extra: int = 0) -> None:
        self.count(node, len(results) + extra, "results of the body")
        for v, t in zip(node.outs[node.carried : len(results)], results[node.carried :]):
            self.slice_of(node, v.type, t, f"ys {v!r}")

    def slice_of(self, node: Node, whole: Type, part: Type, what: str) -> None:
        if not whole.shape or whole.shape[1:] != part.shape or whole.dtype != part.dtype:
            self.fail(f"{what} does not stack {describe(part)}", node)

    def count(self, node: Node, expected: int, what: str) -> None:
        if len(node.outs) != expected:
            self.fail(f"{len(node.outs)} variables for {expected} {what}", node)

    def agree(self, node: Node, given: Sequence[Type], wanted: Sequence[Type], what: str, with_what: str) -> None:
        if len(given) != len(wanted):
            self.fail(f"{len(given)} {what} for {len(wanted)} {with_what}", node)
        for k, (a, b) in enumerate(zip(given, wanted)):
            if (a.dtype, a.shape, a.weak) != (b.dtype, b.shape, b.weak):
                self.fail(f"{what} {k} is {describe(a)}, {with_what} {k} is {describe(b)}", node)


def describe(t: Type) -> str:
    """A type with what its short form leaves out."""
    return f"{t} scalar" if t.scalar and not t.weak else str(t)


__all__ = ["InvalidProgram", "describe", "verify"]
