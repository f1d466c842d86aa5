"""Predictions beside measurements: those that ship, or a table of one's own."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator import simulation
from simulator.api.shown import Rows
from simulator.io.printable import Page
from simulator.scenario import Scenario
from simulator.simulation import Prediction
from simulator.studies.executors import processors
from simulator.validation import files, tables
from simulator.validation.lines import Line
from simulator.validation.summary import Summary, json_text, summary


@dataclass(frozen=True)
class Validation(Rows):
    """Errors of what was predicted, by quantity and family in `summary`, and one line a quantity of each row."""

    summary: Summary
    lines: tuple[Line, ...]

    @property
    def rows(self) -> tuple[dict[str, Any], ...]:  # type: ignore[override]
        """Return the lines as ``foretrain validate --csv`` prints them; `note` says why there is no prediction."""
        return tuple(line.as_dict() for line in self.lines)

    def text(self) -> Page:
        """Return what ``foretrain validate`` prints."""
        return tables.write(self.summary)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``foretrain validate --json``."""
        told: dict[str, Any] = json.loads(json_text(self.summary, self.lines))
        return told


def validate(*paths: Path | str, families: Collection[str] = (), jobs: int | None = 1) -> Validation:
    """Return predictions beside the measurements in the tables `paths`, or in those that ship where none is given.

    The columns of a table say what it holds: runs, matrix products, attention, collectives, reliability cases. Raises
    ScenarioError, with line and column, where a table cannot be read, and where no row is of a family in `families`.

    >>> found = validate(families=["KOR"])
    >>> len(found.lines) > 0 and all(abs(line.error) < 0.1 for line in found.lines if line.error is not None)
    True
    """
    read = [files.read(Path(path)) for path in paths or files.shipped()]
    found = files.lines(read, _predicted, list(families), workers=processors() if jobs is None else jobs)
    return Validation(summary(found), tuple(found))


def _predicted(scenario: Scenario) -> Prediction:
    return simulation.predict(scenario)
