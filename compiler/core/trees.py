"""Trees of values: dicts in insertion order, lists, tuples, namedtuples, dataclasses, and what is registered with optree.

optree does the walking, in a namespace of ours: there dicts keep their order, every dataclass met is registered by itself, and ``None``
is a value like any other. A class that a user registered under any namespace is known. A ``Tree`` is the structure alone; equal trees are
usually the same object, so that comparing them costs nothing.
"""

from __future__ import annotations

import dataclasses
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
import optree

_NAMESPACE = "pergrad"
_OURS = "pergrad."
_order = optree.dict_insertion_ordered(True, namespace=_NAMESPACE)
_order.__enter__()  # for the life of the process; the name keeps it from being closed
_lock = threading.Lock()
_dataclasses: dict[type, bool] = {}  # those registered; True if the class is called with its fields as keywords to make one

_foreign: tuple[int, dict[type, Any]] = (0, {})  # the size of optree's registry, and its entries under namespaces of others

T = TypeVar("T")


@dataclass(frozen=True)
class Key:
    """An item of a mapping."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"


@dataclass(frozen=True)
class Index:
    """An item of a sequence."""

    index: int

    def __str__(self) -> str:
        return f"[{self.index}]"


@dataclass(frozen=True)
class Attr:
    """A field of a namedtuple or dataclass."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"


Path = tuple[Key | Index | Attr, ...]


def path_text(name: str, path: Path) -> str:
    """How Python reads the part at ``path`` of the object called ``name``: ``params['W1']``, ``p.w``, ``ab[0]``."""
    return name + "".join(map(str, path))


class Node:
    """One container of a tree, or a value.

    ``kind`` is "leaf", "tuple", "list", "dict" (also an OrderedDict), "namedtuple", "dataclass" or "custom"; ``type`` its class, None for a
    value. ``keys`` are a dict's keys, the field names of a namedtuple or dataclass, otherwise indices. ``build`` makes the container of its
    parts; the emitter needs it only for "custom": the others are written as displays and calls with ``keys``.
    """

    __slots__ = ("_spec", "children", "entries", "keys", "kind", "type")

    def __init__(self, spec: optree.PyTreeSpec) -> None:
        self._spec = spec
        self.type: type | None = spec.type
        self.kind = _kind(spec)
        self.children: tuple[Node, ...] = tuple(map(Node, spec.children()))
        self.entries = _entries(spec, self.kind)
        self.keys: tuple[Any, ...] = tuple(_name(e) for e in self.entries)

    def build(self, parts: Sequence[Any]) -> Any:
        """The container with these parts."""
        if self.kind == "leaf":
            return parts[0]
        one = self._spec.one_level()
        assert one is not None
        return optree.tree_unflatten(one, parts)

    def leaves(self) -> int:
        """The number of values in it."""
        return self._spec.num_leaves

    @property
    def readable(self) -> bool:
        """Whether Python reads the parts as ``keys`` say, by item or attribute; of other registered classes only optree knows the parts."""
        return self.kind != "custom" or self.type in _dataclasses or self.by_item

    @property
    def readable_throughout(self) -> bool:
        """Whether all containers in it are."""
        return self.readable and all(c.readable_throughout for c in self.children)

    @property
    def by_item(self) -> bool:
        """Whether the parts are read by subscript."""
        if self.kind == "custom":
            return self.type is not None and issubclass(self.type, (dict, tuple, deque))
        return self.kind in ("tuple", "list", "dict")


class Tree:
    """The structure of a tree without its values: hashable, equal when containers, their order of keys and their classes are."""

    __slots__ = ("_hash", "_node", "_paths", "count", "spec")

    def __init__(self, spec: optree.PyTreeSpec) -> None:
        self.spec = spec
        self.count: int = spec.num_leaves
        self._hash = hash(spec)
        self._node: Node | None = None
        self._paths: list[Path] | None = None

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Tree) and self._hash == other._hash and bool(self.spec == other.spec))

    def __repr__(self) -> str:
        return f"Tree({_text(self.node)})"

    @property
    def node(self) -> Node:
        """The outermost container."""
        if self._node is None:
            self._node = Node(self.spec)
        return self._node

    @property
    def is_leaf(self) -> bool:
        return self is LEAF or self.node.kind == "leaf"

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """The tree with these values."""
        return optree.tree_unflatten(self.spec, leaves)

    def paths(self) -> list[Path]:
        """Where each value stands."""
        if self._paths is None:
            self._paths = list(_paths(self.node, ()))
        return self._paths

    def fold(self, leaves: Sequence[T], combine: Callable[[Node, tuple[T, ...]], T]) -> T:
        """One result for the tree: ``combine`` makes that of a container from those of its parts."""
        rest = iter(leaves)

        def walk(node: Node) -> T:
            return next(rest) if node.kind == "leaf" else combine(node, tuple(walk(c) for c in node.children))

        return walk(self.node)


def flatten(tree: Any) -> tuple[list[Any], Tree]:
    """The values of a tree in order, and its structure."""
    kind = type(tree)
    if kind in _PLAIN:
        return [tree], LEAF
    if kind is tuple:
        found = _flatten_arguments(tree)
        if found is not None:
            return found
    elif kind is dict and _PLAIN.issuperset(map(type, tree.values())):
        return list(tree.values()), _plain_dict(tuple(tree))
    leaves, spec = optree.tree_flatten(tree, none_is_leaf=True, namespace=_NAMESPACE)
    if not _PLAIN.issuperset(map(type, leaves)) and _register(leaves):
        return flatten(tree)
    return leaves, _tree(spec)


def _flatten_arguments(items: tuple[Any, ...]) -> tuple[list[Any], Tree] | None:
    """A tuple of plain values and dicts of them, as arguments usually are: a third of optree's time."""
    leaves: list[Any] = []
    shape: list[Any] = []
    for item in items:
        if type(item) in _PLAIN:
            leaves.append(item)
            shape.append(None)
        elif type(item) is dict and _PLAIN.issuperset(map(type, item.values())):
            leaves.extend(item.values())
            shape.append(tuple(item))
        else:
            return None
    return leaves, _plain_tuple(tuple(shape))


def flatten_as(tree: Tree, value: Any) -> list[Any] | None:
    """The values of ``value`` in the order of ``tree`` if it has that structure, its dicts' keys in any order, else None."""
    leaves, other = flatten(value)
    if other == tree:
        return leaves
    out: list[Any] = []
    return out if other.count == tree.count and _arrange(value, tree.node, out) else None


def _arrange(value: Any, node: Node, out: list[Any]) -> bool:
    if node.kind == "leaf":
        out.append(value)
        return not is_container(value)
    parts = parts_of(value, node) if type(value) is node.type else None
    return parts is not None and all(_arrange(p, c, out) for p, c in zip(parts, node.children))


def as_tuples(value: Any) -> Any:
    """A tree with tuples of their parts for the containers that are not ``readable``."""
    leaves, tree = flatten(value)
    return tree.fold(leaves, lambda node, parts: node.build(parts) if node.readable else tuple(parts))


class Mismatch(ValueError):
    """A prefix that does not fit: at ``path`` the tree has ``node``, the prefix has ``got``."""

    def __init__(self, path: Path, node: Node, got: Any) -> None:
        super().__init__(path_text("tree", path))
        self.path = path
        self.node = node
        self.got = got


def prefix(dims: Any, tree: Tree) -> list[Any]:
    """A prefix of a tree spread over the tree: one entry per value.

    A value of the prefix (anything that is not a container) stands for everything below it. A container must be that of the tree: the same
    class, the same keys in any order; a plain dict fits any mapping. Raises ``Mismatch``.
    """
    out: list[Any] = []
    _spread(dims, tree.node, (), out)
    return out


def _spread(dims: Any, node: Node, path: Path, out: list[Any]) -> None:
    if not is_container(dims):
        out.extend([dims] * node.leaves())
        return
    parts = parts_of(dims, node)
    if parts is None:
        raise Mismatch(path, node, dims)
    for part, child, entry in zip(parts, node.children, node.entries, strict=True):
        _spread(part, child, (*path, entry), out)


def parts_of(value: Any, node: Node) -> list[Any] | None:
    """The parts of a container in the order of ``node``'s, or None if it is another container."""
    if node.kind == "leaf":
        return None
    if node.kind == "dict" or isinstance(value, dict):
        if node.type is None or not issubclass(node.type, Mapping) or not isinstance(value, dict) or set(value) != set(node.keys):
            return None
        return [value[k] for k in node.keys]
    same: bool = type(value) is node.type
    if not same:
        return None
    parts: list[Any] = list(optree.tree_flatten_one_level(value, none_is_leaf=True, namespace=_NAMESPACE)[0])
    return parts if len(parts) == len(node.children) else None


def is_container(value: Any) -> bool:
    """Whether a value has parts, rather than being an array, a number, a string or another object."""
    return type(value) not in _PLAIN and not flatten(value)[1].is_leaf


def _register(leaves: Sequence[Any]) -> bool:
    """Register the classes of containers among ``leaves``, dataclasses and what others registered with optree; whether there were any."""
    new = {cls: None for cls in map(type, leaves) if _is_dataclass(cls) or _registered_elsewhere(cls)}
    for cls in new:
        entry = _registered_elsewhere(cls)
        with _lock:
            if optree.register_pytree_node.get(cls, namespace=_NAMESPACE) is not None:
                continue
            if entry is None:
                _register_dataclass(cls)
            else:
                optree.register_pytree_node(
                    cls, entry.flatten_func, entry.unflatten_func, path_entry_type=entry.path_entry_type, namespace=_NAMESPACE
                )
    return bool(new)


def _registered_elsewhere(cls: type) -> Any:
    """optree's entry for a class under any namespace: users register under their own. None where there is none."""
    global _foreign
    registry: Mapping[Any, Any] = getattr(optree.registry, "_NODETYPE_REGISTRY", {})
    count, entries = _foreign
    if count != len(registry):
        entries = {e.type: e for e in list(registry.values()) if e.namespace not in ("", _NAMESPACE)}
        _foreign = len(registry), entries
    return entries.get(cls)


def _is_dataclass(cls: type) -> bool:
    # What answers for an array is a value, however it is written; so are classes of our own, such as the type of an array.
    if not hasattr(cls, "__dataclass_fields__") or cls.__module__.startswith(_OURS):
        return False
    return not hasattr(cls, "__array_ufunc__") and not hasattr(cls, "__array_function__")


def _register_dataclass(cls: type) -> None:
    fields = dataclasses.fields(cls)
    params = getattr(cls, "__dataclass_params__", None)
    pseudo = [f for f in cls.__dataclass_fields__.values() if f not in fields and "InitVar" in str(f.type)]  # type: ignore[attr-defined]
    called = bool(getattr(params, "init", True)) and not pseudo
    # Fields that the constructor does not take are computed by __post_init__.
    names = tuple(f.name for f in fields if f.init or not called)

    def parts(obj: Any) -> tuple[tuple[Any, ...], None, tuple[str, ...]]:
        return tuple(getattr(obj, n) for n in names), None, names

    def rebuild(_: None, values: Iterable[Any]) -> Any:
        if called:
            return cls(**dict(zip(names, values, strict=True)))
        obj: Any = object.__new__(cls)
        for n, v in zip(names, values, strict=True):
            object.__setattr__(obj, n, v)
        return obj

    optree.register_pytree_node(cls, parts, rebuild, path_entry_type=optree.GetAttrEntry, namespace=_NAMESPACE)  # type: ignore[arg-type]
    _dataclasses[cls] = called


def _kind(spec: optree.PyTreeSpec) -> str:
    kinds = optree.PyTreeKind
    if spec.kind == kinds.LEAF:
        return "leaf"
    if spec.kind in (kinds.DICT, kinds.ORDEREDDICT):
        return "dict"
    if spec.kind in (kinds.TUPLE, kinds.LIST, kinds.NAMEDTUPLE):
        return spec.kind.name.lower()
    return "dataclass" if spec.type is not None and _dataclasses.get(spec.type) else "custom"


def _entries(spec: optree.PyTreeSpec, kind: str) -> tuple[Key | Index | Attr, ...]:
    names = spec.entries()
    if kind in ("namedtuple", "dataclass"):
        fields = names if kind == "dataclass" else spec.type._fields  # type: ignore[union-attr]
        return tuple(Attr(n) for n in fields)
    if kind == "dict" or spec.kind == optree.PyTreeKind.DEFAULTDICT:
        return tuple(Key(n) for n in names)
    return tuple(_entry(n) for n in names)


def _entry(name: Any) -> Key | Index | Attr:
    if type(name) is int:
        return Index(name)
    return Attr(name) if isinstance(name, str) and name.isidentifier() else Key(name)


def _name(entry: Key | Index | Attr) -> Any:
    return entry.key if isinstance(entry, Key) else entry.index if isinstance(entry, Index) else entry.name


def _paths(node: Node, path: Path) -> Iterator[Path]:
    if node.kind == "leaf":
        yield path
    for entry, child in zip(node.entries, node.children, strict=True):
        yield from _paths(child, (*path, entry))


def _text(node: Node) -> str:
    return write(node, ["*"] * node.leaves())


def write(node: Node, leaves: Sequence[str]) -> str:
    """A tree as Python writes it, with the given text for each value."""
    rest = iter(leaves)

    def walk(node: Node) -> str:
        return next(rest) if node.kind == "leaf" else display(node, [walk(c) for c in node.children])

    return walk(node)


def display(node: Node, parts: Sequence[str]) -> str:
    """One container as Python writes it, with the given text for each part."""
    if node.kind == "tuple":
        return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
    if node.kind == "list":
        return f"[{', '.join(parts)}]"
    assert node.type is not None
    if issubclass(node.type, dict):
        return f"{{{', '.join(f'{k!r}: {p}' for k, p in zip(node.keys, parts))}}}"
    named = [f"{e.name}={p}" if isinstance(e, Attr) else p for e, p in zip(node.entries, parts)]
    return f"{node.type.__name__}({', '.join(named)})"


@lru_cache(maxsize=4096)
def _tree(spec: optree.PyTreeSpec) -> Tree:
    return Tree(spec)


def _structure(tree: Any) -> Tree:
    return _tree(optree.tree_structure(tree, none_is_leaf=True, namespace=_NAMESPACE))


@lru_cache(maxsize=1024)
def _plain_tuple(shape: tuple[tuple[Any, ...] | None, ...]) -> Tree:
    return _structure(tuple(0 if keys is None else dict.fromkeys(keys, 0) for keys in shape))


@lru_cache(maxsize=1024)
def _plain_dict(keys: tuple[Any, ...]) -> Tree:
    return _structure(dict.fromkeys(keys, 0))


# Classes whose instances are values, known without asking optree.
_PLAIN = frozenset({np.ndarray, np.float64, np.float32, np.int64, np.int32, np.bool_, int, float, complex, bool, str, bytes, type(None)})
LEAF: Tree = _structure(0)

__all__ = [
    "LEAF",
    "Attr",
    "Index",
    "Key",
    "Mismatch",
    "Node",
    "Path",
    "Tree",
    "as_tuples",
    "display",
    "flatten",
    "flatten_as",
    "is_container",
    "parts_of",
    "path_text",
    "prefix",
    "write",
]
