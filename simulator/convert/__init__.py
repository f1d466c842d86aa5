"""Other people's formats <-> sections of a scenario as plain dicts; a format is a module that reads and writes.

A mistake in the text is a `ValueError` that says what is wrong.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType


@cache
def formats() -> dict[str, ModuleType]:
    """Return the formats by name: modules here with `read(text)`, `write(...)` and `ignored(text)`."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    modules = {name: importlib.import_module(f"{__name__}.{name}") for name in names}
    return {name: module for name, module in modules.items() if {"read", "write", "ignored"} <= vars(module).keys()}
