"""The linter on a function object: its own source, with what it captures read from the object instead of guessed from text.

Nothing is called, and NumPy is not imported: an array is known by its type's name.
"""

from __future__ import annotations

import ast
import functools
import linecache
import sys
import sysconfig
import types
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

from .diagnostics import Diagnostic
from .engine import Machine
from .heap import Frame, Heap, OutOfFuel
from .libraries import owner_of
from .modules import Module
from .project import Project
from .values import (
    ANY,
    CLEAN,
    EMPTY,
    Bound,
    Cell,
    ClassOf,
    Func,
    Lib,
    ModuleOf,
    Partial,
    Ref,
    Root,
    Static,
    Transformed,
    Tuple,
    Value,
)

LARGEST = 64
DEEPEST = 3
SIMPLE = (bool, int, float, complex, str, bytes, type(None))


def lint_function(
    func: Callable[..., Any],
    in_dims: Any = None,
    argnums: int | tuple[int, ...] = 0,
    api: str = "vmap",
    randomness: str = "error",
) -> list[Diagnostic]:
    """What ``func`` may not do under a map, as findings in source order.

    ``api``: "vmap" (``in_dims`` None means 0) or "per_sample_grad" (None: what ``argnums`` names is shared, the rest mapped), "forward" for
    jacfwd and hessian, where only draws are judged. A function without source gives no findings.
    """
    machine = Machine(Project())
    machine.frames = [Frame(("live", "call"), Module("<call>", "", ast.Module([], [])))]
    machine.heap[("live", "call")] = {}
    target = value_of(machine, func, getattr(func, "__name__", ""))
    function = machine.resolve(target) if target is not None else None
    if target is None or function is None:
        return []
    options: dict[str, Value] = {"randomness": Static(randomness)}
    if in_dims is not None:
        options["in_dims"] = tree_of(in_dims)
    if api == "per_sample_grad":
        options["argnums"] = tree_of(argnums)
    kind = {"vmap": "map", "per_sample_grad": "per_sample", "forward": "forward"}[api]
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 20_000))
    try:
        machine.frames = [Frame(machine.module_frame(function.module), function.module)]
        machine.call_generic(Transformed(kind, "numpy", target, options, function.node, function.module))
        # Maps inside of it that it only makes.
        for key, made in list(machine.pending.items()):
            if key not in machine.called:
                machine.call_generic(made)
    except (OutOfFuel, RecursionError):
        pass
    finally:
        sys.setrecursionlimit(limit)
    return sorted(machine.found.values(), key=lambda d: d.key)


def tree_of(value: Any) -> Value:
    """in_dims or argnums as a value; what is no tree of ints and None stays unknown."""
    if value is None or isinstance(value, (bool, int)):
        return Static(value)
    if isinstance(value, tuple):
        return Tuple(tuple(tree_of(v) for v in value))
    return ANY


@functools.lru_cache(maxsize=64)
def parsed(file: str, text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def module_of(heap: Heap, file: str, names: dict[str, Any]) -> Module | None:
    """The module that a code object's file holds, its globals at hand."""
    known: dict[str, Module | None] = heap.__dict__.setdefault("live_modules", {})
    if file not in known:
        text = "".join(linecache.getlines(file, names))
        tree = parsed(file, text) if text else None
        path = Path(file)
        known[file] = Module(file, text, tree, path if path.is_absolute() and path.is_file() else None) if tree is not None else None
        module = known[file]
        if module is not None:
            module.live = names
            heap.project.start(module)
    return known[file]


STDLIB = tuple(p for p in {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")} if p)


def is_library(file: str) -> bool:
    """Whether a file belongs to Python or to what is installed."""
    if "site-packages" in file or "dist-packages" in file:
        return True
    return file.startswith(STDLIB) or file.startswith("<frozen")


def value_of(heap: Heap, found: Any, name: str, room: int = DEEPEST) -> Value | None:
    """A Python object as the linter sees it; None when the text knows better."""
    if isinstance(found, SIMPLE):
        return Static(found)
    kind = type(found)
    where = f"{kind.__module__}.{kind.__qualname__}"
    key = ("live", id(found))
    if isinstance(found, types.ModuleType):
        return module_value(heap, found)
    if isinstance(found, types.FunctionType):
        return function_value(heap, found)
    if isinstance(found, types.MethodType):
        inner = value_of(heap, found.__func__, name, room)
        owner = value_of(heap, found.__self__, name, room)
        return Bound(inner, owner if owner is not None else ANY) if inner is not None else None
    if isinstance(found, functools.partial):
        inner = value_of(heap, found.func, name, room)
        args = tuple(known(heap, a, name, room) for a in found.args)
        return (
            Partial(inner, args, tuple((k, known(heap, v, name, room)) for k, v in found.keywords.items())) if inner is not None else None
        )
    if where == "numpy.ufunc":
        return Lib(f"numpy.{found.__name__}")
    if isinstance(found, (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)):
        return Lib(f"{getattr(found, '__module__', None) or 'builtins'}.{getattr(found, '__qualname__', name)}")
    if isinstance(found, type):
        return class_value(heap, found)
    root = Root("captured", name)
    if where == "numpy.ndarray":
        heap.heap[key] = Cell("array", CLEAN, 0, root, found.dtype == bool, found.ndim == 0)
        return Ref(key)
    if kind.__module__ == "numpy":
        return ANY
    if kind.__module__.startswith("numpy.random"):
        heap.heap[key] = Cell("lib", CLEAN, 0, root, cls=Lib("numpy.random.Generator"))
        return Ref(key)
    if kind.__module__ == "random":
        heap.heap[key] = Cell("lib", CLEAN, 0, root, cls=Lib("random.Random"))
        return Ref(key)
    if kind.__module__.partition(".")[0] == "pergrad" and callable(found):
        # A transformed function: the text that made it says what it maps.
        return None
    if key in heap.heap:
        return Ref(key)
    if isinstance(found, tuple) and room:
        items = tuple(known(heap, v, f"{name}[{i}]", room - 1) for i, v in enumerate(found[:LARGEST]))
        return Tuple(items, getattr(found, "_fields", ()))
    if isinstance(found, (list, set, dict)):
        return container(heap, found, name, key, room)
    return instance(heap, found, name, key, room)


def known(heap: Heap, found: Any, name: str, room: int) -> Value:
    value = value_of(heap, found, name, room) if room >= 0 else None
    if value is not None:
        return value
    id: Hashable = ("live", "opaque", name)
    heap.heap[id] = Cell("any", CLEAN, 0, Root("captured", name))
    return Ref(id)


def container(heap: Heap, found: Any, name: str, key: Hashable, room: int) -> Value:
    kind = "dict" if isinstance(found, dict) else "set" if isinstance(found, set) else "list"
    root = Root("captured", name)
    heap.heap[key] = Cell(kind, CLEAN, 0, root)
    pairs = list(found.items() if isinstance(found, dict) else enumerate(found)) if room and kind != "set" else []
    items: dict[Any, Value] = {}
    for k, v in pairs[:LARGEST]:
        if isinstance(k, SIMPLE):
            items[k] = known(heap, v, f"{name}[{k!r}]", room - 1)
    rest = ANY if len(items) < len(found) else None
    heap.heap[key] = Cell(kind, CLEAN, 0, root, items=items, rest=rest)
    return Ref(key)


def instance(heap: Heap, found: Any, name: str, key: Hashable, room: int) -> Value | None:
    """An object of a user's class, its attributes read from the object."""
    cls = class_value(heap, type(found))
    root = Root("captured", name)
    if not isinstance(cls, ClassOf):
        heap.heap[key] = Cell("any", CLEAN, 0, root)
        return Ref(key)
    heap.heap[key] = Cell("object", CLEAN, 0, root, cls=cls)
    items = {}
    for attribute, v in list(vars(found).items())[:LARGEST] if room and hasattr(found, "__dict__") else ():
        items[f".{attribute}"] = known(heap, v, f"{name}.{attribute}", room - 1)
    heap.heap[key] = Cell("object", CLEAN, 0, root, items=items or EMPTY, cls=cls)
    return Ref(key)


def module_value(heap: Heap, found: types.ModuleType) -> Value:
    file = getattr(found, "__file__", None)
    if not file or is_library(file) or owner_of(found.__name__) or found.__name__.partition(".")[0] == "pergrad":
        return Lib(found.__name__)
    module = module_of(heap, file, vars(found))
    return ModuleOf(module) if module is not None else Lib(found.__name__)


def class_value(heap: Heap, found: type) -> Value | None:
    """A class of the user, by the text of its module; another's by name."""
    module = sys.modules.get(found.__module__)
    file = getattr(module, "__file__", None)
    if module is None or not file or is_library(file):
        return Lib(f"{found.__module__}.{found.__qualname__}")
    source = module_of(heap, file, vars(module))
    if source is None or found.__qualname__ != found.__name__:
        return None
    statements = [s for s in source.bindings.get(found.__name__, ()) if isinstance(s, ast.ClassDef)]
    if not statements:
        return None
    id = heap.module_frame(source)
    names = heap.heap[id]
    if not isinstance(names.get(found.__name__), ClassOf):
        saved = (heap.frames, heap.levels, heap.depth, heap.context)
        heap.frames, heap.levels, heap.depth, heap.context = [Frame(id, source)], [], 0, 0
        heap.execute([statements[-1]])
        heap.frames, heap.levels, heap.depth, heap.context = saved
    value = heap.heap[id].get(found.__name__)
    return value if isinstance(value, ClassOf) else None


def function_value(heap: Heap, found: types.FunctionType) -> Value | None:
    """A function of the user, its free variables read from its closure."""
    code = found.__code__
    owner = found.__module__ or ""
    if is_library(code.co_filename) or owner.partition(".")[0] == "pergrad":
        # NumPy defines its functions in private modules.
        return Lib(f"numpy.{found.__qualname__}" if owner.startswith("numpy._") else f"{owner}.{found.__qualname__}")
    module = module_of(heap, code.co_filename, found.__globals__)
    node = definition(module.tree, code) if module is not None else None
    if module is None or node is None:
        return None
    scope: Hashable = heap.module_frame(module)
    key = ("live", "scope", id(found))
    if key not in heap.heap:
        heap.heap[key] = {}
        heap.parents[key] = scope
        heap.depths[key] = 0
        names: dict[str, Value] = {}
        for name, cell in zip(code.co_freevars, found.__closure__ or ()):
            try:
                names[name] = known(heap, cell.cell_contents, name, DEEPEST)
            except ValueError:
                continue
        heap.heap[key] = names
    defaults = tuple(known(heap, d, "", DEEPEST) for d in found.__defaults__ or ())
    kwdefaults = tuple((k, known(heap, d, k, DEEPEST)) for k, d in (found.__kwdefaults__ or {}).items())
    return Func(node, module, key, defaults, kwdefaults)


def definition(tree: ast.Module, code: types.CodeType) -> Any:
    """The ``def`` or lambda that a code object was compiled from."""
    if code.co_name == "<lambda>":
        return lambda_of(tree, code)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == code.co_name:
            first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
            if code.co_firstlineno in (first, node.lineno):
                return node
    return None


def lambda_of(tree: ast.Module, code: types.CodeType) -> ast.Lambda | None:
    """Of several lambdas on a line, the one whose body the instructions come from."""
    places = [(line, column) for line, _, column, _ in code.co_positions() if line is not None and column is not None and column > 0]
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    best: ast.Lambda | None = None
    for node in ast.walk(tree):
        if not isinstance(node, ast.Lambda) or node.lineno != code.co_firstlineno:
            continue
        spec = node.args
        if tuple(a.arg for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)) != parameters:
            continue
        body = node.body
        start, end = (body.lineno, body.col_offset), (body.end_lineno or body.lineno, body.end_col_offset or 0)
        if not places or any(start <= p <= end for p in places):
            # The innermost that fits: an outer lambda's body spans the inner one's.
            if best is None or (body.lineno, body.col_offset) >= (best.body.lineno, best.body.col_offset):
                best = node
    return best


__all__ = ["lint_function"]
