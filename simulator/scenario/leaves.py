"""Every number of an object, with the key that says it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from simulator.scenario.document import Keys
from simulator.scenario.scalar import form_of
from simulator.scenario.shape import Either, Kinds, Listing, Named, Quantity, Record, Shape, forms


def leaves(wanted: Shape, value: Any, path: Keys) -> Iterator[tuple[Keys, float]]:
    """Yield the path and value of every quantity in `value`, which has the shape `wanted`."""
    if value is None:
        return
    match wanted:
        case Quantity():
            yield path, value
        case Record():
            for name, field in wanted.fields.items():
                yield from leaves(field.shape, getattr(value, name), (*path, name))
        case Kinds():
            yield from leaves(wanted.record(value.kind), value, path)  # type: ignore[arg-type]
        case Listing(items):
            for index, item in enumerate(value):
                yield from leaves(items[min(index, len(items) - 1)], item, (*path, index))
        case Named(values):
            for key, item in value.items():
                yield from leaves(values, item, (*path, key))
        case Either():
            for member in forms(wanted).get(form_of(value), ()):
                if not isinstance(member, Quantity) or isinstance(value, int | float):
                    yield from leaves(member, value, path)
                    break
