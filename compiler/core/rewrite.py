"""Copying nodes with other variables in their place."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .program import Apply, Atom, Block, Const, Effect, For, If, Node, Program, Var, While
from .types import Dim, Size, product


class Substitution:
    """Copies nodes: variables of the mapping are replaced, variables assigned by the copied nodes become fresh ones; so are sizes that have
    a number now, by their names."""

    def __init__(self, mapping: Mapping[Var, Atom] | None = None, sizes: Mapping[str, Dim] | None = None) -> None:
        self.mapping: dict[Var, Atom] = dict(mapping or {})
        self.sizes = dict(sizes or {})

    def atom(self, a: Atom) -> Atom:
        return a if isinstance(a, Const) else self.mapping.get(a, a)

    def atoms(self, atoms: tuple[Atom, ...]) -> tuple[Atom, ...]:
        return tuple(self.atom(a) for a in atoms)

    def fresh(self, v: Var) -> Var:
        new = Var(self.sized(v.type), v.name, v.span)
        self.mapping[v] = new
        return new

    def sized(self, x: Any) -> Any:
        """A type, or what stands in static parameters, with the sizes that it has now."""
        if not self.sizes:
            return x
        if isinstance(x, Size):
            parts = [product([count, *(self.sizes.get(n, Size.named(n)) for n in names)]) for names, count in x.terms]
            return sum(parts) if any(n in self.sizes for n in x.names) else x
        if type(x) in (tuple, list):
            return type(x)(map(self.sized, x))
        if dataclasses.is_dataclass(x) and not isinstance(x, type):
            return replace(x, **{f.name: self.sized(getattr(x, f.name)) for f in dataclasses.fields(x)})
        return x

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
                params = {k: self.sized(v) for k, v in n.params.items()} if self.sizes else n.params
                new: Node = replace(n, args=self.atoms(n.args), params=params, outs=())
            case Effect():
                new = replace(n, args=self.atoms(n.args), outs=())
            case If():
                new = replace(n, pred=self.atom(n.pred), then=self.block(n.then), orelse=self.block(n.orelse), outs=())
            case For():
                length = self.atom(n.length) if isinstance(n.length, (Var, Const)) else self.sized(n.length)
                new = replace(n, length=length, inits=self.atoms(n.inits), xs=self.atoms(n.xs), body=self.block(n.body), outs=())
            case While():
                new = replace(n, inits=self.atoms(n.inits), cond=self.block(n.cond), body=self.block(n.body), outs=())
            case _:
                raise TypeError(type(n).__name__)
        return replace(new, outs=tuple(self.fresh(v) for v in n.outs))
