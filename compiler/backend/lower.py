"""From a Program to the statements of a function.

Loops and branches get the assignments that the Program leaves implicit: carried values before a loop and at the end of its body, joined
values at the end of each branch, stacked values into an array that is filled by index.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..core.builder import expression
from ..core.program import Apply, Atom, Block, Const, Effect, For, If, Node, Program, Var, While, blocks_of, reads, walk
from ..core.types import Dim, Size, Type, ragged
from ..errors import Span, Unsupported
from ..ops import table
from ..ops.indexing import Slot
from .alias import is_cheap, sharing
from .literals import dtype_keyword, literal
from .tree import (
    Act,
    Append,
    Bind,
    Branch,
    Loop,
    Move,
    Operand,
    Repeat,
    Return,
    Statement,
    Store,
    Test,
    Tree,
    Under,
    Write,
    each,
    template,
    variables,
)

Stacks = dict[Atom, list[Callable[[], Statement]]]

_INT = Type(np.dtype(np.int64), (), weak=True, scalar=True)
_HINTS = {
    **dict.fromkeys(("less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "logical_and", "logical_or"), "mask"),
    "sum": "total",
    "mean": "mean",
    "exp": "e",
    "max": "top",
    "min": "least",
    "sqrt": "root",
    "arange": "rows",
    "sign": "sign",
    "argmax": "best",
    "argsort": "order",
    "linalg.norm": "norm",
    "eye": "identity",
    "log": "log",
}
_SIZE_NAMES = {"B": "batch"}


class Lowering:
    """Statements of a Program; ``constants`` are the arrays that the function finds in its namespace, ``names`` the names that loops
    prefer for what they carry, ``random`` the statements that draw numbers."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.constants: dict[Var, Const] = {}
        self.names: dict[Var, str] = {}
        self.random: set[Bind] = set()
        self._env: dict[Var, Var] = {}
        self._counting: set[Atom] = set()
        self._known: dict[Any, Var] = {}
        self._sizes: dict[str, Var] = {}
        self._scope: dict[str, tuple[Var, int]] = {}
        self._masks: dict[str, list[Atom]] = {}
        self._made: dict[Atom, None] = {}
        self._span: Span | None = None
        self._top: list[Statement] = []
        self._lists = _only_sliced(program)
        self._moved: dict[Atom, Apply] = {}

    def run(self) -> list[Statement]:
        self._block(self.program, self._top, {})
        self._top.append(Return(operands=[self._value(r) for r in self.program.results]))
        return self._top

    # operands

    def _var(self, v: Var) -> Var:
        return self._env.get(v, v)

    def _operand(self, a: Atom) -> Operand:
        """An atom inside an expression: arrays that are known have a name of their own."""
        if isinstance(a, Var):
            return self._var(a)
        return a if not isinstance(a.value, np.ndarray) and a.recipe is None else self._named(a)

    def _value(self, a: Atom) -> Operand:
        """An atom assigned or returned as a whole: printing a known array makes a new one."""
        if isinstance(a, Var) or literal(a) is None:
            return self._operand(a)
        return a

    def _named(self, c: Const) -> Var:
        text = literal(c)
        key = (text, c.type) if text is not None else (c.value.tobytes(), c.type)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Var(c.type, c.name)
            if text is None:
                self.constants[found] = c
            else:
                self._top.append(Bind(targets=[found], operands=[c]))
        return found

    def _size(self, name: str) -> Operand:
        """A size known at run time: of a parameter, of what a loop has stacked, or of what a mask selects."""
        if name not in self.program.sizes:
            mask = next((m for m in self._masks.get(name, ()) if isinstance(m, Const) or m in self._made), None)
            if name not in self._scope and mask is not None:
                return self._tree("np.count_nonzero(_0)", [self._operand(mask)], _INT)
            if name not in self._scope:
                raise Unsupported(
                    "how many elements a mask selects is needed where the mask is not known any more",
                    code="PGR702",
                    span=self._span,
                    hint="reduce what it selects at once: np.sum(x[mask])",
                )
            v, axis = self._scope[name]
            return self._tree("len(_0)" if axis == 0 else f"_0.shape[{axis}]", [v], _INT)
        found = self._sizes.get(name)
        if found is None:
            index, axis = self.program.sizes[name]
            param = self.program.params[index]
            source = "len(_0)" if axis == 0 else f"_0.shape[{axis}]"
            found = self._sizes[name] = Var(_INT, _SIZE_NAMES.get(name, name))
            self._top.insert(0, Bind(targets=[found], operands=[Tree(template(source), {"_0": param}, _INT)]))
        return found

    def _see(self, variables: Iterable[Var], rows: bool = True) -> None:
        """Remember where sizes that only loops and masks know can be read; ``rows``: a list of rows perhaps."""
        for v in variables:
            self._made[v] = None
            for axis, d in enumerate(v.type.shape):
                if axis and rows and self._ragged(v.type):
                    break
                if isinstance(d, Size) and d.symbol and d.symbol not in self.program.sizes:
                    self._scope[d.symbol] = self._var(v), axis

    def _count(self, node: Node) -> None:
        """Remember which mask selects as many elements as a size says."""
        if isinstance(node, Apply) and node.op == "pergrad.nonzero":
            self._masks.setdefault(node.params["count"].names[0], []).append(node.args[0])
        elif isinstance(node, Apply) and "index" in node.params:
            first = 1 if node.op == "pergrad.getitem" else 2
            for item in node.params["index"]:
                if isinstance(item, Slot) and isinstance(item.count, Size):
                    self._masks.setdefault(item.count.names[0], []).append(node.args[first + item.k])

    def _ragged(self, t: Type) -> bool:
        """Whether a stack has rows that differ in shape, and so must be a list."""
        return any(isinstance(d, Size) and any(n not in self.program.sizes for n in d.names) for d in t.shape[1:])

    def _dim(self, d: Dim | Atom) -> Operand:
        match d:
            case int():
                return Const(d)
            case Size():
                return self._tree(str(d), [], _INT)
        return self._operand(d)

    def _tree(self, source: str, operands: Sequence[Operand], type: Any, hint: str = "") -> Tree:
        """The expression of ``source`` with its placeholders and size names filled in."""
        t = template(source)
        filled: dict[str, Operand] = {f"_{i}": x for i, x in enumerate(operands) if f"_{i}" in t.counts}
        for name in t.counts:
            if name not in filled:
                filled[name] = self._size(name)
        aliases: tuple[str, ...] = ()
        readonly = False
        if type is not None and not (isinstance(type, Type) and type.scalar):
            found, readonly = sharing(t)
            kept = [name for name, indices in found if all(_is_scalar(filled[i]) for i in indices) and not _is_scalar(filled[name])]
            aliases = tuple(dict.fromkeys(kept))
        return Tree(t, filled, type, aliases=aliases, readonly=readonly, cheap=is_cheap(t), hint=hint)

    # blocks

    def _block(self, block: Block, out: list[Statement], stacks: Stacks) -> None:
        """Append the statements of a block; ``stacks`` has what must follow the statement that computes a variable."""
        stack: list[list[Statement]] = [out]
        unders: list[Under] = []
        outer, self._scope = self._scope, dict(self._scope)
        made = len(self._made)
        self._see(block.params)
        for node in block.body:
            self._count(node)
        for node in block.body:
            into = stack[-1]
            if isinstance(node, Effect) and node.kind == "errstate_enter":
                unders.append(Under(payload=node.payload, section=node.section, helper=node.helper))
                stack.append(unders[-1].body)
                continue
            if isinstance(node, Effect) and node.kind == "errstate_exit":
                # only now, since the constants met inside are made before it
                stack.pop()
                stack[-1].append(unders.pop())
                continue
            self._node(node, into)
            self._see(node.outs, rows=not isinstance(node, Apply))
            for v in node.outs:
                into.extend(make() for make in stacks.pop(v, ()))
        self._scope = outer
        while len(self._made) > made:
            self._made.popitem()

    def _node(self, node: Node, out: list[Statement]) -> None:
        start, self._span = len(out), node.span
        match node:
            case Apply(op="pergrad.setitem" | "pergrad.additem"):
                self._write(node, out)
            case Apply():
                self._apply(node, out)
            case If():
                self._if(node, out)
            case For():
                self._for(node, out)
            case While():
                self._while(node, out)
            case Effect():
                args = [self._operand(a) for a in node.args]
                out.append(Act(kind=node.kind, payload=node.payload, operands=args, targets=list(node.outs)))
        for s in out[start:]:
            s.section, s.helper = node.section, node.helper

    def _apply(self, node: Apply, out: list[Statement]) -> None:
        entry = table.find(node.op)
        assert entry is not None, node.op
        if node.op == "pergrad.size" and (name := node.params["size"].symbol) in self.program.sizes:
            found = self._size(name)
            assert isinstance(found, Var)
            self._env[node.outs[0]] = found
            return
        several = len(node.outs) != 1
        type: Any = tuple(v.type for v in node.outs) if several else node.outs[0].type
        source = expression(entry, [a.type for a in node.args], dict(node.params), type)
        tree = self._tree(source, [self._operand(a) for a in node.args], type, _HINTS.get(entry.short, ""))
        bind = Bind(targets=list(node.outs), operands=[tree])
        if node.op == "numpy.arange" or (node.op == "pergrad.nonzero" and len(node.outs) == 1):
            self._counting.add(node.outs[0])
        elif node.op == "numpy.transpose":
            self._moved[node.outs[0]] = node
        if entry.random:
            self.random.add(bind)
        out.append(bind)

    def _write(self, node: Apply, out: list[Statement]) -> None:
        base, value, *arrays = node.args
        entry = table.find("pergrad.getitem")
        assert entry is not None
        place_source = expression(entry, [base.type, *(a.type for a in arrays)], dict(node.params), None)
        target = self._value(base)
        if not isinstance(target, Var):
            fresh = Var(base.type, node.outs[0].name)
            out.append(Bind(targets=[fresh], operands=[target]))
            target = fresh
        place = self._tree(place_source, [target, *map(self._operand, arrays)], None)
        if node.op == "pergrad.setitem":
            how = "set"
        else:
            how = "add" if self._distinct(arrays) else "at"
        out.append(Write(targets=[node.outs[0]], operands=[place, self._operand(value)], how=how))

    def _distinct(self, arrays: Sequence[Atom]) -> bool:
        """Whether index arrays surely name no place twice: numbers, or vectors one of which counts."""
        if any(a.type.dtype == bool for a in arrays):
            return True
        if any(a.type.ndim > 1 for a in arrays):
            return False
        return all(a.type.ndim == 0 for a in arrays) or any(a.type.ndim == 1 and self._counts(a) for a in arrays)

    def _counts(self, a: Atom) -> bool:
        if isinstance(a, Const):
            values = np.asarray(a.value)
            return bool(values.size == 0 or (values.min() >= 0 and len(np.unique(values)) == values.size))
        return a in self._counting

    def _if(self, node: If, out: list[Statement]) -> None:
        branch = Branch(operands=[self._operand(node.pred)], then=[], orelse=[])
        for block, into in ((node.then, branch.then), (node.orelse, branch.orelse)):
            self._block(block, into, {})
            if node.outs:
                into.append(Move(targets=list(node.outs), operands=[self._value(r) for r in block.results]))
        out.append(branch)

    def _for(self, node: For, out: list[Statement]) -> None:
        index, *params = node.body.params
        carries, slices = params[: node.carried], params[node.carried :]
        finals, stacked = node.outs[: node.carried], node.outs[node.carried :]
        length = self._dim(node.length)
        if isinstance(length, Var):
            self._sized([x.type for x in (*stacked, *node.xs)], length)
        surely = isinstance(node.length, int) and node.length > 0
        self._enter(carries, node.inits, finals, out, unread=_unread(carries, node.body) if surely else ())
        body: list[Statement] = []
        stores: Stacks = {}
        for y, result in zip(stacked, node.body.results[node.carried :], strict=True):
            stack = self._tree("[None] * _0", [length], y.type) if self._ragged(y.type) else self._empty(y.type, length)
            out.append(Bind(targets=[y], operands=[stack], fixed=True))
            stores.setdefault(result, []).append(partial(self._store, y, index, result))
        for x, sliced in zip(node.xs, slices, strict=True):
            source = "_0[_1].item()" if sliced.type.weak and x not in self._lists else "_0[_1]"
            body.append(Bind(targets=[sliced], operands=[self._tree(source, [self._operand(x), index], sliced.type)]))
        inside = {v for n in node.body.body for v in n.outs}
        for result in list(stores):
            if result not in inside:
                body.extend(make() for make in stores.pop(result))
        self._block(node.body, body, stores)
        if carries:
            body.append(Move(targets=list(carries), operands=[self._value(r) for r in node.body.results[: node.carried]]))
        loop = Loop(targets=[index], operands=[length], body=body, carried=list(carries), reverse=node.reverse)
        uses = sum(v is index for s in each(body) for x in s.operands for v in variables(x))
        if slices and uses == len(slices) and (len(slices) == 1 or not node.reverse):
            del body[: len(slices)]
            loop.targets, loop.operands, loop.over = list(slices), [self._operand(x) for x in node.xs], True
            self._name_elements(node.xs, slices)
        else:
            for bind, x in zip(body, node.xs, strict=False):
                bind.operands = [self._slice_of_moved(x, index) or bind.operands[0]]
        out.append(loop)

    def _slice_of_moved(self, x: Atom, index: Var) -> Tree | None:
        """One slice along an axis that was only moved to the front for the loop, read where the axis was."""
        moved = self._moved.get(x)
        if moved is None:
            return None
        first, *rest = (a % x.type.ndim for a in moved.params["axes"])
        if rest != sorted(rest):
            return None
        return self._tree(f"_0[{':, ' * first}_1]", [self._operand(moved.args[0]), index], x.type.with_shape(x.type.shape[1:]))

    def _name_elements(self, xs: Sequence[Atom], slices: Sequence[Var]) -> None:
        """One of ``xs`` is an ``x``."""
        for x, element in zip(xs, slices, strict=True):
            name = (isinstance(x, Var) and x.name) or ""
            if element.name is None and name:
                self.names[element] = name[:-1] if name.endswith("s") and len(name) > 1 else f"{name}_row"

    def _store(self, stack: Var, index: Var, value: Atom) -> Statement:
        item = self._operand(value)
        if ragged(stack.type):
            item = self._tree("_0.copy()", [item], value.type)
        return Store(operands=[stack, index, item], targets=[stack])

    def _sized(self, types: Sequence[Type], length: Var) -> None:
        """What the loop stacks or slices is as long as it runs: the size has that name from here on."""
        for t in types:
            size = t.shape[0]
            if isinstance(size, Size) and size.symbol and size.symbol not in self.program.sizes:
                self._sizes[size.symbol] = length

    def _append(self, collected: Var, value: Atom) -> Statement:
        return Append(operands=[collected, self._operand(value)], targets=[collected])

    def _enter(
        self,
        carries: Sequence[Var],
        inits: Sequence[Atom],
        finals: Sequence[Var],
        out: list[Statement],
        unread: Collection[Var] = (),
    ) -> None:
        """Assign the carried variables before a loop, but for those that the loop binds unread; after it they hold what it gives."""
        for carry, final in zip(carries, finals, strict=True):
            self._env[final] = carry
            self.names[carry] = final.name or carry.name or ""
        entering = [(c, self._value(a)) for c, a in zip(carries, inits, strict=True) if c not in unread]
        if entering:
            out.append(Move(targets=[c for c, _ in entering], operands=[value for _, value in entering]))

    def _empty(self, t: Type, length: Operand) -> Tree:
        if ragged(t):
            return self._tree("[None] * _0", [length], t)
        dims = [f"_{i}" for i in range(t.ndim)]
        operands = [length, *(self._dim(d) for d in t.shape[1:])]
        shape = f"({', '.join(dims)})" if len(dims) > 1 else dims[0]
        return self._tree(f"np.empty({shape}{dtype_keyword(t.dtype)})", operands, t)

    def _while(self, node: While, out: list[Statement]) -> None:
        carries = list(node.body.params)
        for v, carry in zip(node.cond.params, carries, strict=True):
            self._env[v] = carry
        finals, rest = node.outs[: node.carried], list(node.outs[node.carried :])
        self._enter(carries, node.inits, finals, out)
        count = rest.pop() if node.counted else None
        body: list[Statement] = []
        appends: Stacks = {}
        lists: list[Var] = []
        for y, result in zip(rest, node.body.results[node.carried :], strict=True):
            kept = y in self._lists or self._ragged(y.type)
            collected = y if kept else Var(y.type, f"{y.name}_list" if y.name else "collected")
            if kept:
                self.names[y] = y.name or "tape"
            lists.append(collected)
            out.append(Bind(targets=[collected], operands=[self._tree("[]", [], y.type)], fixed=True))
            appends.setdefault(result, []).append(partial(self._append, collected, result))
        if count is not None:
            self.names[count] = count.name or "steps"
            out.append(Bind(targets=[count], operands=[Const(0)], fixed=True))
        inside = {v for n in node.body.body for v in n.outs}
        for result in list(appends):
            if result not in inside:
                body.extend(make() for make in appends.pop(result))
        head: list[Statement] = []
        self._block(node.cond, head, {})
        head.append(Test(operands=[self._operand(node.cond.results[0])]))
        self._block(node.body, body, appends)
        moved = [self._value(r) for r in node.body.results[: node.carried]]
        carried = list(carries)
        if count is not None:
            carried.append(count)
        if carries:
            body.append(Move(targets=carries, operands=moved))
        if count is not None:
            body.append(Move(targets=[count], operands=[self._tree("_0 + 1", [count], _INT)]))
        out.append(Repeat(head=head, body=body, carried=carried))
        if count is not None:
            self._sized([y.type for y in rest], count)
        for y, collected in zip(rest, lists, strict=True):
            if y is collected:
                continue
            out.append(Bind(targets=[y], operands=[self._gather(y.type, collected)], fixed=True))

    def _gather(self, t: Type, collected: Var) -> Tree:
        """The stack of a list that may be empty; the list itself where its items differ in shape."""
        if ragged(t):
            return self._tree("_0", [collected], t)
        source = f"np.array(_0{dtype_keyword(t.dtype)})"
        if t.ndim > 1:
            source += f".reshape(len(_0), {', '.join(f'_{i}' for i in range(1, t.ndim))})"
        return self._tree(source, [collected, *(self._dim(d) for d in t.shape[1:])], t)


def _only_sliced(program: Program) -> set[Atom]:
    """What a `while` stacks and later loops read row by row: a list does for it."""
    whiles = [node for node in walk(program) if isinstance(node, While)]
    found: set[Atom] = {y for node in whiles for y in node.outs[node.carried : len(node.outs) - node.counted]}
    for node in walk(program):
        sliced = node.xs if isinstance(node, For) else ()
        found.difference_update(a for a in reads(node) if not any(a is x for x in sliced))
        found.difference_update(r for block in blocks_of(node) for r in block.results)
        if isinstance(node, For):
            found.difference_update(node.inits)
    return found.difference(program.results)


def _is_scalar(x: Operand) -> bool:
    t = x.type
    return isinstance(t, Type) and t.scalar


def _unread(carries: Sequence[Var], body: Block) -> frozenset[Var]:
    """The carried variables that a loop's body does not read."""
    inner = [a for n in walk(body) for a in (*reads(n), *(r for block in blocks_of(n) for r in block.results))]
    return frozenset(carries).difference(inner, body.results)


__all__ = ["Lowering"]
