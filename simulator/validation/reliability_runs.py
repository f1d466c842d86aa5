"""Simulated cases of failures and checkpoints: a few numbers -> runs -> what they came to."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from statistics import fmean

from simulator.engine.run import Outcome, RunInput, simulate
from simulator.errors import ScenarioError
from simulator.reliability.checkpointing.fixed import FixedInterval
from simulator.reliability.checkpointing.tier import Tier
from simulator.reliability.durations.fixed import Fixed
from simulator.reliability.failures.base import Cause
from simulator.reliability.failures.exponential import Exponential
from simulator.reliability.failures.scripted import Scripted
from simulator.reliability.failures.weibull import Weibull
from simulator.reliability.fleet import Failures
from simulator.reliability.recovery.base import Recovery
from simulator.reliability.recovery.elastic import Elastic
from simulator.reliability.recovery.restart import Restart
from simulator.sums import added
from simulator.units import Seconds

GPUS_PER_HOST = 8
SEED = 7
LARGEST = 1e18
MOST = {"runs": 1_000, "gpus": 10_000_000, "hosts": 1_000_000, "spares": 1_000_000, "replicas": 1_000_000}
MOST_FAILURES = 300_000
_EVENTS = 20_000
"""Interruptions that a case is averaged over."""


class Numbers:
    """The inputs of a case, numbers unless asked for as words."""

    def __init__(self, inputs: Mapping[str, str]) -> None:
        self.words = inputs

    def __call__(self, name: str, default: float | None = None) -> float:
        if name not in self.words:
            if default is None:
                raise ScenarioError(f"a case of this model needs {name}")
            return default
        try:
            value = float(self.words[name])
        except ValueError:
            value = math.nan
        if not 0 <= value <= MOST.get(name, LARGEST):
            raise ScenarioError(
                f"{name}: expected a number up to {MOST.get(name, LARGEST):,.15g}, found {self.words[name][:40]!r}"
            )
        return value

    def word(self, name: str) -> str:
        if name not in self.words:
            raise ScenarioError(f"a case of this model needs {name}")
        return self.words[name]


def simulated(model: str, inputs: Mapping[str, str]) -> dict[str, float]:
    """Return the quantities of a simulated case."""
    if model not in MODELS:
        raise ScenarioError(f"no model of failures is named {model!r}")
    return MODELS[model](Numbers(inputs))


def preset_run(given: Numbers) -> dict[str, float]:
    """Runs of so much wall clock under a preset, restarts lognormal as in its defaults."""
    from simulator.scenario import from_dict

    gpus = int(given("gpus"))
    scenario = from_dict(
        {
            "version": "1",
            "name": "case",
            "cluster": {"host": "hgx-h100", "hosts": str(gpus // GPUS_PER_HOST)},
            "training": {"steps": "1", "step_time": "1s"},
            "failures": {"preset": given.word("preset")},
        }
    )
    run = RunInput(
        work=math.inf,
        until=given("wall"),
        units=_units(gpus // GPUS_PER_HOST),
        failures=scenario.failures,
        checkpoint=FixedInterval(interval=given("interval"), stall=given("stall")),
        recovery=_restart(given),
    )
    outcomes = _simulated(run, int(given("runs", 200)))
    found = _quantities(outcomes)
    total = added(outcome.unexpected for outcome in outcomes)
    for name in outcomes[0].interruptions:
        found[f"share of {name}"] = added(outcome.interruptions[name] for outcome in outcomes) / total
    return found


def job_run(given: Numbers) -> dict[str, float]:
    """One kind of failure, of the job or of its hosts, on the clock of the wall."""
    hosts = int(given("hosts", 1))
    cause = _cause(given)
    rate = cause.rate(hosts if cause.unit == "host" else 1)
    recovery = _elastic(given) if "replicas" in given.words else _restart(given)
    run = RunInput(
        work=given("work", _EVENTS / rate),
        units=_units(hosts),
        failures=Failures(causes=(cause,), exposure="uptime" if given.words.get("exposure") == "uptime" else "wall"),
        checkpoint=_checkpoint(given),
        recovery=recovery,
        spares=int(given("spares")) if "spares" in given.words else None,
    )
    return _quantities(_simulated(run, int(given("runs", 1))))


def _simulated(run: RunInput, runs: int) -> tuple[Outcome, ...]:
    """Return the outcomes of so many runs, unless they would take minutes; every failure repeats an interval or so."""
    rate = run.failures.rate({**run.units, "job": 1})
    interval = run.checkpoint.interval if isinstance(run.checkpoint, FixedInterval) else 0.0
    failures = runs * rate * min(run.work, run.until) * math.exp(min(rate * interval, 50.0))
    if failures > MOST_FAILURES:
        raise ScenarioError(
            f"about {failures:.2g} failures in {runs:,} runs are too many to simulate; {MOST_FAILURES:,} are the most"
        )
    return simulate(run, SEED, runs)


def _cause(given: Numbers) -> Cause:
    if "every" in given.words:
        return Scripted(unit="host", every=given("every"))
    if "shape" in given.words:
        return Weibull(unit="job", mtbf=given("mtbf"), shape=given("shape"), age="new")
    return Exponential(unit="host" if "hosts" in given.words else "job", mtbf=given("mtbf"))


def _checkpoint(given: Numbers) -> FixedInterval:
    if "far" in given.words:
        near = Tier(
            interval=given("near"),
            stall=given("near_stall"),
            load=given("near_recovery"),
            survives=given("survives"),
        )
        far = Tier(interval=given("far"), stall=given("far_stall"), load=given("far_recovery"))
        return FixedInterval(interval=near.interval, tiers=(near, far))
    lag: Seconds = given("lag", 0.0)
    return FixedInterval(
        interval=given("interval", 1.0), stall=given("stall", 0.0), mode="async" if lag else "blocking", persist=lag
    )


def _restart(given: Numbers) -> Recovery:
    repair = Fixed(time=given("repair")) if "repair" in given.words else None
    if "restart_cv" in given.words:
        from simulator.reliability.durations.lognormal import LognormalDuration

        times = LognormalDuration(mean=given("recovery"), cv=given("restart_cv"))
        return Restart(detect=Fixed(time=given("downtime", 0.0)), restart=times, repair=repair)
    return Restart(detect=Fixed(time=given("downtime", 0.0)), restart=Fixed(time=given("recovery", 0.0)), repair=repair)


def _elastic(given: Numbers) -> Recovery:
    return Elastic(
        replicas=int(given("replicas")),
        stall=Fixed(time=given("elastic_stall")),
        replace=Fixed(time=given("degraded")),
    )


def _units(hosts: int) -> dict[str, int]:
    return {"gpu": GPUS_PER_HOST * hosts, "nic": GPUS_PER_HOST * hosts, "host": hosts}


def _quantities(outcomes: tuple[Outcome, ...]) -> dict[str, float]:
    wall = added(outcome.wall_clock for outcome in outcomes)
    return {
        "completion_s": wall / len(outcomes),
        "efficiency": added(outcome.parts["train"] for outcome in outcomes) / wall,
        "goodput": fmean(outcome.goodput for outcome in outcomes),
        "waiting_share": added(outcome.parts["wait"] for outcome in outcomes) / wall,
        "unexpected": fmean(outcome.unexpected for outcome in outcomes),
        "planned": fmean(outcome.planned for outcome in outcomes),
        "mtbf_s": wall / max(added(outcome.unexpected for outcome in outcomes), 1),
    }


MODELS: dict[str, Callable[[Numbers], dict[str, float]]] = {"preset run": preset_run, "job run": job_run}
