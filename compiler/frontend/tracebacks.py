"""Tracebacks that show the user's frames: what the compiler did in between explains nothing to who wrote the function."""

from __future__ import annotations

import types

from ..errors import PergradError


def outside(error: BaseException) -> types.TracebackType | None:
    """The traceback of an error without the compiler's own frames, where the error says the place in the user's code itself.

    Of what says no place, a fault of the compiler's, nothing is left out.
    """
    if not isinstance(error, PergradError) and not getattr(error, "__notes__", None):
        return error.__traceback__
    kept: types.TracebackType | None = None
    frames: list[types.TracebackType] = []
    entry = error.__traceback__
    while entry is not None:
        if not str(entry.tb_frame.f_globals.get("__name__")).startswith("pergrad."):
            frames.append(entry)
        entry = entry.tb_next
    for entry in reversed(frames):
        kept = types.TracebackType(kept, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return kept


__all__ = ["outside"]
