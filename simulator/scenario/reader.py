"""From a file to a scenario: read, change, write out names, validate, fill in, check; all mistakes at once."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Any

from simulator.errors import ScenarioError
from simulator.scenario import not_modelled, yaml_text
from simulator.scenario import overrides as changes
from simulator.scenario.assembly import complete
from simulator.scenario.document import Table, placed
from simulator.scenario.mistakes import Mistakes, did_you_mean
from simulator.scenario.reading import Reading
from simulator.scenario.scenario import Scenario
from simulator.scenario.sections import SHAPES, Sections
from simulator.scenario.shape import Record
from simulator.scenario.source import Source, load


def read(
    path_or_text: Path | str | Source,
    *,
    overrides: Sequence[str] = (),
    catalogs: Sequence[Path | str] = (),
    only: Mapping[str, Path] | None = None,
    files: MutableMapping[str, str] | None = None,
) -> Scenario:
    """Return the scenario in a file, or in a text of several lines.

    `overrides` are texts such as ``cluster.hosts=4``; `catalogs` are folders in which names are looked up first. Where
    `only` is given, no file is opened but those of these names. `files` is told which were opened, as `Scenario.files`
    says it, even where this raises a ScenarioError.
    """
    source = path_or_text if isinstance(path_or_text, Source) else load(path_or_text)
    reading = Reading(folder=source.folder, only=only, catalogs=tuple(map(Path, catalogs)))
    try:
        return _scenario(document(source, reading.mistakes), overrides, source.stem, reading)
    finally:
        if files is not None:
            files.update(reading.files)


def document(source: Source, mistakes: Mistakes) -> Table:
    """Return what is written in a text; raises ScenarioError where that is no mapping of keys."""
    found = yaml_text.read(source.text, source.name, mistakes)
    if found is None:
        mistakes.stop()
    return _mapping(found, mistakes)


def from_dict(
    mapping: Mapping[str, Any],
    *,
    overrides: Sequence[str] = (),
    catalogs: Sequence[Path | str] = (),
    folder: Path | str = ".",
) -> Scenario:
    """Return the scenario that a mapping says, as ``read`` does; quantities are text there too."""
    reading = Reading(folder=Path(folder), catalogs=tuple(map(Path, catalogs)))
    try:
        written = placed(dict(mapping), None)
    except RecursionError:
        raise ScenarioError("the mapping is nested too deep, or in itself") from None
    return _scenario(_mapping(written, reading.mistakes), overrides, "scenario", reading)


def _mapping(found: Any, mistakes: Mistakes) -> Table:
    mistakes.document = found
    if isinstance(found, Table):
        return found
    mistakes.add((), f"a scenario is a mapping of keys; {did_you_mean('', list(SHAPES))}")
    mistakes.stop()
    raise AssertionError("a mistake stops")


def _scenario(written: Table, overrides: Sequence[str], stem: str, reading: Reading) -> Scenario:
    for override in overrides:
        changes.apply(override, written, Record(Sections), reading.mistakes)
    not_modelled.refuse(written, reading.mistakes)
    return complete(written, stem, reading)
