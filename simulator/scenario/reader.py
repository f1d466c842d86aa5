"""From a file to a scenario: read, change, write out names, validate, fill in, check; all mistakes at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from simulator.errors import ScenarioError
from simulator.scenario import not_modelled, yaml_text
from simulator.scenario import overrides as changes
from simulator.scenario.assembly import complete
from simulator.scenario.document import Table, placed
from simulator.scenario.mistakes import did_you_mean
from simulator.scenario.reading import Reading
from simulator.scenario.scenario import Scenario
from simulator.scenario.sections import SHAPES, Sections
from simulator.scenario.shape import Record
from simulator.scenario.source import load


def read(path_or_text: Path | str, *, overrides: Sequence[str] = (), catalogs: Sequence[Path | str] = ()) -> Scenario:
    """Return the scenario in a file, or in a text of several lines.

    `overrides` are texts such as ``cluster.hosts=4``; `catalogs` are folders in which names are looked up first.
    """
    source = load(path_or_text)
    reading = Reading(folder=source.folder, catalogs=tuple(map(Path, catalogs)))
    document = yaml_text.read(source.text, source.name, reading.mistakes)
    if document is None:
        reading.mistakes.stop()
    return _scenario(document, overrides, source.stem, reading)


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
        document = placed(dict(mapping), None)
    except RecursionError:
        raise ScenarioError("the mapping is nested too deep, or in itself") from None
    return _scenario(document, overrides, "scenario", reading)


def _scenario(document: Any, overrides: Sequence[str], stem: str, reading: Reading) -> Scenario:
    mistakes = reading.mistakes
    mistakes.document = document
    if not isinstance(document, Table):
        mistakes.add((), f"a scenario is a mapping of keys; {did_you_mean('', list(SHAPES))}")
        mistakes.stop()
    for override in overrides:
        changes.apply(override, document, Record(Sections), mistakes)
    not_modelled.refuse(document, mistakes)
    return complete(document, stem, reading)
