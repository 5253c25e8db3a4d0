"""NumPy, imported when first used: the linter reads the op table and must start without it."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any


class LazyModule:
    """A module that is imported when one of its attributes is first asked for."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._module: ModuleType | None = None

    def __getattr__(self, attribute: str) -> Any:
        if self._module is None:
            self._module = importlib.import_module(self._name)
        value = getattr(self._module, attribute)
        self.__dict__[attribute] = value
        return value


numpy: Any = LazyModule("numpy")
