"""Failure and checkpoint policies under the same luck, and which of them is best."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from simulator.api.questions import Changes, Question, base
from simulator.api.shown import Rows
from simulator.api.studies import axes_of, rows_of
from simulator.errors import ScenarioError
from simulator.io.printable import Page
from simulator.report import stress as stress_text
from simulator.studies import stress as study
from simulator.studies import trial
from simulator.studies.store import Row
from simulator.studies.vary import Axis, choices


@dataclass(frozen=True)
class Policies(Rows):
    """One row a policy under a condition; `best` of a row says whether it is the best under its condition."""

    axes: tuple[Axis, ...]
    objective: str
    rows: tuple[Row, ...]

    def text(self) -> Page:
        """Return what ``foretrain stress`` prints."""
        return stress_text.write(list(self.rows), self.axes, self.objective)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``foretrain stress --json``."""
        axes = {one.key: list(one.values) for one in self.axes}
        return {"objective": self.objective, "axes": axes, "rows": list(self.rows)}


def stress(
    question: Question,
    vary: Mapping[str, Iterable[Any]],
    changes: Changes | None = None,
    *,
    objective: str = "dollars",
    catalogs: Sequence[Path | str] = (),
    jobs: int | None = 1,
) -> Policies:
    """Return what each policy in `vary` does over many runs, all of which meet the same failures, run by run.

    `vary` holds policies (checkpoint, recovery, cluster.spares, cluster.storage) and conditions (failures, prices);
    `objective` is dollars, days or goodput. The scenario's ``runs`` are the most that a policy gets. Raises
    ScenarioError where a key changes the step, which is simulated once.

    >>> found = stress("tutorial/3-failures", {"cluster.spares": [0, 4], "failures.scale": [1, 20]}, {"runs": 25})
    >>> len(found.rows), found.rows[0]["runs"]
    (4, 25)
    """
    if objective not in study.OBJECTIVES:
        raise ScenarioError(f"objective {objective[:40]}: one of {', '.join(study.OBJECTIVES)}")
    axes = axes_of(vary)
    study.check(axes)
    start, chosen = base(question, changes, catalogs), list(choices(axes))
    asked = study.readable(start, chosen)
    work = trial.work(asked)
    trials = [trial.Trial(start, choice, work) for choice in chosen]
    study.play(trials, asked.runs, objective, partial(rows_of, trial.evaluate, jobs=jobs))
    return Policies(axes, objective, tuple(study.rows(trials, objective)))
