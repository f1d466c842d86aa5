"""The reference of all keys as Markdown, from the shapes that read them and the docstrings of their fields."""

from __future__ import annotations

import dataclasses
from dataclasses import MISSING
from typing import Any

from simulator import units
from simulator.scenario.assumptions import text
from simulator.scenario.echo import echo
from simulator.scenario.schema import descriptions
from simulator.scenario.sections import SHAPES, Sections
from simulator.scenario.shape import (
    Anything,
    Choice,
    Either,
    Flag,
    Kinds,
    Listing,
    Named,
    Quantity,
    Record,
    Shape,
    Text,
)
from simulator.scenario.shorthand import CATALOG_KIND

HEAD = """# Keys of a scenario

Every key, what it may be and its default, from the code that reads them. Where the default is empty the
key must be given. Sections may be left out but for `cluster`, `training` and, unless the step was measured, `model`.
`foretrain schema` prints the same as JSON Schema, for editors.

Quantities carry their unit: `400Gbps` (bits), `50GB/s` (bytes), `80GiB`, `30min`, `24h`, `54d`, `700W`, `$2.50`,
`$0.08/kWh`, `8%`; `G` is 10^9, `Gi` 2^30, a year 365 days; counts may be `15.6T`. A bare number where a unit belongs
is an error. A name alone is short for `{base: NAME}` in `model`, `host`, `gpu`, `stack` and `prices`, for
`{preset: NAME}` in `failures`, and for `{kind: NAME}` elsewhere; `null` beside `base` takes a key of the entry away.
"""


def page() -> str:
    """Return the page."""
    own = [name for name, field in SHAPES.items() if not isinstance(field.shape, Record | Kinds)]
    whole = _table(Record(Sections), only=own)
    return "\n".join([HEAD, whole, *(_section(name) for name in SHAPES if name not in own)])


def _section(name: str) -> str:
    wanted = SHAPES[name].shape
    about = descriptions(Sections).get(name, "")
    parts = [f"## {name}\n", f"{about}\n"] if about else [f"## {name}\n"]
    return "\n".join([*parts, *_tables(wanted, name, set())])


def _tables(wanted: Shape, path: str, seen: set[str]) -> list[str]:
    """Return the table of `wanted` and those of what is inside it, each path once."""
    match wanted:
        case Record():
            key = f"{path} {wanted.kind or ''}"
            if key in seen or (isinstance(wanted, Record) and not wanted.fields and not wanted.kind):
                return []
            seen.add(key)
            of_kind = f", kind `{wanted.kind}`" if wanted.kind else ""
            title = f"### {path}{of_kind}\n" if of_kind or "." in path else ""
            tables = [part for part in (title, _table(wanted)) if part]
            for name, field in wanted.fields.items():
                if not (isinstance(field.shape, Kinds) and field.shape.short):
                    tables += _tables(field.shape, f"{path}.{name}", seen)
            return tables
        case Kinds(records=records):
            common = _common(records)
            head = [f"### {path}, any kind\n", _table(records[0], only=common)] if common else []
            own = [_kind(record, path, common) for record in records]
            inner = [
                table
                for record in records
                for name, field in record.fields.items()
                if not (isinstance(field.shape, Kinds) and field.shape.short)
                for table in _tables(field.shape, f"{path}.{name}", seen)
            ]
            return [*head, *own, *inner]
        case Listing(items):
            return [table for item in items for table in _tables(item, f"{path}[]", seen)]
        case Either(members):
            return [table for member in members for table in _tables(member, path, seen)]
        case Named(values):
            return _tables(values, f"{path}.NAME", seen)
    return []


def _common(records: tuple[Record, ...]) -> list[str]:
    """Return the keys that all kinds have, with the same default."""
    defaults = [{field.name: field.default for field in dataclasses.fields(record.cls)} for record in records]
    shared = [name for name in records[0].fields if all(name in record.fields for record in records)]
    return [name for name in shared if all(each[name] == defaults[0][name] for each in defaults)]


def _kind(record: Record, path: str, common: list[str]) -> str:
    own = [name for name in record.fields if name not in common]
    about = (record.cls.__doc__ or "").strip().split("\n")[0]
    about = "" if about.startswith(record.cls.__name__ + "(") else about
    lines = [f"### {path}, kind `{record.kind}`\n", *([f"{about}\n"] if about else [])]
    return "\n".join([*lines, _table(record, only=own) if own else "No keys of its own.\n"])


def _table(record: Record, only: list[str] | None = None) -> str:
    described = descriptions(getattr(record.cls, "described_by", record.cls))
    rows = ["| key | value | default | meaning |", "|---|---|---|---|"]
    for field in dataclasses.fields(record.cls):
        if field.name in record.fields and (only is None or field.name in only):
            wanted = record.fields[field.name]
            value = _escaped(_value(wanted.shape))
            rows.append(
                f"| `{field.name}` | {value} | {_default(field, wanted.shape)} | "
                f"{_escaped(described.get(field.name, ''))} |"
            )
    return "\n".join(rows) + "\n"


def _value(wanted: Shape) -> str:
    match wanted:
        case Quantity(unit):
            return units.EXPECTED[unit].split(" such")[0].split(" ", 1)[1]
        case Flag():
            return "`true`, `false`"
        case Choice(values):
            return ", ".join(f"`{value}`" for value in values)
        case Listing(items):
            return f"list of {_value(items[0])}"
        case Named(values):
            return f"names and {_value(values)}"
        case Kinds(short=short) if short:
            return "time or distribution"
        case Kinds(words=words):
            return "kind: " + ", ".join(f"`{word}`" for word in words)
        case Record(cls=cls) if cls in CATALOG_KIND:
            return f"{CATALOG_KIND[cls]} name or keys"
        case Record():
            return "keys"
        case Either(members):
            return " or ".join(map(_value, members))
        case Text() | Anything():
            return "text"
    raise AssertionError(wanted)


def _default(field: dataclasses.Field[Any], wanted: Shape) -> str:
    if field.default is MISSING and field.default_factory is MISSING:
        return ""
    value: Any = field.default if field.default_factory is MISSING else field.default_factory()
    if value in (None, (), {}, ""):
        return "*may be left out*"
    if isinstance(wanted, Record) or (isinstance(wanted, Kinds) and not wanted.short):
        return f"`{value.kind}`" if isinstance(wanted, Kinds) else "*may be left out*"
    return f"`{_escaped(text(echo(wanted, value)))}`"


def _escaped(words: str) -> str:
    return words.replace("|", "\\|")
