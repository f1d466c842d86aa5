"""Failure and checkpoint policies over many runs: which is best under which conditions, and which cannot be told apart.

The step is simulated once; only runs are repeated. Run i of every policy meets the same failures (common random
numbers), so that policies are compared run by run. Those that still may be the best get twice as many runs, until the
interval of each difference excludes zero or the runs that were asked for are used up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf, sqrt
from statistics import fmean, stdev
from typing import NamedTuple

from simulator.errors import ScenarioError
from simulator.io.readable import NO_PROGRESS
from simulator.scenario import Scenario
from simulator.studies import columns
from simulator.studies.point import UNKNOWN, Base
from simulator.studies.store import Row
from simulator.studies.trial import CONDITIONS, Batch, Trial, changes
from simulator.studies.vary import Axis, Choice
from simulator.units import Count, Number

POLICIES = ("checkpoint", "recovery", "cluster.spares", "cluster.storage", "training.evaluation")
FIRST: Count = 25
"""Runs of every policy before any is given up."""
SURE: Number = 2.58
"""Standard errors on either side of a difference: 99 in 100 of such intervals hold the truth."""
ADVICE = ("best_interval_s", "loss_at_half", "loss_at_double")
"""In closed form: the interval that is best for a policy's saves, and the goodput lost at half and double of it."""
OBJECTIVES = {"dollars": "dollars_mean", "cost": "dollars_mean", "days": "wall_clock_mean_s", "goodput": "goodput_mean"}


class Difference(NamedTuple):
    """How much worse than the best, run by run, and the interval of its mean."""

    mean: Number
    low: Number
    high: Number

    @property
    def settled(self) -> bool:
        return self.low > 0 or self.high < 0


def check(axes: Sequence[Axis]) -> None:
    """Refuse keys that change the step, which is simulated once."""
    for axis in axes:
        if not axis.key.startswith((*CONDITIONS, *POLICIES)):
            raise ScenarioError(
                f"--vary {axis.key}: is no policy ({', '.join(POLICIES)}) and no condition ({', '.join(CONDITIONS)}); "
                f"`foretrain sweep` varies any key"
            )


def next_round(trials: Sequence[Trial], runs: Count, objective: str) -> list[tuple[Trial, Batch]]:
    """Return the batches that are still worth running: twice as many runs for all that may be the best."""
    if not any(trial.outcomes for trial in trials):
        return [(trial, trial.batch(min(FIRST, runs))) for trial in trials if trial.reason is None]
    found: list[tuple[Trial, Batch]] = []
    for group in _by_condition(trials):
        best = leader(group, objective)
        if best is None:
            continue
        open_ = [trial for trial in group if trial.progress and not difference(trial, best, objective).settled]
        until = min(2 * max(len(trial.outcomes) for trial in open_), runs)
        found += [(trial, trial.batch(until)) for trial in open_ if len(open_) > 1 and len(trial.outcomes) < until]
    return found


def leader(group: Sequence[Trial], objective: str) -> Trial | None:
    """Return the policy with the best mean so far."""
    able = [trial for trial in group if trial.outcomes and trial.progress]
    return min(able, key=lambda trial: fmean(trial.samples(objective)), default=None)


def difference(trial: Trial, best: Trial, objective: str) -> Difference:
    """Return how much worse than `best` a policy is, in the runs that both have had."""
    pairs = list(zip(trial.samples(objective), best.samples(objective), strict=False))
    apart = [one - other for one, other in pairs]
    mean = fmean(apart)
    if len(apart) < 2:
        return Difference(mean, -inf, inf)
    error = SURE * stdev(apart) / sqrt(len(apart))
    return Difference(mean, mean - error, mean + error)


def _by_condition(trials: Sequence[Trial]) -> Iterator[list[Trial]]:
    for condition in dict.fromkeys(trial.condition for trial in trials):
        yield [trial for trial in trials if trial.condition == condition]


def play(
    trials: Sequence[Trial], runs: Count, objective: str, worked_out: Callable[[Sequence[Batch]], Iterable[Row]]
) -> None:
    """Run round after round until the best is known, or each has the runs that were asked for.

    `worked_out` returns a row for each batch; fewer of them, as after an interrupt, end it.
    """
    while batches := next_round(trials, runs, objective):
        found = list(zip(batches, worked_out([batch for _, batch in batches]), strict=False))
        for (one, _), row in found:
            one.add(row)
        if len(found) < len(batches):
            return


def rows(trials: Sequence[Trial], objective: str) -> list[Row]:
    """Return one row a policy: the columns of a study, how many runs it had, and how far it is from the best."""
    best = {group[0].condition: leader(group, objective) for group in _by_condition(trials)}
    return [_row(trial, best[trial.condition], objective) for trial in trials if trial.outcomes or trial.reason]


def _row(trial: Trial, best: Trial | None, objective: str) -> Row:
    row: Row = {"scenario": trial.base.name, **dict(trial.choice)}
    if trial.reason is not None:
        row |= columns.infeasible(trial.reason)
    else:
        scenario = trial.scenario
        happened, bill = trial.results()
        row |= columns.ordered(
            {"verdict": None, "gpus": scenario.gpus}
            | columns.of_step(trial.work.step)
            | columns.of_run(happened)
            | columns.of_cost(bill)
        )
        row |= {name: happened.checkpoint.get(name) for name in ADVICE}
        if not trial.progress:
            row["reason"] = f"no progress: {NO_PROGRESS}"
    row |= {
        "runs": len(trial.outcomes),
        "best": trial is best,
        "tie": False,
        "worse": None,
        "worse_low": None,
        "worse_high": None,
    }
    if best is not None and trial.progress and trial is not best:
        found, scale = difference(trial, best, objective), abs(fmean(best.samples(objective)))
        row["tie"] = not found.settled
        row |= {"worse": found.mean / scale, "worse_low": found.low / scale, "worse_high": found.high / scale}
    return row


def readable(base: Base, chosen: Sequence[Choice]) -> Scenario:
    """Return the first scenario of a grid that contradicts itself in nothing; the step of all is its step.

    Raises the ScenarioError of the first choice where there is none.
    """
    first: ScenarioError | None = None
    for choice in chosen:
        try:
            return base.read(changes(choice))
        except ScenarioError as error:
            if UNKNOWN in str(error):
                raise
            first = first or error
    assert first is not None
    raise first
