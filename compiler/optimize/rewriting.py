"""Going through a program once, in order, with blocks nested in blocks: what the passes of this folder have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..core.builder import Builder
from ..core.program import Apply, Atom, Block, Const, Effect, For, If, Node, Program, Var, While


class Rewriting:
    """Rebuilds a program. A pass overrides ``rewrite``; variables that are not replaced keep their identity and name.

    ``makers`` has the Apply that assigned each variable so far; ``b`` is the builder at work, so that rules record by computing.
    """

    def __init__(self) -> None:
        self.b = Builder()
        self.values: dict[Var, Atom] = {}
        self.makers: dict[Var, Apply] = {}

    def program(self, program: Program) -> Program:
        with self.b.active():
            new = self.block(program)
        assert isinstance(new, Program)
        return new

    def rewrite(self, node: Node) -> Sequence[Atom] | None:
        """What replaces the results of a node whose operands are up to date; None keeps the node."""
        return None

    def enter(self, block: Block) -> None:
        """Before the nodes of a block; ``leave`` after them."""

    def leave(self, block: Block) -> None:
        pass

    def block(self, block: Block) -> Block:
        with self.b.block() as body:
            self.enter(block)
            for node in block.body:
                self.visit(node, body)
            self.leave(block)
        return replace(block, body=tuple(body), results=self.atoms(block.results))

    def visit(self, node: Node, body: list[Node]) -> None:
        node = self.updated(node)
        before = len(body)
        with self.b.stamped(span=node.span, section=node.section, helper=node.helper):
            new = self.rewrite(node)
        if new is None:
            del body[before:]
            body.append(node)
        else:
            for v, a in zip(node.outs, new, strict=True):
                self.values[v] = a
                if isinstance(a, Var) and a.name is None and any(a in made.outs for made in body[before:]):
                    a.name = v.name
        for made in body[before:]:
            if isinstance(made, Apply):
                self.makers.update((v, made) for v in made.outs)

    def atom(self, a: Atom) -> Atom:
        return a if isinstance(a, Const) else self.values.get(a, a)

    def atoms(self, atoms: tuple[Atom, ...]) -> tuple[Atom, ...]:
        return tuple(self.atom(a) for a in atoms)

    def updated(self, node: Node) -> Node:
        """The node with replaced operands and rewritten blocks."""
        match node:
            case If():
                return replace(node, pred=self.atom(node.pred), then=self.block(node.then), orelse=self.block(node.orelse))
            case For():
                length = self.atom(node.length) if isinstance(node.length, (Var, Const)) else node.length
                return replace(node, length=length, inits=self.atoms(node.inits), xs=self.atoms(node.xs), body=self.block(node.body))
            case While():
                return replace(node, inits=self.atoms(node.inits), cond=self.block(node.cond), body=self.block(node.body))
            case Apply() | Effect():
                args = self.atoms(node.args)
                return node if all(a is b for a, b in zip(args, node.args)) else replace(node, args=args)
        raise TypeError(type(node).__name__)

    def maker(self, a: Atom, *names: str) -> Apply | None:
        """The op that computed an atom, if it is one of these (any without names)."""
        made = None if isinstance(a, Const) else self.makers.get(a)
        return made if made is not None and (not names or made.op in names) else None
