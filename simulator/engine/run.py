"""A whole training run, many times: from useful work, failures and policies to wall clock and where it went.

Every run draws from streams of its own, one a purpose, so that run i is the same however many are asked for,
and two policies under one seed meet the same failures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate

import simpy

from simulator import random
from simulator.engine.budget import too_many_episodes, too_many_interruptions
from simulator.engine.damage import Damage
from simulator.engine.faults import Faults, StepFactor
from simulator.engine.job import Evaluations, Job, NoProgressError, Stops
from simulator.engine.ledger import Ledger
from simulator.engine.outcome import Outcome
from simulator.engine.progress import Progress
from simulator.engine.replicas import Replicas
from simulator.engine.restarts import Restarts
from simulator.engine.restore import Restore
from simulator.engine.slow_hosts import SlowHosts
from simulator.engine.spare_pool import SparePool
from simulator.errors import ScenarioError
from simulator.reliability.checkpointing.base import CheckpointPolicy
from simulator.reliability.checkpointing.never import Never
from simulator.reliability.checkpointing.plan import SavePlan, save_plan
from simulator.reliability.durations.base import Duration
from simulator.reliability.durations.draw import coin, draws
from simulator.reliability.durations.exponential import ExponentialDuration
from simulator.reliability.failures.calendar import Calendar
from simulator.reliability.fleet import Failures, Planned
from simulator.reliability.incidents import BURN_IN, IncidentQueue, Stream, incidents
from simulator.reliability.recovery.base import Recovery
from simulator.reliability.recovery.elastic import Elastic
from simulator.reliability.recovery.restart import Restart
from simulator.reliability.spares import hosts_taken
from simulator.units import Count, Seconds

_MOST_EVALUATIONS = 10_000
"""Evaluations of one run that are simulated one by one; more are bundled."""

_LONGEST: Seconds = 1e15
"""Work that no run finishes, for one that only `until` ends."""


@dataclass(frozen=True, kw_only=True)
class RunInput:
    work: Seconds
    """Useful work: steps times the time of a step; infinite for a run that only `until` ends."""
    units: Mapping[str, int]
    """How many units of each kind the job uses; ``gpu`` and ``host`` at least, ``job`` is 1."""
    hosts_of: Mapping[str, int] = field(default_factory=dict)
    """Hosts behind one rack, pod, switch or power row."""
    failures: Failures = field(default_factory=Failures)
    checkpoint: CheckpointPolicy = field(default_factory=Never)
    """With stall, persist and load filled in; what is left out costs nothing."""
    recovery: Recovery = field(default_factory=Restart)
    spares: Count | None = None
    """None replaces a failed host at once; with 0 the job waits for the repair."""
    evaluate_every: Seconds = math.inf
    """Useful work between evaluations."""
    evaluation: Seconds = 0.0
    step_factor: StepFactor | None = None
    """What degraded links do to the step, from the network."""
    until: Seconds = math.inf
    """Wall clock at which the run is cut off, wherever it stands."""


def mtbf(run: RunInput) -> Seconds:
    """Return the expected time between unexpected interruptions, on the clock of the exposure."""
    rate = run.failures.rate({**run.units, "job": 1})
    return 1 / rate if rate else math.inf


def plan(run: RunInput) -> SavePlan:
    """Return when and how the run saves."""
    recovery = run.recovery
    down = recovery.detect.expected() + recovery.diagnose.expected() + recovery.mean_restart(run.units["gpu"])
    return save_plan(run.checkpoint, mtbf=mtbf(run), recovery=down + (run.checkpoint.load or 0.0))


def simulate(run: RunInput, seed: int, runs: int, *, first: int = 0, record: bool = False) -> tuple[Outcome, ...]:
    """Return the outcomes of `runs` runs from number `first` on; one that makes no progress ends them.

    With `record` they carry a timeline.
    """
    _check(run)
    if (too_many := too_many_episodes(run)) is not None:
        raise ScenarioError(too_many)
    saves = plan(run)
    outcomes = []
    for number in range(first, first + runs):
        outcomes.append(_one(run, saves, lambda *names, number=number: random.stream(seed, number, *names), record))
        if not outcomes[-1].progress:
            break
    return tuple(outcomes)


def _one(run: RunInput, saves: SavePlan, stream: Stream, record: bool) -> Outcome:
    environment = simpy.Environment()
    units = {**run.units, "job": 1}
    progress = Progress(saves)
    elastic = run.recovery if isinstance(run.recovery, Elastic) else None
    job = Job(
        environment,
        work=min(run.work, _LONGEST),
        wall=run.failures.exposure == "wall",
        progress=progress,
        queue=IncidentQueue(
            incidents(run.failures, units, stream, of_job=False), incidents(run.failures, units, stream, of_job=True)
        ),
        damage=Damage(run.failures, run.recovery, units["host"], run.hosts_of, stream),
        pool=SparePool(run.spares, run.recovery.technicians),
        restore=Restore(progress, units["host"], coin(lambda: stream("survives"))),
        restarts=Restarts(run.recovery, units["gpu"], stream),
        replicas=Replicas(elastic, units["host"], stream) if elastic else None,
        faults=Faults(run.step_factor, 1 / (1 - elastic.overhead) if elastic else 1.0),
        slow_hosts=SlowHosts(_bears(run, saves)),
        ledger=Ledger(record),
        stops=_stops(run, stream),
        evaluations=_evaluations(run),
        revise=_reviser(run, saves),
        too_many=too_many_interruptions(run),
    )
    return _outcome(job, _play(environment, job, run.until))


def _play(environment: simpy.Environment, job: Job, until: Seconds) -> bool:
    """Run the job to its end or to `until`; return whether it makes progress."""
    end = job.process if math.isinf(until) else job.process | environment.timeout(until)
    try:
        environment.run(until=end)
    except NoProgressError:
        return False
    job.cut_off()
    return True


def _outcome(job: Job, makes_progress: bool) -> Outcome:
    now = job.environment.now
    interruptions: dict[str, int] = {}
    for cause, count in zip(job.damage.causes, job.damage.counts, strict=True):
        if count or cause is not BURN_IN:
            interruptions[cause.label] = interruptions.get(cause.label, 0) + count
    return Outcome(
        wall_clock=now,
        parts={**job.ledger.parts, "train": job.progress.work},
        interruptions=interruptions,
        planned=job.planned,
        uptime=job.up,
        progress=makes_progress,
        episodes=job.faults.episodes,
        evicted=job.damage.evicted,
        replaced=job.slow_hosts.replaced,
        hosts_out=_hosts_out(job.pool, now),
        timeline=tuple(job.ledger.timeline),
    )


def _hosts_out(pool: SparePool, now: Seconds) -> dict[int, Seconds]:
    if not pool.time_away:
        return {}
    pool.count(now)
    return dict(sorted(pool.time_away.items()))


def _stops(run: RunInput, stream: Stream) -> Stops:
    planned = run.failures.planned
    if isinstance(planned, Planned):
        return Stops(_random_stops(planned, planned.time or run.recovery.restart, stream), planned.merge)
    return Stops(iter(sorted((stop.at, stop.time) for stop in planned or ())), 0.0)


def _random_stops(planned: Planned, time: Duration, stream: Stream) -> Iterator[tuple[Seconds, Seconds]]:
    lengths = draws(time, lambda: stream("planned time"))
    gaps = draws(ExponentialDuration(mean=planned.every), lambda: stream("planned"))
    yield from zip(accumulate(gaps), lengths, strict=False)


def _evaluations(run: RunInput) -> Evaluations:
    """Return the rhythm of evaluations, several bundled into one where there are very many."""
    bundle = max(math.ceil(min(run.work, _LONGEST) / run.evaluate_every / _MOST_EVALUATIONS), 1)
    return Evaluations(run.evaluate_every * bundle, run.evaluation * bundle)


def _reviser(run: RunInput, saves: SavePlan) -> Callable[[Seconds, int], SavePlan | None] | None:
    """Return what asks the policy for another interval, given the exposure and the interruptions so far."""
    policy, believed = run.checkpoint, mtbf(run)
    if not policy.learns or policy.tiers:
        return None
    (tier,) = saves.tiers

    def revise(exposed: Seconds, interruptions: int) -> SavePlan | None:
        interval = policy.revised(stall=tier.stall, mtbf=believed, exposed=exposed, interruptions=interruptions)
        return None if interval is None else saves.spaced(interval)

    return revise


def _bears(run: RunInput, saves: SavePlan) -> Seconds:
    """Return the time that slow hosts may cost before a save and a restart replaces them."""
    recovery = run.recovery
    if not isinstance(recovery, Restart) or not saves.tiers:
        return math.inf
    restart = recovery.standby.expected() if recovery.standby else recovery.mean_restart(run.units["gpu"])
    return recovery.slow_hosts.bears(saves.tiers[-1].stall + restart + saves.tiers[-1].load)


def _check(run: RunInput) -> None:
    """Refuse what cannot be simulated."""
    mistakes = []
    if run.recovery.fails >= 1:
        mistakes.append("recovery.fails: a restart that always fails never comes up; give less than 100%")
    if run.recovery.misdiagnosed >= 1:
        mistakes.append("recovery.misdiagnosed: give less than 100%, or a sick host is never found")
    if run.failures.repeat >= 1:
        mistakes.append("failures.repeat: give less than 100%, or every failure follows from another")
    if run.failures.evict_after is not None and run.failures.evict_after < 1:
        mistakes.append("failures.evict_after: a host is evicted after 1 failure or more")
    for cause in run.failures.causes:
        label = f"failures: cause {cause.label!r}"
        if cause.unit not in run.units and cause.unit != "job" and not isinstance(cause, Calendar):
            mistakes.append(f"{label}: the number of units {cause.unit} is not known")
        if cause.hosts is None and cause.unit in ("rack", "pod", "switch", "power") and cause.unit not in run.hosts_of:
            mistakes.append(f"{label}: give `hosts`, for the hosts behind one {cause.unit} are not known")
            continue
        if cause.is_episode and cause.lasts is None and not isinstance(cause, Calendar):
            mistakes.append(f"{label}: an episode of effect {cause.effect} needs `lasts`")
        takes = cause.effect in ("crash", "corrupt") and hosts_taken(cause, run.hosts_of) > 0 and cause.drains > 0
        if run.spares is not None and takes and cause.repair is None and run.recovery.repair is None:
            mistakes.append(
                f"{label} takes hosts away, and spares are given: give recovery.repair, how long they are gone"
            )
    if isinstance(run.recovery, Elastic) and not 1 <= run.recovery.minimum < run.recovery.replicas:
        mistakes.append(
            f"recovery: elastic needs 1 <= minimum < replicas, not {run.recovery.minimum}, {run.recovery.replicas}"
        )
    if mistakes:
        raise ScenarioError("\n".join(mistakes))
