"""From a call's signature to a compiled function, and the cache of them.

A specialisation is compiled once per structure, dtypes, per-sample shapes and static values of the arguments; sizes of mapped axes are no
part of it. It holds as long as what it captured is as it was: arrays are read at every call, everything else is guarded.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import _CacheInfo
from itertools import zip_longest
from typing import Any

import numpy as np

from .backend.compile import compile_program
from .backend.signature import Fixed, Items, Leaf, Parameter, Signature, Template
from .core.builder import Builder, Value, atom_of
from .core.program import Atom, Const, Program, Var, free_vars
from .core.sizes import Decisions, Size, unseen
from .core.trees import Node, Tree, as_tuples, flatten, path_text
from .core.types import Type, known, type_of
from .errors import OptionError, Refused
from .frontend.cells import Array, Cell, Owner, Scalar, wrap
from .frontend.generators import KINDS, Generator
from .frontend.generators import TYPE as GENERATOR
from .frontend.session import Guard, NeedsStatic, Path, Session, opened
from .frontend.sharing import Apart
from .frontend.trace import Same, identifier
from .frontend.tracebacks import outside
from .optimize import optimize
from .varying import Axes, Changes, Named, size_groups, vague
from .varying import Guard as SizeGuard

_ALIASES = 2048
_STATIC_SIZE = 64  # arrays up to this size may become part of the key when Python needs their values


@dataclass(eq=False)
class Specialisation:
    """One compiled signature. ``extra`` is what the transform wants to keep beside the function; ``ordered`` are the arguments whose memory
    must be in C order: index, mapped axis, name; ``sizes`` what was decided by sizes that vary, made of ``decisions``."""

    function: Callable[..., Any]
    source: str
    program: Program
    captures: list[tuple[str, Path, Type]]
    guards: list[Guard]
    stages: list[tuple[str, Program]]
    signature: Signature
    apart: Apart
    extra: dict[str, Any] = field(default_factory=dict)
    ordered: Sequence[tuple[int, int | None, str]] = ()
    sizes: SizeGuard | None = None
    decisions: Decisions = field(default_factory=lambda: Decisions({}))

    def check_order(self, leaves: Sequence[Any]) -> None:
        """Refuse arrays that NumPy would copy where the compiled function writes through a reshape."""
        for k, axis, name in self.ordered:
            x = leaves[k]
            if not isinstance(x, np.ndarray):
                continue
            sample = x if axis is None else np.moveaxis(x, axis, 0)[0] if x.shape[axis] else x[:0]
            if not sample.flags.c_contiguous:
                raise Refused(
                    f"argument `{name}` is reshaped and written to: as its memory is not in C order, NumPy's reshape would be a copy",
                    code="PGR701",
                    hint=f"np.ascontiguousarray({name})",
                )

    @property
    def plain(self) -> bool:
        """Whether a call needs nothing but its arguments and the guards."""
        return not (self.captures or self.ordered or self.apart.written) and self.sizes is None

    def guarded(self) -> bool:
        """Whether everything captured is as it was when this was compiled."""
        for guard in self.guards:
            if not guard.holds():
                return False
        return True

    def captured(self) -> dict[str, Any] | None:
        """The captured arrays as they are now, or None when something captured changed its kind."""
        if not self.guarded():
            return None
        values: dict[str, Any] = {}
        for name, path, t in self.captures:
            try:
                value = path.get()
            except Exception:  # noqa: BLE001  a capture that cannot be read any more has changed
                return None
            if t.dtype.kind == "O":
                if not isinstance(value, KINDS):
                    return None
            elif type(value) is not np.ndarray or value.dtype != t.dtype or value.shape != t.shape:
                return None
            values[name] = value
        return values


Trace = Callable[[tuple[Any, ...], dict[str, Any], "Context"], Any]


@dataclass(eq=False)
class Context:
    """What a transform says about the whole of a top-level call."""

    extra: dict[str, Any] = field(default_factory=dict)


class Specialisations:
    """The cache of one transformed function. ``record`` records the call into the builder at work; ``axes`` gives for each leaf of the
    arguments the axis whose size may vary, or None. ``adaptive``: any axis whose size was seen to vary becomes a symbol, where the
    function allows it. ``called`` is what messages call the function."""

    def __init__(
        self,
        name: str,
        func: Any,
        record: Trace,
        axes: Callable[[tuple[Any, ...], dict[str, Any]], Sequence[int | None]],
        *,
        adaptive: bool = False,
        called: str = "",
    ) -> None:
        self.adaptive = adaptive
        self._changes = Changes()
        self.name = name
        self.called = called or name
        self.func = func
        self.record = record
        self.axes = axes
        self._variants: dict[Any, list[Specialisation]] = {}
        self._aliases: dict[Any, Any] = {}
        self._statics: dict[Any, frozenset[Any]] = {}
        self._latest: Specialisation | None = None
        self._again: tuple[Any, Any] = None, None
        """The dtypes and shapes of the last call whose arguments were plain arrays, and what it ran."""
        self._hits = self._misses = 0
        self._lock = threading.Lock()

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the call. One like the call before is compared with that alone."""
        if not kwargs:
            before, again = self._again
            if before == [(x.dtype, x.shape) if type(x) is np.ndarray else None for x in args] and again.guarded():
                self._hits += 1
                return again.function(*args)
        found, captured = self.get(args, kwargs)
        if captured or kwargs:
            return found.function(*args, **kwargs, **captured)
        if found.plain and not self._statics and all(type(x) is np.ndarray for x in args):
            self._again = [(x.dtype, x.shape) for x in args], found
        return found.function(*args)

    def get(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Specialisation, dict[str, Any]]:
        """The specialisation for a call, compiled if need be, and the captured arrays."""
        leaves, tree = flatten((args, kwargs)) if kwargs else flatten(args)
        full = (tree, *[(x.dtype, x.shape) if type(x) is np.ndarray else leaf_key(x) for x in leaves])
        key = self._aliases.get(full)
        if key is None:
            key = self._canonical(full, args, kwargs, leaves)
        if type(key) is _Statics:
            key = key.extended(leaves)
        for variant in self._variants.get(key, ()):
            if variant.sizes is not None and not variant.sizes.holds(leaves):
                continue
            captured = variant.captured()
            if captured is not None:
                self._hits += 1
                if variant.ordered:
                    variant.check_order(leaves)
                if variant.apart.written:
                    self._check_apart(variant, args, kwargs, captured)
                return variant, captured
        self._misses += 1
        try:
            return self._compile(full, key, args, kwargs)
        except Exception as error:
            error.__traceback__ = outside(error)
            raise

    def _canonical(self, full: Any, args: tuple[Any, ...], kwargs: dict[str, Any], leaves: Sequence[Any]) -> Any:
        axes = self._varying(full, args, kwargs, leaves)
        groups = size_groups(leaves, axes)
        parts = [vague(x, own, groups) if own else part for x, own, part in zip_longest(leaves, axes, full[1:], fillvalue=())]
        key: Any = (full[0], *parts)
        if key in self._statics:
            key = _Statics(key, self._statics[key])
        with self._lock:
            if len(self._aliases) > _ALIASES:
                self._aliases.clear()
            self._aliases[full] = key
        return key

    def _check_apart(self, found: Specialisation, args: tuple[Any, ...], kwargs: dict[str, Any], captured: dict[str, Any]) -> None:
        leaves, tree = flatten((args, kwargs))
        found.apart.check(leaves, argument_names(self.func, tree), captured)

    def _varying(self, full: Any, args: tuple[Any, ...], kwargs: dict[str, Any], leaves: Sequence[Any]) -> list[Axes]:
        """For each leaf the axes whose sizes may vary."""
        if self.adaptive:
            return self._changes.axes(full, leaves)
        return [() if axis is None else (axis,) for axis in self.axes(args, kwargs)]

    def _attempt(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], statics: frozenset[Any], axes: Sequence[Axes]
    ) -> Specialisation | None:
        """Compile with sizes that have changed as names; None where the function needs one as a number."""
        try:
            return Compilation(self, args, kwargs, statics, axes).run()
        except NeedsStatic:
            raise
        except Exception:  # noqa: BLE001  with numbers it either works or says better what is wrong
            return None

    def _compile(self, full: Any, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Specialisation, dict[str, Any]]:
        base, statics = (key[0], key[1]) if isinstance(key, tuple) and key and isinstance(key[0], _Key) else (key, frozenset())
        leaves = flatten((args, kwargs))[0] if kwargs else flatten(args)[0]
        while True:
            try:
                axes = self._varying(full, args, kwargs, leaves)
                attempted = self._attempt(args, kwargs, statics, axes) if self.adaptive and any(axes) else None
                if attempted is None:
                    new = Compilation(self, args, kwargs, statics, [] if self.adaptive else axes).run()
                    if self.adaptive and any(axes):
                        self._changes.refuse(full, leaves, axes)
                        with self._lock:
                            self._aliases.clear()
                        key = self._canonical(full, args, kwargs, leaves)
                        base = key.base if type(key) is _Statics else key
                else:
                    new = attempted
                break
            except NeedsStatic as need:
                if need.indices <= statics:
                    raise need.error from None
                statics = statics | need.indices
        if statics:
            plain = base.key if isinstance(base, _Key) else base
            with self._lock:
                self._statics[plain] = statics
                extended = _Statics(plain, statics)
                self._aliases[full] = extended
            key = extended.extended(leaves)
        captured = new.captured()
        assert captured is not None
        with self._lock:
            self._variants.setdefault(key, []).insert(0, new)
            self._latest = new
        if new.ordered:
            new.check_order(leaves)
        if new.apart.written:
            self._check_apart(new, args, kwargs, captured)
        return new, captured

    @property
    def latest(self) -> Specialisation | None:
        return self._latest

    def info(self) -> Any:
        """As functools.lru_cache says it."""
        return _CacheInfo(self._hits, self._misses, None, sum(map(len, self._variants.values())))

    def clear(self) -> None:
        """Forget everything compiled."""
        with self._lock:
            self._variants.clear()
            self._changes.clear()
            self._aliases.clear()
            self._statics.clear()
            self._latest = None
            self._again = None, None
            self._hits = self._misses = 0


class _Key:
    __slots__ = ("key",)

    def __init__(self, key: Any) -> None:
        self.key = key

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.key == other.key


class _Statics:
    """A key that needs the values of some leaves."""

    __slots__ = ("base", "indices")

    def __init__(self, base: Any, indices: frozenset[Any]) -> None:
        self.base = base
        self.indices = indices

    def extended(self, leaves: Sequence[Any]) -> Any:
        chosen = sorted(i for i in self.indices if isinstance(i, int))
        return (_Key(self.base), self.indices, *(_value(leaves[i]) for i in chosen))


def _value(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return (x.dtype, x.shape, x.tobytes())
    return (type(x), x) if not isinstance(x, np.generic) else (type(x), x.item())


def leaf_key(x: Any) -> Any:
    """What a leaf that is no plain array contributes to the key: numbers their class, anything else itself."""
    kind = type(x)
    if kind is float or kind is int or kind is complex:
        return kind
    if isinstance(x, np.bool_):
        return kind, bool(x)  # it decides what Python does, as a bool
    if isinstance(x, np.generic):
        return ("scalar", x.dtype)
    if isinstance(x, KINDS):
        return kind
    if hasattr(x, "shape") and hasattr(x, "dtype") and not isinstance(x, type) and not is_foreign(x):
        return (x.dtype, tuple(x.shape))
    try:
        hash(x)
    except TypeError:
        return _Identity(x)
    return (kind, x)


def is_foreign(x: Any) -> bool:
    """Whether a value is an array to which NumPy's operators mean something else: a matrix, a masked array, another library's array."""
    if isinstance(x, np.ndarray):
        # np.ma is imported when it is first read
        return type(x) is not np.ndarray and isinstance(x, (np.matrix, np.ma.MaskedArray))
    return hasattr(x, "__array__") and not isinstance(x, (np.generic, Value, type))


class _Identity:
    __slots__ = ("obj",)

    def __init__(self, obj: Any) -> None:
        self.obj = obj

    def __hash__(self) -> int:
        return id(self.obj)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and self.obj is other.obj


class Compilation:
    """One walk of one call, to the function."""

    def __init__(
        self, owner: Specialisations, args: tuple[Any, ...], kwargs: dict[str, Any], statics: frozenset[Any], axes: Sequence[Axes]
    ) -> None:
        self.owner = owner
        self.axes = axes
        self.args, self.kwargs = args, kwargs
        self.statics = statics
        self.leaves, self.tree = flatten((args, kwargs))
        self.named = Named(self.leaves, axes)
        self.names = argument_names(owner.func, self.tree)

    def run(self) -> Specialisation:
        """The compiled function."""
        with self.named.decisions.deciding():
            return self._compiled()

    def _compiled(self) -> Specialisation:
        builder = Builder(wrap)
        s = Session(builder, statics=self.statics)
        context = Context()
        with opened(s), builder.active():
            params, inside = self.parameters(s, builder)
            args, kwargs = self.tree.unflatten(inside)
            output = self.owner.record(args, kwargs, context)
            out_leaves, out_tree = flatten(output)
            results: list[Atom] = []
            positions: list[Any] = []
            for leaf in out_leaves:
                if isinstance(leaf, (Value, Size, np.ndarray)):
                    positions.append(len(results))
                    results.append(atom_of(unseen(leaf)))
                else:
                    positions.append(Same(leaf))
            written = []
            for k, (x, p) in enumerate(zip(self.traced, params, strict=True)):
                if isinstance(x, Array) and x.cell.atom is not p:
                    written.append((k, len(results)))
                    results.append(x.cell.atom)
        hidden = [v for _, v in s.captures]
        name = self.owner.name
        program = Program((*params, *hidden), tuple(builder.nodes), tuple(results), name, self.sizes)
        stages = [*s.stages, ("combined", program)]
        program = optimize(program)
        stages.append(("simplified", program))
        hidden_names = unique_names([v.name or "captured" for v in hidden], {p.name for p in self.signature_parameters()})
        signature = Signature(
            name,
            (*self.signature_parameters(), *(Parameter(n, Leaf(len(params) + k), "hidden") for k, n in enumerate(hidden_names))),
            template_of(out_tree.node, iter(positions)),
            tuple(written),
        )
        function, source = compile_program(program, signature)
        if not self.tree.node.readable_throughout:
            function = reading_tuples(function)
        captures = [(n, path, v.type) for n, (path, v) in zip(hidden_names, s.captures, strict=True)]
        mapped = [] if self.owner.adaptive else [own[0] if own else None for own in self.axes]
        ordered = [(k, mapped[k] if k < len(mapped) else None, n) for k, n in enumerate(self.names) if n in s.ordered]
        return Specialisation(
            function,
            source,
            program,
            captures,
            s.guards,
            stages,
            signature,
            apart=Apart(s.sharing.written, s.sharing.pairs),
            extra=context.extra,
            ordered=ordered,
            sizes=self.named.guard(),
            decisions=self.named.decisions,
        )

    def parameters(self, s: Session, builder: Builder) -> tuple[list[Var], list[Any]]:
        """The Program's parameters, and what stands for each leaf inside."""
        self.sizes: dict[str, tuple[int, int]] = {}
        self.index: list[int | None] = []
        self.traced: list[Any] = []
        params: list[Var] = []
        inside: list[Any] = []
        for k, leaf in enumerate(self.leaves):
            if is_foreign(leaf):
                raise OptionError(
                    f"{self.owner.called}: argument `{self.names[k]}` is a {type(leaf).__name__}, only NumPy's plain arrays can be used",
                    hint=f"np.asarray({self.names[k]})",
                )
            if isinstance(leaf, np.ndarray) and leaf.dtype.kind == "O":
                raise OptionError(
                    f"{self.owner.called}: argument `{self.names[k]}` has dtype object, only numbers can be used",
                    hint=f"{self.names[k]}.astype(float)",
                )
            if isinstance(leaf, KINDS):
                var = Var(GENERATOR, identifier(self.names[k]))
                self.index.append(len(params))
                params.append(var)
                inside.append(Generator(var, type(leaf)))
                self.traced.append(inside[-1])
                continue
            t = self.leaf_type(leaf)
            varying = k < len(self.axes) and bool(self.axes[k])
            if t is None or (k in self.statics and not varying):
                self.index.append(None)
                inside.append(leaf if t is None or t.scalar else wrap(Const(np.array(leaf))))
                continue
            if varying:
                t = t.with_shape(self.named.shape(k, t.shape))
                for axis in self.axes[k]:
                    self.sizes.setdefault(str(t.shape[axis]), (len(params), axis))
            var = Var(t, identifier(self.names[k]))
            self.index.append(len(params))
            params.append(var)
            if t.scalar:
                inside.append(Scalar(var))
                s.scalars[var] = k
            else:
                cell = Cell(var, builder, Owner("argument", self.names[k]))
                cell.name = var.name
                inside.append(Array(cell))
                s.sharing.leaves[cell] = k
                if not varying and known(t.shape) and t.size <= _STATIC_SIZE:
                    s.scalars[var] = k
            self.traced.append(inside[-1])
        return params, inside

    def leaf_type(self, leaf: Any) -> Type | None:
        if isinstance(leaf, bool) or isinstance(leaf, np.bool_):
            return None
        if isinstance(leaf, np.ndarray):
            return type_of(leaf) if leaf.dtype.kind in "biufc" else None
        if isinstance(leaf, (np.generic, int, float, complex)):
            return type_of(leaf)
        if hasattr(leaf, "shape") and isinstance(getattr(leaf, "dtype", None), np.dtype):
            return Type(leaf.dtype, tuple(leaf.shape))
        return None

    def signature_parameters(self) -> tuple[Parameter, ...]:
        positions = iter([Same(x) if i is None else i for i, x in zip(self.index, self.leaves, strict=True)])
        whole = template_of(self.tree.node, positions, argument=True)
        assert isinstance(whole, Items) and isinstance(whole.parts[0], Items) and isinstance(whole.parts[1], Items)
        positional = whole.parts[0].parts
        keywords = dict(zip(whole.parts[1].keys, whole.parts[1].parts, strict=True))
        return tuple(bound_parameters(self.owner.func, positional, keywords))


def bound_parameters(func: Any, positional: Sequence[Template], keywords: Mapping[str, Template]) -> list[Parameter]:
    """The user's parameters with what this call puts into them."""
    kinds = inspect.Parameter
    try:
        signature = inspect.signature(func)
        arguments = signature.bind(*positional, **keywords).arguments
    except (TypeError, ValueError):
        names = [f"x{k + 1}" if len(positional) > 1 else "x" for k in range(len(positional))]
        return [
            *(Parameter(n, t, "positional_only") for n, t in zip(names, positional, strict=True)),
            *(Parameter(n, t, "keyword") for n, t in keywords.items()),
        ]
    words = {
        kinds.POSITIONAL_ONLY: "positional_only",
        kinds.POSITIONAL_OR_KEYWORD: "positional",
        kinds.VAR_POSITIONAL: "var_positional",
        kinds.KEYWORD_ONLY: "keyword",
        kinds.VAR_KEYWORD: "var_keyword",
    }
    out: list[Parameter] = []
    for name, p in signature.parameters.items():
        template = arguments.get(name)
        if p.kind is kinds.VAR_POSITIONAL:
            template = Items(tuple, tuple(template or ()))
        elif p.kind is kinds.VAR_KEYWORD:
            template = Items(dict, tuple((template or {}).values()), tuple(template or {}))
        default = (
            None
            if p.default is kinds.empty
            else (repr(p.default) if isinstance(p.default, (int, float, str, bool, type(None))) else "None")
        )
        out.append(Parameter(name, template if template is not None else Fixed(None), words[p.kind], default))
    return out


def template_of(node: Node, leaves: Any, *, argument: bool = False) -> Template:
    """A tree as the emitter takes it; ``leaves`` are indices or ``Same``. An argument is only read, a result is built."""
    if node.kind == "leaf":
        leaf = next(leaves)
        return Fixed(leaf.value) if isinstance(leaf, Same) else Leaf(leaf)
    parts = tuple(template_of(c, leaves, argument=argument) for c in node.children)
    assert node.type is not None
    if node.kind in ("tuple", "list"):
        return Items(tuple if node.kind == "tuple" else list, parts)
    if argument and not node.readable:
        return Items(tuple, parts)
    build = node.build if node.kind == "custom" else None
    return Items(node.type, parts, tuple(node.keys), by_key=node.by_item and node.type is not dict, build=build)


def reading_tuples(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, called with tuples in the place of containers that only optree can read."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = as_tuples((args, kwargs))
        return function(*args, **kwargs)

    return call


def argument_names(func: Any, tree: Tree) -> list[str]:
    """How the user would write each leaf of (args, kwargs)."""
    try:
        parameters = list(inspect.signature(func).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    star = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "x")
    out = []
    for path in tree.paths():
        first, second, *rest = path
        if first.index == 1:  # type: ignore[union-attr]
            root = str(second.key)  # type: ignore[union-attr]
        else:
            k = second.index  # type: ignore[union-attr]
            root = names[k] if k < len(names) else f"{star}[{k - len(names)}]"
        out.append(path_text(root, tuple(rest)))
    return out


def unique_names(names: Sequence[str], taken: set[str]) -> list[str]:
    """The names with numbers where they clash."""
    used, out = set(taken), []
    for name in names:
        fresh, k = name, 2
        while fresh in used:
            fresh, k = f"{name}_{k}", k + 1
        used.add(fresh)
        out.append(fresh)
    return out


def stage_source(program: Program, name: str) -> str:
    """A Program of an inner stage as runnable source: what it reads from around it becomes parameters."""
    from .backend.emit import emit
    from .optimize import spell_out

    program = spell_out(program)
    free = free_vars(program)
    params = (*program.params, *free)
    whole = Program(params, program.body, program.results, program.name, program.sizes)
    names = unique_names([p.name or "x" for p in params], set())
    return emit(whole, Signature.flat(name, names, len(program.results)))
