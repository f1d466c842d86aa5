"""What a translation of a scenario does not say: keys that read back as something else, or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.errors import ScenarioError
from simulator.scenario.reader import from_dict
from simulator.scenario.scenario import Scenario

SECTIONS = ("parallelism", "training")
LENGTHS = ("tokens", "steps", "duration")
"""One of them says how long the run is."""
DERIVED = ("states", "split")
"""Follow from the stack, which no format names."""


def left_out(scenario: Scenario, said: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the dotted keys of parallelism and training that `said`, the translation read back, does not hold."""
    return tuple(
        f"{section}.{key}"
        for section in SECTIONS
        for key in scenario.resolved.get(section, {})
        if key not in DERIVED and not _kept(scenario, section, key, said.get(section, {}))
    )


def _kept(scenario: Scenario, section: str, key: str, said: Mapping[str, Any]) -> bool:
    """Return whether the scenario stays the same when `key` is what the translation says of it."""
    if key in LENGTHS and any(length in said for length in LENGTHS):
        return True
    without = {name: value for name, value in scenario.resolved[section].items() if name != key}
    changed = without | ({key: said[key]} if key in said else {})
    try:
        again = from_dict({**scenario.resolved, section: changed})
    except ScenarioError:
        return False
    return bool(getattr(again, section) == getattr(scenario, section))
