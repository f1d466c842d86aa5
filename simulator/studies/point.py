"""One point of a study: a scenario with some keys changed, and the row that comes of it."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from simulator import catalog
from simulator.errors import ForetrainError, ScenarioError
from simulator.scenario import Scenario, beside, read
from simulator.scenario.reading import Reading
from simulator.scenario.source import Source, load
from simulator.studies import columns
from simulator.studies.store import FILES, Row, key
from simulator.studies.vary import Choice, blamed

UNKNOWN = "unknown key;"
"""Words in messages about keys that do not exist, which no choice of values makes right."""


@dataclass(frozen=True)
class Base:
    """Where the points of a study start from."""

    name: str
    """What tables call the scenario."""
    source: str
    """Its file, or its text."""
    changes: tuple[str, ...] = ()
    """What ``--set`` changes for all points."""
    catalogs: tuple[str, ...] = ()
    only: tuple[tuple[str, str], ...] | None = None
    """The only names of files that are opened, each with the file that it means; any that it names where None."""
    seen: tuple[int, ...] = ()
    """How its files looked when it was last asked about, so that no answer from before they changed is taken."""
    text: Source | None = None
    """What the file held when the study began, so that all points start from the same; None: it is read for each."""

    @cached_property
    def content(self) -> str:
        """The hash of all that this says, whether or not it is valid without a point's own changes.

        The files that a scenario names are not in it, since a point may name others: rows say what was opened for them.
        """
        folders = [catalog.digest(Path(folder)) for folder in self.catalogs]
        return key(self.name, self._source.text, self.changes, folders)

    def read(self, changes: Sequence[str] = (), files: MutableMapping[str, str] | None = None) -> Scenario:
        """Return the scenario with more changes; `files` is told which files were opened, as in `scenario.read`."""
        try:
            return read(
                self._source,
                overrides=(*self.changes, *changes),
                catalogs=self.catalogs,
                only=self._only,
                files=files,
            )
        except ScenarioError as error:
            raise blamed(error, changes) from None

    def digest(self, file: str) -> str:
        """Return the SHA-256 of a file that the scenario names, as it was when it was first asked for here."""
        if file not in self._digests:
            self._digests[file] = beside.digest(file, Reading(folder=self._source.folder, only=self._only))
        return self._digests[file]

    @property
    def _only(self) -> dict[str, Path] | None:
        return None if self.only is None else {name: Path(file) for name, file in self.only}

    @property
    def _source(self) -> Source:
        return self.text or load(self.source)

    @cached_property
    def _digests(self) -> dict[str, str]:
        return {}


@dataclass(frozen=True)
class Point:
    base: Base
    choice: Choice = ()
    quick: bool = False
    """Step and memory only, without the run."""

    @cached_property
    def key(self) -> str:
        return key("point", self.base.content, self.choice, self.quick)

    @property
    def changes(self) -> tuple[str, ...]:
        return tuple(f"{name}={value}" for name, value in self.choice)


def evaluate(point: Point) -> Row:
    """Return the row of a point; one that contradicts itself has the reason.

    Raises ScenarioError where a key does not exist, since then no value is right.
    """
    files: dict[str, str] = {}
    try:
        row = told(point.base.read(point.changes, files), quick=point.quick)
    except ForetrainError as error:
        if UNKNOWN in str(error):
            raise
        row = columns.infeasible(short(error))
    return {"scenario": point.base.name, **dict(point.choice), **row, FILES: files}


def told(scenario: Scenario, *, quick: bool = False) -> Row:
    """Return the columns of one scenario."""
    from simulator.simulation import simulate

    return _quick(scenario) if quick else columns.of_result(simulate(certain(scenario)), scenario.gpus)


def certain(scenario: Scenario) -> Scenario:
    """Return a scenario whose runs are all alike with one run."""
    fleet = scenario.failures
    nothing_happens = not fleet.planned and (not fleet.causes or fleet.scale == 0)
    return replace(scenario, runs=1) if nothing_happens else scenario


def _quick(scenario: Scenario) -> Row:
    """Return the row of step and memory, and the time of a run in which nothing goes wrong."""
    from simulator.outcome.accounts import step_result
    from simulator.outcome.intervals import step_error
    from simulator.simulation import measured, predict, spread_out, useful_work

    if scenario.training.step_time is None:
        predicted = predict(scenario)
        seconds, parts, held = predicted.step_time_s, predicted.parts_s, predicted.memory
    else:
        (seconds, parts), held = spread_out(scenario, measured(scenario)), None
    row: Row = {"gpus": scenario.gpus, "ideal_s": useful_work(scenario, seconds)}
    row |= columns.of_step(step_result(scenario, seconds, parts, step_error(scenario, parts), None, None))
    if held is not None:
        row |= columns.of_memory(held.peak_bytes, held.usable_bytes, held.p_fits) | {"verdict": held.verdict}
        if held.verdict == "oom":
            row["reason"] = columns.too_large(held)
    return columns.ordered(row)


def short(error: Exception) -> str:
    """Return the first mistake without the place where it stands."""
    first = str(error).splitlines()[0]
    for marker in (": parallelism", ": training", ": cluster", ": model"):
        _, found, rest = first.partition(marker)
        if found:
            return f"{marker[2:]}{rest}"
    return first
