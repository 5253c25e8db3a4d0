"""Calls of what is not the user's: libraries, Python's builtins, methods of arrays and containers."""

from __future__ import annotations

import ast
from typing import NamedTuple

from .calls import Caller
from .heap import Args
from .libraries import library, owner_of
from .libraries.facts import Fact
from .values import (
    ANY,
    CLEAN,
    NONE,
    Batch,
    Bound,
    Cell,
    ClassOf,
    Func,
    Lib,
    Method,
    ModuleOf,
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


class Call(NamedTuple):
    """One call of something that is not the user's. ``owner``: the value whose method it is; ``host``: a library foreign to the map's."""

    node: ast.AST
    name: str
    library: str
    args: Args
    owner: Value | None
    owner_node: ast.expr | None
    fact: Fact | None
    host: bool


class Draw(NamedTuple):
    """Random numbers. ``kind``: "library" (the map's own), "host" (foreign to it) or "key"; ``from_level``: the first map that it
    repeats under."""

    node: ast.AST
    name: str
    kind: str
    from_level: int
    key: Value | None
    sure: bool


# What gives back its function argument, as far as the linter is concerned.
TRANSPARENT = frozenset(
    """jax.jit jax.checkpoint jax.remat jax.named_call jax.custom_jvp jax.custom_vjp jax.custom_gradient jax.ad_checkpoint.checkpoint
    jax.custom_batching.sequential_vmap jax.custom_derivatives.custom_vjp jax.custom_derivatives.custom_jvp jax.pjit
    jax.experimental.pjit.pjit
    jax.api_boundary jax.closure_convert torch.compile torch.jit.script torch.jit.ignore torch.no_grad torch.enable_grad torch.jit.export
    torch.inference_mode functools.lru_cache functools.cache functools.wraps functools.singledispatch builtins.staticmethod
    builtins.classmethod builtins.property functools.cached_property typing.no_type_check typing.final typing.overload typing.override
    dataclasses.dataclass chex.dataclass flax.struct.dataclass equinox.filter_jit equinox.filter_checkpoint jax.tree_util.Partial
    flax.linen.compact contextlib.contextmanager abc.abstractmethod jaxtyping.jaxtyped typeguard.typechecked beartype.beartype numba.njit
    numba.jit pergrad.compile pergrad.functionalize torch.func.functionalize functorch.functionalize
    jax.tree_util.register_pytree_node_class
    torch.utils.checkpoint.checkpoint jax.profiler.annotate_function warnings.deprecated functools.update_wrapper functools.total_ordering
    chex.assert_max_traces flax.linen.jit flax.linen.remat haiku.transparent haiku.remat numpyro.contrib.control_flow.cond
    typing_extensions.override typing_extensions.deprecated""".split()
)
SILENT = frozenset(
    """builtins.print logging warnings builtins.repr builtins.str builtins.id builtins.type builtins.hasattr builtins.callable
    builtins.issubclass
    builtins.super builtins.object builtins.format builtins.hash builtins.vars builtins.dir""".split()
)
# Methods that take another array's type or shape only.
OF_THE_KIND = frozenset({"to", "type_as", "view_as", "expand_as", "reshape_as", "astype"})
CHANGES = frozenset(
    "append extend insert add update setdefault pop popitem clear remove discard appendleft extendleft sort reverse".split()
)
SURE_CHANGES = frozenset({"append", "extend", "appendleft", "setdefault"})


class External(Caller):
    """Calls whose meaning comes from data."""

    discarded: ast.AST | None = None

    # Functions

    def call_library(self, name: str, args: Args, node: ast.AST) -> Value:
        handler = getattr(self, "call_" + name.replace(".", "_"), None) if name.startswith(("builtins.", "functools.")) else None
        owner = owner_of(name)
        if name in TRANSPARENT:
            return self.transparent(name, args, node)
        special = self.special(name, args, node)
        if special is not None:
            return special
        if handler is not None:
            self.fire("call", Call(node, name, "python", args, None, None, None, False))
            return handler(args, node)
        if owner in ("numpy", "torch", "jax"):
            return self.call_array_library(name, owner, args, node)
        self.fire("call", Call(node, name, owner, args, None, None, None, False))
        if name in SILENT or name.startswith(("logging.", "warnings.")):
            return ANY
        if owner == "python":
            return self.call_python(name, args, node)
        short = name.rpartition(".")[2]
        if short.startswith(("is_", "has_")) or name.startswith("builtins."):
            return ANY
        return self.unknown_call(args, node)

    def call_python(self, name: str, args: Args, node: ast.AST) -> Value:
        raise NotImplementedError

    def special(self, name: str, args: Args, node: ast.AST) -> Value | None:
        """Transforms, and what takes functions; None for everything else."""
        return None

    def transparent(self, name: str, args: Args, node: ast.AST) -> Value:
        if args.positional and isinstance(args.positional[0], (Func, Bound, Partial, Transformed, ClassOf, Union, Lib, Method, Ref)):
            if name in ("functools.wraps", "functools.update_wrapper") and name == "functools.wraps":
                return Lib("functools.cache")
            if name == "torch.utils.checkpoint.checkpoint":
                rest = Args(args.positional[1:], args.keywords)
                return self.call(args.positional[0], rest, node)
            if name in ("jax.tree_util.Partial", "functools.partial") and len(args.positional) + len(args.keywords) > 1:
                return Partial(args.positional[0], tuple(args.positional[1:]), tuple(args.keywords.items()))
            return args.positional[0]
        return Lib(name)

    def call_array_library(self, name: str, owner: str, args: Args, node: ast.AST) -> Value:
        data = library(owner)
        fact: Fact | None = data.function(name)
        host = bool(self.levels) and owner != self.library
        short = name.rpartition(".")[2]
        self.fire("call", Call(node, name, owner, args, None, None, fact, host))
        if fact is not None and fact.returns == "generator":
            seed = args.get(0, "seed")
            known = seed is not None and not (isinstance(seed, Static) and seed.const is None)
            return self.new(node, Cell("lib", depth=self.depth, cls=Lib(name), const_seed=known))
        if fact is not None and fact.random and self.is_random(fact, args):
            self.draw(node, name, "host" if host else "library", 0)
        if fact is not None and fact.key:
            self.draw(node, name, "key", 0, args.get(0, "key"))
        if name[:1].isalpha() and short[:1].isupper() and fact is None and owner == "torch":
            given = {f".{key}": value for key, value in args.keywords.items()}
            return self.new(node, Cell("lib", self.deep_all(args), self.depth, cls=Lib(name), items=given))
        batch = self.deep_all(args)
        if self.watched and batch.any:
            self.watched[-1].add("linear algebra" if short in data.FAILING else "arithmetic")
        if host and batch.any:
            batch = CLEAN
        self.write_out(name, fact, args, node, batch)
        returns = fact.returns if fact is not None else "array"
        out = args.keywords.get("out")
        if out is not None and not (isinstance(out, Static) and out.const is None) and returns != "none":
            return out
        if returns == "none":
            return NONE if not batch.any or short in ("copyto", "put", "place") else ANY
        if returns == "static":
            return ANY
        if returns in ("self", "view") and args.positional and self.views(args):
            if returns == "self" or not host:
                return args.positional[0]
        if short in ("dtype", "float32", "float64", "int32", "int64", "bool_") and not batch.any:
            return ANY
        root = Root("fresh")
        if owner == "jax" and name.startswith("jax.random."):
            root = self.key_root(args.get(0, "key"), node)
        ref = self.new(node, Cell("array", batch, self.depth, root, returns == "bool", library=owner))
        if short in ("split",) and name.startswith("jax.random."):
            return ref
        if short in ("broadcast_arrays", "meshgrid", "where", "nonzero", "unbind", "chunk") and isinstance(ref, Ref):
            self.heap[ref.id] = self.heap[ref.id]._replace(kind="any") if not batch.any else self.heap[ref.id]
        return ref

    def views(self, args: Args) -> bool:
        """Whether a view is one of the first argument: what is no array yet is copied, and so is what gets another dtype."""
        value, dtype = args.positional[0], args.get(1, "dtype")
        kinds = {c.kind for _, c in self.cells(value)}
        return (
            isinstance(value, (Ref, Union)) and kinds <= {"array", "any", "lib", "object"} and (dtype is None or isinstance(dtype, Static))
        )

    def key_root(self, key: Value | None, node: ast.AST) -> Root:
        for _, c in self.cells(key) if key is not None else ():
            return c.root
        return Root("fresh")

    def is_random(self, fact: Fact, args: Args) -> bool:
        """Not random after all: ``dropout(x, training=False)``, or a probability of 0."""
        if fact.when:
            on = args.get(fact.parameters.index(fact.when), fact.when)
            if on is None or (isinstance(on, Static) and not on.const):
                return False
        for name in fact.unless:
            position = fact.parameters.index(name) if name in fact.parameters else None
            value = args.get(position, name)
            if isinstance(value, Static):
                if value.const is False:
                    return False
        return "p" not in fact.parameters or not self.is_zero(args.get(fact.parameters.index("p"), "p"))

    def is_zero(self, probability: Value | None) -> bool:
        return isinstance(probability, Static) and isinstance(probability.const, (int, float)) and probability.const == 0

    def write_out(self, name: str, fact: Fact | None, args: Args, node: ast.AST, batch: Batch) -> None:
        """``out=``, ``out`` by position, and parameters that a function writes to."""
        targets: list[tuple[Value, ast.expr | None, str]] = []
        out = args.keywords.get("out")
        if out is not None:
            targets.append((out, args.kwnodes.get("out"), "out"))
        position = library(owner_of(name)).out_position(name) if owner_of(name) in ("numpy", "torch", "jax") else None
        parameters = fact.parameters if fact is not None else ()
        if position is None and "out" in parameters:
            position = parameters.index("out")
        if position is not None and position < len(args.positional):
            targets.append((args.positional[position], args.node(position), "out"))
        for written in fact.writes if fact is not None else ():
            if written in ("self", "out"):
                continue
            position = parameters.index(written) if written in parameters else None
            value = args.get(position, written)
            if value is not None:
                targets.append((value, args.node(position, written), "item"))
        if args.keywords.get("inplace") == Static(True) and args.positional:
            targets.append((args.positional[0], args.node(0), "item"))
        for value, where, how in targets:
            for v in alternatives(value):
                if isinstance(v, Tuple):
                    for inner in v.items:
                        self.write_array(inner, node, where, batch, how)
                else:
                    self.write_array(v, node, where, batch, how)

    def draw(self, node: ast.AST, name: str, kind: str, from_level: int, key: Value | None = None, sure: bool = True) -> None:
        if self.levels:
            self.fire("draw", Draw(node, name, kind, from_level, key, sure))

    # Methods

    def call_method(self, method: Method, args: Args, node: ast.AST) -> Value:
        owner, name = method.owner, method.name
        if isinstance(owner, Static):
            if name == "format" and isinstance(owner.const, str):
                self.fire("call", Call(node, "builtins.str.format", "python", args, owner, None, None, False))
            return ANY if not self.deep_all(args).any or isinstance(owner.const, str) else self.unknown_call(args, node)
        if isinstance(owner, Tuple):
            return self.tuple_method(owner, name, args)
        if isinstance(owner, (Func, Transformed, Partial, Bound)):
            return self.function_method(owner, name, args, node)
        c = self.cell(owner)
        if c is None or not isinstance(owner, Ref):
            return self.unknown_call(args, node)
        if c.kind in ("list", "dict", "set"):
            return self.container_method(owner, c, name, args, node)
        if c.kind == "lib":
            return self.instance_method(owner, c, name, args, node)
        return self.array_method(owner, c, name, args, node)

    def tuple_method(self, owner: Tuple, name: str, args: Args) -> Value:
        if name == "_replace":
            items = list(owner.items)
            for key, value in args.keywords.items():
                if key in owner.names:
                    items[owner.names.index(key)] = value
            return Tuple(tuple(items), owner.names)
        return ANY

    def function_method(self, owner: Value, name: str, args: Args, node: ast.AST) -> Value:
        if name == "__call__":
            return self.call(owner, args, node)
        return ANY

    def eval_Call(self, node: ast.Call) -> Value:
        """A method call of an argument that nothing is known of is judged by its name, so the attribute is not read first."""
        if isinstance(node.func, ast.Attribute):
            base = self.eval(node.func.value)
            values = alternatives(base)
            cells = [self.cell(v) for v in values]
            if any(c is not None and c.kind in ("any", "array") for c in cells):
                args = self.arguments(node)
                out = []
                for v, c in zip(values, cells):
                    if isinstance(v, Static) and v.const is None and len(values) > 1:
                        continue
                    if c is not None and c.kind in ("any", "array") and ("." + node.func.attr) not in c.items:
                        out.append(self.call_method(Method(v, node.func.attr), args, node))
                    else:
                        out.append(self.call(self.attribute(v, node.func.attr, node.func), args, node))
                self.values[node.func] = Method(base, node.func.attr)
                return self.join_all(out)
            if node.func.attr in ("eval", "train") and any(c is not None and c.kind == "object" for c in cells):
                off = any(isinstance(a, ast.Constant) and a.value is False for a in node.args)
                self.set_mode(base, "training", node.func.attr == "train" and not off)
                if not any(c is not None and isinstance(c.cls, ClassOf) and self.in_class(c.cls, node.func.attr) for c in cells):
                    return base
            made = self.module_method(base, node)
            if made is not None:
                return made
            func = self.attribute(base, node.func.attr, node.func)
            self.values[node.func] = func
        else:
            func = self.eval(node.func)
        return self.call(func, self.arguments(node), node)

    def module_method(self, base: Value, node: ast.Call) -> Value | None:
        raise NotImplementedError

    def container_method(self, owner: Ref, c: Cell, name: str, args: Args, node: ast.AST) -> Value:
        where = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
        everything = [*c.items.values(), *([c.rest] if c.rest is not None else [])]
        if name in CHANGES:
            batch = self.deep_all(args)
            self.write_object(owner, node, where, batch, "method")
            added = [self.element(v, node) if name in ("extend", "extendleft") else v for v in args.positional[-1:]]
            if name == "update":
                items = dict(c.items)
                for v in args.positional:
                    for _, other in self.cells(v):
                        items.update(other.items)
                        added = [other.rest] if other.rest is not None else []
                items.update(args.keywords)
                self.heap[owner.id] = self.heap[owner.id]._replace(items=items)
            if name == "setdefault" and args.positional:
                key = args.positional[0]
                if isinstance(key, Static) and key.const in c.items:
                    return c.items[key.const]
            if name in ("append", "extend", "insert", "add", "update", "setdefault", "appendleft", "extendleft"):
                for v in added:
                    now = self.heap[owner.id]
                    self.heap[owner.id] = now._replace(rest=v if now.rest is None else join(now.rest, v))
            self.fire("call", Call(node, f"builtins.{c.kind}.{name}", "python", args, owner, where, None, False))
            if name in ("pop", "setdefault", "popitem"):
                return self.join_all(everything + args.positional[1:])
            return NONE
        self.fire("call", Call(node, f"builtins.{c.kind}.{name}", "python", args, owner, where, None, False))
        if name in ("get", "__getitem__"):
            key = args.positional[0] if args.positional else ANY
            default = args.positional[1] if len(args.positional) > 1 else NONE
            if isinstance(key, Static) and key.const in c.items:
                return c.items[key.const]
            return self.join_all([*([] if c.rest is None and isinstance(key, Static) and c.items else everything), default])
        if name == "items":
            pairs = [Tuple((Static(k), v)) for k, v in c.items.items()]
            rest = Tuple((ANY, c.rest)) if c.rest is not None else None
            return self.new(node, Cell("list", depth=self.depth, items=dict(enumerate(pairs)), rest=rest))
        if name == "values":
            return self.new(node, Cell("list", depth=self.depth, items=dict(enumerate(c.items.values())), rest=c.rest))
        if name == "keys":
            return self.new(node, Cell("list", depth=self.depth, rest=ANY))
        if name == "copy":
            return self.new(node, c._replace(depth=self.depth, root=Root("fresh")))
        return ANY

    def array_method(self, owner: Ref, c: Cell, name: str, args: Args, node: ast.AST) -> Value:
        """A method of an array, or of an argument that may be one."""
        where = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
        lib = c.library if c.library and c.kind == "array" else self.library
        data = library(lib)
        fact: Fact | None = data.method(name)
        batch = self.deep_all(args, owner) if name not in OF_THE_KIND else self.deep(owner)
        known = c.kind == "array" or c.batch.any or fact is not None or name in data.METHOD_NAMES
        if c.kind == "any":
            tree = self.tree_method(owner, c, name, args, node, where)
            if tree is not None:
                return tree
            if not c.batch.any and self.is_generator_name(name, where):
                self.draw(
                    node,
                    f"{ast.unparse(where) if where is not None else 'rng'}.{name}",
                    "host" if self.library != "numpy" else "library",
                    0,
                )
                return self.array(node)
        self.fire("call", Call(node, name, lib, args, owner, where, fact, False))
        if fact is not None and fact.random:
            self.draw(node, name, "library", 0)
        if "out" in args.keywords or (fact is not None and "out" in fact.parameters):
            self.write_out("numpy.method" if lib == "numpy" else "torch.method", fact, args, node, batch)
            out = args.keywords.get("out")
            if out is not None and not isinstance(out, Static):
                return out
        if fact is not None and "self" in fact.writes:
            self.write_array(owner, node, where, self.deep_all(args), "method")
        returns = fact.returns if fact is not None else "array"
        if returns == "static":
            return ANY
        if returns == "none":
            return NONE
        if returns == "self" or returns == "view":
            return owner if c.kind == "array" or c.batch.any or name not in ("view", "size") else self.any(node, batch)
        if name in ("astype", "to", "type", "bool"):
            return self.array(node, batch, self.casts_to_bool(name, args), library=c.library)
        if not known:
            return self.unknown_call(args, node, owner)
        kept = name in ("copy", "clone", "detach", "contiguous", "flatten", "squeeze", "reshape")
        boolean = returns == "bool" or (kept and c.boolean)
        ref = self.array(node, batch, boolean, library=c.library)
        if kept and c.kind == "any" and name == "copy":
            self.heap[ref.id] = self.heap[ref.id]._replace(kind="any", items=c.items)
        return ref

    def casts_to_bool(self, name: str, args: Args) -> bool:
        first = args.get(0, "dtype")
        return name == "bool" or (isinstance(first, Lib) and first.name.rpartition(".")[2] in ("bool", "bool_"))

    def is_generator_name(self, name: str, where: ast.expr | None) -> bool:
        """``rng.normal(...)`` of an argument: nothing but its names says that it draws."""
        from .libraries.numpy import DRAWS

        text = ast.unparse(where).lower() if where is not None else ""
        last = text.rpartition(".")[2]
        return name in DRAWS and (last in ("rs", "gen", "generator", "random_state", "prng") or "rng" in last or "random" in last)

    def tree_method(self, owner: Ref, c: Cell, name: str, args: Args, node: ast.AST, where: ast.expr | None) -> Value | None:
        """What an argument answers if it is a dict or a list."""
        each = lambda: self.part(owner, c, ("each",), node)
        if hasattr(str, name) and not c.batch.any and any(isinstance(v, Static) and isinstance(v.const, str) for v in args.positional):
            return ANY
        if name == "items" and not args.positional:
            pairs = [Tuple((Static(k), v)) for k, v in c.items.items()]
            return self.new(
                node,
                Cell("list", depth=self.depth, items=dict(enumerate(pairs)) if pairs else {}, rest=None if pairs else Tuple((ANY, each()))),
            )
        if name == "values" and not args.positional:
            if c.items:
                return self.new(node, Cell("list", depth=self.depth, rest=self.join_all(list(c.items.values()))))
            return self.new(node, Cell("list", depth=self.depth, rest=each()))
        if name == "keys" and not args.positional:
            return self.new(node, Cell("list", depth=self.depth, rest=ANY))
        if name == "get" and args.positional:
            key = args.positional[0]
            default = args.positional[1] if len(args.positional) > 1 else NONE
            if isinstance(key, Static) and key.const in c.items:
                return c.items[key.const]
            return join(
                self.part(owner, c, (key.const if isinstance(key, Static) and isinstance(key.const, str) else "each",), node), default
            )
        if name in ("_replace", "replace") and args.keywords:
            made = self.new(node, c._replace(depth=self.depth, root=Root("fresh")))
            items = {**c.items, **{"." + k: v for k, v in args.keywords.items()}}
            self.heap[made.id] = self.heap[made.id]._replace(items=items)
            return made
        if name in CHANGES and (name in SURE_CHANGES or (self.discarded is node and not c.batch.any and self.library == "numpy")):
            if name != "sort":
                self.write_object(owner, node, where, self.deep_all(args), "method")
                return each()
        return None

    def instance_method(self, owner: Ref, c: Cell, name: str, args: Args, node: ast.AST) -> Value:
        """A method of an instance of a library's class: a generator, a torch module, a distribution."""
        kind = c.cls.name if isinstance(c.cls, Lib) else ""
        from .libraries.numpy import DRAWS, GENERATORS

        if kind in GENERATORS:
            if name in DRAWS:
                host = self.library != "numpy"
                if not (c.const_seed and c.depth >= self.depth and not host):
                    where = node.func if isinstance(node, ast.Call) else None
                    label = ast.unparse(where) if where is not None else name
                    first = c.depth if c.const_seed else 0
                    self.draw(node, label, "host" if host else "library", first)
                if name == "shuffle" and args.positional:
                    self.write_array(args.positional[0], node, args.node(0), CLEAN, "item")
                    return NONE
                return self.array(node, self.deep_all(args))
            return ANY if name != "spawn" else owner
        if kind.startswith("torch.distributions"):
            from .libraries.torch import DISTRIBUTION_DRAWS

            if name in DISTRIBUTION_DRAWS:
                self.draw(node, f"{kind.rpartition('.')[2]}.{name}", "library" if self.library == "torch" else "host", 0)
            return self.array(node, self.deep_all(args, owner))
        if kind.startswith("torch.nn."):
            if name in ("eval", "requires_grad_", "to", "double", "float", "half", "cuda", "cpu", "train"):
                if name in ("eval", "train"):
                    self.set_mode(owner, "training", name == "train" and args.positional != [Static(False)])
                return owner
            if name == "forward":
                return self.call_instance(owner, c, args, node)
        return self.unknown_call(args, node, owner)

    def set_mode(self, value: Value, name: str, mode: bool, room: int = 6) -> None:
        """``module.eval()``, ``module.train()`` and their like: a mode of the module and of all modules in it."""
        for ref, c in list(self.cells(value)):
            if c.kind in ("lib", "object", "list", "dict") and room:
                for v in c.items.values():
                    self.set_mode(v, name, mode, room - 1)
                if c.kind in ("lib", "object"):
                    self.heap[ref.id] = c._replace(items={**c.items, f".{name}": Static(mode)})

    def call_instance(self, ref: Ref, c: Cell, args: Args, node: ast.AST) -> Value:
        """Calling an instance of a library's class: a layer."""
        kind = c.cls.name if isinstance(c.cls, Lib) else ""
        short = kind.rpartition(".")[2]
        if kind.startswith("torch.nn."):
            training = c.items.get(".training") != Static(False)
            from .libraries.torch import NORMS, RANDOM_MODULES

            probability = c.items.get(".p")
            if short.startswith(RANDOM_MODULES) and training and self.library == "torch" and not self.is_zero(probability):
                self.draw(node, short, "library", 0)
            if short.startswith(NORMS) and training and self.library == "torch":
                tracked = c.items.get(".track_running_stats", Static(True))
                if tracked != Static(False):
                    self.fire("statistics", (node, short, self.deep_all(args)))
            if short == "Sequential":
                value = args.positional[0] if args.positional else ANY
                for layer in c.items.values():
                    value = self.call(layer, Args([value]), node)
                return value
            return self.array(node, self.deep_all(args) | c.batch)
        return self.unknown_call(args, node, ref)


__all__ = ["Call", "Draw", "External", "ModuleOf"]
