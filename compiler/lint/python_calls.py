"""Python's own functions: builtins, functools, itertools, operator, math, copy."""

from __future__ import annotations

import ast
import builtins

from .external import External
from .heap import Args
from .values import (
    ANY,
    NONE,
    SLICE,
    UNKNOWN,
    Bound,
    Cell,
    Func,
    Lib,
    Partial,
    Ref,
    Root,
    Static,
    Transformed,
    Tuple,
    Union,
    Value,
    alternatives,
    join,
)


class PythonCalls(External):
    """What Python's functions give back."""

    def call_python(self, name: str, args: Args, node: ast.AST) -> Value:
        """A function of the standard library without a handler of its own."""
        module = name.partition(".")[0]
        if module in ("math", "cmath", "statistics"):
            return ANY
        if module == "random":
            short = name.rpartition(".")[2]
            from .libraries.numpy import DRAWS

            if short == "Random":
                return self.new(node, Cell("lib", depth=self.depth, cls=Lib(name), const_seed=bool(args.positional)))
            if short in DRAWS | {"gauss", "betavariate", "expovariate", "randrange", "sample", "choices", "getrandbits"}:
                self.draw(node, name, "host" if self.library != "numpy" else "library", 0)
            return ANY
        if name in ("copy.copy", "copy.deepcopy") and args.positional:
            return self.copied(args.positional[0], node)
        if module == "operator":
            return self.operator_call(name.rpartition(".")[2], args, node)
        if module == "itertools":
            return self.iterator(name.rpartition(".")[2], args, node)
        if name in ("collections.namedtuple", "typing.NamedTuple"):
            return self.named_tuple(args)
        if module == "collections":
            return self.new(node, Cell("list" if name.endswith("deque") else "dict", depth=self.depth))
        if name in ("typing.cast", "typing.assert_type") and args.positional:
            return args.positional[-1]
        if module == "typing":
            return ANY
        if module == "builtins" and hasattr(builtins, name.rpartition(".")[2]):
            return ANY
        return self.unknown_call(args, node) if self.deep_all(args).any else ANY

    def named_tuple(self, args: Args) -> Value:
        """A class made by ``namedtuple("P", "a b")`` or ``NamedTuple("P", [("a", int)])``, known by its fields."""
        fields = args.get(1, "field_names") or args.get(1, "fields")
        names = self.field_names(fields) if fields is not None else []
        return Lib("namedtuple." + ".".join(names)) if names else ANY

    def field_names(self, value: Value) -> list[str]:
        if isinstance(value, Static) and isinstance(value.const, str):
            return value.const.replace(",", " ").split()
        entries = [v.items[0] if isinstance(v, Tuple) and v.items else v for v in self.known_items(value) or []]
        return [str(v.const) for v in entries if isinstance(v, Static)]

    def make_named(self, name: str, args: Args) -> Value:
        """An instance of a named tuple's class, or one made by its ``_make``."""
        names = name.split(".")[1:]
        if names[-1] == "_make" and args.positional:
            items = self.known_items(args.positional[0])
            return Tuple(tuple(items), tuple(names[:-1])) if items is not None else args.positional[0]
        given = dict(zip(names, args.positional)) | args.keywords
        rest = args.star if args.star is not None else ANY
        return Tuple(tuple(given.get(n, rest) for n in names), tuple(names))

    def operator_call(self, short: str, args: Args, node: ast.AST) -> Value:
        if short in ("itemgetter", "attrgetter", "methodcaller", "index", "truth", "not_", "is_", "is_not", "length_hint"):
            return ANY
        return self.array(node, self.deep_all(args), short in ("lt", "gt", "le", "ge", "eq", "ne"))

    def iterator(self, short: str, args: Args, node: ast.AST) -> Value:
        parts = [self.element(v, node) for v in args.positional]
        if short in ("takewhile", "dropwhile", "filterfalse") and len(args.positional) == 2:
            return self.call_builtins_filter(args, node)
        if short == "compress" and len(parts) == 2:
            self.fire("predicate", (node, parts[1]))
            parts = parts[:1]
        if short in ("product", "zip_longest", "pairwise", "combinations", "permutations"):
            rest: Value = Tuple(tuple(parts)) if short in ("product", "zip_longest") else self.join_all(parts)
            return self.new(node, Cell("list", depth=self.depth, rest=rest))
        return self.new(node, Cell("list", depth=self.depth, rest=self.join_all(parts)))

    def copied(self, value: Value, node: ast.AST) -> Value:
        c = self.cell(value)
        if c is None:
            return value
        return self.new(node, c._replace(depth=self.depth, root=Root("fresh"), base=None))

    # functools

    def call_functools_partial(self, args: Args, node: ast.AST) -> Value:
        if not args.positional:
            return ANY
        return Partial(args.positional[0], tuple(args.positional[1:]), tuple(args.keywords.items()))

    call_functools_partialmethod = call_functools_partial

    def call_functools_reduce(self, args: Args, node: ast.AST) -> Value:
        if len(args.positional) < 2:
            return ANY
        element = self.element(args.positional[1], node)
        start = args.positional[2] if len(args.positional) > 2 else element
        for _ in range(2):
            start = join(start, self.call(args.positional[0], Args([start, element]), node))
        return start

    # builtins

    def call_builtins_len(self, args: Args, node: ast.AST) -> Value:
        items = self.known_items(args.positional[0]) if args.positional else None
        return ANY if items is None or not isinstance(args.positional[0], Tuple) else Static(len(items))

    def static_result(self, args: Args, node: ast.AST) -> Value:
        return ANY

    call_builtins_float = call_builtins_int = call_builtins_bool = call_builtins_complex = static_result
    call_builtins_any = call_builtins_all = call_builtins_type = call_builtins_str = call_builtins_repr = static_result
    call_builtins_print = call_builtins_hasattr = call_builtins_callable = call_builtins_id = call_builtins_chr = static_result
    call_builtins_issubclass = call_builtins_format = call_builtins_ord = call_builtins_hex = call_builtins_hash = static_result

    def call_builtins_isinstance(self, args: Args, node: ast.AST) -> Value:
        if len(args.positional) != 2:
            return ANY
        answers = {self.instance(v, args.positional[1]) for v in alternatives(args.positional[0])}
        known = answers.pop() if len(answers) == 1 else None
        return ANY if known is None else Static(known)

    def keyed(self, args: Args, elements: Value, node: ast.AST) -> None:
        """``key=`` of sorted, min and max: what it gives for an element is compared."""
        key = args.keywords.get("key")
        if key is not None and not isinstance(key, Static):
            self.fire("key", (node, self.call(key, Args([elements]), node)))

    def call_builtins_max(self, args: Args, node: ast.AST) -> Value:
        if args.positional:
            several = len(args.positional) > 1
            self.keyed(args, self.join_all(args.positional) if several else self.element(args.positional[0], node), node)
        if len(args.positional) == 1:
            return self.element(args.positional[0], node)
        batch = self.deep_all(args)
        return self.array(node, batch) if batch.any else ANY

    call_builtins_min = call_builtins_max

    def call_builtins_abs(self, args: Args, node: ast.AST) -> Value:
        if not args.positional or isinstance(args.positional[0], Static):
            return ANY
        return self.array(node, self.deep_all(args))

    call_builtins_round = call_builtins_pow = call_builtins_divmod = call_builtins_abs

    def call_builtins_sum(self, args: Args, node: ast.AST) -> Value:
        batch = self.deep_all(args)
        return self.array(node, batch) if batch.any or any(self.cells_of_arrays(v) for v in args.positional) else ANY

    def call_builtins_range(self, args: Args, node: ast.AST) -> Value:
        return self.new(node, Cell("list", depth=self.depth, rest=ANY))

    def call_builtins_enumerate(self, args: Args, node: ast.AST) -> Value:
        items = self.known_items(args.positional[0]) if args.positional else None
        if items is not None:
            pairs = {i: Tuple((Static(i), v)) for i, v in enumerate(items)}
            return self.new(node, Cell("list", depth=self.depth, items=pairs))
        element = self.element(args.positional[0], node) if args.positional else ANY
        return self.new(node, Cell("list", depth=self.depth, rest=Tuple((ANY, element))))

    def call_builtins_zip(self, args: Args, node: ast.AST) -> Value:
        known = [self.known_items(v) for v in args.positional]
        if known and all(k is not None for k in known) and args.star is None:
            rows = list(zip(*[k for k in known if k is not None]))
            return self.new(node, Cell("list", depth=self.depth, items={i: Tuple(tuple(r)) for i, r in enumerate(rows)}))
        parts = [self.element(v, node) for v in args.positional]
        if args.star is not None:
            parts.append(self.element(args.star, node))
        return self.new(node, Cell("list", depth=self.depth, rest=Tuple(tuple(parts))))

    def call_builtins_map(self, args: Args, node: ast.AST) -> Value:
        if not args.positional:
            return ANY
        func, *sequences = args.positional
        known = [self.known_items(v) for v in sequences]
        if len(known) == 1 and known[0] is not None and len(known[0]) <= 8:
            results = {i: self.call(func, Args([v]), node) for i, v in enumerate(known[0])}
            return self.new(node, Cell("list", depth=self.depth, items=results))
        return self.new(node, Cell("list", depth=self.depth, rest=self.call(func, Args([self.element(v, node) for v in sequences]), node)))

    def call_builtins_filter(self, args: Args, node: ast.AST) -> Value:
        if len(args.positional) < 2:
            return ANY
        element = self.element(args.positional[1], node)
        if not isinstance(args.positional[0], Static):
            self.fire("predicate", (node, self.call(args.positional[0], Args([element]), node)))
        else:
            self.fire("predicate", (node, element))
        return self.new(node, Cell("list", depth=self.depth, rest=element))

    def sequence(self, args: Args, node: ast.AST, kind: str) -> Value:
        if not args.positional:
            return self.new(node, Cell(kind, depth=self.depth))
        items = self.known_items(args.positional[0])
        if items is not None:
            return Tuple(tuple(items)) if kind == "tuple" else self.new(node, Cell(kind, depth=self.depth, items=dict(enumerate(items))))
        return self.new(node, Cell("list" if kind == "tuple" else kind, depth=self.depth, rest=self.element(args.positional[0], node)))

    def call_builtins_list(self, args: Args, node: ast.AST) -> Value:
        return self.sequence(args, node, "list")

    call_builtins_reversed = call_builtins_iter = call_builtins_list

    def call_builtins_sorted(self, args: Args, node: ast.AST) -> Value:
        items = self.known_items(args.positional[0]) if args.positional else None
        rest = self.join_all(items) if items is not None else self.element(args.positional[0], node) if args.positional else ANY
        self.keyed(args, rest, node)
        return self.new(node, Cell("list", depth=self.depth, rest=rest))

    def call_builtins_tuple(self, args: Args, node: ast.AST) -> Value:
        return self.sequence(args, node, "tuple")

    def call_builtins_set(self, args: Args, node: ast.AST) -> Value:
        rest = self.element(args.positional[0], node) if args.positional else None
        return self.new(node, Cell("set", depth=self.depth, rest=rest))

    call_builtins_frozenset = call_builtins_set

    def call_builtins_dict(self, args: Args, node: ast.AST) -> Value:
        items: dict[object, Value] = {}
        rest: Value | None = args.kwstar
        for v in args.positional:
            for _, c in self.cells(v):
                if c.kind == "dict":
                    items.update(c.items)
                    rest = c.rest if rest is None else rest if c.rest is None else join(rest, c.rest)
                else:
                    entry = self.element(v, node)
                    rest = entry.items[1] if isinstance(entry, Tuple) and len(entry.items) == 2 else entry
        items.update(args.keywords)
        return self.new(node, Cell("dict", depth=self.depth, items=items, rest=rest))

    def call_builtins_next(self, args: Args, node: ast.AST) -> Value:
        return self.join_all([self.element(args.positional[0], node), *args.positional[1:]]) if args.positional else ANY

    def call_builtins_getattr(self, args: Args, node: ast.AST) -> Value:
        if len(args.positional) < 2:
            return ANY
        name = args.positional[1]
        if isinstance(name, Static) and isinstance(name.const, str):
            found = self.attribute(args.positional[0], name.const, node)
            return join(found, args.positional[2]) if len(args.positional) > 2 and found == ANY else found
        return self.any(node, self.deep(args.positional[0]).softened())

    def call_builtins_setattr(self, args: Args, node: ast.AST) -> Value:
        if len(args.positional) == 3 and isinstance(node, ast.Call):
            name = args.positional[1]
            text = name.const if isinstance(name, Static) and isinstance(name.const, str) else "…"
            target = ast.copy_location(ast.Attribute(node.args[0], text, ast.Store()), node)
            self.store_attribute(args.positional[0], text, args.positional[2], node, target)
        return ANY

    def call_builtins_super(self, args: Args, node: ast.AST) -> Value:
        frame = self.frames[-1]
        owner = frame.func.owner if frame.func is not None else None
        spec = frame.func.node.args if frame.func is not None else None
        first = [*spec.posonlyargs, *spec.args][:1] if spec is not None else []
        me = self.heap[frame.id].get(first[0].arg) if first else None
        if owner is None or me is None:
            return ANY
        return self.new(node, Cell("super", depth=self.depth, cls=owner, items={"me": me}))

    def object_of_super(self, c: Cell, name: str) -> Value | None:
        if not hasattr(c.cls, "bases"):
            return None
        for base in c.cls.bases:  # type: ignore[union-attr]
            found = self.in_class(base, name) if hasattr(base, "bases") else None
            if found is not None:
                return Bound(found, c.items["me"]) if isinstance(found, (Func, Transformed)) else found
        return None

    def attribute(self, base: Value, name: str, node: ast.AST) -> Value:
        c = self.cell(base)
        if c is not None and c.kind == "super":
            found = self.object_of_super(c, name)
            return ANY if found is None else found
        return super().attribute(base, name, node)

    def call_builtins_slice(self, args: Args, node: ast.AST) -> Value:
        given = args.positional
        if len(given) == 1:
            given = [NONE, *given]
        return Tuple((*given, *[NONE] * (3 - len(given))), SLICE) if given and args.star is None else ANY

    def call_builtins_globals(self, args: Args, node: ast.AST) -> Value:
        return ANY


__all__ = ["UNKNOWN", "PythonCalls", "Ref", "Union"]
