"""Short forms: the mapping for which a word or a list alone stands.

A name of the catalog is short for ``{base: NAME}``, a word elsewhere for ``{kind: WORD}``, unless a class says
otherwise in ``short_for``: ``60s`` is a fixed duration, ``8`` a context of size 8, a list of causes is failures.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.machine.hardware import Gpu, Host
from simulator.scenario.document import Table
from simulator.scenario.shape import Choice, Either, Kinds, Quantity, Record, Shape, Text, forms
from simulator.workload.model import Model
from simulator.workload.stack import Stack

CATALOG_KIND: Mapping[type, str] = {Model: "model", Host: "host", Gpu: "gpu", Stack: "stack"}
"""The classes that the catalog describes, and the kind of entry of each."""


def expanded(wanted: Shape, data: Any) -> Any:
    """Return the mapping for which `data` is short, or `data` itself."""
    if isinstance(data, dict) or data is None or data == "":
        return data
    match wanted:
        case Record() if isinstance(data, str):
            key = _key(wanted, data)
            return _table({key: data}, data) if key else data
        case Record(cls=cls) if isinstance(data, list) and hasattr(cls, "list_short_for"):
            return _table({cls.list_short_for: data}, data)
        case Kinds(short=short) if isinstance(data, str):
            if short and data not in wanted.words:
                return _table({"kind": short[0], short[1]: data}, data)
            return _table({"kind": data}, data)
        case Either():
            return next((expanded(member, data) for member in forms(wanted).get("mapping", ())), data)
    return data


def _key(record: Record, word: str) -> str | None:
    """Return the key of `record` for which `word` alone is short."""
    if record.cls in CATALOG_KIND:
        return "base"
    if hasattr(record.cls, "short_for"):
        return str(record.cls.short_for)
    kind = record.fields.get("kind")
    if kind and isinstance(kind.shape, Choice) and word in map(str, kind.shape.values):
        return "kind"
    first, field = next(iter(record.fields.items()), (None, None))
    return first if field and isinstance(field.shape, Quantity | Choice | Text) else None


def _table(content: dict[str, Any], data: Any) -> Table:
    table = Table(content)
    table.place = getattr(data, "place", None)
    return table
