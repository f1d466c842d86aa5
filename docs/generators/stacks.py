"""The page on software stacks: what each entry says beyond the defaults, and the fact behind it."""

from __future__ import annotations

from typing import Any

from generators.markdown import cell, table
from simulator import catalog

HEAD = """# Software stacks

What a framework of a given year fuses, saves, shards, overlaps and buffers. Time and memory read the same entry.
[Step time](../concepts/step-time.md) says what the switches do; [scenario keys](scenario.md#stack) lists them all with
their defaults. A scenario changes a stack with `{base: NAME, key: value}`; a scenario that names none gets `generic`,
and its result says so.

Generated from `simulator/catalog/stack`. A key without a fact of its own is covered by the entry's source.
"""
ABOUT = ("summary", "framework", "year", "source", "facts", "matches", "named", "base", "aliases", "note")


def page() -> str:
    """Return the page."""
    entries = {name: catalog.entry("stack", name) for name in catalog.names("stack")}
    rows = [
        (f"[`{name}`](#{name.replace('.', '')})", entry.get("year", ""), entry.get("summary", ""))
        for name, entry in entries.items()
    ]
    parts = [HEAD, table(("name", "year", "is"), rows)]
    parts += [_stack(name, entry) for name, entry in entries.items()]
    return "\n".join(parts)


def _stack(name: str, entry: dict[str, Any]) -> str:
    facts = entry.get("facts", {})
    rows = [(f"`{key}`", f"`{_value(value)}`", facts.get(key, "")) for key, value in entry.items() if key not in ABOUT]
    base = f"Based on `{entry['base']}`. " if "base" in entry else ""
    note = f"\n{cell(entry['note'])}\n" if entry.get("note") else ""
    return f"## {name}\n\n{base}{cell(entry['source'])}\n{note}\n{table(('key', 'value', 'fact'), rows)}"


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_value(item)}" for key, item in value.items()) + "}"
    return "[" + ", ".join(map(str, value)) + "]" if isinstance(value, list) else str(value)
