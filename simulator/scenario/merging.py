"""One mapping laid over another, as ``{base: NAME, key: value}`` lays its keys over an entry."""

from __future__ import annotations

from typing import Any

from simulator.scenario.document import Items, Left, Table, at
from simulator.scenario.shape import Either, Kinds, Listing, Named, Record, Shape, forms
from simulator.scenario.shorthand import expanded


def laid_over(wanted: Shape | None, base: Any, over: Any) -> Any:
    """Return `base` changed by `over`, mapping by mapping; both stand where `wanted` belongs."""
    if not isinstance(over, dict):
        return over
    base = expanded(wanted, base) if wanted else base
    if not isinstance(base, dict) or _of_another_kind(wanted, base, over):
        return over
    merged = Table(base)
    for key, value in over.items():
        old = merged.pop(key, None)
        merged[key] = value if old is None else laid_over(below(wanted, key, base), old, value)
    return at(merged, getattr(over, "place", None))


def _of_another_kind(wanted: Shape | None, base: dict[Any, Any], over: dict[Any, Any]) -> bool:
    """Return whether `over` chooses another kind than `base` has, so that the keys of `base` mean nothing to it."""
    if "kind" in over:
        return bool(over["kind"] != base.get("kind"))
    record = wanted.record(str(base.get("kind"))) if isinstance(wanted, Kinds) and wanted.guessed else None
    return record is not None and not over.keys() <= record.fields.keys()


def below(wanted: Shape | None, key: str | int, data: Any) -> Shape | None:
    """Return the shape of what stands under `key` of `data`, which has the shape `wanted`."""
    match wanted:
        case Either():
            form = "list" if isinstance(data, list) else "mapping"
            return below(forms(wanted).get(form, (None,))[0], key, data)
        case Kinds():
            return below(wanted.record(str(data.get("kind"))) if isinstance(data, dict) else None, key, data)
        case Record():
            return wanted.fields[str(key)].shape if key in wanted.fields else None
        case Listing(items):
            return items[min(key, len(items) - 1)] if isinstance(key, int) else None
        case Named(values):
            return values
    return None


def without_left(data: Any) -> Any:
    """Return `data` without keys that are ``null``."""
    place = getattr(data, "place", None)
    if isinstance(data, dict):
        kept = {key: without_left(value) for key, value in data.items() if not isinstance(value, Left)}
        return at(Table(kept), place)
    if isinstance(data, list):
        return at(Items(without_left(item) for item in data), place)
    return data
