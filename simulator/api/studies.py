"""Many scenarios: the best layout, what varied keys do, and why two scenarios differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from simulator.api.questions import Changes, Question, base, read
from simulator.api.shown import Rows
from simulator.errors import ScenarioError
from simulator.io.printable import Page
from simulator.outcome.results import Result
from simulator.report import comparison
from simulator.report import layouts as layouts_text
from simulator.report import sweep as sweep_text
from simulator.scenario import Scenario
from simulator.studies import best, side_by_side
from simulator.studies import sweep as grid
from simulator.studies.best_layout import LayoutSearch
from simulator.studies.columns import of_result
from simulator.studies.compare import Difference, differences
from simulator.studies.executors import spread
from simulator.studies.layouts import evaluate as evaluate_group
from simulator.studies.metrics import column
from simulator.studies.point import evaluate
from simulator.studies.store import FILES, Row
from simulator.studies.vary import Axis, flow

T = TypeVar("T")


@dataclass(frozen=True)
class Sweep(Rows):
    """One row for each combination of values; what contradicts itself has the verdict ``infeasible`` and a reason."""

    axes: tuple[Axis, ...]
    metrics: tuple[str, ...]
    rows: tuple[Row, ...]

    def text(self) -> Page:
        """Return what ``foretrain sweep`` prints."""
        return sweep_text.write(self.rows, self.axes, self.metrics)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``foretrain sweep --json``."""
        return {"axes": {one.key: list(one.values) for one in self.axes}, "rows": list(self.rows)}


@dataclass(frozen=True)
class Layouts(Rows):
    """Every layout that was tried, the best first; `best` is the best that surely fits, None where nothing fits."""

    rows: tuple[Row, ...]
    best: Scenario | None
    search: LayoutSearch
    top: int

    def text(self) -> Page:
        """Return what ``foretrain layouts`` prints."""
        return layouts_text.write(self.search, top=self.top)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``foretrain layouts --json``."""
        return self.search.record()


@dataclass(frozen=True)
class Comparison(Rows):
    """Scenarios side by side, the first as the measure."""

    rows: tuple[Row, ...]
    results: tuple[Result, ...]
    differences: tuple[Difference, ...]
    ratios: side_by_side.Ratios
    chances: side_by_side.Chances
    """How surely each further scenario takes less than the first, by figure."""

    def text(self) -> Page:
        """Return what ``foretrain compare`` prints."""
        names = [row["scenario"] for row in self.rows]
        return comparison.write(names, self.rows, self.differences, self.ratios, self.chances)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``foretrain compare --json``, which has ``even`` where it solves for a key."""
        return side_by_side.record(self.rows, self.differences, self.ratios, self.chances)


def sweep(
    question: Question,
    vary: Mapping[str, Iterable[Any]],
    changes: Changes | None = None,
    *,
    metrics: Sequence[str] = (),
    quick: bool = False,
    catalogs: Sequence[Path | str] = (),
    jobs: int | None = 1,
) -> Sweep:
    """Return what each combination of the values of `vary` does, the last key fastest.

    `quick` leaves the run and its failures out; `metrics` such as ``step``, ``mfu``, ``days`` come first in the table.
    Raises ScenarioError where a key or a metric does not exist.

    >>> found = sweep("tutorial/1-one-host", {"training.sequence_length": [2048, 4096]}, quick=True)
    >>> [row["training.sequence_length"] for row in found.rows]
    ['2048', '4096']
    """
    axes = axes_of(vary)
    asked = [*map(column, metrics), *(grid.QUICK_METRICS if quick else grid.DEFAULT_METRICS)]
    points = grid.points([base(question, changes, catalogs)], axes, quick=quick)
    return Sweep(axes, tuple(dict.fromkeys(asked)), tuple(rows_of(evaluate, points, jobs)))


def layouts(
    question: Question,
    changes: Changes | None = None,
    *,
    objective: str = "time",
    sure: bool = False,
    quick: bool = False,
    top: int = 10,
    catalogs: Sequence[Path | str] = (),
    jobs: int | None = 1,
) -> Layouts:
    """Return every layout of the cluster that fits, ranked by `objective`: time, mfu, cost or days.

    The scenario's ``search`` pins axes; `sure` leaves out what is tight, `quick` the run of the best. Raises
    ScenarioError where the scenario cannot be read in any layout.
    """
    search = LayoutSearch(base(question, changes, catalogs), objective)
    search.take(rows_of(evaluate_group, search.groups, jobs), sure=sure)
    if not quick:
        search.tell()
    search.rank()
    row = search.chosen().get("best")
    chosen = read(best.document(search.layout(row)), catalogs=catalogs) if row is not None else None
    return Layouts(tuple(search.ranked), chosen, search, top)


def compare(*questions: Question, changes: Changes | None = None, jobs: int | None = 1) -> Comparison:
    """Return scenarios side by side, and the ratio of each to the first as factors that multiply to it.

    Raises ScenarioError where there are fewer than two.
    """
    if len(questions) < 2:
        raise ScenarioError("one scenario is nothing to compare; give another")
    asked = [read(question, changes) for question in questions]
    results = side_by_side.simulated(asked, jobs)
    rows = tuple(
        {"scenario": one.name, **of_result(result, one.gpus)} for one, result in zip(asked, results, strict=True)
    )
    differing = differences([one.resolved for one in asked])
    ratios, sure = side_by_side.ratios(asked, results), side_by_side.chances(asked, results)
    return Comparison(rows, tuple(results), differing, ratios, sure)


def axes_of(vary: Mapping[str, Iterable[Any]]) -> tuple[Axis, ...]:
    """Return the axes of keys and their values; raise ScenarioError where there is none, or one has no values."""
    axes = tuple(Axis(key, tuple(dict.fromkeys(map(flow, values)))) for key, values in vary.items())
    empty = [one.key for one in axes if not one.values]
    if empty or not axes:
        raise ScenarioError(f"nothing is varied{f' for {empty[0]}' if empty else ''}; give keys with their values")
    return axes


def rows_of(evaluate: Callable[[T], Row], asked: Sequence[T], jobs: int | None) -> list[Row]:
    """Return the rows of all points, without the files that were opened for them."""
    return [{name: value for name, value in row.items() if name != FILES} for row in spread(evaluate, asked, jobs)]
