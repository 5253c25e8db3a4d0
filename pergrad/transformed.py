"""What every transformed function offers: it can be called, read, linted, and taken by other transforms."""

from __future__ import annotations

import functools
import inspect
import sys
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .arguments import check_numbers
from .compiler.core.builder import Value, atom_of, building, current
from .compiler.core.program import Const, Program, walk
from .compiler.core.trees import Tree, flatten
from .compiler.core.types import Type
from .compiler.errors import PergradError
from .compiler.frontend.cells import Array, Cell, Owner
from .compiler.frontend.session import session
from .compiler.frontend.trace import Argument, Traced, is_number, trace
from .compiler.optimize import prepare
from .compiler.specialize import Context, Specialisation, Specialisations, argument_names, stage_source
from .naming import function_name

_shared: weakref.WeakKeyDictionary[Any, dict[Any, Specialisations]] = weakref.WeakKeyDictionary()


class Transformed:
    """A function transform applied to a function. Subclasses say how a call is recorded.

    ``inspect.signature``, ``__name__``, ``__doc__`` and ``__wrapped__`` are those of the function. Pickles as the function does.
    """

    kind = ""
    adaptive = False  # whether sizes that were seen to vary become symbols
    spoken = ""  # what messages call it, where that is not its own name: the transform that it is a part of
    __pergrad_front__ = True

    def __init__(self, func: Callable[..., Any], **options: Any) -> None:
        self._func = func
        self._options = options
        self._whole = options.get("chunk_size") is None
        self._cache: Specialisations | None = None
        functools.update_wrapper(self, func, updated=())
        self.__wrapped__ = func
        if not hasattr(func, "__name__"):
            self.__name__ = type(func).__name__

    # calling

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if building():
            return self.record(args, kwargs)
        if not self._whole:
            return self.in_chunks(args, kwargs)
        try:
            return (self._cache or self.specialisations).call(args, kwargs)
        except (AttributeError, TypeError):
            check_numbers(self.called, self._func, (args, kwargs))
            raise

    def in_chunks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a call with a ``chunk_size``."""
        raise NotImplementedError

    def __pergrad_trace__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self.record(args, kwargs)

    def __get__(self, obj: Any, owner: Any = None) -> Any:
        import types

        return self if obj is None else types.MethodType(self, obj)

    def record(self, args: tuple[Any, ...], kwargs: dict[str, Any], context: Context | None = None) -> Any:
        """Record the transformed call into the builder at work; the output tree of symbolic values."""
        raise NotImplementedError

    def axes(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Sequence[int | None]:
        """For each leaf of the arguments the axis whose size is no part of the signature."""
        return ()

    @property
    def specialisations(self) -> Specialisations:
        """The compiled signatures, shared with every equal transform of the same function."""
        if self._cache is None:
            self._cache = self._find_cache()
        return self._cache

    def _find_cache(self) -> Specialisations:
        root, identity = self.identity()
        called = f"{self.called}({function_name(self._func)})"
        axes, adaptive = self.axes, self.adaptive
        new = Specialisations(self.emitted_name, root_function(self), self.record, axes, adaptive=adaptive, called=called)
        try:
            caches = _shared.setdefault(root, {})
            return caches.setdefault(identity, new)
        except TypeError:
            return new

    @property
    def called(self) -> str:
        """The transform as messages call it."""
        return self.spoken or self.kind

    def identity(self) -> tuple[Any, Any]:
        """The function at the bottom, and everything that was done to it."""
        inner = self._func
        root, below = inner.identity() if isinstance(inner, Transformed) else (inner, ())
        return root, (type(self), self.spoken, _hashable(self._options), below)

    @property
    def emitted_name(self) -> str:
        """The name of the emitted function."""
        words = [self.kind]
        inner = self._func
        while isinstance(inner, Transformed):
            words.append(inner.kind)
            inner = inner._func
        name = getattr(inner, "__name__", type(inner).__name__)
        name = name if name.isidentifier() else "function"
        return "_".join([name, *self.words(words)])

    def words(self, kinds: list[str]) -> list[str]:
        """What the name says of the transforms, from the outermost in: vmap of grad is per_sample_grad."""
        out: list[str] = []
        for k in kinds:
            if not (out and out[-1] == "hessian" and k == "jacobian"):
                out.append("per_sample" if k == "vmap" else k)
        return out

    # looking inside

    def source(self, *args: Any, **kwargs: Any) -> str:
        """The emitted NumPy source for these arguments (arrays or ``ShapeDtype``); without arguments that of the latest compilation.

        Raises PergradError when nothing was compiled yet.
        """
        return self._specialisation(args, kwargs).source

    def stages(self, *args: Any, **kwargs: Any) -> Mapping[str, str]:
        """An ordered mapping from stage to runnable source: lowered, differentiated, batched, simplified, final."""
        found = self._specialisation(args, kwargs)
        out: OrderedDict[str, str] = OrderedDict()
        for name, program in found.stages:
            if name == "combined":
                continue
            key, k = name, 2
            while key in out:
                key, k = f"{name}_{k}", k + 1
            out[key] = stage_source(program, self.emitted_name)
        out["final"] = found.source
        return out

    def _specialisation(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Specialisation:
        if args or kwargs:
            return self.specialisations.get(args, kwargs)[0]
        latest = self.specialisations.latest
        if latest is None:
            raise PergradError(
                f"{self.__name__} was not compiled yet", hint="call it, or give source() the arguments or pg.ShapeDtype stand-ins"
            )
        return latest

    def lint(self) -> list[Any]:
        """What the linter finds in the function's own source, as a list of Diagnostic; nothing is run."""
        from .linting import lint_transformed

        return lint_transformed(self)

    def save(self, path: Any, *args: Any, **kwargs: Any) -> None:
        """Write a standalone module that imports only NumPy, for these arguments or the latest compilation."""
        from .compiler.backend.save import save

        found = self._specialisation(args, kwargs)
        save(path, found.program, found.signature, found.captured() or {})

    def cache_info(self) -> Any:
        """Hits, misses and size, as functools.lru_cache."""
        return self.specialisations.info()

    def cache_clear(self) -> None:
        """Forget everything compiled."""
        self.specialisations.clear()

    def __reduce__(self) -> Any:
        module = sys.modules.get(getattr(self, "__module__", "") or "")
        found: Any = module
        for part in getattr(self, "__qualname__", "?").split("."):
            found = getattr(found, part, None)
        if found is self:
            return self.__qualname__
        return _rebuild, (type(self), self._func, self._options)

    def __repr__(self) -> str:
        return f"<{self.kind} of {getattr(self, '__name__', self._func)!s}>"


def _rebuild(kind: type[Transformed], func: Any, options: dict[str, Any]) -> Transformed:
    return kind(func, **options)


def root_function(f: Any) -> Any:
    """The function at the bottom of a stack of transforms."""
    while isinstance(f, Transformed):
        f = f._func
    return f


def _hashable(x: Any) -> Any:
    if isinstance(x, dict):
        return ("dict", tuple((k, _hashable(v)) for k, v in x.items()))
    if isinstance(x, (list, tuple)):
        return (type(x).__name__, tuple(map(_hashable, x)))
    try:
        hash(x)
    except TypeError:
        return ("id", id(x), repr(x))
    return (type(x).__name__, x)


class Inner:
    """The trace of the function under a transform, inside a compilation: its Program, and what its parameters are outside."""

    def __init__(
        self,
        func: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        wanted: Sequence[bool] | None = None,
        mapped: Sequence[int | None] | None = None,
    ) -> None:
        leaves, tree = flatten((args, kwargs))
        names = argument_names(root_function(func), tree)
        self.operands: list[Any] = []
        self.index: list[int | None] = []
        self.outer: list[Any] = leaves
        inside: list[Any] = []
        for k, leaf in enumerate(leaves):
            chosen = wanted is not None and k < len(wanted) and wanted[k]
            axis = mapped[k] if mapped is not None and k < len(mapped) else None
            if (
                not is_number(leaf)
                or (not chosen and axis is None and (not isinstance(leaf, Value) or leaf.type.scalar) and not hasattr(leaf, "shape"))
                or (not chosen and axis is None and isinstance(leaf, Value) and leaf.type.scalar)
            ):
                self.index.append(None)
                inside.append(leaf)
                continue
            if not chosen and axis is None and isinstance(leaf, Array) and isinstance(leaf.atom, Const):
                # a known array stays known inside, and an argument
                owner = Owner("argument", names[k], None if mapped is None else False)
                self.index.append(None)
                inside.append(Array(Cell(leaf.atom, None, owner)))
                continue
            operand, t = leaf, atom_of(leaf).type
            if axis is not None:
                from .compiler.core.builder import call

                operand = call("numpy.moveaxis", leaf, axis, 0) if axis else leaf
                shape = tuple(d for n, d in enumerate(t.shape) if n != axis)
                t = Type(t.dtype, shape, scalar=not shape)
            self.index.append(len(self.operands))
            self.operands.append(operand)
            inside.append(Argument(t, names[k], None if mapped is None else axis is not None, leaf))
        name = getattr(root_function(func), "__name__", "f").replace("<lambda>", "function")
        self.nested = session().derivatives > 0
        session().derivatives += wanted is not None
        self.traced: Traced = trace(func, inside, tree, name=name)
        session().derivatives -= wanted is not None
        if not isinstance(func, Transformed):
            session().stages.append(("lowered", self.traced.program))
        self.program: Program = prepare(self.traced.program)

    @property
    def of_higher_order(self) -> bool:
        """Whether this is a derivative inside another, or of another."""
        return self.nested or any(node.section for node in walk(self.program))

    def selected(self, flags: Sequence[bool]) -> list[bool]:
        """Flags of leaves as flags of the Program's parameters."""
        out = [False] * len(self.operands)
        for k, i in enumerate(self.index):
            if i is not None and k < len(flags):
                out[i] = bool(flags[k])
        return out

    def inline(self, program: Program, operands: Sequence[Any] | None = None) -> list[Any]:
        """Record a Program over this call's operands; the values of its results."""
        atoms = current().inline(program, self.operands if operands is None else operands)
        return [current().wrap(a) for a in atoms]

    def write_back(self, results: Sequence[Any], move: Callable[[int, Any], Any] = lambda k, v: v) -> None:
        """Give the caller's arrays what the function wrote into them."""
        for parameter, position in self.traced.written.items():
            leaf = self.index.index(parameter)
            outer = self.outer[leaf]
            outer.write(move(leaf, Value(atom_of(results[position]))))


class Aux:
    """The auxiliary part of an output: its symbolic values among what is as it is."""

    def __init__(self, aux: Any) -> None:
        self._leaves, self._tree = flatten(aux)
        self.atoms = [atom_of(x) for x in self._leaves if isinstance(x, Value)]

    def rebuilt(self, values: Iterable[Any]) -> Any:
        """The part with other values in place of its symbolic ones."""
        rest = iter(values)
        return self._tree.unflatten([next(rest) if isinstance(x, Value) else x for x in self._leaves])


def replaced(program: Program, results: Sequence[Any]) -> Program:
    """A Program with other results."""
    return Program(program.params, program.body, tuple(results), program.name, program.sizes)


def stage(name: str, program: Program) -> Program:
    """Note a Program for ``stages``."""
    session().stages.append((name, program))
    return program


def parameters_of(func: Any) -> list[str]:
    """The names of a function's positional parameters, as far as Python knows them."""
    try:
        return [p.name for p in inspect.signature(func).parameters.values()]
    except (TypeError, ValueError):
        return []


__all__ = ["Aux", "Inner", "Transformed", "Tree", "parameters_of", "replaced", "root_function", "stage"]
