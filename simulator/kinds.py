"""Open sets: every module of a folder may hold a kind, found by being there."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import TypeVar

T = TypeVar("T")


@cache
def kinds(package: str, base: type[T]) -> dict[str, type[T]]:
    """Return the subclasses of `base` in the modules of `package` that name a ``kind``, sorted by that name."""
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}."):
        importlib.import_module(module.name)
    return dict(sorted((cls.kind, cls) for cls in _descendants(base) if "kind" in vars(cls)))  # type: ignore[attr-defined]


def _descendants(base: type[T]) -> set[type[T]]:
    return {cls for child in base.__subclasses__() for cls in (child, *_descendants(child))}
