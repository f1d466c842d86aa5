"""A scenario as plain data again, with every default filled in; what it says reads back as the same scenario."""

from __future__ import annotations

from typing import Any

from simulator import units
from simulator.scenario.scalar import form_of
from simulator.scenario.shape import Either, Kinds, Listing, Named, Quantity, Record, Shape, forms


def echo(wanted: Shape, value: Any, *, nulls: bool = False) -> Any:
    """Return `value`, which has the shape `wanted`, as mappings, lists, numbers and text.

    With `nulls`, what is left out is written as null, so that it takes away what an entry of the catalog says.
    What a file holds is not repeated beside its name.
    """
    match wanted:
        case Quantity(unit):
            return value if unit in ("count", "number") or value is None else units.render(value, unit)
        case Record():
            held = getattr(wanted.cls, "file_holds", "") if getattr(value, "file", "") else ""
            known = {name: field.shape for name, field in wanted.fields.items() if name != held}
            pairs = [(name, shape, getattr(value, name)) for name, shape in known.items()]
            kind = {"kind": wanted.kind} if wanted.kind else {}
            return kind | {
                name: None if item is None else echo(shape, item)
                for name, shape, item in pairs
                if item != "" and (nulls or item not in (None, (), {}))
            }
        case Kinds(short=short):
            written = echo(wanted.record(value.kind), value)  # type: ignore[arg-type]
            if wanted.bare and written.keys() == {"kind"}:
                return written["kind"]
            is_short = short is not None and written.keys() == {"kind", short[1]} and value.kind == short[0]
            return written[short[1]] if short and is_short else written
        case Listing(items):
            return [echo(items[min(index, len(items) - 1)], item) for index, item in enumerate(value)]
        case Named(values):
            return {str(key): echo(values, item) for key, item in value.items()}
        case Either():
            members = forms(wanted).get(form_of(value), ())
            if isinstance(value, str):
                return str(value)
            numeric = [member for member in members if isinstance(member, Quantity)]
            return echo((numeric or members)[0], value)
    return value
