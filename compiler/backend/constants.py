"""Known arrays that do not fit into an expression: statements before the function, as a person would write them, so that the source
stands alone."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Any

from ..core.program import Apply, Atom, Const, Program, Var
from .buffers import plan
from .fold import fold
from .literals import computed, digits, literal
from .lower import Lowering
from .names import assign, tidy
from .render import Rendering
from .tree import Bind


class Definitions:
    """``statements`` give the constants their ``names``; ``handed`` are arrays that are too big for that, to be put in the namespace."""

    def __init__(self, constants: Mapping[Var, Const], reserved: Iterable[str]) -> None:
        self.nodes: list[Apply] = []
        self.atoms: dict[Const, Atom] = {}
        written = {v: self.atom(c) for v, c in constants.items() if computed(c) or digits(c)}
        self.names: dict[Var, str] = {}
        self.statements = self.printed(written, list(reserved))
        taken = {*reserved, *self.names.values()}
        self.handed: dict[str, Any] = {}
        for v, c in constants.items():
            if v not in written:
                base = tidy(v.name) or "constant"
                name = next(n for n in (base, *(f"{base}_{i}" for i in range(1, len(taken) + 2))) if n not in taken)
                taken.add(name)
                self.names[v] = name
                self.handed[name] = c.value

    def atom(self, c: Const) -> Atom:
        """A constant as the result of its ops, which are noted, or as its digits."""
        if c in self.atoms:
            return self.atoms[c]
        found: Atom | None = c if literal(c) is not None else None
        if found is None and c.made is not None and computed(c):
            found = Var(c.type, c.name)
            args = tuple(map(self.atom, c.made.args))
            self.nodes.append(Apply(outs=(found,), op=c.made.op, args=args, params=c.made.params))
        if found is None:
            found = digits(c)
            assert found is not None
        self.atoms[c] = found
        return found

    def printed(self, written: Mapping[Var, Atom], reserved: list[str]) -> list[ast.stmt]:
        if not written:
            return []
        lowering = Lowering(Program((), tuple(self.nodes), tuple(written.values())))
        *body, last = lowering.run()
        results: list[Var] = []
        for v, x in zip(written, last.operands, strict=True):
            if isinstance(x, Var) and x not in results:
                results.append(x)
            else:
                results.append(Var(v.type, v.name))
                body.append(Bind(targets=results[-1:], operands=[x]))
        for s in body:
            if isinstance(s, Bind) and s.targets[0] in results:
                s.fixed = True
        last.operands = [*results]
        body.append(last)
        fold(body, lambda v: v.name or "constant", ())
        plan(body, [], in_place=True)
        preferred = {x: v.name or "constant" for v, x in zip(written, results, strict=True)}
        names = assign(body, {}, lambda v: preferred.get(v) or lowering.names.get(v) or v.name or "", reserved)
        self.names = {v: names[x] for v, x in zip(written, results, strict=True)}
        return Rendering(names, {}).block(body[:-1])


__all__ = ["Definitions"]
