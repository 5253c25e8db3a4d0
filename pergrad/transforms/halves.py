"""What vjp and linearize share: a call in two halves, the second of which runs on what the first one kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..compiler.core.builder import Value, atom_of, building, call
from ..compiler.core.trees import Tree, flatten
from ..compiler.errors import ArgumentTypeError
from ..compiler.frontend.session import Path, session
from ..compiler.frontend.trace import is_number
from ..compiler.specialize import Specialisations
from ..naming import function_name
from ..transformed import Transformed
from .grad import conjugated, leaf_flags


class Primals:
    """The structure of the primals, and which of their values have a derivative. ``chosen`` are the arguments to differentiate, all if
    none are named."""

    def __init__(self, primals: tuple[Any, ...], chosen: tuple[int, ...] | None = None) -> None:
        leaves, self.tree = flatten(primals)
        self.chosen = range(len(primals)) if chosen is None else chosen
        flags = leaf_flags(primals, tuple(self.chosen))
        self.shapes = [atom_of(x).type if is_number(x) or (hasattr(x, "shape") and hasattr(x, "dtype")) else None for x in leaves]
        self.shapes = [t if t is not None and t.dtype.kind != "O" and f else None for t, f in zip(self.shapes, flags, strict=True)]
        self.wanted = [t is not None and t.inexact for t in self.shapes]

    def rebuilt(self, grads: Sequence[Any]) -> tuple[Any, ...]:
        """Gradients in the primals' structure; float zeros for integers."""
        rest = iter(grads)
        out = []
        for t, wanted in zip(self.shapes, self.wanted, strict=True):
            if wanted:
                out.append(conjugated(next(rest)))
            else:
                out.append(None if t is None else call("numpy.zeros", t.shape))
        whole = self.tree.unflatten(out)
        return tuple(whole[k] for k in self.chosen)


def is_inexact(x: Any) -> bool:
    """Whether an output has a tangent and a cotangent."""
    return isinstance(x, Value) and x.type.inexact


class SecondHalf(Transformed):
    """The second half of one compiled call, as a function of residuals and one more argument. ``tree`` and ``outs`` are the output's
    structure and values, ``primals`` those of the arguments."""

    def __init__(self, func: Any, split: Any, tree: Tree, outs: Sequence[Any], primals: Primals) -> None:
        super().__init__(func)
        self.halves = split
        self.tree = tree
        self.outs = outs
        self.primals = primals

    def identity(self) -> tuple[Any, Any]:
        return self, ()

    def __reduce__(self) -> Any:
        return type(self), (self._func, self.halves, self.tree, self.outs, self.primals)

    def __deepcopy__(self, memo: Any) -> SecondHalf:
        return self  # nothing in it changes

    def _find_cache(self) -> Specialisations:
        return Specialisations(self.emitted_name, _second_half, self.record, self.axes)


def _second_half(residuals: Any, argument: Any) -> None:
    """The parameters of a second half."""


class Held:
    """The second half of one call with what the first half kept; may be called many times, and be transformed itself."""

    __name__ = ""

    def __init__(self, half: SecondHalf, residuals: Sequence[Any]) -> None:
        self.half = half
        self.residuals = tuple(residuals)

    def argument(self, args: tuple[Any, ...]) -> Any:
        """What the second half takes of the call's arguments, checked."""
        raise NotImplementedError

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise ArgumentTypeError(
                f"{self.half.called}({function_name(self.half._func)}): {self.__name__} takes its arguments by position, "
                f"got the keyword {next(iter(kwargs))!r}",
                hint=f"{self.__name__}({next(iter(kwargs))})",
            )
        if building():
            return self.__pergrad_trace__(args, {})
        return self.half(self.residuals, self.argument(args))

    def __pergrad_trace__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        root = Path("object", self.residuals, None, "residuals")
        held = [
            # of a call that is over they are arrays that this compilation captures
            x if isinstance(x, Value) else session().capture(Path("item", root, k, f"residual_{k}"), x)
            for k, x in enumerate(self.residuals)
        ]
        return self.half.record((held, self.argument(args)), {})

    def __repr__(self) -> str:
        return f"<{self.__name__} of {function_name(self.half._func)}>"

    def source(self, *args: Any) -> str:
        """The emitted source of the second half."""
        return self.half.source()


__all__ = ["Held", "Primals", "SecondHalf", "conjugated", "is_inexact"]
