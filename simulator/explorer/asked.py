"""What is asked: a scenario and the changes made to it, as words; one more change, the YAML, the command line.

The answer to a change is left to the reader of scenarios. What is here only keeps the list of changes short: a key
is changed once, and a change back to what was there before leaves the list.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import yaml

from simulator.errors import ScenarioError
from simulator.scenario import overrides, reader
from simulator.scenario.document import Left, Table, plain
from simulator.scenario.merging import below
from simulator.scenario.mistakes import Mistakes
from simulator.scenario.sections import Sections
from simulator.scenario.shape import Either, Field, Kinds, Record, Shape
from simulator.scenario.shorthand import expanded
from simulator.scenario.source import load
from simulator.studies.point import Base
from simulator.studies.vary import flow

NOTHING = "null"
"""The value of a key that is left out."""
STARTERS = {"interval": "30min", "chunks": "2"}
"""Values to start from for keys that a kind cannot do without."""


def document(base: Base) -> Table:
    """Return what the scenario says, its changes made; a mistake in a change leaves the rest as it is."""
    mistakes = Mistakes()
    found = reader.document(load(base.source), mistakes)
    mistakes.stop()
    for change in base.changes:
        overrides.apply(change, found, Record(Sections), Mistakes())
    return found


def at(found: Table, key: str) -> Any:
    """Return what stands at the dotted `key`, short forms written out on the way; None where nothing does."""
    here = _walk(found, key)[0]
    return None if isinstance(here, Left) else here


def shape_at(found: Table, key: str) -> Shape | None:
    """Return what may stand at `key` of this scenario, where the kinds on the way are chosen; None if nothing may."""
    return _walk(found, key)[1]


def _walk(found: Any, key: str) -> tuple[Any, Shape | None]:
    here: Any = found
    wanted: Shape | None = Record(Sections)
    for part in key.split("."):
        here = _with_kind(wanted, expanded(wanted, here) if wanted else here)
        wanted = below(wanted, part, here)
        here = here.get(part) if isinstance(here, dict) else None
    return here, wanted


def _with_kind(wanted: Shape | None, here: Any) -> Any:
    """Return a mapping with the kind that it has where it names none."""
    if not isinstance(wanted, Kinds) or (isinstance(here, dict) and "kind" in here):
        return here
    return Table({**(here if isinstance(here, dict) else {}), "kind": wanted.default or ""})


def changed(base: Base, key: str, text: str) -> Base:
    """Return `base` with `key` set to `text`; earlier changes of it, and of what is inside it, are dropped."""
    kept = tuple(one for one in base.changes if not _inside(one, key))
    before = replace(base, changes=kept)
    if written(at(document(before), key)) == text:
        return before
    return replace(base, changes=(*kept, f"{key}={text}"))


def applied(base: Base, settings: Iterable[str]) -> Base:
    """Return `base` with several changes, each as ``--set`` takes it."""
    for setting in settings:
        key, _, text = setting.partition("=")
        base = changed(base, key.strip(), text)
    return base


def of_kind(base: Base, key: str, kind: str) -> Base:
    """Return `base` with another kind at `key`; what was said there and means something to the new kind stays."""
    before = replace(base, changes=tuple(one for one in base.changes if not _inside(one, key)))
    found = document(before)
    wanted = shape_at(found, key)
    members = wanted.members if isinstance(wanted, Either) else (wanted,)
    record = next((one.record(kind) for one in members if isinstance(one, Kinds)), None)
    here = expanded(wanted, at(found, key)) if wanted else None
    said = here if isinstance(here, dict) else {}
    if said.get("kind") == kind:
        return before
    known = record.fields if record else {}
    whole = {"kind": kind, **{str(name): plain(value) for name, value in said.items() if name in known}}
    whole |= {
        name: STARTERS[name] for name in known if name in STARTERS and name not in whole and _needed(known[name], name)
    }
    return replace(before, changes=(*before.changes, f"{key}={kind if len(whole) == 1 else flow(whole)}"))


def _needed(field: Field, name: str) -> bool:
    return field.required or name == "chunks"


def written(value: Any) -> str:
    """Return a value as it is written after ``KEY=``."""
    return NOTHING if value is None or isinstance(value, Left) else flow(plain(value))


def as_yaml(base: Base) -> str:
    """Return the scenario with its changes made: the text as it stands where nothing is changed, or it is no YAML."""
    text = load(base.source).text
    if not base.changes:
        return text
    try:
        found = plain(document(base))
    except ScenarioError:
        return text
    return yaml.dump(found, Dumper=_Words, sort_keys=False, default_flow_style=None, width=110, allow_unicode=True)


def command(base: Base, verb: str = "run", *more: str) -> str:
    """Return the command that gives the same numbers; the scenario is a file or shipped under its name."""
    words = ["foretrain", verb, f"{base.name}.yaml" if "\n" in base.source else base.name]
    words += [word for change in base.changes for word in ("--set", change)]
    words += [word for folder in base.catalogs for word in ("--catalog", folder)]
    return shlex.join([*words, *more])


def _inside(change: str, key: str) -> bool:
    name = change.partition("=")[0].strip()
    return name == key or name.startswith(f"{key}.")


class _Words(yaml.SafeDumper):
    """Writes every scalar as the word it is: readers of scenarios take ``8`` and ``'8'`` for the same."""

    yaml_implicit_resolvers: dict[Any, Any] = {}  # noqa: RUF012 - the name and type are those of PyYAML


def _word(dumper: yaml.SafeDumper, word: str) -> yaml.ScalarNode:
    quoted = "'" if word in ("", "null", "Null", "NULL", "~") else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", word, style=quoted)


def _nothing(dumper: yaml.SafeDumper, _: None) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", NOTHING)


_Words.add_representer(str, _word)
_Words.add_representer(type(None), _nothing)
