"""A rule: watches one kind of node or event inside mapped functions and says what is wrong there.

A rule is a class in a file of ``rules/``; it is found by its class. A method ``visit_If`` is asked at every ``if``, after its test was
evaluated; ``visit_call``, ``visit_write``, ``visit_draw`` and others at events that are no single kind of node.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from .modules import Module
from .values import Batch, Root, Value

if TYPE_CHECKING:
    from .execute import Executor
    from .external import Call


class Finding(NamedTuple):
    """What a rule says of a node; ``about`` are the nodes whose trail explains it."""

    node: ast.AST
    message: str
    sure: bool
    help: str
    about: tuple[ast.AST | None, ...]
    module: Module | None = None
    severity: str = ""


class Facts:
    """What a rule may ask."""

    def __init__(self, machine: Executor) -> None:
        self.machine = machine
        self.reported: dict[tuple[str, ast.AST], bool] = {}

    @property
    def library(self) -> str:
        """ "numpy" under pergrad, "torch" or "jax": whose rules hold."""
        return self.machine.library

    @property
    def where(self) -> str:
        """The name under which ``where`` and its like are commonly known."""
        return {"torch": "torch", "jax": "jnp"}.get(self.library, "np")

    def value(self, node: ast.AST) -> Value | None:
        return self.machine.values.get(node)

    def batched(self, node: ast.AST | Value | None) -> Batch:
        """Over what an array differs. Containers are not batched, whatever they hold."""
        return self.machine.batch(self.value(node) if isinstance(node, ast.AST) else node)

    def holds(self, node: ast.AST | Value | None) -> Batch:
        """The same, with what containers hold."""
        return self.machine.deep(self.value(node) if isinstance(node, ast.AST) else node)

    def boolean(self, node: ast.AST) -> bool:
        """Whether a value is an array of truth values."""
        value = self.value(node)
        return value is not None and self.machine.is_boolean(value)

    def seen(self, node: ast.AST) -> bool:
        """Whether a part of the node has been reported already, as surely as it would be now."""
        file = self.machine.frames[-1].module.file
        found = [self.reported[file, part] for part in ast.walk(node) if (file, part) in self.reported]
        return any(found) or (bool(found) and not self.machine.sure)

    def text(self, node: ast.AST, limit: int = 60) -> str:
        """The source text of a node."""
        text = ast.unparse(node)
        return text if len(text) <= limit else text[: limit - 1] + "…"


class Rule:
    """One rule. The docstring says what it does and why; ``bad`` and ``good`` are whole programs, and tests."""

    code: ClassVar[str] = ""
    name: ClassVar[str] = ""
    bad: ClassVar[str] = ""
    good: ClassVar[str] = ""

    def finding(
        self,
        node: ast.AST,
        message: str,
        batch: Batch | None = None,
        *,
        help: str = "",
        about: tuple[ast.AST | None, ...] = (),
        **more: Any,
    ) -> Finding:
        """A finding at a node: proven where the value is surely batched, likely otherwise."""
        sure = more.pop("sure", None)
        if sure is None:
            sure = bool(batch.yes) if batch is not None else True
        return Finding(node, message, sure, help, about or (node,), **more)

    @classmethod
    def hooks(cls) -> Iterator[tuple[str, str]]:
        for attribute in dir(cls):
            if attribute.startswith("visit_"):
                yield attribute.removeprefix("visit_"), attribute


class ValueLeaves(Rule):
    """A rule for calls that the libraries' data marks with its code: the operand is batched, or a parameter is that must not be."""

    what: ClassVar[str] = "needs the value"

    def visit_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        fact = call.fact
        if fact is None or call.host:
            return
        if fact.rejected == self.code and not self.excused(call):
            batch = facts.machine.deep_all(call.args, call.owner)
            if batch.any:
                yield self.finding(call.node, self.message(call, facts), batch, help=self.help(call, facts))
                return
        for node, value in self.parameters(call):
            batch = facts.holds(value)
            if batch.any:
                yield self.finding(node or call.node, self.parameter_message(call, node, facts), batch, help=self.help(call, facts))
                return

    def excused(self, call: Call) -> bool:
        """A parameter was given that makes the result's shape known (``size=``)."""
        from .values import Static

        fact = call.fact
        assert fact is not None
        for name in fact.unless:
            position = fact.parameters.index(name) if name in fact.parameters else None
            value = call.args.get(position, name)
            if value is not None and not (isinstance(value, Static) and value.const is None):
                return True
        return False

    def parameters(self, call: Call) -> Iterator[tuple[ast.AST | None, Value]]:
        """The arguments whose parameter carries this rule's code."""
        fact = call.fact
        assert fact is not None
        if self.code not in fact.static.values() or self.excused(call):
            return
        star = next((i for i, p in enumerate(fact.parameters) if p.startswith("*")), None)
        for i, value in enumerate(call.args.positional):
            at = star if star is not None and i >= star else i
            name = fact.parameters[at].lstrip("*") if at < len(fact.parameters) else ""
            if fact.static.get(name) == self.code:
                yield call.args.node(i), value
        for name, value in call.args.keywords.items():
            if fact.static.get(name) == self.code:
                yield call.args.kwnodes.get(name), value

    def message(self, call: Call, facts: Facts) -> str:
        return f"data-dependent: `{facts.text(call.node)}` {self.what}, which differs between samples"

    def parameter_message(self, call: Call, node: ast.AST | None, facts: Facts) -> str:
        value = f"`{facts.text(node)}`" if node is not None else "an argument"
        return f"data-dependent shape: {value} in `{facts.text(call.node)}` differs between samples"

    def help(self, call: Call, facts: Facts) -> str:
        return call.fact.hint if call.fact is not None else ""


def state_name(root: Root, name: str) -> str:
    return root.name or name


def as_where(test: ast.expr, yes: ast.expr, no: ast.expr, where: str) -> str:
    return f"{where}.where({ast.unparse(test)}, {ast.unparse(yes)}, {ast.unparse(no)})"


HOOK = Callable[[Any, Facts], Iterator[Finding]]
