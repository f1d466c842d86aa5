"""What makes the range of days and dollars wide, and which measurement would narrow it.

ln(wall clock) of a run is ln(f) of its step, f being measured over predicted, plus ln of its wall clock as predicted.
The two are independent, so that their variances add. That of the step is split by its levels of doubt, whose squares
add. That of the simulated runs is split by regression on what each drew: time is lost in proportion to failure rates,
to restarts and to the cost of saves; what is left is luck.

A measurement takes away what it informs and nothing else; how much of the variance stays is
- ten steps on one host: the own part of levels of doubt, since another layout has another; nothing of what is one
  error per unit (host memory, longer sequences);
- a GEMM table: the part of an accelerator's error that is not in its kernels, by the share of the step;
- an nccl-tests log of as many hosts: nothing of what exchanges add beyond the size that was measured;
- a failure log of `LOG` from this fleet: 1 / (1 + n v) of rates of variance v in ln where n failures are expected in
  it, and 1 / (1 + n) of restarts, each of which is spread as much as their mean is unknown;
- a storage test: nothing of the cost of saves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, sqrt

import numpy as np

from simulator.outcome import everything
from simulator.outcome.levels import Doubt, scale
from simulator.outcome.results import Unsure
from simulator.outcome.step_error import Reason, StepError
from simulator.outcome.stretch import Stretch
from simulator.outcome.student import DEGREES
from simulator.sums import added
from simulator.units import Number, Seconds, Share

STEPS = "ten steps on one host"
GEMM = "a GEMM table of the accelerator"
NCCL = "an nccl-tests log of as many hosts"
FAILURES = "the provider's failure log"
STORAGE = "a storage test"
LOG: Seconds = 30 * 86400.0
"""How long a failure log is taken to be: what providers hand out."""
MACHINES = ("sibling", "unrelated", "vendor")
WHOLE = ("hosts", "outside")
"""Levels that are one error per unit, known once it is measured."""
DRAWN = {"rates": "failure rates", "recovery": "times of restarts", "saves": "the cost of saves"}
INFORMS = {"rates": FAILURES, "recovery": FAILURES, "saves": STORAGE}
ROUNDING = 1e-12
"""Variance of ln that is no spread: what additions leave of equal runs."""
LUCK = "luck: when failures strike"


@dataclass(frozen=True)
class Source:
    """One source before anybody measures it: the variance that it adds, and the share of that which stays."""

    what: str
    variance: Number
    measurement: str | None
    left: Share
    drawn: np.ndarray | None = None
    """What it adds to ln(wall clock) of each run; None for what is in the step."""


@dataclass(frozen=True)
class Known:
    """What is known of a run before it begins."""

    runs: tuple[Stretch, ...]
    """Those that end, with every doubt but that of the step."""
    error: StepError
    doubts: tuple[Doubt, ...]
    """Of the step."""
    compute: Share
    """Share of kernels in the step."""
    drawn: Mapping[str, Sequence[Number]]
    """What each run drew, by what: factors on what the plan has."""
    failures: Number
    """Expected in a log."""


def ranked(known: Known, dollars_per_second: Number) -> tuple[Unsure, ...]:
    """Return what makes the range wide, the largest first; nothing where all is sure, or a run may never end."""
    if not all(isfinite(run.growing) for run in known.runs):
        return ()
    sources = [one for one in (*_of_step(known), *_of_runs(known)) if one.variance > ROUNDING]
    whole = added(one.variance for one in sources)
    now = _width(known.runs, known.error)
    after = {what: _after(known, sources, what, now) for what in {one.measurement for one in sources}}
    found = [
        Unsure(
            source=one.what,
            share_of_variance=one.variance / whole,
            measurement=one.measurement,
            p90_minus_p10_s=now,
            p90_minus_p10_s_after=after[one.measurement],
            p90_minus_p10_dollars=dollars_per_second * now,
            p90_minus_p10_dollars_after=dollars_per_second * after[one.measurement],
        )
        for one in sources
    ]
    return tuple(sorted(found, key=lambda one: -one.share_of_variance))


def _of_step(known: Known) -> list[Source]:
    """Return the levels of doubt; a Student t has DEGREES / (DEGREES - 2) times the variance of its scale."""
    times = scale() ** 2 * DEGREES / (DEGREES - 2)
    return [Source(one.what, times * one.variance, *_measured(one, known.compute)) for one in known.doubts]


def _measured(one: Doubt, compute: Share) -> tuple[str, Share]:
    """Return what informs a level of doubt, and the share of its variance that then stays."""
    if one.kind in WHOLE:
        return (NCCL if " hosts," in one.what else STEPS), 0.0
    if one.kind in MACHINES:
        return GEMM, (one.own**2 + ((1 - compute) * one.shared) ** 2) / one.variance
    return STEPS, one.own**2 / one.variance


def _of_runs(known: Known) -> list[Source]:
    """Return what the simulated runs drew, and the luck that is left of their spread."""
    walls = np.log([run.growing + run.fixed for run in known.runs])
    left = walls - walls.mean()
    found = []
    for name, factors in known.drawn.items():
        lost = np.asarray(factors) - np.mean(factors)
        if lost @ lost > 0:
            part = lost * max(float(lost @ left / (lost @ lost)), 0.0)
            found.append((name, part, float(np.log(factors).var())))
            left = left - part
    variances = _adding([part for _, part, _ in found], walls)
    drawn = [
        Source(DRAWN[name], variance, INFORMS[name], _left(name, spread, known.failures), part)
        for variance, (name, part, spread) in zip(variances, found, strict=True)
    ]
    return [*drawn, Source(LUCK, max(float(walls.var()) - added(variances), 0.0), None, 1.0, left)]


def _adding(parts: Sequence[np.ndarray], walls: np.ndarray) -> list[Number]:
    """Return what each part takes off the variance of the walls, one after the other."""
    found, left = [], walls - walls.mean()
    for part in parts:
        before, left = float(left.var()), left - part
        found.append(max(before - float(left.var()), 0.0))
    return found


def _left(name: str, spread: Number, failures: Number) -> Share:
    """Return the share of a variance that stays once it is measured."""
    return {"rates": 1 / (1 + failures * spread), "recovery": 1 / (1 + failures), "saves": 0.0}[name]


def _after(known: Known, sources: Sequence[Source], measurement: str | None, now: Seconds) -> Seconds:
    """Return the width of the range once a measurement has informed all that it can; never more than now."""
    if measurement is None:
        return now
    shrunk = {one.what: sqrt(one.left) for one in sources if one.measurement == measurement}
    reasons = tuple(Reason(one.what, shrunk.get(one.what, 1.0) * one.sd_ln) for one in known.error.reasons)
    times = np.ones(len(known.runs))
    for one in sources:
        if one.drawn is not None and one.what in shrunk:
            times *= np.exp((shrunk[one.what] - 1) * one.drawn)
    runs = [Stretch(float(t) * run.growing, run.fixed) for t, run in zip(times, known.runs, strict=True)]
    return min(_width(runs, replace(known.error, reasons=reasons)), now)


def _width(runs: Sequence[Stretch], error: StepError) -> Seconds:
    found = everything.wall_clock(0.0, runs, error)
    return found.p90 - found.p10


def expected(counts: Number, wall: Seconds) -> Number:
    """Return the failures that a log holds of a fleet that has so many in a wall clock.

    >>> expected(10, 2 * LOG)
    5.0
    """
    return counts * LOG / wall if wall else 0.0
