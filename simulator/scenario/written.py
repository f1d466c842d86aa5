"""The keys that a scenario itself writes, each with the object that holds it and what it would be if left out."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from simulator.scenario.document import Keys, Left, Table, Word
from simulator.scenario.entries import written_out
from simulator.scenario.reading import Reading
from simulator.scenario.scalar import form_of
from simulator.scenario.scenario import Scenario
from simulator.scenario.sections import SHAPES
from simulator.scenario.shape import Either, Kinds, Listing, Record, Shape, forms
from simulator.scenario.shorthand import CATALOG_KIND, expanded
from simulator.workload.stack import Stack

Usual = Callable[[], Any]
RULE: Keys = ("parallelism", "split")
"""Where a layout names a rule of its stack instead of a list."""


class Written(NamedTuple):
    """A key that was written; an item of a list has the key of the list."""

    path: Keys
    holder: Any
    """The object whose key it is."""
    value: Any
    usual: Usual
    """What it would be if it were left out: the entry's that is changed, else the default, else None."""


def written(document: Table, scenario: Scenario, reading: Reading) -> Iterator[Written]:
    """Yield every key of `document`, the text that `scenario` was read from; not those that a name brings."""
    for name, field in SHAPES.items():
        if name in document:
            value = getattr(scenario, name)
            keys = _below(field.shape, document[name], (name,), scenario, value, lambda: None, reading)
            yield from (_split(key, scenario, reading) if key.path == RULE else key for key in keys)


def _split(key: Written, scenario: Scenario, reading: Reading) -> Written:
    """Return the key of a layout's split with the rule that it names, which became the stack's."""
    if key.value is not None:
        return key
    entry = _entry(Record(Stack), {"base": scenario.stack_name}, None, lambda: None, reading)
    return key._replace(value=scenario.stack.split, usual=_of(entry, (Stack,), "split"))


def _below(
    wanted: Shape, data: Any, path: Keys, holder: Any, value: Any, usual: Usual, reading: Reading
) -> Iterator[Written]:
    data = expanded(wanted, data)
    match wanted:
        case Kinds(short=None) if isinstance(data, dict) and (record := wanted.record(getattr(value, "kind", ""))):
            yield from _below(record, data, path, holder, value, usual, reading)
        case Record() if isinstance(data, dict) and value is not None:
            entry = _entry(wanted, data, value, usual, reading)
            for key, inner in data.items():
                if key in wanted.fields and not isinstance(inner, Left):
                    yield from _below(
                        wanted.fields[key].shape, inner, (*path, str(key)), value, getattr(value, key, None),
                        _of(entry, (wanted.cls, type(value)), str(key)), reading,
                    )  # fmt: skip
        case Listing(items) if isinstance(data, list) and isinstance(value, tuple):
            # A list that was written stands at the end of what a preset brings.
            for place, inner in zip(range(-len(data), 0), data, strict=True):
                item = value[place] if len(value) >= len(data) else None
                yield from _below(items[0], inner, (*path, len(data) + place), holder, item, lambda: None, reading)
        case Either():
            members = forms(wanted).get(form_of(data), ())
            for member in members[:1]:
                yield from _below(member, data, path, holder, value, usual, reading)
        case _:
            yield Written(path, holder, value, usual)


def _of(entry: Usual, classes: tuple[type, ...], key: str) -> Usual:
    """Return what gives a key of `entry`, or its default in the first of `classes` that has one."""

    def usual() -> Any:
        above = entry()
        if above is not None:
            return getattr(above, key, None)
        return next((value for cls in classes if (value := _default(cls, key)) is not None), None)

    return usual


def _default(cls: type, key: str) -> Any:
    """Return the default of a field, None where there is none."""
    found = {field.name: field for field in dataclasses.fields(cls)}.get(key)
    if found is None or found.default is not dataclasses.MISSING:
        return found.default if found else None
    return found.default_factory() if found.default_factory is not dataclasses.MISSING else None


def _entry(record: Record, data: Any, value: Any, usual: Usual, reading: Reading) -> Usual:
    """Return what gives the entry of the catalog that `data` changes, or has the name of."""
    if record.cls not in CATALOG_KIND:
        return usual
    name = data.get("base", getattr(value, "name", None))

    def entry() -> Any:
        apart = Reading(folder=reading.folder, catalogs=reading.catalogs)
        said = written_out(record, Word(name), (), apart) if isinstance(name, str) and name else None
        found = apart.build(record, said, ()) if isinstance(said, dict) else None
        return usual() if found is None else found

    return entry
