"""Runs drawn from what the forecast believes: how long a step is, how often it fails, how long it is away, and luck."""

from __future__ import annotations

from dataclasses import replace
from math import exp
from typing import NamedTuple

import numpy as np

from simulator.engine import run
from simulator.engine.run import RunInput
from simulator.measured.disturbances import disturbances, without_starts
from simulator.measured.series import Series, Step
from simulator.outcome.step_error import Reason, StepError
from simulator.reliability.checkpointing.fixed import FixedInterval
from simulator.reliability.durations.fixed import Fixed
from simulator.reliability.durations.lognormal import LognormalDuration
from simulator.reliability.failures.exponential import Exponential
from simulator.reliability.fleet import Failures
from simulator.reliability.recovery.restart import Restart
from simulator.reliability.unknowns import FLEETS, TIMES, Unknowns
from simulator.studies.forecast.evidence import Evidence
from simulator.studies.forecast.rates import corrected
from simulator.studies.forecast.rest import Campaign
from simulator.studies.forecast.step import DAYS, forecast_step

STEP = 10.0
STEPS = 120_000
"""Fourteen days of steps."""
LINE = 100
"""Steps of a line of the log."""
PRIOR = StepError(1.03, (Reason("any run", 0.12),))
DAY = 86400.0
RUN = RunInput(
    work=STEP * STEPS,
    units={"gpu": 1024, "host": 128},
    failures=Failures(causes=(Exponential(name="gpu", unit="gpu", mtbf=1024 * 1.0 * DAY),)),
    checkpoint=FixedInterval(interval=3600.0, stall=20.0, load=60.0),
    recovery=Restart(detect=Fixed(time=120.0), restart=LognormalDuration(mean=1800.0, cv=0.5)),
)
"""Fourteen failures are expected; half an hour each."""


class Truth(NamedTuple):
    """What one run really is."""

    seed: int
    step: float
    """Over the prediction."""
    run: RunInput
    days: np.ndarray
    """Level of every day, over that of the run."""


class Forecasted(NamedTuple):
    low: float
    middle: float
    high: float
    ends: float
    """When it really ends."""


def truth(seed: int) -> Truth:
    """Return a run drawn from the prior."""
    luck = np.random.default_rng([7, seed])
    step = PRIOR.at(float(luck.uniform(0.001, 0.999)))
    rate, away = (exp(sd * float(np.clip(luck.standard_normal(), -2, 2))) for sd in (FLEETS, TIMES))
    recovery = RUN.recovery.with_restarts(away)
    real = replace(
        RUN,
        work=RUN.work * step,
        failures=replace(RUN.failures, scale=rate),
        recovery=replace(recovery, detect=recovery.detect.scaled(away)),
    )
    return Truth(seed, step, real, np.exp(DAYS * luck.standard_normal(400)))


def line_times(one: Truth, lines: int) -> np.ndarray:
    """Return the mean step of each line: the level of its day, with noise that follows that of the line before."""
    luck = np.random.default_rng([8, one.seed])
    noise = np.zeros(lines)
    for place in range(1, lines):
        noise[place] = 0.9 * noise[place - 1] + 0.002 * luck.standard_normal()
    day = (np.arange(lines) * LINE * STEP * one.step / DAY).astype(int)
    return STEP * one.step * one.days[day] * np.exp(noise)


def forecasted(one: Truth, share: float, runs: int) -> Forecasted:
    """Return the forecast of the whole run after `share` of its steps, and when it ends."""
    done = int(STEPS * share)
    every = line_times(one, STEPS // LINE)
    (sofar,) = run.simulate(replace(one.run, work=one.run.work * share), one.seed, 1)
    (whole,) = run.simulate(one.run, one.seed, 1)
    seen, ahead = every[: done // LINE], every[done // LINE :]
    mean = STEP * one.step
    elapsed = sofar.wall_clock * float(seen.mean()) / mean
    ends = elapsed + (whole.wall_clock - sofar.wall_clock) * float(ahead.mean()) / mean

    series = Series(tuple(Step(LINE * (i + 1), float(t), None, LINE) for i, t in enumerate(seen)), (), (), (), 0.0)
    steps, _, _ = without_starts(series)
    step = forecast_step(STEP, PRIOR, steps, disturbances(series), STEPS - done)
    away = sum(sofar.parts[part] for part in ("detect", "diagnose", "restart"))
    evidence = Evidence(
        done=done,
        total=STEPS,
        steps=tuple(steps),
        elapsed=elapsed,
        elapsed_from="clock",
        interruptions=(),
        failures=sofar.unexpected,
        exposed=sofar.uptime,
        away=(away / sofar.unexpected,) * sofar.unexpected if sofar.unexpected else (),
        now=None,
        progress=(),
    )
    rest = replace(RUN, work=(STEPS - done) * STEP * step.ratio)
    seed = 1_000_000 + one.seed
    really = corrected(rest, Unknowns(seed), evidence, 60.0)
    told = Campaign(seed, runs, really, step.error, map).play(rest).whole(elapsed)
    return Forecasted(told.p10, told.p50, told.p90, ends)
