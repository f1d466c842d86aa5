"""A capacity that drops tokens makes a step short and a run look good: said, with what to write instead."""

from __future__ import annotations

from collections.abc import Iterator

from simulator.scenario.scenario import Scenario
from simulator.workload.capacity import FEW, dropped


def warnings(scenario: Scenario) -> Iterator[str]:
    """Yield a warning where experts drop more than a few of their visits."""
    moe, experts = scenario.moe, scenario.model.experts if scenario.model else None
    share = dropped(moe.imbalance, moe.capacity) if experts else 0.0
    if share > FEW:
        yield (
            f"moe.capacity: {moe.capacity:g} drops {100 * share:.3g}% of what tokens send to experts, which MFU and "
            f"the time of the run count as trained; write {moe.imbalance:g}, the imbalance, or more, or leave it out"
        )
