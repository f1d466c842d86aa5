"""Every number of an object, and every list and free mapping, with the key that says it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from simulator.scenario.document import Keys
from simulator.scenario.scalar import form_of
from simulator.scenario.shape import Either, Kinds, Listing, Named, Quantity, Record, Shape, forms


def leaves(wanted: Shape, value: Any, path: Keys) -> Iterator[tuple[Keys, float]]:
    """Yield the path and value of every quantity in `value`, which has the shape `wanted`."""
    return ((keys, part) for keys, shape, part in parts(wanted, value, path) if isinstance(shape, Quantity))


def parts(wanted: Shape, value: Any, path: Keys) -> Iterator[tuple[Keys, Quantity | Listing | Named, Any]]:
    """Yield the path, shape and value of every quantity, list and mapping with free keys in `value`."""
    if value is None:
        return
    match wanted:
        case Quantity():
            yield path, wanted, value
        case Record():
            for name, field in wanted.fields.items():
                yield from parts(field.shape, getattr(value, name), (*path, name))
        case Kinds():
            yield from parts(wanted.record(value.kind), value, path)  # type: ignore[arg-type]
        case Listing(items):
            yield path, wanted, value
            for index, item in enumerate(value):
                yield from parts(items[min(index, len(items) - 1)], item, (*path, index))
        case Named(values):
            yield path, wanted, value
            for key, item in value.items():
                yield from parts(values, item, (*path, key))
        case Either():
            for member in forms(wanted).get(form_of(value), ()):
                if not isinstance(member, Quantity) or isinstance(value, int | float):
                    yield from parts(member, value, path)
                    break
