"""torch's modules: their parameters, their modes, and ``functional_call``, which runs one with parameters given to it."""

from __future__ import annotations

import ast

from .heap import Args
from .libraries.torch import MODULE_RETURNS, PARAMETRIC, STORED
from .python_calls import PythonCalls
from .values import ANY, CLEAN, NONE, Batch, Cell, ClassOf, Lib, Ref, Static, Trail, Tuple, Value

PARAMETER, BUFFER = STORED


class TorchModules(PythonCalls):
    """Modules of ``torch.nn`` and the user's classes derived from them."""

    def is_module(self, cls: Value | None, room: int = 6) -> bool:
        if isinstance(cls, Lib):
            return cls.name.startswith("torch.nn.")
        return isinstance(cls, ClassOf) and room > 0 and any(self.is_module(b, room - 1) for b in cls.bases)

    def module_method(self, base: Value, node: ast.Call) -> Value | None:
        """A method that every module has, unless the class has its own: ``to``, ``cuda``, ``register_buffer``."""
        assert isinstance(node.func, ast.Attribute)
        name = node.func.attr
        if name not in MODULE_RETURNS and name not in ("register_buffer", "register_parameter"):
            return None
        found = [(ref, c) for ref, c in self.cells(base) if c.kind == "object"]
        if not found or not all(
            self.is_module(c.cls) and isinstance(c.cls, ClassOf) and self.in_class(c.cls, name) is None for _, c in found
        ):
            return None
        args = self.arguments(node)
        if name in MODULE_RETURNS:
            return base
        key, value = args.get(0, "name"), args.get(1, "tensor") or args.get(1, "param")
        if isinstance(key, Static) and isinstance(key.const, str) and value is not None and value != NONE:
            kept = self.stored(value, BUFFER if name == "register_buffer" else PARAMETER, node)
            for ref, _ in found:
                cell = self.heap[ref.id]
                self.heap[ref.id] = cell._replace(items={**cell.items, f".{key.const}": kept})
        return NONE

    def stored(self, value: Value, kind: str, node: ast.AST) -> Value:
        """A parameter or buffer: a tensor that ``functional_call`` replaces."""
        return self.new((node, kind), Cell("array", self.deep(value), self.depth, cls=Lib(kind), library="torch"))

    def functional_call(self, args: Args, node: ast.AST) -> Value:
        module = args.get(0, "module") or ANY
        given = args.get(2, "args")
        inner = Args()
        if isinstance(given, Tuple):
            inner.positional = list(given.items)
            inner.nodes = [None] * len(given.items)
        elif given is not None and given != NONE:
            inner.positional, inner.nodes = [given], [args.node(2, "args")]
        batch = self.deep_all(args)
        result: Value = ANY
        if any(c.kind in ("object", "lib") for _, c in self.cells(module)):
            replaced = self.replace(module, args.get(1, "parameter_and_buffer_dicts") or ANY, node)
            result = self.call(module, inner, node)
            for ref, old in replaced:
                self.heap[ref.id] = self.heap[ref.id]._replace(batch=old)
        return self.any((node, "output"), batch | self.deep(result))

    def replace(self, module: Value, given: Value, node: ast.AST) -> list[tuple[Ref, Batch]]:
        """Let a module's parameters and buffers differ as those given do; what they were is returned, to be put back."""
        dicts = given.items if isinstance(given, Tuple) else (given,)
        batches = {PARAMETER: self.deep(dicts[0]), BUFFER: self.deep(dicts[-1])}
        out: list[tuple[Ref, Batch]] = []
        for ref, name, c in self.tensors_of(module):
            kind = c.cls.name if isinstance(c.cls, Lib) and c.cls.name in batches else PARAMETER
            batch = self.given_as(dicts, name) if c.kind == "array" else None
            batch = batches[kind] if batch is None else batch
            if batch.any & ~c.batch.any:
                out.append((ref, c.batch))
                self.heap[ref.id] = c._replace(batch=c.batch | batch)
                source = node.args[1] if isinstance(node, ast.Call) and len(node.args) > 1 else None
                previous = self.trail(source) if source is not None else None
                self.origins[ref.id] = Trail(self.span(node), f"functional_call replaces {name or 'the parameters'}", name, previous)
        return out

    def given_as(self, dicts: tuple[Value, ...], name: str) -> Batch | None:
        """How a parameter of this name differs, where the dicts are known entry by entry."""
        for d in dicts:
            c = self.cell(d)
            if c is None or c.kind != "dict" or c.rest is not None:
                return None
            for key, value in c.items.items():
                if str(key).rpartition(".")[2] == name:
                    return self.deep(value)
        return CLEAN

    def tensors_of(self, value: Value, name: str = "", room: int = 6) -> list[tuple[Ref, str, Cell]]:
        """The parameters and buffers of a module and of all modules in it, and the library's layers that have some."""
        out: list[tuple[Ref, str, Cell]] = []
        for ref, c in self.cells(value):
            kind = c.cls.name if isinstance(c.cls, Lib) else ""
            if (c.kind == "array" and kind in STORED) or (c.kind == "lib" and kind.rpartition(".")[2].startswith(PARAMETRIC)):
                out.append((ref, name, c))
            if c.kind in ("object", "lib", "list", "dict") and room:
                for key, v in c.items.items():
                    out += self.tensors_of(v, str(key).removeprefix("."), room - 1)
                if c.rest is not None:
                    out += self.tensors_of(c.rest, name, room - 1)
        return out
