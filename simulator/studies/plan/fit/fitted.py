"""A law that was fitted to a user's runs, with intervals from resampled runs, and what it says of one more run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from simulator.errors import ScenarioError
from simulator.random import stream
from simulator.studies.plan.fit.huber import Constants, descend, fit, residuals
from simulator.studies.plan.fit.runs import TrainingRuns
from simulator.studies.plan.laws.base import Choice, Range
from simulator.studies.plan.laws.parametric import Parametric
from simulator.units import Number, Share

LEVEL: Share = 0.9
FLATTEST, STEEPEST = 0.01, 5.0
"""Exponents of a loss that falls with size or tokens; published ones are 0.05 to 0.5."""
LARGEST = 100.0
"""Logarithm of a constant; published ones are below ten."""
BATCH = 64
"""Resamples that are refitted at once."""


class Interval(NamedTuple):
    low: Number
    high: Number


@dataclass(frozen=True, kw_only=True)
class FittedLaw(Parametric):
    kind: ClassVar[str] = "your-runs"
    title: ClassVar[str] = "your runs"
    source: ClassVar[str] = "--fit"
    counts: ClassVar[str] = "6 N D, N as in the table"
    loss_unit: ClassVar[str] = ""
    spans: tuple[tuple[str, Range], ...] = ()

    def ranges(self) -> dict[str, Range]:
        return dict(self.spans)


@dataclass(frozen=True)
class Fit:
    law: FittedLaw
    resampled: tuple[FittedLaw, ...]
    scatter: Number
    """Standard deviation of ln(measured / predicted), by the median, so that outliers do not count."""

    def interval(self, of: Callable[[FittedLaw], Number], level: Share = LEVEL) -> Interval | None:
        """Return where `of` lies in the middle `level` of the resamples; None without resamples."""
        if not self.resampled:
            return None
        values = [of(law) for law in self.resampled]
        low, high = np.percentile(values, [50 * (1 - level), 50 * (1 + level)])
        return Interval(float(low), float(high))


class Track(NamedTuple):
    """A measured loss against what the law expects of the run."""

    observed: Number
    expected: Number
    low: Number
    high: Number

    @property
    def word(self) -> str:
        if self.low <= self.observed <= self.high:
            return "on track"
        return "behind" if self.observed > self.high else "ahead"


def fitted(runs: TrainingRuns, resamples: int = 200, seed: int = 0) -> Fit:
    """Return the best law and the laws of `resamples` tables drawn from the runs with replacement."""
    best = fit(runs)
    if not _falls(best):
        raise ScenarioError("the loss of these runs does not fall with parameters and with tokens; no law fits them")
    error = residuals(best[None, :], runs)[0]
    scatter = float(np.median(np.abs(error - np.median(error))) / 0.6745)
    drawn = stream(seed, "bootstrap").multinomial(len(runs), np.full(len(runs), 1 / len(runs)), resamples).astype(float)
    laws: list[FittedLaw] = []
    for first in range(0, resamples, BATCH):
        counts = drawn[first : first + BATCH]
        start = np.tile(best, (len(counts), 1))
        laws += [_law(row, runs) for row in descend(start, runs, counts) if _falls(row)]
    return Fit(_law(best, runs), tuple(laws), scatter)


def track(found: Fit, choice: Choice, observed: Number) -> Track:
    """Return how a run compares: the interval holds the uncertainty of the law and the scatter of single runs."""
    expected = found.law.loss(choice)
    spread = found.interval(lambda law: law.loss(choice)) or Interval(expected, expected)
    noise = 1.645 * found.scatter
    return Track(
        observed,
        expected,
        expected * float(np.exp(-np.hypot(np.log(expected / spread.low), noise))),
        expected * float(np.exp(np.hypot(np.log(spread.high / expected), noise))),
    )


def _falls(constants: Constants) -> bool:
    """Return whether the law says that larger models and more tokens are better, in numbers that are some."""
    exponents = constants[3:]
    return bool(exponents.min() > FLATTEST and exponents.max() < STEEPEST and np.abs(constants[:3]).max() < LARGEST)


def _law(constants: Constants, runs: TrainingRuns) -> FittedLaw:
    a, b, e, alpha, beta = (float(value) for value in constants)
    columns = {"flops": runs.flops, "parameters": runs.parameters, "tokens": runs.tokens}
    spans = tuple((name, Range(float(values.min()), float(values.max()))) for name, values in columns.items())
    return FittedLaw(a=float(np.exp(a)), b=float(np.exp(b)), e=float(np.exp(e)), alpha=alpha, beta=beta, spans=spans)
