"""Transforms: what ``vmap`` maps, what ``grad`` and its like do to batchedness, and jax's own control flow."""

from __future__ import annotations

import ast
import re
from collections.abc import Hashable, Iterable
from typing import Any

from .heap import Args, Level
from .lax import Lax
from .torch_modules import BUFFER, PARAMETER
from .values import (
    ANY,
    CLEAN,
    NONE,
    UNKNOWN,
    Batch,
    Bound,
    Cell,
    ClassOf,
    Func,
    Lib,
    Method,
    Partial,
    Ref,
    Root,
    Static,
    Trail,
    Transformed,
    Tuple,
    Union,
    Value,
)

PREFIXES = {
    "pergrad": "numpy",
    "torch.func": "torch",
    "torch": "torch",
    "functorch": "torch",
    "torch._functorch.apis": "torch",
    "torch._functorch.vmap": "torch",
    "jax": "jax",
    "jax._src.api": "jax",
    "equinox": "jax",
}
# equinox's transforms look at arrays alone: everything else in their arguments is as it is.
FILTERED = {f"filter_{name}": name for name in ("vmap", "grad", "value_and_grad", "jacfwd", "jacrev", "hessian", "vjp", "jvp")}
KINDS = {
    "vmap": ("map", ("func", "in_dims", "out_dims", "randomness")),
    "per_sample_grad": ("per_sample", ("func", "argnums")),
    "per_sample_grad_norm": ("per_sample", ("func", "argnums")),
    "clipped_grad_sum": ("per_sample", ("func", "max_norm", "argnums")),
    "grad": ("grad", ("func", "argnums", "has_aux")),
    "grad_and_value": ("grad_and_value", ("func", "argnums", "has_aux")),
    "value_and_grad": ("value_and_grad", ("func", "argnums", "has_aux")),
    "jacrev": ("jacobian", ("func", "argnums", "has_aux")),
    "jacobian": ("jacobian", ("func", "argnums", "has_aux")),
    "jacfwd": ("forward", ("func", "argnums", "has_aux")),
    "hessian": ("hessian", ("func", "argnums")),
}
AT_ONCE = frozenset({"vjp", "jvp", "linearize"})
# What a dataclass' field says when it is no part of the tree: flax, equinox and jax each have a spelling.
NOT_MAPPED = re.compile(r"pytree_node=False|static=True|'static': True")
TREE_LEAVES = frozenset(
    """jax.tree_util.tree_leaves jax.tree.leaves jax.tree_leaves jax.tree_util.tree_flatten jax.tree.flatten jax.tree_flatten
    optree.tree_leaves optree.tree_flatten torch.utils._pytree.tree_leaves torch.utils._pytree.tree_flatten""".split()
)
TREE_MAPS = frozenset(
    """jax.tree_util.tree_map jax.tree.map jax.tree_map jax.tree_util.tree_multimap optree.tree_map torch.utils._pytree.tree_map
    tree.map_structure jax.tree_util.tree_map_with_path dm_tree.map_structure""".split()
)


def transform_of(name: str) -> tuple[str, str] | None:
    """The library and the short name of a transform, by its qualified name."""
    prefix, _, short = name.rpartition(".")
    found = PREFIXES.get(prefix)
    if prefix == "equinox":
        short = FILTERED.get(short, "")
    if found is None or (short not in KINDS and short not in AT_ONCE):
        return None
    if prefix == "torch" and short != "vmap":
        return None
    return found, short


class Fields:
    """in_dims as an object of a user's class, such as a dataclass: what it holds by attribute."""

    def __init__(self, cls: Value, entries: dict[Any, Any]) -> None:
        self.cls, self.entries = cls, entries


class Maps(Lax):
    """Transforms of functions."""

    def prepare(self) -> None:
        self.pending: dict[Hashable, Transformed] = {}
        self.called: set[Hashable] = set()
        self.sites: dict[tuple[str, ast.AST], bool] = {}

    def waiting(self) -> Iterable[Value]:
        return [t for key, t in self.pending.items() if key not in self.called]

    # Making a transformed function

    def special(self, name: str, args: Args, node: ast.AST) -> Value | None:
        transform = transform_of(name)
        if transform is not None:
            library, short = transform
            return self.immediate(library, short, args, node) if short in AT_ONCE else self.transformed(name, library, short, args, node)
        if name.startswith("namedtuple."):
            return self.make_named(name, args)
        if name == "pergrad.pullback":
            return self.any(node, self.deep_all(args))
        if name == "flax.linen.Module.apply":
            return self.flax_apply(args, node)
        if name == "equinox.if_array" and args.positional:
            return args.positional[0]
        if name in TREE_LEAVES:
            leaves = self.new(node, Cell("list", depth=self.depth, rest=self.any((node, "leaf"), self.deep_all(args))))
            return Tuple((leaves, ANY)) if "flatten" in name else leaves
        if name in TREE_MAPS:
            return self.tree_map(args, node)
        if name in ("torch.func.functional_call", "functorch.functional_call", "torch.nn.utils.stateless.functional_call"):
            return self.functional_call(args, node)
        if name.endswith("replace_all_batch_norm_modules_") and args.positional:
            self.set_mode(args.positional[0], "track_running_stats", False)
            return args.positional[0]
        if name in ("jax.pure_callback", "jax.experimental.io_callback"):
            return self.any(node, self.deep_all(args))
        if name.startswith("jax.lax."):
            handler = getattr(self, "lax_" + name.removeprefix("jax.lax."), None)
            return handler(args, node) if handler is not None else None
        if name in ("torch.nn.Parameter", "torch.nn.parameter.Parameter", "torch.nn.Buffer") and args.positional:
            return self.stored(args.positional[0], BUFFER if name.endswith("Buffer") else PARAMETER, node)
        if name.startswith("torch.nn.") and name.endswith(".Sequential"):
            items = dict(enumerate(args.positional))
            return self.new(node, Cell("lib", depth=self.depth, cls=Lib(name), items=items))
        return None

    def flax_apply(self, args: Args, node: ast.AST) -> Value:
        """``module.apply(variables, *inputs)`` runs the module, or the method named, on the inputs."""
        if len(args.positional) < 2:
            return ANY
        module, _, *inputs = args.positional
        inner = Args(inputs, {k: v for k, v in args.keywords.items() if k not in ("rngs", "mutable", "method", "capture_intermediates")})
        method = args.keywords.get("method")
        result = self.call(module, inner, node) if method is None else self.call(method, inner.behind(module), node)
        return self.any((node, "applied"), self.deep_all(args).softened() | self.deep(result))

    def transformed(self, name: str, library: str, short: str, args: Args, node: ast.AST) -> Value:
        kind, parameters = KINDS[short]
        options: dict[str, Value] = dict(zip(parameters, args.positional))
        aliases = {"fun": "func", "in_axes": "in_dims", "out_axes": "out_dims"}
        options.update({aliases.get(k, k): v for k, v in args.keywords.items()})
        func = options.pop("func", None)
        if func is None:
            return Partial(Lib(name), (), tuple(args.keywords.items())) if not args.positional else ANY
        if name.startswith("equinox."):
            options["filtered"] = Static(True)
        made = Transformed(kind, library, func, options, node, self.frames[-1].module)
        if kind in ("map", "per_sample", "forward", "hessian"):
            if kind in ("map", "per_sample"):
                self.sites.setdefault((made.module.file, node), False)
                if self.resolve(func) is not None or self.is_library_function(func):
                    self.sites[(made.module.file, node)] = True
            if not self.levels:
                self.pending.setdefault((node, func), made)
        return made

    def is_filtered(self, made: Transformed) -> bool:
        return "filtered" in made.options

    def is_library_function(self, func: Value) -> bool:
        while isinstance(func, (Partial, Transformed, Bound)):
            func = func.func
        c = self.cell(func)
        if c is not None and c.kind == "lib":
            return True
        return isinstance(func, Lib) and not func.name.startswith("builtins.")

    def resolve(self, func: Value, room: int = 8) -> Func | None:
        """The user's function behind partials, methods and transforms."""
        while room:
            room -= 1
            if isinstance(func, Func):
                return func
            if isinstance(func, (Bound, Partial, Transformed)):
                func = func.func
                continue
            if isinstance(func, ClassOf):
                found = self.in_class(func, "__init__")
                return found if isinstance(found, Func) else None
            if isinstance(func, Union):
                return next((f for f in (self.resolve(v, room) for v in func.items) if f is not None), None)
            c = self.cell(func)
            if c is not None and isinstance(c.cls, ClassOf):
                found = self.in_class(c.cls, "__call__") or self.in_class(c.cls, "forward")
                return found if isinstance(found, Func) else None
            return None
        return None

    def parameters(self, func: Value) -> tuple[list[tuple[str, bool]], bool]:
        """Positional parameters still open, each with whether it has a default, and whether more are taken."""
        if isinstance(func, Func):
            spec = func.node.args
            own = [p.arg for p in (*spec.posonlyargs, *spec.args)]
            return [(n, i >= len(own) - len(func.defaults)) for i, n in enumerate(own)], spec.vararg is not None
        if isinstance(func, Bound):
            names, more = self.parameters(func.func)
            return names[1:], more
        if isinstance(func, Partial):
            names, more = self.parameters(func.func)
            given = dict(func.kwargs)
            return [(n, d or n in given) for n, d in names[len(func.args) :]], more
        if isinstance(func, Transformed):
            return self.parameters(func.func)
        if isinstance(func, Union):
            return next((p for p in (self.parameters(v) for v in func.items) if p[0] or p[1]), ([], False))
        c = self.cell(func)
        if c is not None and isinstance(c.cls, ClassOf):
            method = self.in_class(c.cls, "__call__") or self.in_class(c.cls, "forward")
            if isinstance(method, Func):
                names, more = self.parameters(method)
                return names[1:], more
        if isinstance(func, Lib):
            return [("x", False)], False
        return [], False

    # Calling it

    def call_transformed(self, func: Transformed, args: Args, node: ast.AST) -> Value:
        self.called.add((func.site, func.func))
        if func.kind == "map":
            dims = self.dims(func.options["in_dims"]) if "in_dims" in func.options else 0
            return self.call_map(func, func.func, dims, args, node)
        if func.kind == "per_sample":
            return self.call_per_sample(func, args, node)
        return self.call_gradient(func, args, node)

    def call_generic(self, func: Transformed) -> None:
        """Call what the program is not seen to call, with arguments that nothing is known of."""
        names, more = self.parameters(func.func)
        dims = self.dims(func.options["in_dims"]) if func.kind != "grad" and "in_dims" in func.options else None
        count = sum(1 for _, default in names if not default)
        if isinstance(dims, (tuple, list)):
            count = max(count, min(len(dims), len(names))) if not more else max(count, len(dims))
        elif more and not names:
            count = 1
        args = Args()
        target = self.resolve(func.func)
        for i in range(count):
            name = names[i][0] if i < len(names) else "args"
            if i == 0 and isinstance(func.func, Func) and func.func.owner is not None and name == "self":
                args.positional.append(self.instance_of(func.func.owner, func.site))
                args.nodes.append(None)
                continue
            span = self.span(func.site, func.module)
            if target is not None:
                found = next((p for p in (*target.node.args.posonlyargs, *target.node.args.args) if p.arg == name), None)
                span = self.span(found, target.module) if found is not None else span
            args.positional.append(self.any((func.site, "generic", i), CLEAN, Root("argument", name, span)))
            args.nodes.append(None)
        self.call_transformed(func, args, func.site)

    def dims(self, value: Value) -> Any:
        """in_dims as a structure of ints and None; what cannot be read is UNKNOWN."""
        if isinstance(value, Static):
            return value.const if value.const is None or (isinstance(value.const, int) and not isinstance(value.const, bool)) else UNKNOWN
        if isinstance(value, Tuple):
            return tuple(self.dims(v) for v in value.items)
        c = self.cell(value)
        if c is not None and c.rest is None and c.kind in ("list", "dict"):
            if c.kind == "dict":
                return {k: self.dims(v) for k, v in c.items.items()}
            return [self.dims(v) for v in c.items.values()]
        if c is not None and c.kind == "object" and c.cls is not None and c.items:
            return Fields(c.cls, {k: self.dims(v) for k, v in c.items.items()})
        return UNKNOWN

    def call_per_sample(self, func: Transformed, args: Args, node: ast.AST) -> Value:
        count = len(args.positional)
        argnums = self.dims(func.options["argnums"]) if "argnums" in func.options else 0
        numbers = argnums if isinstance(argnums, tuple) else (argnums,)
        dims: Any
        if "in_dims" in func.options and func.options["in_dims"] != NONE:
            dims = self.dims(func.options["in_dims"])
        elif any(not isinstance(n, int) for n in numbers):
            dims = UNKNOWN
        else:
            dims = tuple(None if i in numbers or i - count in numbers else 0 for i in range(count))
        inner = Transformed(
            "grad",
            func.library,
            func.func,
            {"argnums": func.options["argnums"]} if "argnums" in func.options else {},
            func.site,
            func.module,
        )
        return self.call_map(func, inner, dims, args, node)

    def call_map(self, made: Transformed, inner: Value, dims: Any, args: Args, node: ast.AST) -> Value:
        bit = 1 << self.depth
        names, _ = self.parameters(inner)
        mapped = Args()
        values = list(args.positional)
        if args.star is not None:
            values += [args.star] * max(0, len([n for n in names if not n[1]]) - len(values))
        key = (self.context, "mapped", made.site, node)
        self.depth += 1
        try:
            for i, value in enumerate(values):
                dim = (
                    dims[i]
                    if isinstance(dims, (tuple, list)) and i < len(dims)
                    else UNKNOWN
                    if isinstance(dims, (dict, tuple, list, Fields))
                    else dims
                )
                name = names[i][0] if i < len(names) else ""
                mapped.positional.append(self.map_value(value, dim, bit, (*key, i), name, made))
                mapped.nodes.append(None)
            for name, value in args.keywords.items():
                mapped.keywords[name] = self.map_value(value, 0, bit, (*key, name), name, made) if made.library == "jax" else value
            if args.star is not None and not names:
                mapped.star = self.map_value(args.star, 0 if isinstance(dims, int) else UNKNOWN, bit, (*key, "*"), "", made)
            mapped.kwstar = args.kwstar
            axis = made.options.get("axis_name")
            name = axis.const if isinstance(axis, Static) and isinstance(axis.const, str) else ""
            self.levels.append(Level(bit, made.library, self.randomness(made), made.site, made.module, "map", name))
            try:
                result = self.call(inner, mapped, node)
            finally:
                self.levels.pop()
        finally:
            self.depth -= 1
        return self.strip(result, bit, (node, "out"))

    def randomness(self, made: Transformed) -> str:
        value = made.options.get("randomness")
        if value is None:
            return "error"
        if isinstance(value, Static) and value.const in ("error", "different", "same"):
            return str(value.const)
        return "unknown"

    def map_value(self, value: Value, dim: Any, bit: int, key: tuple[Any, ...], name: str, made: Transformed) -> Value:
        """A value as the mapped function sees it."""
        if isinstance(value, Union):
            return self.join_all([self.map_value(v, dim, bit, (*key, n), name, made) for n, v in enumerate(value.items)])
        c = self.cell(value)
        if isinstance(dim, (tuple, list, dict, Fields)):
            return self.map_tree(value, c, dim, bit, key, name, made)
        if dim is None:
            if c is None:
                return value
            root = Root("argument", name or c.root.name, self.span(made.site, made.module))
            self.heap[key] = c._replace(root=root, base=value.id if isinstance(value, Ref) else None)
            return Ref(key)
        batch = Batch(bit, 0) if isinstance(dim, int) else Batch(0, bit)
        return self.map_all(value, c, batch, key, name, made, f"axis {dim}" if isinstance(dim, int) else "by in_dims")

    def map_all(self, value: Value, c: Cell | None, batch: Batch, key: Any, name: str, made: Transformed, axis: str) -> Value:
        root = Root("argument", name, self.span(made.site, made.module))
        if c is None:
            if isinstance(value, Tuple):
                entries = tuple(
                    self.map_value(v, 0 if batch.yes else UNKNOWN, batch.any, (*key, i), name, made) for i, v in enumerate(value.items)
                )
                return Tuple(entries, value.names)
            if not isinstance(value, Static) or value.const is None or isinstance(value.const, str) or self.is_filtered(made):
                return value
            c = Cell("any", CLEAN, self.depth, root)
        # Which attributes of an object are arrays its class may say; otherwise they may be.
        items = {}
        for k, v in c.items.items():
            array = c.kind != "object" or self.field_kind(c, k)
            if array is None and self.is_filtered(made) and isinstance(v, Static):
                array = False
            items[k] = v if array is False else self.map_value(v, 0 if array and batch.yes else UNKNOWN, batch.any, (*key, k), name, made)
        rest = self.map_value(c.rest, 0 if batch.yes else UNKNOWN, batch.any, (*key, "…"), name, made) if c.rest is not None else None
        own = batch if c.kind in ("any", "array") else batch.softened() if c.kind in ("object", "lib") else CLEAN
        self.heap[key] = c._replace(batch=c.batch | own, depth=self.depth, root=root, items=items, rest=rest, base=None, scalar=False)
        self.origins[key] = Trail(self.span(made.site, made.module), f"{name or 'an argument'} is mapped here ({axis})", name)
        return Ref(key)

    def field_kind(self, c: Cell, key: object) -> bool | None:
        """Whether an attribute of a mapped object is an array: True for a field of a named tuple, or one that a dataclass does not type
        otherwise; False for what the class says is no part of the tree; None where it may be."""
        if not isinstance(c.cls, ClassOf):
            return None
        if "NamedTuple" in c.cls.marks:
            return True
        name = str(key).removeprefix(".")
        if name in self.meta_fields(c.cls):
            return False
        for s in c.cls.node.body:
            if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name) and s.target.id == name:
                if s.value is not None and NOT_MAPPED.search(ast.unparse(s.value)):
                    return False
                text = ast.unparse(s.annotation)
                return None if text in ("int", "bool", "str", "float") or "Callable" in text else True
        return None

    def meta_fields(self, cls: ClassOf) -> list[str]:
        """The fields that ``register_dataclass`` was told to leave out."""
        for d in cls.node.decorator_list:
            for k in d.keywords if isinstance(d, ast.Call) else ():
                if k.arg in ("meta_fields", "meta_fields_names"):
                    return self.field_names(self.eval(k.value))
        return []

    def map_tree(self, value: Value, c: Cell | None, dim: Any, bit: int, key: Any, name: str, made: Transformed) -> Value:
        """in_dims given per entry of a dict, list or tuple."""
        named = dim.entries if isinstance(dim, Fields) else dim
        entries = named.items() if isinstance(named, dict) else enumerate(named)
        known = value.items if isinstance(value, Tuple) else ()
        items: dict[Any, Value] = {}
        for k, d in entries:
            inner: Value | None = known[k] if isinstance(k, int) and k < len(known) else None
            if inner is None and c is not None:
                inner = c.items.get(k, c.rest)
            label = f"{name}[{k!r}]" if name else ""
            if inner is None:
                inner = self.any((*key, k, "entry"), CLEAN, Root("argument", label))
            items[k] = self.map_value(inner, d, bit, (*key, k), label, made)
        if isinstance(dim, tuple):
            return Tuple(tuple(items.values()), value.names if isinstance(value, Tuple) else ())
        root = Root("argument", name, self.span(made.site, made.module))
        kind = "object" if isinstance(dim, Fields) else "dict" if isinstance(dim, dict) else "list"
        self.heap[key] = Cell(kind, CLEAN, self.depth, root, items=items, cls=dim.cls if isinstance(dim, Fields) else None)
        self.origins[key] = Trail(self.span(made.site, made.module), f"{name} is mapped here", name)
        return Ref(key)

    def strip(self, value: Value, bit: int, key: tuple[Any, ...], room: int = 5) -> Value:
        """A result as the caller of the mapped function sees it: stacked, so no longer batched by that map."""
        if isinstance(value, Union):
            return self.join_all([self.strip(v, bit, (*key, i), room) for i, v in enumerate(value.items)])
        if isinstance(value, Tuple):
            return Tuple(tuple(self.strip(v, bit, (*key, i), room - 1) for i, v in enumerate(value.items)), value.names)
        c = self.cell(value)
        if c is None:
            return self.array(key) if isinstance(value, Static) and value.const is not None else value
        if room <= 0:
            return self.any(key, self.deep(value).without(bit))
        items = {k: self.strip(v, bit, (*key, k), room - 1) for k, v in c.items.items()}
        rest = self.strip(c.rest, bit, (*key, "…"), room - 1) if c.rest is not None else None
        return self.new(
            key, c._replace(batch=c.batch.without(bit), depth=self.depth, root=Root("fresh"), items=items, rest=rest, base=None)
        )

    # Derivatives

    def call_gradient(self, func: Transformed, args: Args, node: ast.AST) -> Value:
        if func.kind in ("forward", "hessian") and func.library != "jax":
            kind = "jacfwd" if func.kind == "forward" else "hessian"
            self.levels.append(Level(0, func.library, self.randomness(func), func.site, func.module, kind))
            try:
                result = self.call(func.func, args, node)
            finally:
                self.levels.pop()
        else:
            result = self.call(func.func, args, node)
        batch = self.deep_all(args) | self.deep(result)
        argnums = self.dims(func.options["argnums"]) if "argnums" in func.options else 0
        grads: Value = self.any((node, "grads"), batch)
        if isinstance(argnums, tuple):
            grads = Tuple(tuple(self.any((node, "grads", i), batch) for i in range(len(argnums))))
        value: Value = self.any((node, "value"), self.deep(result))
        value_part: Value
        aux: Value = ANY
        if isinstance(result, Tuple) and len(result.items) == 2:
            value_part, aux = result.items
        else:
            value_part = result
        has_aux = func.options.get("has_aux")
        with_aux = has_aux is not None and self.truth(has_aux)
        if func.kind == "grad_and_value":
            return Tuple((grads, Tuple((value_part, aux)) if with_aux else value))
        if func.kind == "value_and_grad":
            return Tuple((Tuple((value_part, aux)) if with_aux else value, grads))
        return Tuple((grads, aux)) if with_aux else grads

    def immediate(self, library: str, short: str, args: Args, node: ast.AST) -> Value:
        """vjp, jvp and linearize call their function at once."""
        if not args.positional:
            return ANY
        func, *rest = args.positional
        primals = rest
        if short == "jvp":
            first = rest[0] if rest else ANY
            known = self.known_items(first)
            primals = known if known is not None else [self.element(first, node)]
        inner = Args(list(primals))
        inner.star = args.star
        result = self.call(func, inner, node)
        batch = self.deep_all(args) | self.deep(result)
        has_aux = args.keywords.get("has_aux")
        with_aux = has_aux is not None and self.truth(has_aux)
        value, aux = (
            (result.items[0], result.items[1]) if with_aux and isinstance(result, Tuple) and len(result.items) == 2 else (result, ANY)
        )
        second: Value = self.any((node, "tangent"), batch)
        if short != "jvp":
            second = Partial(Lib("pergrad.pullback"), (second,), ())
        return Tuple((value, second, aux)) if with_aux else Tuple((value, second))

    # Functions of trees and modules

    def tree_map(self, args: Args, node: ast.AST) -> Value:
        if not args.positional:
            return ANY
        func, *trees = args.positional
        leaves: list[Value] = [self.any((node, "leaf", i), self.deep(t)) for i, t in enumerate(trees)]
        result = self.call(func, Args(leaves), node)
        return self.any((node, "tree"), self.deep(result))


__all__ = ["Maps", "Method"]
