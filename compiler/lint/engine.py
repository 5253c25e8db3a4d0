"""One file through the linter: its map sites, the functions they map, the findings of the rules."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from ..errors import Span, Step
from . import rules as rules_package
from .diagnostics import Diagnostic
from .evaluate import decorator_names
from .execute import Executor
from .heap import Args, Frame, Level, OutOfFuel
from .maps import KINDS, transform_of
from .modules import Module
from .project import Project
from .rule import Facts, Finding, Rule
from .scan import Result
from .store import Layers
from .values import CLEAN, Batch, Cell, ClassOf, Func, Lib, Root, Static, Trail, Transformed, Value

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
DECORATED = ("vmap", "per_sample_grad", "per_sample_grad_norm", "clipped_grad_sum")


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule, by code. A rule is a class in a file of ``rules/``."""
    found: dict[str, Rule] = {}
    for info in sorted(pkgutil.iter_modules(rules_package.__path__), key=lambda m: m.name):
        module = importlib.import_module(f"{rules_package.__name__}.{info.name}")
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, Rule) and value.code and value.__module__ == module.__name__:
                found[value.code] = value()
    return tuple(found[code] for code in sorted(found))


@cache
def hooks() -> dict[str, list[tuple[Rule, Any]]]:
    """What watches each kind of node or event."""
    out: dict[str, list[tuple[Rule, Any]]] = {}
    for rule in all_rules():
        for event, attribute in type(rule).hooks():
            out.setdefault(event, []).append((rule, getattr(rule, attribute)))
    return out


class Machine(Executor):
    """The walk over a program, with the rules watching."""

    def __init__(self, project: Project, fuel: int | None = None) -> None:
        super().__init__(project) if fuel is None else super().__init__(project, fuel)
        self.prepare()
        self.facts = Facts(self)
        self.found: dict[tuple[str, str, ast.AST], Diagnostic] = {}
        self.watching = hooks()

    def fire(self, name: str, subject: Any) -> None:
        if not self.levels or (not self.depth and name != "draw"):
            return
        for rule, handler in self.watching.get(name, ()):
            for finding in handler(subject, self.facts):
                self.record(rule, finding)

    def record(self, rule: Rule, finding: Finding) -> None:
        module = finding.module or self.frames[-1].module
        severity = finding.severity or ("error" if finding.sure and self.sure else "warning")
        key = (rule.code, module.file, finding.node)
        old = self.found.get(key)
        if old is not None and (old.severity == severity or severity == "warning"):
            return
        span = self.span(finding.node, module)
        trail = self.trail(*finding.about)
        self.facts.reported[(module.file, finding.node)] = severity == "error"
        self.found[key] = Diagnostic(rule.code, rule.name, severity, finding.message, span, steps(trail, span), finding.help)


def steps(trail: Trail | None, span: Span) -> tuple[Step, ...]:
    """A trail as steps, without the line of the violation itself and without repeats."""
    out: list[Step] = []
    for t in trail.steps() if trail is not None else ():
        if out and out[-1].span.line == t.span.line and out[-1].message == t.message:
            continue
        out.append(Step(t.span, t.message))
    return tuple(out)


def lint_module(module: Module, project: Project, assume_batched: bool = False) -> Result:
    candidates = site_nodes(module.tree)
    if not candidates and not assume_batched:
        return Result(())
    machine = Machine(project)
    marked = set(candidates)
    machine.wanted = {f for f in ast.walk(module.tree) if isinstance(f, FUNCTIONS) and any(n in marked for n in ast.walk(f))}
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 20_000))
    try:
        walk_module(machine, module)
        for node in entries(module.tree, candidates):
            enter(machine, module, node)
        finish(machine)
        if assume_batched:
            assume(machine, module)
    finally:
        sys.setrecursionlimit(limit)
    found = sorted(machine.found.values(), key=lambda d: d.key)
    own = {site: ok for (file, site), ok in machine.sites.items() if file == module.file}
    own.update({site: False for site in unreached(machine, module) if site not in own})
    notes = [
        Diagnostic(
            "PGR902",
            "site-not-analysed",
            "note",
            "the mapped function could not be found: nothing in it was checked",
            machine.span(site, module),
        )
        for site, ok in own.items()
        if not ok
    ]
    read, missing = project.consulted()
    return Result((*found, *notes), len(own), sum(own.values()), read, missing)


def site_nodes(tree: ast.Module) -> list[ast.AST]:
    """Names that look like a transform of interest: what decides which functions are walked."""
    out: list[ast.AST] = []
    # Another name that the top level gives a transform: ``batched = jax.vmap``.
    aliases = {
        target.id
        for s in tree.body
        if isinstance(s, ast.Assign) and (getattr(s.value, "attr", "") in SITE_NAMES or getattr(s.value, "id", "") in SITE_NAMES)
        for target in s.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if (isinstance(node, ast.Attribute) and node.attr in SITE_NAMES) or (
            isinstance(node, ast.Name) and node.id in SITE_NAMES | aliases
        ):
            out.append(node)
        elif isinstance(node, ast.ImportFrom):
            out += [node for a in node.names if a.name in SITE_NAMES]
    return out


def unreached(machine: Machine, module: Module) -> list[ast.Call]:
    """Map sites by the text alone: what the walk did not come to is not analysed, and is said to be so."""
    machine.frames = [Frame(machine.module_frame(module), module)]
    out = []
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call):
            found = named(machine, module, node.func)
            transform = transform_of(found.name) if isinstance(found, Lib) else None
            if transform is not None and transform[1] in DECORATED and (node.args or any(k.arg in ("func", "fun") for k in node.keywords)):
                out.append(node)
    return out


def named(machine: Machine, module: Module, node: ast.expr) -> Value | None:
    """What a dotted name at the top level means."""
    if isinstance(node, ast.Name):
        return machine.module_name(module, node.id) if node.id in module.bindings else None
    if isinstance(node, ast.Attribute):
        base = named(machine, module, node.value)
        return Lib(f"{base.name}.{node.attr}") if isinstance(base, Lib) else None
    return None


SITE_NAMES = frozenset((*DECORATED, "jacfwd", "hessian", "filter_vmap", "filter_jacfwd", "filter_hessian"))


def entries(tree: ast.Module, candidates: list[ast.AST]) -> list[tuple[ast.ClassDef | None, Any]]:
    """The outermost functions and methods that hold a map site, each with its class."""
    marked = set(candidates)
    aliases = {a.asname for n in candidates if isinstance(n, ast.ImportFrom) for a in n.names if a.asname and a.name in SITE_NAMES}
    out: list[tuple[ast.ClassDef | None, Any]] = []

    def holds(node: ast.AST) -> bool:
        return any(n in marked or (isinstance(n, ast.Name) and n.id in aliases) for n in ast.walk(node))

    def visit(body: Iterable[ast.stmt], cls: ast.ClassDef | None) -> None:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                if any(holds(s) for s in node.body):
                    out.append((cls, node))
            elif isinstance(node, ast.ClassDef):
                visit(node.body, node)
            else:
                for part in ("body", "orelse", "finalbody"):
                    visit(getattr(node, part, None) or (), cls)
                for handler in getattr(node, "handlers", ()):
                    visit(handler.body, cls)

    visit(tree.body, None)
    return out


ENTRY_FUEL = 60_000


def walk_module(machine: Machine, module: Module) -> None:
    """The module's top level, statement by statement: a failure of one leaves the others."""
    machine.frames = [Frame(machine.module_frame(module), module)]
    for node in module.tree.body:
        attempt(machine, module, lambda node=node: machine.execute([node]))  # type: ignore[misc]


def attempt(machine: Machine, module: Module, work: Callable[[], object]) -> bool:
    """Do some work at the module's top level, with a budget; whatever it runs into, the machine is as before afterwards."""
    heap = machine.heap
    machine.frames = [Frame(machine.module_frame(module), module)]
    machine.levels, machine.depth, machine.context, machine.sure, machine.watched = [], 0, 0, True, []
    machine.fuel = ENTRY_FUEL
    try:
        work()
    except (OutOfFuel, RecursionError):
        machine.heap = heap
        return False
    return True


def enter(machine: Machine, module: Module, entry: tuple[ast.ClassDef | None, Any]) -> None:
    """Call a function that holds map sites, with arguments that nothing is known of, and then what it mapped without calling it."""
    cls, node = entry
    outside = machine.heap
    machine.heap = Layers({}, outside)
    before = set(machine.pending)
    attempt(machine, module, lambda: call_entry(machine, module, cls, node))
    for key, made in list(machine.pending.items()):
        if key not in before and key not in machine.called:
            machine.called.add(key)
            call_pending(machine, made)
    machine.heap = outside


def call_entry(machine: Machine, module: Module, cls: ast.ClassDef | None, node: Any) -> None:
    func = function_of(machine, module, cls, node)
    args = Args()
    skip = 0
    if func.owner is not None and "staticmethod" not in decorator_names(node):
        skip = 1
        args.positional = [func.owner if "classmethod" in decorator_names(node) else machine.instance_of(func.owner, node)]
        args.nodes = [None]
    generic = machine.generic(func, skip)
    args.positional += generic.positional
    args.nodes += generic.nodes
    args.keywords = generic.keywords
    machine.run(func, args, node)


def function_of(machine: Machine, module: Module, cls: ast.ClassDef | None, node: Any) -> Func:
    """The function that a ``def`` made, whatever decorators did with its name."""
    if cls is None:
        value = machine.module_name(module, node.name)
        found = machine.resolve(value) if value is not None else None
        if found is not None and found.node is node:
            return found
        return machine.function(node, sure=True)
    owner = machine.module_name(module, cls.name)
    if not isinstance(owner, ClassOf) or owner.node is not cls:
        return machine.function(node)
    value = machine.in_class(owner, node.name)
    found = machine.resolve(value) if value is not None else None
    if found is not None and found.node is node:
        return found
    made = machine.function(node)
    return Func(made.node, made.module, made.frame, made.defaults, made.kwdefaults, owner)


def finish(machine: Machine) -> None:
    """What is mapped but never seen to be called: called now, with arguments that nothing is known of."""
    for _ in range(3):
        waiting = [(key, t) for key, t in machine.pending.items() if key not in machine.called]
        if not waiting:
            return
        for key, made in waiting:
            machine.called.add(key)
            call_pending(machine, made)


def call_pending(machine: Machine, made: Transformed) -> None:
    if not attempt(machine, made.module, lambda: machine.call_generic(made)) and (made.module.file, made.site) in machine.sites:
        machine.sites[(made.module.file, made.site)] = False


def assume(machine: Machine, module: Module) -> None:
    """``--assume-batched all``: every function's arguments count as mapped."""
    library = assumed_library(module)
    for node in ast.walk(module.tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names = [p.arg for p in (*node.args.posonlyargs, *node.args.args)]
            value = function_of(machine, module, enclosing_class(module.tree, node), node)
            if value is None or not names:
                continue
            options: dict[str, Value] = {"randomness": Static("different")}
            first = names[0] in ("self", "cls") and value.owner is not None
            target: Value = value
            if first:
                from .values import Bound

                target = Bound(value, value.owner if names[0] == "cls" else machine.instance_of(value.owner, node))  # type: ignore[arg-type]
            call_pending(machine, Transformed("map", library, target, options, node, module))


def assumed_library(module: Module) -> str:
    for library in ("jax", "torch"):
        if f"import {library}" in module.text or f"from {library}" in module.text:
            return library
    return "numpy"


def enclosing_class(tree: ast.Module, node: ast.AST) -> ast.ClassDef | None:
    return next((c for c in tree.body if isinstance(c, ast.ClassDef) and node in c.body), None)


__all__ = ["CLEAN", "KINDS", "Batch", "Cell", "Level", "Machine", "Result", "Root", "all_rules", "lint_module"]
