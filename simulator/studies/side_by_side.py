"""Scenarios side by side: each simulated, and the ratio of each figure to that of the first, as factors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from simulator.outcome.results import Result
from simulator.scenario import Scenario
from simulator.simulation import simulate
from simulator.studies import compare
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


def record(rows: Sequence[Mapping[str, Any]], differing: Sequence[compare.Difference], found: Ratios) -> dict[str, Any]:
    """Return rows, differences and ratios as the JSON of ``foretrain compare``."""
    return {
        "scenarios": list(rows),
        "differences": [{"key": one.key, "values": one.values} for one in differing],
        "ratios": {
            figure: [{"ratio": ratio, "factors": {why.name: why.ratio for why in whys}} for ratio, whys in each]
            for figure, each in found.items()
        },
    }
