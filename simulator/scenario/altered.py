"""A dataclass as a scenario may write it, where that differs from the object: fields left out, loosened or hidden."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Sequence
from typing import Any


def altered(cls: type, *, without: Sequence[str] = (), short_for: str = "", **changes: Any) -> type:
    """Return a dataclass with the fields of `cls`, those of `changes` optional and of the type given there."""
    hints = typing.get_type_hints(cls, include_extras=True)
    kept: list[Any] = []
    for field in dataclasses.fields(cls):
        if field.name in without or not field.init:
            continue
        if field.name in changes:
            kept.append((field.name, changes[field.name] | None, dataclasses.field(default=None)))
            continue
        default = dataclasses.field(
            default=field.default, default_factory=field.default_factory, metadata=field.metadata
        )
        kept.append((field.name, hints[field.name], default))
    extra = [(name, changes[name] | None, None) for name in changes if name not in hints]
    space = {"__doc__": cls.__doc__, "described_by": cls, **({"short_for": short_for} if short_for else {})}
    return dataclasses.make_dataclass(cls.__name__, [*kept, *extra], frozen=True, kw_only=True, namespace=space)


def given(section: Any, keys: typing.Iterable[str]) -> dict[str, Any]:
    """Return the fields of `section` that were written."""
    names = {field.name for field in dataclasses.fields(section)}
    return {key: getattr(section, key) for key in map(str, keys) if key in names}
