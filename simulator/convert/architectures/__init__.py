"""Architectures of Hugging Face, one file each, found by being there."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from simulator.convert.architectures.base import Architecture


@cache
def architectures() -> dict[str, Architecture]:
    """Return the architectures that the modules of this folder define, by model type, sorted."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    found = [module.ARCHITECTURE for module in modules if hasattr(module, "ARCHITECTURE")]
    return {architecture.model_type: architecture for architecture in found}
