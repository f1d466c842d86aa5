"""What a scenario leaves open about failures, restarts and saves, and the runs that come of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from simulator import catalog
from simulator.engine.run import RunInput
from simulator.reliability.unknowns import Unknowns
from simulator.scenario.scenario import Scenario
from simulator.units import Count, Number

TIMES = ("detect", "diagnose", "restart")
"""Times of a recovery that a scenario may leave to their defaults."""


@dataclass(frozen=True)
class Really:
    """What run `number` meets, where the plan knows only what is expected."""

    unknowns: Unknowns

    def __call__(self, planned: RunInput, number: Count) -> RunInput:
        return replace(
            planned,
            failures=self.unknowns.failures(planned.failures, number),
            recovery=self.unknowns.recovered(planned.recovery, number),
            save_cost=self.unknowns.saved(planned.save_cost, number),
        )

    def drawn(self, planned: RunInput, runs: Count) -> dict[str, list[Number]]:
        """Return what each run draws, as factors on the plan."""
        each = [self.unknowns.drawn(planned.failures, number) for number in range(runs)]
        return {name: [one[name] for one in each] for name in each[0]}


def unknown(scenario: Scenario) -> Unknowns:
    """Return what is not known: rates that a preset counted, and times that nobody gave.

    A scenario that writes out its own causes asks what would happen with them: its rates and times are taken as given,
    and so is a preset outside the shipped catalog.
    """
    counts = _counts(scenario.failures.preset)
    if not counts:
        return Unknowns(scenario.seed)
    left = [assumed.key for assumed in scenario.assumptions]
    open_times = tuple(name for name in TIMES if any(key.startswith(f"recovery.{name}") for key in left))
    restarts = () if scenario.recovery.phases else open_times
    saves = scenario.checkpoint.saves and "checkpoint.stall" in left and not scenario.checkpoint.tiers
    return Unknowns(scenario.seed, counts, restarts, saves)


def _counts(preset: str | None) -> Mapping[str, Number]:
    if preset is None or preset not in catalog.names("failures"):
        return {}
    return {str(row["name"]): float(row["count"]) for row in catalog.entry("failures", preset)["counted"]}
