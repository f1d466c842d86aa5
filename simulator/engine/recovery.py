"""From a failure to training again: notice it, find out, get hosts, restart.

Where hazards run on the wall clock, failures strike here too. Before the restart those of hardware add to what has
to be replaced, for nobody has noticed yet or everybody is waiting anyway, and those of the job itself cannot happen;
during the restart they undo it.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import simpy

from simulator.engine.progress import Saved
from simulator.reliability.incidents import Incident
from simulator.units import Count, Seconds

if TYPE_CHECKING:
    from simulator.engine.job import Job


def recover(
    job: Job, incident: Incident, hosts: Count, unnoticed: Seconds | None = None
) -> Generator[simpy.Event, Any, tuple[int, Saved] | None]:
    """Bring the job back after `incident` took `hosts`; return the save from which it starts again.

    `unnoticed` is the time until the failure is noticed where that is known already.
    """
    environment = job.environment
    while True:
        if unnoticed is None:
            unnoticed = job.damage.unnoticed(incident)
        diagnosis = job.restarts.diagnosis()
        found = job.restore.best(environment.now)
        if not job.wall and not job.short_of_hosts():
            restart = job.restarts.time(hosts, waited=False) + job.restore.load(found)
            time = job.ledger.open(
                environment.now, ("detect", unnoticed), ("diagnose", diagnosis), ("restart", restart)
            )
            yield environment.timeout(time)
            job.ledger.close()
            return found
        began = environment.now
        yield from job.down(("detect", unnoticed), ("diagnose", diagnosis))
        hosts += _struck_since(job, began)
        waited = False
        while job.short_of_hosts():
            waited = True
            began = environment.now
            yield from job.down(("wait", math.nextafter(job.pool.next_return, math.inf) - began))
            hosts += _struck_since(job, began)
        found = job.restore.best(environment.now)
        restart = job.restarts.time(hosts, waited=waited) + job.restore.load(found)
        again = yield from stand_still(job, "restart", restart)
        if again is None:
            return found
        incident, hosts, unnoticed = again, job.lose(again), None


def stand_still(job: Job, part: str, time: Seconds) -> Generator[simpy.Event, Any, Incident | None]:
    """Wait for `time` in a state that a failure of the wall clock undoes; return the failure, if one does."""
    while job.wall and job.queue.next.time - job.environment.now < time:
        quiet = max(job.queue.next.time - job.environment.now, 0.0)
        yield from job.down((part, quiet))
        time -= quiet
        if (incident := _struck(job)) is not None:
            return incident
    yield from job.down((part, time))
    return None


def _struck_since(job: Job, began: Seconds) -> Count:
    """Lose what failures took while the job was down; return their hosts."""
    hosts = 0
    if job.wall:
        job.queue.pause(job.environment.now - began)
    while job.wall and job.queue.next.time <= job.environment.now:
        if (incident := _struck(job)) is not None:
            hosts += job.lose(incident)
    return hosts


def _struck(job: Job) -> Incident | None:
    """Return the failure that strikes now if it stops jobs; a job that is down cannot be corrupted, nor stalled."""
    incident = job.damage.strikes(job.queue.take())
    if incident is None or (effect := job.damage.causes[incident.cause].effect) == "crash":
        return incident
    if effect in ("slow", "degrade"):
        job.slow_down(incident)
    return None
