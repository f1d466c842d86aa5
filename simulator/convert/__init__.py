"""Other people's formats <-> sections of a scenario as plain dicts; a format is a module that reads and writes.

A mistake in the text is a `ValueError` that says what is wrong. `read` returns sections by name, `write` takes a
scenario as plain data; a format of one section names it as `SECTION` and reads and writes that alone.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from types import ModuleType
from typing import Any


@cache
def formats() -> dict[str, ModuleType]:
    """Return the formats by name: modules here with `read(text)`, `write(...)` and `ignored(text)`."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    modules = {name: importlib.import_module(f"{__name__}.{name}") for name in names}
    return {name: module for name, module in modules.items() if {"read", "write", "ignored"} <= vars(module).keys()}


def read(name: str, text: str) -> dict[str, Any]:
    """Return the sections of a scenario that `text` in the format `name` gives."""
    module = formats()[name]
    found = module.read(text)
    section = getattr(module, "SECTION", None)
    return found if section is None else {section: found}


def write(name: str, scenario: Mapping[str, Any]) -> str:
    """Return the text in the format `name` that says what the plain data of a scenario says, as far as it can."""
    module = formats()[name]
    section = getattr(module, "SECTION", None)
    if section is None:
        _trains_everything(name, scenario)
        return str(module.write(scenario))
    if not isinstance(scenario.get(section), Mapping):
        raise ValueError(f"{section}: the scenario gives none, and the format holds nothing else")
    return str(module.write(scenario[section]))


def _trains_everything(name: str, scenario: Mapping[str, Any]) -> None:
    """Raise ValueError where part of the model is frozen: such a run would be another one without saying so."""
    training = scenario.get("training") or {}
    method = training.get("method") or "full"
    kind = method.get("kind", "full") if isinstance(method, Mapping) else method
    if kind != "full":
        raise ValueError(f"training.method: {kind} cannot be written in the format of {name}, which trains all weights")
    if training.get("freeze"):
        raise ValueError(f"training.freeze cannot be written in the format of {name}, which trains all weights")
