"""Open sets: every module of a folder may hold a kind, found by being there, and so is any class defined later.

The base of a set is a class that declares a ``kind`` for others to name, without having one. Nothing is remembered of
which kinds there are: a class in a cell of a notebook, or in a file that ``--plugin`` names, is found at once.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from dataclasses import dataclass
from functools import cache
from operator import itemgetter
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class NameOf:
    """Marks a text as the name of a kind: ``Annotated[str, NameOf(Base)]``."""

    base: type


def kinds(package: str, base: type[T]) -> dict[str, type[T]]:
    """Return the subclasses of `base` that name a ``kind``, sorted by that name; all modules of `package` are loaded.

    Of two classes of one kind, such as a cell of a notebook leaves that is run twice, the later one counts.
    """
    _loaded(package)
    found: dict[str, type[T]] = {cls.kind: cls for cls in _descendants(base) if "kind" in vars(cls)}  # type: ignore[attr-defined]
    return dict(sorted(found.items(), key=itemgetter(0)))


def members(base: type[T]) -> dict[str, type[T]]:
    """Return the kinds of the open set of `base`, whose folder is the one that `base` is in."""
    return kinds(base.__module__.rpartition(".")[0], base)


def is_open(cls: Any) -> bool:
    """Return whether `cls` is the base of an open set: it declares a ``kind`` for others to name."""
    if not isinstance(cls, type) or "kind" in vars(cls):
        return False
    return "ClassVar" in str(inspect.get_annotations(cls).get("kind", ""))


@cache
def _loaded(package: str) -> None:
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}."):
        importlib.import_module(module.name)


def _descendants(base: type[T]) -> list[type[T]]:
    """Return the subclasses of `base` and theirs, in the order in which they were defined."""
    return [cls for child in base.__subclasses__() for cls in (child, *_descendants(child))]
