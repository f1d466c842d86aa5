"""What a run takes, and what a budget in dollars, GPU-hours or days buys: the same words for simulated and typed in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from simulator.errors import ScenarioError
from simulator.studies.plan.laws.base import Choice, Law
from simulator.studies.plan.phase import Phase
from simulator.units import Dollars, DollarsPerHour, Flops, FlopsPerSecond, Joules, Number, Seconds, Share

DAY: Seconds = 86400.0
HOUR: Seconds = 3600.0


@dataclass(frozen=True, kw_only=True)
class Run:
    how: Literal["simulated", "typed in"]
    gpus: int | None
    gpu_hours: Number
    days: Number | None
    dollars: Dollars | None
    mfu: Share | None
    energy_j: Joules | None = None
    co2_kg: Number | None = None
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Budget:
    """One of dollars, GPU-hours and days."""

    dollars: Dollars | None = None
    hours: Number | None = None
    days: Number | None = None

    def gpu_hours(self, gpus: int | None, price: DollarsPerHour | None) -> Number:
        """Return the GPU-hours that the budget buys."""
        if self.hours is not None:
            return self.hours
        if self.dollars is not None:
            if not price:
                raise ScenarioError("dollars buy nothing without a price; give --price, or prices in the scenario")
            return self.dollars / price
        assert self.days is not None
        if gpus is None:
            raise ScenarioError("days buy nothing without GPUs; give --gpus, or a scenario")
        return self.days * gpus * DAY / HOUR

    def spent(self, run: Run) -> Share:
        """Return the share of the budget that a run spends."""
        if self.hours is not None:
            return run.gpu_hours / self.hours
        if self.days is not None:
            assert run.days is not None
            return run.days / self.days
        assert self.dollars is not None
        assert run.dollars is not None
        return run.dollars / self.dollars


class Cluster(Protocol):
    """What runs a choice: a simulated cluster or numbers that were typed in."""

    def run(self, choice: Choice, law: Law) -> Run: ...

    def affords(self, budget: Budget, choose: Callable[[Flops], Choice], law: Law) -> Flops: ...


@dataclass(frozen=True, kw_only=True)
class TypedIn:
    """A number of GPUs that each deliver a rate that somebody typed in."""

    gpus: int | None = None
    rate: FlopsPerSecond
    """Of one GPU, as it is counted by `factor`."""
    peak: FlopsPerSecond | None = None
    price: DollarsPerHour | None = None
    factor: Number = 6.0
    """FLOPs a token and parameter: 6, or 8 for hardware FLOPs with full recompute."""

    def run(self, choice: Choice, law: Law) -> Run:
        return self.of(choice.flops)

    def of(self, flops: Flops) -> Run:
        """Return the run of a budget of 6 N D."""
        hours = flops * self.factor / 6 / self.rate / HOUR
        return Run(
            how="typed in",
            gpus=self.gpus,
            gpu_hours=hours,
            days=None if self.gpus is None else hours / self.gpus * HOUR / DAY,
            dollars=None if self.price is None else hours * self.price,
            mfu=None if self.peak is None else self.rate * 6 / self.factor / self.peak,
        )

    @property
    def busy(self) -> int | None:
        return self.gpus

    @property
    def dollars_per_hour(self) -> DollarsPerHour | None:
        return self.price

    def phase(self, phase: Phase, parameters: Number | None) -> Run:
        """Return one pass of a phase; longer sequences cost nothing more here."""
        if parameters is None:
            raise ScenarioError(f"{phase.name}: parameters of the model are not given")
        assert phase.tokens is not None
        return self.of(6.0 * parameters * phase.tokens * phase.epochs)

    def affords(self, budget: Budget, choose: Callable[[Flops], Choice], law: Law) -> Flops:
        return budget.gpu_hours(self.gpus, self.price) * HOUR * self.rate * 6 / self.factor


def price_of(dollars: Dollars, gpus: int, days: Number) -> DollarsPerHour:
    """Return what a GPU-hour costs when so many GPUs are had for so many days at this price.

    >>> round(price_of(20e6, 64 * 8, 3 * 365), 2), round(price_of(50e6, 64 * 8, 3 * 365), 2)
    (1.49, 3.72)
    """
    return dollars / (gpus * days * DAY / HOUR)
