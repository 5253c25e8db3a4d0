"""Classes of variables that may share memory."""

from __future__ import annotations

from ..core.program import Var
from .tree import Operand, Statement, Write, assigned, each, kept, shared


class AliasClasses:
    """A partition of variables into classes; variables in different classes never share memory."""

    def __init__(self) -> None:
        self._parent: dict[Var, Var] = {}
        self.members: dict[Var, list[Var]] = {}

    @classmethod
    def of(cls, block: list[Statement]) -> AliasClasses:
        """The classes of a whole function, whatever the order of its statements."""
        out = cls()
        for s in each(block):
            if isinstance(s, Write):
                out.union(s.targets[0], s.base)
            elif (place := kept(s)) is not None:
                out.union_shared(s.targets[0], s.operands[place])
            else:
                for t, x in assigned(s):
                    out.union_shared(t, x)
        return out

    def find(self, v: Var) -> Var:
        parent = self._parent
        root = v
        while (up := parent.get(root, root)) is not root:
            root = up
        while v is not root:
            parent[v], v = root, parent.get(v, root)
        return root

    def union(self, a: Var, b: Var) -> None:
        if a.type.scalar or b.type.scalar:
            return
        x, y = self.find(a), self.find(b)
        if x is y:
            return
        xs, ys = self.members.pop(x, [x]), self.members.pop(y, [y])
        if len(xs) < len(ys):
            x, y, xs, ys = y, x, ys, xs
        self._parent[y] = x
        self.members[x] = xs + ys

    def union_shared(self, target: Var, value: Operand) -> None:
        for v in shared(value):
            if isinstance(v, Var):
                self.union(target, v)

    def of_var(self, v: Var) -> list[Var]:
        root = self.find(v)
        return self.members.get(root, [root])
