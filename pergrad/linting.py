"""The linter from Python: for a function object, for a transformed function, and at decoration."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .compiler.lint import Diagnostic


def lint(func: Callable[..., Any], *, in_dims: Any = None) -> list[Diagnostic]:
    """What the linter finds in a function's source when it is mapped as ``in_dims`` says; nothing is run.

    ``in_dims=None`` maps every positional argument. A transformed function is linted as it is transformed. A finding printed is one line;
    ``code``, ``line``, ``help`` and ``trail`` are its parts. Raises ArgumentTypeError for what is no function.
    """
    from .arguments import check_function
    from .compiler.errors import OptionError
    from .compiler.lint import lint_function
    from .naming import kind_of, short

    check_function(func, "lint")
    if hasattr(func, "__pergrad_trace__") and hasattr(func, "lint"):
        return func.lint()  # type: ignore[no-any-return]
    if in_dims is not None and type(in_dims) not in (int, tuple):
        raise OptionError(f"lint: in_dims={short(in_dims)} is {kind_of(in_dims)}, it must be an int or a tuple", hint="in_dims=0")
    return lint_function(func, in_dims=in_dims)


def lint_transformed(f: Any) -> list[Diagnostic]:
    """The findings in the function at the bottom of a stack of transforms, mapped as the stack maps it."""
    from .compiler.lint import lint_function
    from .transformed import Transformed

    inner: Any = f
    options: dict[str, Any] | None = None
    kind = ""
    while isinstance(inner, Transformed):
        if inner.kind in ("vmap", "per_sample_grad") and options is None:
            options, kind = inner._options, inner.kind
        inner = inner._func
    if options is None:
        return []
    return lint_function(inner, in_dims=options["in_dims"], argnums=options.get("argnums", 0), api=kind, **_known(options))


def _known(options: dict[str, Any]) -> dict[str, Any]:
    return {k: options[k] for k in ("randomness",) if k in options}


def check(f: Any, how: str) -> None:
    """Lint at decoration: "error" raises what is proven, all findings in one error; "warn" warns."""
    from .compiler.errors import PergradError
    from .compiler.lint import to_error

    try:
        found = [d for d in lint_transformed(f) if d.severity == "error"]
    except (OSError, TypeError, PergradError):
        # a function without source is refused when it is called, with the place of the call
        return
    error = to_error(found)
    if error is None:
        return
    if how == "error":
        raise error
    warnings.warn(str(error), stacklevel=4)


__all__ = ["check", "lint", "lint_transformed"]
