"""What to change for the rest of a run, each change simulated on the same luck, and what it saves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from math import isfinite, log, sqrt
from typing import Any

from simulator import units
from simulator.engine.run import RunInput, plan
from simulator.reliability.advice import interval_advice
from simulator.reliability.checkpointing.base import CheckpointPolicy
from simulator.reliability.checkpointing.fixed import FixedInterval
from simulator.studies.forecast.rest import Rest
from simulator.sums import added
from simulator.units import Count, Dollars, Number, Seconds, Share

SPARES: tuple[Count, ...] = (1, 2, 4)
"""Spares more that are tried."""
SURE: Number = 2.0
"""Standard errors that a saving must have."""
WHOLE_MINUTES: Seconds = 600.0
"""Intervals from here on are rounded to minutes."""
RUNS: Count = 100
"""Runs that a change is simulated on; both sides have the same luck, so that few tell the difference."""
WAITS: Share = 0.001
"""Share of the time that is left for which a run waits for hosts, below which spares are not tried."""
NEAR: Number = 0.1
"""An interval that differs by less from the best one is as good: the curve is flat."""


@dataclass(frozen=True)
class Lever:
    """One change for the rest, and what it saves in the mean; less than nothing where it costs."""

    what: str
    settings: dict[str, str]
    """What to write: dotted key -> value."""
    saves_s: Seconds
    saves_dollars: Dollars
    sure: bool
    """Whether the saving of time stands out of the luck of the simulated runs."""

    @property
    def pays(self) -> bool:
        return self.sure and self.saves_s > 0 and self.saves_dollars >= 0

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON of a lever."""
        return {**{one.name: getattr(self, one.name) for one in fields(self)}, "pays": self.pays}


Played = Callable[[RunInput, Count], Rest]


def levers(
    now: Rest, played: Played, mtbf: Seconds, rented: Count, dollars_per_second: Number, slow: Lever | None
) -> tuple[Lever, ...]:
    """Return every change that was tried, the largest saving of dollars first.

    `mtbf` is the mean time between failures as the run has shown it, `rented` the hosts that are paid for.
    """
    found = [slow] if slow is not None else []
    for what, settings, changed, hosts in (*_interval(now.run, mtbf), *_spares(now)):
        other = played(changed, RUNS)
        dearer = dollars_per_second * (rented + hosts) / rented
        found.append(_lever(what, settings, now, other, dollars_per_second, dearer))
    return tuple(sorted(found, key=lambda one: (-one.pays, -one.saves_dollars)))


Change = tuple[str, dict[str, str], RunInput, Count]
"""What, its settings, the run with it, and hosts more that are rented."""


def _interval(run: RunInput, mtbf: Seconds) -> Iterator[Change]:
    """Yield the run with the interval that is best at the rate of failures that the log showed."""
    saves = plan(run)
    tier = saves.tiers[0] if len(saves.tiers) == 1 else None
    if tier is None or run.checkpoint.tiers or not tier.stall or not isfinite(mtbf):
        return
    down = run.recovery.mean_down(run.units["gpu"], tier.load)
    best = min(interval_advice(tier.stall, mtbf, down, 0.0, tier.persist).best, run.work)
    if isfinite(tier.interval) and abs(log(best / tier.interval)) < NEAR:
        return
    said = units.render(60.0 * round(best / 60) if best >= WHOLE_MINUTES else float(f"{best:.2g}"), "s")
    kept = {one.name: getattr(run.checkpoint, one.name) for one in fields(CheckpointPolicy)}
    fixed = FixedInterval(interval=units.parse(said, "s"), **kept)
    often = "more often" if best < tier.interval else "less often"
    settings = {"checkpoint.kind": "fixed", "checkpoint.interval": said}
    yield f"save {often}, every {said}", settings, replace(run, checkpoint=fixed), 0


def _spares(now: Rest) -> Iterator[Change]:
    """Yield the run with more spares, where it waits for hosts at all."""
    run = now.run
    waits = added(outcome.parts.get("wait", 0.0) for outcome in now.outcomes)
    if run.spares is None or waits <= WAITS * added(outcome.wall_clock for outcome in now.outcomes):
        return
    for more in SPARES:
        count = run.spares + more
        what = f"{more} more spare{'s' if more > 1 else ''}, {count} in all"
        yield what, {"cluster.spares": str(count)}, replace(run, spares=count), more


def _lever(what: str, settings: dict[str, str], now: Rest, other: Rest, before: Number, later: Number) -> Lever:
    pairs = [
        (one.wall_clock, two.wall_clock)
        for one, two in zip(now.outcomes, other.outcomes, strict=False)
        if one.progress and two.progress
    ]
    saved = [one - two for one, two in pairs]
    if not saved:
        return Lever(what, settings, 0.0, 0.0, False)
    mean = added(saved) / len(saved)
    spread = sqrt(added((one - mean) ** 2 for one in saved) / max(len(saved) - 1, 1) / len(saved))
    money = added(one * before - two * later for one, two in pairs) / len(pairs)
    return Lever(what, settings, mean, money, abs(mean) > SURE * spread)
