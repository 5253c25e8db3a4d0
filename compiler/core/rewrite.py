"""Copying nodes with other variables in their place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .program import Apply, Atom, Block, Const, Effect, For, If, Node, Program, Var, While


class Substitution:
    """Copies nodes: variables of the mapping are replaced, variables assigned by the copied nodes become fresh ones."""

    def __init__(self, mapping: Mapping[Var, Atom] | None = None) -> None:
        self.mapping: dict[Var, Atom] = dict(mapping or {})

    def atom(self, a: Atom) -> Atom:
        return a if isinstance(a, Const) else self.mapping.get(a, a)

    def atoms(self, atoms: tuple[Atom, ...]) -> tuple[Atom, ...]:
        return tuple(self.atom(a) for a in atoms)

    def fresh(self, v: Var) -> Var:
        new = Var(v.type, v.name, v.span)
        self.mapping[v] = new
        return new

    def block(self, b: Block) -> Block:
        params = tuple(self.fresh(p) for p in b.params)
        body = tuple(self.node(n) for n in b.body)
        results = self.atoms(b.results)
        if isinstance(b, Program):
            return replace(b, params=params, body=body, results=results)
        return Block(params, body, results)

    def node(self, n: Node) -> Node:
        match n:
            case Apply():
                new: Node = replace(n, args=self.atoms(n.args), outs=())
            case Effect():
                new = replace(n, args=self.atoms(n.args), outs=())
            case If():
                new = replace(n, pred=self.atom(n.pred), then=self.block(n.then), orelse=self.block(n.orelse), outs=())
            case For():
                length = self.atom(n.length) if isinstance(n.length, (Var, Const)) else n.length
                new = replace(n, length=length, inits=self.atoms(n.inits), xs=self.atoms(n.xs), body=self.block(n.body), outs=())
            case While():
                new = replace(n, inits=self.atoms(n.inits), cond=self.block(n.cond), body=self.block(n.body), outs=())
            case _:
                raise TypeError(type(n).__name__)
        return replace(new, outs=tuple(self.fresh(v) for v in n.outs))
