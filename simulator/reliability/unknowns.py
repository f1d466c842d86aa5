"""What is not known of failures, restarts and saves: every simulated run draws what they may really be.

Rates of a preset are counts, and counts of few failures are uncertain: the rate of a cause that was counted n times
is Gamma(n + 1/2) / n of the counted one (Jeffreys' prior of a Poisson rate). One fleet is not another: presets predict
each other's rates to a standard deviation of 0.6 in ln, the same for all causes of a fleet. What a scenario gives
itself is taken as given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import exp

from simulator import random
from simulator.reliability.checkpointing.cost import SaveCost
from simulator.reliability.failures.base import Cause
from simulator.reliability.failures.exponential import Exponential
from simulator.reliability.fleet import Failures
from simulator.reliability.recovery.base import Recovery
from simulator.sums import added
from simulator.units import Count, Number

FLEETS: Number = 0.6
"""Standard deviation of ln of the rates of one fleet over those of another: presets that predict one another miss by a
factor of 1.5 too many (Llama 3 for Meta's 32,768 GPUs of 2025) to 3 too few."""
TIMES: Number = 0.5
"""Standard deviation of ln of restarts, and of saves, that nobody gave: published restarts of 5, 9.1, 12.8, 15 and 20
min (arXiv 2410.21680; 2509.16293, table 7; 2602.00277, figure 2) spread so around the default of 8 min. For saves a
prior."""


@dataclass(frozen=True)
class Unknowns:
    """What runs draw anew; nothing where the scenario says it all."""

    seed: int
    counts: Mapping[str, Number] = field(default_factory=dict)
    """How often the preset counted each of its causes; rates of other causes are given."""
    recovery: tuple[str, ...] = ()
    """Times of the recovery that nobody gave."""
    saves: bool = False
    """Whether nobody said what a save costs."""

    @property
    def any(self) -> bool:
        return bool(self.counts or self.recovery or self.saves)

    def failures(self, given: Failures, number: Count) -> Failures:
        """Return the failures of run `number`; other runs, policies and machines draw the same for it."""
        if not self.counts:
            return given
        fleet = self.factor(number, "fleet", FLEETS)
        return replace(given, causes=tuple(self._cause(cause, number, fleet) for cause in given.causes))

    def _cause(self, cause: Cause, number: Count, fleet: Number) -> Cause:
        count = self.counts.get(cause.label)
        if count is None or not isinstance(cause, Exponential):
            return cause
        few = 1.0
        if count == round(count):
            few = float(random.stream(self.seed, number, "rate", cause.label).gamma(count + 0.5) / count)
        return replace(cause, mtbf=cause.mtbf / (fleet * few))

    def recovered(self, given: Recovery, number: Count) -> Recovery:
        """Return the recovery of run `number`, with the times that nobody gave longer or shorter."""
        if not self.recovery:
            return given
        times = self.factor(number, "recovery", TIMES)
        return replace(given, **{name: getattr(given, name).scaled(times) for name in self.recovery})

    def saved(self, given: SaveCost | None, number: Count) -> SaveCost | None:
        """Return what a save costs in run `number`."""
        if given is None or not self.saves:
            return given
        times = self.factor(number, "saves", TIMES)
        return replace(given, stall=times * given.stall, load=times * given.load)

    def drawn(self, given: Failures, number: Count) -> dict[str, Number]:
        """Return what run `number` drew, as factors on failure rates, restart times and the cost of saves."""
        found = {}
        if self.counts:
            real = self.failures(given, number).causes
            times = [
                (self.counts[one.label], one.mtbf / other.mtbf)
                for one, other in zip(given.causes, real, strict=True)
                if isinstance(one, Exponential) and isinstance(other, Exponential) and self.counts.get(one.label)
            ]
            whole = added(count for count, _ in times)
            found["rates"] = added(count * factor for count, factor in times) / whole if whole else 1.0
        if self.recovery:
            found["recovery"] = self.factor(number, "recovery", TIMES)
        if self.saves:
            found["saves"] = self.factor(number, "saves", TIMES)
        return found

    def factor(self, number: Count, name: str, sd: Number) -> Number:
        """Return a factor around 1, within two standard deviations."""
        drawn = float(random.stream(self.seed, number, "doubt", name).standard_normal())
        return exp(sd * min(max(drawn, -2.0), 2.0))
