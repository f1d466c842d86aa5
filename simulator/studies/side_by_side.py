"""Scenarios side by side: each simulated, and the ratio of each figure to that of the first, as factors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from simulator.outcome.results import Result
from simulator.scenario import Scenario
from simulator.simulation import simulate
from simulator.studies import compare, faster
from simulator.studies.executors import in_order, opened, processors
from simulator.studies.point import certain

Ratios = dict[str, list[tuple[float, tuple[compare.Factor, ...]]]]
"""Figure -> for each further scenario its ratio to the first, and the factors that multiply to it."""


def simulated(asked: Sequence[Scenario], jobs: int | None) -> list[Result]:
    """Return the result of each scenario, in processes where that is sooner."""
    every = [certain(one) for one in asked]
    # A scenario without failures is done sooner than a process starts.
    long = sum(one.runs > 1 for one in every)
    with opened(jobs or (min(processors(), long) if long > 1 else 1)) as (executor, workers):
        return list(in_order(simulate, every, executor, workers))


def ratios(asked: Sequence[Scenario], results: Sequence[Result]) -> Ratios:
    """Return the ratios of the figures that are numbers in all scenarios."""
    pairs = list(zip(asked, results, strict=True))
    return {
        figure: [
            (
                compare.value(result, figure) / compare.value(results[0], figure),
                compare.factors(pairs[0], (one, result), figure),
            )
            for one, result in pairs[1:]
        ]
        for figure in compare.FIGURES
        if compare.comparable(results, figure)
    }


Chances = dict[str, list[float | None]]
"""Figure -> for each further scenario the chance that it takes less than the first; None where they do not compare."""


def chances(asked: Sequence[Scenario], results: Sequence[Result]) -> Chances:
    """Return how surely each further scenario takes less than the first, in the figures that all have."""
    first, *others = zip(asked, results, strict=True)
    return {
        figure: [faster.less(first, other, figure) for other in others]
        for figure in compare.FIGURES
        if compare.comparable(results, figure)
    }


def record(
    rows: Sequence[Mapping[str, Any]], differing: Sequence[compare.Difference], found: Ratios, sure: Chances
) -> dict[str, Any]:
    """Return rows, differences, ratios and chances as the JSON of ``foretrain compare``."""
    return {
        "scenarios": list(rows),
        "differences": [{"key": one.key, "values": one.values} for one in differing],
        "ratios": {
            figure: [{"ratio": ratio, "factors": {why.name: why.ratio for why in whys}} for ratio, whys in each]
            for figure, each in found.items()
        },
        "p_faster": sure.get("days", sure.get("step time", [])),
        "p_less": sure,
    }
