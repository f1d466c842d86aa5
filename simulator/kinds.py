"""Open sets: every module of a folder may hold a kind, found by being there."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from operator import itemgetter
from typing import TypeVar

T = TypeVar("T")


@cache
def kinds(package: str, base: type[T]) -> dict[str, type[T]]:
    """Return the subclasses of `base` in the modules of `package` that name a ``kind``, sorted by that name.

    Of two classes of one kind, such as a cell of a notebook leaves that is run twice, the later one counts.
    """
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}."):
        importlib.import_module(module.name)
    found: dict[str, type[T]] = {cls.kind: cls for cls in _descendants(base) if "kind" in vars(cls)}  # type: ignore[attr-defined]
    return dict(sorted(found.items(), key=itemgetter(0)))


def _descendants(base: type[T]) -> list[type[T]]:
    """Return the subclasses of `base` and theirs, in the order in which they were defined."""
    return [cls for child in base.__subclasses__() for cls in (child, *_descendants(child))]
