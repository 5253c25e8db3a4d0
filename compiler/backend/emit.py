"""A Program as the source of one function.

The order matters: first what the statements are (lowering, folding), then which of them write in place (over the statements as they
will be printed), then names, then text.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.program import Program, Var
from ..core.syntax import parse
from ..core.types import Type
from .alias_classes import AliasClasses
from .buffers import copied, plan
from .constants import Definitions
from .fold import drop_unused, fold
from .lower import Lowering
from .names import assign, tidy
from .printer import Comment, print_module
from .render import Rendering
from .signature import Fixed, Items, Leaf, Parameter, Signature, Template, leaves, paths
from .tree import Act, Bind, Operand, Return, Statement, Tree, each, variables
from .tree import Template as Expression

_LOAD = ast.Load()
_OBJECT = Type(None)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Emitted:
    """``source`` of a module with one function, which finds ``constants`` in its namespace."""

    source: str
    name: str
    constants: Mapping[str, Any]


def emit(program: Program, signature: Signature, *, fold: bool = True, share: bool = True, in_place: bool = True) -> str:
    """The source of a Program as a function. Without ``fold`` every value has a statement of its own, without ``share`` every value has
    a name of its own, without ``in_place`` every write makes a copy; what the function computes is the same, bit for bit."""
    return emit_module(program, signature, fold=fold, share=share, in_place=in_place).source


def emit_module(program: Program, signature: Signature, *, fold: bool = True, share: bool = True, in_place: bool = True) -> Emitted:
    """As ``emit``, with the constants that the source needs."""
    return _Emission(program, signature, fold, share, in_place).run()


class _Emission:
    def __init__(self, program: Program, signature: Signature, fold: bool, share: bool, in_place: bool) -> None:
        self.program = program
        self.signature = signature
        self.folds, self.share, self.in_place = fold, share, in_place
        self.arguments: dict[Var, str] = {}
        self.fixed: dict[Var, str] = {}
        self.keys: dict[Var, Any] = {}

    def run(self) -> Emitted:
        lowering = Lowering(self.program)
        body = lowering.run()
        names = lowering.names

        def preferred(v: Var) -> str:
            return names.get(v) or self.keys.get(v) or v.name or ""

        self.select_results(body)
        drop_unused(body, lowering.random)
        constants: dict[str, Any] = {}
        rendering = Rendering({}, constants)
        body[:0] = self.unpack(body, rendering)
        if self.folds:
            fold(body, lambda v: self.fixed.get(v) or preferred(v) or "t", lowering.random)
        named = [p.name for p in self.signature.parameters] + [self.signature.name]
        definitions = Definitions(lowering.constants, named)
        hoisted = definitions.names
        self.write_back(body)
        plan(body, [*self.program.params, *hoisted], in_place=self.in_place)
        constants.update(definitions.handed)
        fixed = {**self.fixed, **self.arguments, **hoisted}
        reserved = [*named, *constants]
        written = [self.program.params[p] for p, _ in self.signature.written]
        rendering.names = assign(body, fixed, preferred, reserved, share=self.share, always=[*hoisted, *written])
        rendering.locals = frozenset(rendering.names.values()) - frozenset(constants)
        function = ast.FunctionDef(self.signature.name, self.parameters(), self.body(body, rendering), [], None)
        if definitions.statements:
            before = ["", print_module(definitions.statements).rstrip("\n")]
        else:
            before = []
        text = "\n".join([*self.head(constants), *before, "", "", print_module([function])])
        return Emitted(text, self.signature.name, constants)

    def head(self, constants: Mapping[str, Any]) -> list[str]:
        """The import, and a note of each array that is handed over because it is too big to print."""
        notes = [f"# {name}: {v.dtype} of shape {v.shape}" for name, v in constants.items() if isinstance(v, np.ndarray)]
        return ["import numpy as np", *(["", *notes] if notes else [])]

    # arguments

    def parameters(self) -> ast.arguments:
        args = ast.arguments(posonlyargs=[], args=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[])
        for p in self.signature.parameters:
            default = None if p.default is None else parse(p.default, mode="eval").body
            match p.kind:
                case "positional" | "positional_only":
                    (args.args if p.kind == "positional" else args.posonlyargs).append(ast.arg(p.name))
                    if default is not None:
                        args.defaults.append(default)
                case "var_positional":
                    args.vararg = ast.arg(p.name)
                case "var_keyword":
                    args.kwarg = ast.arg(p.name)
                case _:
                    args.kwonlyargs.append(ast.arg(p.name))
                    args.kw_defaults.append(default)
        return args

    def unpack(self, body: list[Statement], rendering: Rendering) -> list[Statement]:
        """Assignments of the arrays that stand inside arguments, as far as they are read."""
        read = {v for s in each(body) for x in s.operands for v in variables(x)}
        read.update(self.program.params[p] for p, _ in self.signature.written)
        out: list[Statement] = []
        for p in self.signature.parameters:
            if isinstance(p.template, Leaf):
                self.fixed[self.program.params[p.template.index]] = p.name
            elif isinstance(p.template, Items):
                out.extend(self.unpack_container(p, read, rendering))
        return out

    def unpack_container(self, p: Parameter, read: set[Var], rendering: Rendering) -> list[Statement]:
        whole = Var(_OBJECT)
        template = p.template
        assert isinstance(template, Items)
        found = [(self.program.params[i], at, keys) for i, at, keys in paths(template, ast.Name("_0", _LOAD), rendering.known)]
        for v, _, keys in found:
            last = keys[-1]
            self.keys[v] = last if isinstance(last, str) and tidy(last) == last else v.name or "_".join([p.name, *map(str, keys)])
        used = [(v, at) for v, at, _ in found if v in read]
        if used:
            self.arguments[whole] = p.name
        plain = template.kind in (tuple, list) and all(isinstance(t, Leaf) for t in template.parts)
        if plain and 1 < len(used) == len(found):
            return [Bind(targets=[v for v, _ in used], operands=[whole], fixed=True)]
        return [Bind(targets=[v], operands=[Tree(Expression(at, {"_0": 1}, 8), {"_0": whole}, v.type)], fixed=True) for v, at in used]

    # results

    def select_results(self, body: list[Statement]) -> None:
        """Keep of the Program's results what the signature returns, once for each place."""
        last = body[-1]
        assert isinstance(last, Return)
        self.results: list[Operand] = list(last.operands)
        self.returned = list(leaves(self.signature.returns))
        last.operands = [self.results[i] for i in self.returned]
        for param, result in self.signature.written:
            body.insert(-1, Act(kind="write_back", operands=[self.program.params[param], self.results[result]]))

    def write_back(self, body: list[Statement]) -> None:
        """Before arguments are written, copy what is read from them afterwards."""
        at = next((i for i, s in enumerate(body) if isinstance(s, Act) and s.kind == "write_back"), None)
        if at is None:
            return
        copies: dict[Var, Var] = {}
        before: list[Statement] = []
        params = set(self.program.params)
        for s in body[at:]:
            for i, x in enumerate(s.operands):
                if (isinstance(s, Act) and i == 0) or not isinstance(x, Var) or x.type.scalar:
                    continue
                if x in params or ((isinstance(s, Return) or len(self.signature.written) > 1) and self.may_alias(body, x, params)):
                    if x not in copies:
                        copies[x] = Var(x.type, x.name)
                        before.append(Bind(targets=[copies[x]], operands=[copied(x)], fixed=True))
                    s.operands[i] = copies[x]
        body[at:at] = before

    def may_alias(self, body: list[Statement], x: Var, params: set[Var]) -> bool:
        classes = AliasClasses.of(body)
        return any(v in params for v in classes.of_var(x))

    def body(self, block: list[Statement], rendering: Rendering) -> list[ast.stmt]:
        *statements, last = block
        self.settle_tangents(block)
        sections = [s.section for s in block if s.section]
        several = len(set(sections)) > 1
        out = rendering.block(statements, sections=several)
        if several and last.section and last.section != sections[-2]:
            out.append(Comment(text=last.section))
        values = iter([rendering.expr(x) for x in last.operands])
        value = self.built(self.signature.returns, values, rendering)
        out.append(ast.Return(value))
        return out

    def settle_tangents(self, block: list[Statement]) -> None:
        """Tangents that are computed beside the values have no section of their own, nor a return by itself."""
        other = [k for k, s in enumerate(block) if s.section != "tangent"]
        last = other[-1] if other else 0
        for s in block if last == len(block) - 2 else block[:last]:
            if s.section == "tangent":
                s.section = ""

    def built(self, t: Template, values: Any, rendering: Rendering) -> ast.expr:
        match t:
            case Leaf():
                found: ast.expr = next(values)
                return found
            case Fixed():
                return rendering.known(t.value)
        parts = [self.built(part, values, rendering) for part in t.parts]
        if t.kind is tuple:
            return ast.Tuple(parts, _LOAD)
        if t.kind is list:
            return ast.List(parts, _LOAD)
        if t.kind is dict:
            return ast.Dict([rendering.known(k) for k in t.keys], parts)
        if t.build is not None:
            name = rendering.constant(f"make_{tidy(t.kind.__name__).lower()}", t.build)
            return ast.Call(ast.Name(name, _LOAD), [ast.List(parts, _LOAD)], [])
        name = rendering.constant(t.kind.__name__, t.kind)
        if t.by_key:
            return ast.Call(ast.Name(name, _LOAD), [ast.Dict([rendering.known(k) for k in t.keys], parts)], [])
        return ast.Call(ast.Name(name, _LOAD), [], [ast.keyword(k, part) for k, part in zip(t.keys, parts, strict=True)])


__all__ = ["Emitted", "emit", "emit_module"]
