"""How surely one scenario takes less than another, by step, days and dollars; errors of the same cause cancel.

Run by run, days grow with the step: a run of `growing` and `fixed` seconds takes f growing + fixed. What is fixed,
stops and evaluations, is little and counted with the rest, so that one run is shorter than the other where the ratio of
their steps' errors is less than that of their wall clocks. Both meet the same luck under one seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, islice
from math import isfinite

from simulator.outcome.difference import SURE, Loadings, loadings, shorter
from simulator.outcome.results import Result
from simulator.outcome.stretch import Stretch
from simulator.scenario import Scenario
from simulator.sums import added
from simulator.units import Number, Share

Told = tuple[Scenario, Result]


def less(first: Told, other: Told, figure: str) -> Share | None:
    """Return the chance that the other scenario takes less than the first; None where a step is of other tokens."""
    if figure == "step time":
        return _step(first, other)
    dearer = _price(*other) / _price(*first) if figure == "dollars" else 1.0
    return _runs(first, other, dearer)


def _step(first: Told, other: Told) -> Share | None:
    if not _same_batch(first[0], other[0]):
        return None
    return shorter(other[1].step.time_s / first[1].step.time_s, _of(*other), _of(*first))


def _same_batch(one: Scenario, other: Scenario) -> bool:
    """Whether a step of both does the same tokens; a measured step says none."""
    batches = [(s.training.global_batch, s.training.sequence_length) for s in (one, other)]
    return batches[0] == batches[1] or any(s.training.step_time is not None for s in (one, other))


def _runs(first: Told, other: Told, dearer: Number) -> Share:
    errors = [SURE if told[0].training.duration is not None else _of(*told) for told in (other, first)]
    pairs = _pairs(other[1].ends, first[1].ends)
    chances = [_shorter(_whole(mine), _whole(its), dearer, *errors) for mine, its in pairs]
    return added(chances) / len(chances)


def _pairs(ones: Sequence[Stretch], others: Sequence[Stretch]) -> list[tuple[Stretch, Stretch]]:
    """Return run beside run; the shorter list, of a scenario in which nothing happens, again and again."""
    longest = max(len(ones), len(others))
    return list(zip(islice(cycle(ones), longest), islice(cycle(others), longest), strict=True))


def _whole(run: Stretch) -> Number:
    return run.growing + run.fixed


def _shorter(mine: Number, its: Number, dearer: Number, one: Loadings, other: Loadings) -> Share:
    if not isfinite(mine) or not isfinite(its):
        return 0.5 if mine == its else float(mine < its)
    return shorter(dearer * mine / its, one, other)


def _price(scenario: Scenario, result: Result) -> Number:
    """Return dollars per second of wall clock."""
    return result.cost.dollars.mean / result.run.wall_clock_s.mean


def _of(scenario: Scenario, result: Result) -> Loadings:
    return loadings(scenario, result.step.parts_s)
