"""What a run under way has shown: steps done, time passed, and what interrupted it.

Times come from the clock of the log's lines where they have one. Where they have none, the time of the steps is
counted, and what restarts took is assumed to be as predicted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf
from statistics import median
from typing import Literal

import numpy as np

from simulator.errors import ScenarioError
from simulator.measured.disturbances import without_starts
from simulator.measured.explained import Explanation
from simulator.measured.series import Series, Step
from simulator.scenario import Scenario
from simulator.studies.forecast.interruptions import Interruption, interruptions
from simulator.sums import added
from simulator.units import Count, Seconds

Source = Literal["given", "clock", "steps"]


@dataclass(frozen=True, kw_only=True)
class Told:
    """What the user says beside the log."""

    failures: Count | None = None
    """Failures that stopped the run so far."""
    away: tuple[Seconds, ...] = ()
    """Time without training after each, where known."""
    elapsed: Seconds | None = None
    """Time since the run began."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What a log, and the user, say of the run so far."""

    done: Count
    """Steps done; those done again after a restart count once."""
    total: Count
    steps: tuple[Step, ...]
    """Steps without warm-up and starts."""
    elapsed: Seconds
    elapsed_from: Source
    interruptions: tuple[Interruption, ...]
    """Those that the log shows."""
    failures: Count
    exposed: Seconds
    """Training time in which the failures were counted; 0 where nobody counted them."""
    away: tuple[Seconds, ...]
    """Time without training after failures, those whose length is known."""
    now: Seconds | None
    """Time of day of the last line."""
    progress: tuple[tuple[Seconds, Count], ...]
    """Time since the run began and steps done, line by line."""

    @property
    def left(self) -> Count:
        return self.total - self.done


def gathered(explained: Explanation, scenario: Scenario, total: Count, told: Told, down: Seconds) -> Evidence:
    """Return what the log of a run of `total` steps shows; `down` is the predicted time without training of a restart.

    Raises ScenarioError where nothing is left to do, or where the log ends before the batch that the run ends with.
    """
    series = spaced(explained.series)
    every = series.steps
    done = max(one.number for one in every)
    _refuse(explained.log.name, done, total, scenario)
    steps, _, _ = without_starts(series)
    mean = float(np.average([one.seconds for one in steps], weights=[one.steps for one in steps]))
    found = interruptions(series, explained.found, mean)
    before = max(every[0].number - every[0].steps, 0) * mean
    passed, source = _passed(every, found, down)
    trained = added(one.seconds * one.steps for one in every)
    seen = bool(found) or source == "clock"
    elapsed = told.elapsed if told.elapsed is not None else passed + before
    failures = told.failures if told.failures is not None else len(found)
    known = told.away or tuple(one.away for one in found if one.away is not None)
    exposed = trained + before if told.failures is not None else trained if seen else 0.0
    return Evidence(
        done=done,
        total=total,
        steps=tuple(steps),
        elapsed=elapsed,
        elapsed_from="given" if told.elapsed is not None else source,
        interruptions=found,
        failures=failures,
        exposed=exposed,
        away=known,
        now=next((one.clock for one in reversed(every) if one.clock is not None), None),
        progress=tuple(_progress(every, elapsed, passed)),
    )


def spaced(found: Series) -> Series:
    """Return a series whose first lines after each start stand for as many steps as the others do."""
    usual = int(median(one.steps for one in found.steps))
    starts = {0, *found.starts}
    steps = [one._replace(steps=usual) if place in starts else one for place, one in enumerate(found.steps)]
    return replace(found, steps=tuple(steps))


def _refuse(name: str, done: Count, total: Count, scenario: Scenario) -> None:
    if done >= total:
        raise ScenarioError(
            f"{name}: step {done:,} of {total:,} is done, nothing is left to forecast; `foretrain explain` says how "
            f"the run went"
        )
    length = scenario.training.sequence_length
    early = sum(
        -(-phase.tokens // (phase.global_batch * (phase.sequence_length or length)))
        for phase in scenario.training.phases
    )
    if done < early:
        raise ScenarioError(
            f"{name}: ends at step {done:,}, within the {early:,} steps of training.phases; a forecast needs steps of "
            f"training.global_batch, which follow"
        )


def _passed(every: tuple[Step, ...], found: tuple[Interruption, ...], down: Seconds) -> tuple[Seconds, Source]:
    """Return the time from before the first step of the log to its last, and where it is from."""
    first, last = every[0], every[-1]
    if first.clock is not None and last.clock is not None and last.clock > first.clock:
        return last.clock - first.clock + first.seconds * first.steps, "clock"
    trained = added(one.seconds * one.steps for one in every)
    return trained + len(found) * down, "steps"


def _progress(every: tuple[Step, ...], elapsed: Seconds, passed: Seconds) -> list[tuple[Seconds, Count]]:
    """Return time since the start of the run and steps done, at most some hundred of them."""
    began = elapsed - passed
    first = every[0]
    start = first.clock - first.seconds * first.steps if first.clock is not None else -inf
    told, time = [(began, max(first.number - first.steps, 0))], began
    for one in every:
        time = began + one.clock - start if one.clock is not None else time + one.seconds * one.steps
        told.append((min(time, elapsed), one.number))
    thin = max(len(told) // 400, 1)
    kept = {*range(0, len(told), thin), len(told) - 1}
    kept |= {place for place, (one, two) in enumerate(pairwise(told), 1) if two[1] < one[1]}
    return [told[place] for place in sorted(kept)]
