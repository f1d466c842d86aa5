"""One run: the job and what goes on beside it, put together in one environment of simpy, and played."""

from __future__ import annotations

import math
from collections.abc import Callable

import simpy

from simulator.engine.run.checkpoint_recovery import CheckpointRecovery
from simulator.engine.run.corruptions import Corruptions
from simulator.engine.run.evaluations import Evaluations
from simulator.engine.run.failure_effects import FailureEffects
from simulator.engine.run.hazards import hazard
from simulator.engine.run.inputs import RunInput, mtbf
from simulator.engine.run.job import Job
from simulator.engine.run.limits import too_many_interruptions
from simulator.engine.run.losses import Losses
from simulator.engine.run.outcome import Outcome
from simulator.engine.run.patience import NoProgressError, Patience
from simulator.engine.run.progress import Progress
from simulator.engine.run.recovery import Recovery, WholeJob
from simulator.engine.run.replicas import Replicas
from simulator.engine.run.restart_times import RestartTimes
from simulator.engine.run.slow_downs import SlowDowns
from simulator.engine.run.slow_hosts import SlowHosts
from simulator.engine.run.spares import Spares
from simulator.engine.run.states import Clocks
from simulator.engine.run.stops import PlannedStops
from simulator.engine.run.time_account import TimeAccount
from simulator.reliability.checkpointing.plan import SavePlan
from simulator.reliability.durations.draw import coin
from simulator.reliability.failures.base import Cause
from simulator.reliability.incident import Incident
from simulator.reliability.incidents import Stream, incidents
from simulator.reliability.recovery.elastic import Elastic
from simulator.reliability.recovery.restart import Restart
from simulator.units import Count, Number, Seconds

_LONGEST: Seconds = 1e15
"""Work that no run finishes, for one that only `until` ends."""


class Story:
    def __init__(self, run: RunInput, saves: SavePlan, stream: Stream, record: bool) -> None:
        self._run = run
        self._environment = environment = simpy.Environment()
        self._progress, self._account = Progress(saves), TimeAccount(record)
        self._clocks = Clocks(environment, wall=run.failures.exposure == "wall")
        work = min(run.work, _LONGEST)
        evaluations = Evaluations(run.evaluate_every, run.evaluation, work)
        self._job = job = Job(environment, self._progress, self._account, self._clocks, evaluations, work)
        self._spares = Spares(environment, run.spares, run.recovery.technicians)
        self._losses = Losses(run, self._spares, stream, self._strike_again)
        self._checkpoints = checkpoints = CheckpointRecovery(
            self._progress, run.units["host"], coin(lambda: stream("survives"))
        )
        elastic = run.recovery if isinstance(run.recovery, Elastic) else None
        replicas = Replicas(job, run, elastic, self._spares, stream) if elastic else None
        times = RestartTimes(run.recovery, run.units["gpu"], stream)
        self._recovery = Recovery(job, replicas or WholeJob(self._spares), self._losses, checkpoints, times)
        self._slow_downs = SlowDowns(environment, run.step_factor)
        self._slow_hosts = SlowHosts(
            job, _bears(run, saves), self._slow_downs, self._spares, self._losses, self._recovery
        )
        self._stops = PlannedStops(job, run, stream)
        corruptions = Corruptions(job, self._losses, self._recovery, checkpoints)
        FailureEffects(job, self._losses, self._recovery, replicas, self._slow_downs, corruptions, self._stops)
        for of_job, clock in ((False, self._clocks.units), (True, self._clocks.job)):
            ahead = incidents(run.failures, run.all_units, stream, of_job=of_job)
            environment.process(hazard(clock, ahead, job.strike))

        job.pace = _pace(self._slow_downs, replicas, 1 / (1 - elastic.overhead) if elastic else 1.0)
        self._slow_downs.changed.append(job.change_pace)
        secured = (lambda: self._progress.work) if replicas else self._progress.secured
        self._patience = Patience(environment, secured, too_many_interruptions(run))
        self._losses.tell = self._lose
        corruptions.began.append(self._patience.count)
        if run.checkpoint.learns and not run.checkpoint.tiers:
            job.went_back.append(self._revise)

    def play(self, until: Seconds) -> Outcome:
        """Play the run to its end or to `until`, and return what it came to."""
        end = self._job.process if math.isinf(until) else self._job.process | self._environment.timeout(until)
        try:
            self._environment.run(until=end)
            progress = True
        except NoProgressError:
            progress = False
        self._job.stop_the_clock()
        if progress:
            self._recovery.cut_off()
        self._account.close(self._environment.now, self._progress.work)
        return Outcome(
            wall_clock=self._environment.now,
            parts=dict(self._account.parts),
            interruptions=self._losses.interruptions(),
            planned=self._stops.done,
            uptime=self._clocks.up.time,
            progress=progress,
            episodes=self._slow_downs.episodes,
            evicted=self._losses.blacklist.evicted,
            replaced=self._slow_hosts.replaced,
            hosts_out=self._spares.time_away(),
            timeline=tuple(self._account.timeline),
        )

    def _strike_again(self, after: Seconds, incident: Incident) -> None:
        """Let the cause of `incident` strike the same host again."""
        clock = self._clocks.units
        again = Incident(clock.time + after, incident.cause, incident.host)
        self._environment.process(hazard(clock, (again,), self._job.strike))

    def _lose(self, cause: Cause, hosts: Count) -> None:
        """Lose the saves that an interruption takes along, and perhaps patience."""
        self._checkpoints.lose(cause, hosts)
        self._account.cause = cause.label
        self._patience.count()

    def _revise(self) -> None:
        """Ask the policy for another interval, given the exposure and the interruptions so far."""
        (tier,) = self._progress.plan.tiers
        interval = self._run.checkpoint.revised(
            stall=tier.stall,
            mtbf=mtbf(self._run),
            exposed=self._clocks.units.time,
            interruptions=sum(self._losses.counts),
        )
        if interval is not None:
            self._progress.follow(self._progress.plan.spaced(interval))


def _pace(slow_downs: SlowDowns, replicas: Replicas | None, overhead: Number) -> Callable[[], Number]:
    """Return what tells the time of a second of useful work: all that slows the job down, multiplied."""
    if replicas is None:
        return slow_downs.factor
    return lambda: overhead * slow_downs.factor() * replicas.pace()


def _bears(run: RunInput, saves: SavePlan) -> Seconds:
    """Return the time that slow hosts may cost before a save and a restart replaces them."""
    recovery = run.recovery
    if not isinstance(recovery, Restart) or not saves.tiers:
        return math.inf
    restart = recovery.standby.expected() if recovery.standby else recovery.mean_restart(run.units["gpu"])
    return recovery.slow_hosts.bears(saves.tiers[-1].stall + restart + saves.tiers[-1].load)
