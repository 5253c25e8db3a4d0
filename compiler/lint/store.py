"""The heap's storage: layers, so that a branch copies only what the current call has touched, and a call leaves behind only what it
must."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from .values import Bound, Cell, ClassOf, Func, Method, Partial, Ref, Transformed, Tuple, Union, Value


class Layers:
    """A mapping from cells' and scopes' names to their contents. Writes go to ``top``; what is not there is looked for below."""

    __slots__ = ("below", "top")

    def __init__(self, top: dict[Hashable, Any], below: Layers | None) -> None:
        self.top, self.below = top, below

    def get(self, id: Hashable, default: Any = None) -> Any:
        layer: Layers | None = self
        while layer is not None:
            found = layer.top.get(id)
            if found is not None:
                return found
            layer = layer.below
        return default

    def __getitem__(self, id: Hashable) -> Any:
        found = self.get(id)
        if found is None:
            raise KeyError(id)
        return found

    def __setitem__(self, id: Hashable, content: Any) -> None:
        self.top[id] = content

    def __contains__(self, id: Hashable) -> bool:
        return self.get(id) is not None

    def setdefault(self, id: Hashable, content: Any) -> Any:
        found = self.get(id)
        if found is None:
            self.top[id] = found = content
        return found

    def fork(self) -> Layers:
        """What a branch starts from: a copy of the top layer."""
        return Layers(dict(self.top), self.below)

    def leave(self, roots: Iterable[Value], parents: Mapping[Hashable, Hashable]) -> Layers:
        """The layer below, after a call: it takes over what it had itself and was changed, and what can be reached from there and the
        roots."""
        below = self.below
        assert below is not None
        if not self.top:
            return below
        kept: dict[Hashable, Any] = {}
        todo: list[Any] = list(roots)
        for id, content in self.top.items():
            if id in below:
                kept[id] = content
                todo.append(content)
        while todo:
            found = todo.pop()
            if isinstance(found, Ref):
                self._keep(found.id, kept, todo)
            elif isinstance(found, Cell):
                todo.extend(found.items.values())
                todo += [v for v in (found.rest, found.cls) if v is not None]
                if found.base is not None:
                    self._keep(found.base, kept, todo)
            elif isinstance(found, dict):
                todo.extend(found.values())
            elif isinstance(found, (Tuple, Union)):
                todo.extend(found.items)
            elif isinstance(found, (Func, ClassOf)):
                scope: Hashable | None = found.frame
                while scope is not None:
                    self._keep(scope, kept, todo)
                    scope = parents.get(scope)
                todo.extend((*found.defaults, *[v for _, v in found.kwdefaults], found.owner) if isinstance(found, Func) else found.bases)
            elif isinstance(found, Bound):
                todo += [found.func, found.owner]
            elif isinstance(found, Method):
                todo.append(found.owner)
            elif isinstance(found, Partial):
                todo += [found.func, *found.args, *[v for _, v in found.kwargs]]
            elif isinstance(found, Transformed):
                todo += [found.func, *found.options.values()]
        # The entries of what is kept keep their identity.
        for id, content in self.top.items():
            if isinstance(id, tuple) and id and id[0] == "part" and (id[1] in kept or id[1] in below):
                kept.setdefault(id, content)
        below.top.update(kept)
        return below

    def _keep(self, id: Hashable, kept: dict[Hashable, Any], todo: list[Any]) -> None:
        content = self.top.get(id)
        if content is not None and id not in kept:
            kept[id] = content
            todo.append(content)
