"""Runs of a few lines, for the tests of the run engine."""

from __future__ import annotations

from statistics import fmean
from typing import Any

from simulator.engine.run import Outcome, RunInput, simulate
from simulator.reliability.checkpointing.fixed import FixedInterval
from simulator.reliability.durations.fixed import Fixed
from simulator.reliability.failures.base import Cause
from simulator.reliability.failures.exponential import Exponential
from simulator.reliability.failures.scripted import Scripted
from simulator.reliability.fleet import Failures
from simulator.reliability.recovery.restart import Restart

HOUR, DAY = 3600.0, 86400.0


def job_failures(mtbf: float) -> tuple[Cause, ...]:
    return (Exponential(unit="job", mtbf=mtbf),)


def host_failures(mtbf: float) -> tuple[Cause, ...]:
    """Return failures of hosts of this mean time each."""
    return (Exponential(unit="host", mtbf=mtbf),)


def at(*times: float, **fields: Any) -> tuple[Cause, ...]:
    """Return failures of one host at these times."""
    return (Scripted(**{"unit": "host", "at": times} | fields),)


def saves(interval: float, stall: float, **fields: Any) -> FixedInterval:
    return FixedInterval(interval=interval, stall=stall, **fields)


def restart(detect: float = 0.0, restart: float = 0.0, **fields: Any) -> Restart:
    return Restart(detect=Fixed(time=detect), restart=Fixed(time=restart), **fields)


def run_of(work: float, causes: tuple[Cause, ...] = (), hosts: int = 128, **fields: Any) -> RunInput:
    """Return a run on `hosts` hosts; keys of the failures may be among the fields."""
    about = {name: fields.pop(name) for name in tuple(fields) if name in Failures.__dataclass_fields__}
    units = {"gpu": 8 * hosts, "nic": 8 * hosts, "host": hosts, "rack": hosts // 16, "switch": hosts // 16}
    fields = {"recovery": restart()} | fields
    return RunInput(work=work, units=units, failures=Failures(causes=causes, **about), **fields)


def one(run: RunInput, seed: int = 1) -> Outcome:
    return simulate(run, seed, 1)[0]


def efficiency(outcomes: tuple[Outcome, ...]) -> float:
    """Return useful work over wall clock of all runs together."""
    return sum(outcome.parts["train"] for outcome in outcomes) / sum(outcome.wall_clock for outcome in outcomes)


def mean(values: Any) -> float:
    return fmean(values)
