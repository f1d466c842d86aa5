"""Predicts published runs as if something had never been measured: a source, a stack, an accelerator.

Every number that was read from it goes back to what it would be: the ledger of measured runs, the stack entry, the
kernel tables of the accelerator, the constants that runs share. The levels of the error model stay: they are of all
sources together.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from simulator.calibration.leave_out.base import Origin
from simulator.calibration.leave_out.together import Together
from simulator.calibration.runs import Linear, Vector, errors_of, moved, slopes_of, solve
from simulator.engine.prices.constants import Constant, Shared, constants
from simulator.engine.run import Mapped
from simulator.errors import ForetrainError
from simulator.outcome.intervals import comparable, step_error
from simulator.outcome.ledger import Ledger
from simulator.scenario import Scenario, from_dict
from simulator.simulation import Prediction, predict, predict_step
from simulator.units import Count
from simulator.validation.expression import InexpressibleError
from simulator.validation.lines import Line
from simulator.validation.measured import MeasuredRun, thinned
from simulator.validation.predict import STEP_TIME, SUITE, step_time
from simulator.validation.rows import expression

FITTED = 4
"""Runs of a family that teach constants again: what a family has in common shows in few of its runs."""


@dataclass(frozen=True)
class Taught:
    """Runs that the shared constants were fitted on, with their errors and slopes at the values that ship."""

    origins: tuple[Origin, ...]
    runs: tuple[MeasuredRun, ...]
    constants: tuple[Constant, ...]
    linear: Linear

    def without(self, left: Together, ledger: Ledger) -> tuple[Constant, ...]:
        """Return the constants that all other runs would have given.

        The values that ship come from more runs, so they are moved by the difference that these runs make.
        """
        known = left.constants(self.constants, ledger, left.unknown_to(ledger))
        outside = np.array([not left.meets(origin) for origin in self.origins])
        if outside.all():
            return known
        fitted = moved(self.constants, self._solved(outside) - self._solved(np.ones_like(outside)))
        return tuple(
            one if one != shipped else again for one, shipped, again in zip(known, self.constants, fitted, strict=True)
        )

    def _solved(self, chosen: Vector) -> Vector:
        runs = [run for run, kept in zip(self.runs, chosen, strict=True) if kept]
        return solve(runs, self.constants, Linear(self.linear.errors[chosen], self.linear.slopes[chosen]))


def taught(origins: Iterable[Origin], mapped: Mapped = map, most: Count = FITTED) -> Taught:
    """Return runs of every family with their errors and slopes; `mapped` is given the runs."""
    pairs = [(origin, run) for origin in few(origins, most) if (run := _run(origin)) is not None]
    known = constants()
    runs = tuple(run for _, run in pairs)
    linear = Linear(errors_of(runs, known, predict_step, mapped), slopes_of(runs, known, mapped))
    return Taught(tuple(origin for origin, _ in pairs), runs, known, linear)


def few(origins: Iterable[Origin], most: Count | None) -> list[Origin]:
    """Return at most so many runs of each family, evenly spaced in their table."""
    families: dict[str, list[Origin]] = {}
    for origin in origins:
        families.setdefault(origin.family, []).append(origin)
    return [origin for members in families.values() for origin in thinned(members, most)]


def _run(origin: Origin) -> MeasuredRun | None:
    try:
        scenario = from_dict(expression(origin.row).scenarios[0])
    except (InexpressibleError, ForetrainError):
        return None
    return MeasuredRun(origin.row.text("id"), origin.family, scenario, step_time(origin.row) or 0.0)


@dataclass(frozen=True)
class Task:
    """One thing to leave out, the runs that it concerns, and the constants without it."""

    left: Together
    runs: tuple[Origin, ...]
    constants: tuple[Constant, ...]
    ledger: Ledger
    """What is known before."""


@dataclass(frozen=True)
class Predicted:
    """Works a task out; terms of the physics may be switched off."""

    off: Collection[str] = frozenset()

    def __call__(self, task: Task) -> tuple[Line, ...]:
        learned, after = Shared.of(task.constants), task.left.unknown_to(task.ledger)

        def one(scenario: Scenario) -> Prediction:
            return predict(scenario, learned=learned, without=self.off)

        return tuple(_line(origin, task.left, after, one) for origin in task.runs)


def tasks(
    asked: Iterable[Together], runs: Sequence[Origin], known: Taught, ledger: Ledger, most: Count | None
) -> list[Task]:
    """Return what is to be predicted: of each thing left out at most so many runs of each family."""
    return [
        Task(left, tuple(chosen), known.without(left, ledger), ledger)
        for left in asked
        if (chosen := few((run for run in runs if left.meets(run)), most))
    ]


def _line(origin: Origin, left: Together, after: Ledger, one: Callable[[Scenario], Prediction]) -> Line:
    """Return the line of a run; the reason instead of a prediction where it has none."""
    row = origin.row
    line = Line(
        suite=SUITE,
        id=row.text("id"),
        family=origin.family,
        group=row.text("group"),
        quantity=STEP_TIME,
        unit="s",
        measured=step_time(row),
        without=left.label,
    )
    try:
        plain = expression(row).scenarios[0]
        found = one(left.scenario(from_dict(left.plain(origin, plain, after))))
        scenario = from_dict(plain)
    except (InexpressibleError, ForetrainError) as reason:
        return replace(line, note=" ".join(str(reason).split()))
    error, seconds = step_error(scenario, found.parts_s, after), found.step_time_s
    return replace(
        line,
        predicted=seconds,
        low=seconds * error.low,
        high=seconds * error.high,
        comparable=comparable(scenario, after),
        note=f"without {left.label}",
    )
