"""The `failures` section: a preset, a list of causes, or both with what the whole fleet has in common."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from simulator import catalog
from simulator.reliability.fleet import Exposure, Failures
from simulator.reliability.preset import Preset
from simulator.scenario.altered import altered, given
from simulator.scenario.document import placed
from simulator.scenario.entries import unknown
from simulator.scenario.reading import Reading
from simulator.units import Count

FailuresSection: Any = altered(Failures, short_for="preset")
FailuresSection.list_short_for = "causes"


def resolve(section: Any, keys: Collection[str], reading: Reading, gpus_per_host: Count | None) -> Failures | None:
    """Return the failures that `section` describes; causes written beside a preset are added to its own.

    A preset is laid on hosts of `gpus_per_host` GPUs, on those that it counted where the host could not be read.
    """
    fields = given(section, keys)
    if section.preset is None:
        return Failures(**fields)
    preset, name = _preset(section.preset, reading)
    if preset is None:
        return None
    preset = replace(preset, uptime=fields.get("uptime", preset.uptime))
    exposure: Exposure = section.exposure
    found = Failures(
        causes=preset.causes(exposure, gpus_per_host),
        planned=preset.stops(exposure),
        size=preset.gpus,
        uptime=preset.uptime if exposure == "uptime" else Failures.uptime,
        preset=name,
    )
    return replace(found, **fields | {"preset": name, "causes": (*found.causes, *section.causes)})


def _preset(name: str, reading: Reading) -> tuple[Preset | None, str]:
    try:
        found = catalog.canonical("failures", name, reading.catalogs)
        entry = catalog.entry("failures", found, reading.catalogs)
    except catalog.UnknownEntryError as error:
        written_short = not isinstance(reading.mistakes.document.get("failures"), dict)
        path = ("failures",) if written_short else ("failures", "preset")
        reading.mistakes.add(path, unknown("failures", name, error.suggestions))
        return None, name
    known = {key: value for key, value in entry.items() if key in Preset.__dataclass_fields__}
    return reading.build(Preset, placed(known, None), ("failures", "preset")), found
