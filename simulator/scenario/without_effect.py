"""Keys that were written and change nothing here: said, with the reason and what would make them matter."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from simulator.scenario import matters_to_a_run, matters_to_a_step
from simulator.scenario.document import Table, dotted
from simulator.scenario.here import Here
from simulator.scenario.matters import Line
from simulator.scenario.reading import Reading
from simulator.scenario.scenario import Scenario
from simulator.scenario.written import Written, written

LINES = (*matters_to_a_step.LINES, *matters_to_a_run.LINES)
"""Of several lines for a key the first that finds it without effect speaks."""


def warnings(document: Table, scenario: Scenario, reading: Reading) -> Iterator[str]:
    """Yield a warning for each line of the table that finds keys of `document` without effect.

    A value that would be the same if it were left out is not worth one.
    """
    keys = list(written(document, scenario, reading))
    here = Here(scenario, frozenset(map(_name, keys)))
    found: dict[Line, list[str]] = {}
    for key in keys:
        line = next((line for line in _lines_of(_name(key)) if not line.matters(here, key)), None)
        if line is not None and key.value != key.usual():
            found.setdefault(line, []).append(dotted(key.path))
    for line in filter(found.__contains__, LINES):  # in an order of their own, whatever the order of the keys
        yield f"{', '.join(sorted(found[line]))}: no effect here, for {line.why}; {line.needs}"


def _name(key: Written) -> str:
    return ".".join(part for part in key.path if isinstance(part, str))


@lru_cache(maxsize=4096)
def _lines_of(name: str) -> tuple[Line, ...]:
    """Return the lines about the key of that name."""
    return tuple(line for line in LINES if any(_means(keys, name) for keys in line.keys.split()))


def _means(keys: str, name: str) -> bool:
    return name == keys or (keys.endswith("*") and name.startswith(keys[:-1]))
