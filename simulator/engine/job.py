"""The training job as a simpy process: it runs until something happens, and then deals with it.

Happenings are failures, planned stops, evaluations, the end of a slow episode, a replica that comes back, silent
corruption that is found, and the end of the work. No event is spent on a step or a save: `Progress` tells where
the work stands after any time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator
from typing import Any, NamedTuple

import simpy

from simulator.engine.corruption import Corruption, Corruptions
from simulator.engine.damage import Damage
from simulator.engine.faults import Faults
from simulator.engine.ledger import Ledger
from simulator.engine.progress import Progress, Saved
from simulator.engine.recovery import recover
from simulator.engine.replicas import Replicas, shrink
from simulator.engine.restarts import Restarts
from simulator.engine.restore import Restore
from simulator.engine.slow_hosts import SlowHosts, replace
from simulator.engine.spare_pool import SparePool
from simulator.errors import ScenarioError
from simulator.reliability.checkpointing.plan import SavePlan
from simulator.reliability.incidents import Incident, IncidentQueue
from simulator.units import Count, Seconds

_CHECK_EVERY = 1024
_LEAST_PROGRESS = 0.05
"""A run that secures less useful work than this per second, over so many interruptions, is given up."""
Waiting = Generator[simpy.Event, Any, Any]
"""A part of the process: yields what it waits for."""


class NoProgressError(Exception):
    """Failures come faster than the run recovers."""


class Stops(NamedTuple):
    ahead: Iterator[tuple[Seconds, Seconds]]
    """Planned stops in order: (time on the exposure's clock, length)."""
    merge: Seconds
    """A stop due within this time of a failure is done during that recovery."""


class Evaluations(NamedTuple):
    every: Seconds
    """Useful work between evaluations."""
    time: Seconds


class Job:
    def __init__(
        self,
        environment: simpy.Environment,
        *,
        work: Seconds,
        wall: bool,
        progress: Progress,
        queue: IncidentQueue,
        damage: Damage,
        pool: SparePool,
        restore: Restore,
        restarts: Restarts,
        replicas: Replicas | None,
        faults: Faults,
        slow_hosts: SlowHosts,
        ledger: Ledger,
        stops: Stops,
        evaluations: Evaluations,
        revise: Callable[[Seconds, int], SavePlan | None] | None,
        too_many: str | None = None,
    ) -> None:
        self.environment = environment
        self.wall = wall
        self.progress = progress
        self.queue = queue
        self.damage = damage
        self.pool = pool
        self.restore = restore
        self.restarts = restarts
        self.replicas = replicas
        self.faults = faults
        self.slow_hosts = slow_hosts
        self.ledger = ledger
        self.up = 0.0
        """Time spent training and saving."""
        self.planned = 0
        self.training_since: Seconds | None = None
        self.corruptions = Corruptions()
        self._work = work
        self._stops = stops
        self._stop, self._stop_time = next(stops.ahead, (math.inf, 0.0))
        self._evaluations = evaluations
        self._evaluate_at = evaluations.every
        self._revise = revise
        self._too_many = too_many
        self._recovering = False
        self._stalled_until = -math.inf
        self._interruptions = 0
        self._corrupted = 0
        self._checked = (0.0, 0.0)
        self.process: simpy.Process = environment.process(self._live())

    def clock(self) -> Seconds:
        """Return the time that hazards run on."""
        return self.environment.now if self.wall else self.up

    def _live(self) -> Waiting:
        """Train until the next happening, deal with it, and again, until the work is done and saved."""
        environment, progress, queue = self.environment, self.progress, self.queue
        while True:
            now = environment.now
            clock = now if self.wall else self.up
            time, happening = queue.next.time - clock, self._meet
            if self._stop - clock < time:
                time, happening = self._stop - clock, self._stop_as_planned
            if self.faults.active or self.replicas or self.corruptions.hidden or progress.factor != 1.0:
                time, happening = self._rarer(now, time, happening)
            goal, reached = self._work if self._work < self._evaluate_at else self._evaluate_at, None
            if time >= (goal - progress.work) * progress.factor and time >= (needed := progress.time_to(goal)):
                time, happening, reached = needed, self._arrive, goal
            if time > 0:
                self.training_since = now
                yield environment.timeout(time)
                self.trained(time, reached)
            if (yield from happening()) == "done":
                return

    def _rarer(
        self, now: Seconds, time: Seconds, happening: Callable[[], Waiting]
    ) -> tuple[Seconds, Callable[[], Waiting]]:
        """Run at the present speed; return the time to the next happening, the rarer ones included, and what it is."""
        replicas = self.replicas
        if replicas and replicas.waiting:
            replicas.fill(self.pool.lacking(now), now)
        factor = self.faults.factor(now) * (replicas.factor() if replicas else 1.0)
        if factor != self.progress.factor:
            self.progress.run_at(factor)
        if (due := self.slow_hosts.due(self.faults, now)) < time:
            time, happening = due, self._replace_slow_hosts
        if self.faults.next_end - now < time:
            time, happening = self.faults.next_end - now, self._speed_up
        if self.corruptions.next_found - self.up < time:
            time, happening = self.corruptions.next_found - self.up, self._find_corruption
        if replicas and replicas.next_back - now < time:
            time, happening = replicas.next_back - now, self._rejoin
        if replicas and replicas.waiting and self.pool.next_return - now < time:
            time, happening = math.nextafter(self.pool.next_return, math.inf) - now, self._look_again
        return time, happening

    def trained(self, time: Seconds, reached: Seconds | None = None) -> None:
        """Book `time` of training that ends now."""
        now = self.environment.now
        work, saving = self.progress.run(time, now, reached)
        self.ledger.trained(now - time, time, work, saving, self.progress.factor)
        self.up += time
        if self.slow_hosts.rate:
            self.slow_hosts.cost(time)
        self.training_since = None

    def busy(self, part: str, time: Seconds) -> Waiting:
        """Be up for `time` without training; return whether nothing interrupted it."""
        while time > 0:
            until_next = max(self.queue.next.time - self.clock(), 0.0)
            quiet = min(time, until_next)
            yield from self.down((part, quiet))
            self.up += quiet
            time -= quiet
            if quiet == until_next and (yield from self._meet()) == "interrupted":
                return False
        return True

    def down(self, *segments: tuple[str, Seconds]) -> Waiting:
        """Wait, and book what for."""
        if (time := self.ledger.open(self.environment.now, *segments)) > 0:
            yield self.environment.timeout(time)
        self.ledger.close()

    def _meet(self) -> Waiting:
        """Deal with the failure that strikes now; return "interrupted" if it stops the job."""
        incident = self.damage.strikes(self.queue.take())
        if incident is None:
            return ""
        cause = self.damage.causes[incident.cause]
        effect = cause.effect
        if effect == "flap":
            if (outage := self.damage.lasts(incident)) <= cause.timeout:
                return (yield from self._stall(outage))
            incident = incident._replace(away=outage)
        if effect in ("crash", "flap"):
            began = self.environment.now
            if 0 < self.damage.notice[incident.cause] >= self.progress.save_time:
                yield from self.save()
            yield from self._survive(incident)
            self._merge_stops(self.environment.now - began)
            return "interrupted"
        if effect == "corrupt":
            found = self.up + self.damage.unnoticed(incident)
            self.corruptions.add(Corruption(found, self.progress.work, incident, self.progress.newest()))
            self._corrupted += 1
            if self._corrupted % _CHECK_EVERY == 0:
                self._check_progress()
        else:
            self.slow_down(incident)
        return ""

    def _stall(self, time: Seconds) -> Waiting:
        """Wait for a link that is down, and for others that go down meanwhile; return "interrupted" if the job dies."""
        now, waits = self.environment.now, self._stalled_until > self.environment.now
        self._stalled_until = max(self._stalled_until, now + time)
        self.faults.episodes += 1
        while not waits and self._stalled_until > now:
            time = self._stalled_until - now
            quiet = min(time, max(self.queue.next.time - self.clock(), 0.0))
            yield from self.down(("degraded", quiet))
            self.up += quiet
            if quiet < time and (yield from self._meet()) == "interrupted":
                self._stalled_until = -math.inf
                return "interrupted"
            now = self.environment.now
        return ""

    def slow_down(self, incident: Incident) -> None:
        """Begin an episode of slow hosts or degraded links."""
        self.faults.begin(self.damage.causes[incident.cause], self.environment.now + self.damage.lasts(incident))

    def _look_again(self) -> Waiting:
        yield from ()

    def _replace_slow_hosts(self) -> Waiting:
        yield from replace(self)

    def _speed_up(self) -> Waiting:
        self.faults.end_first()
        yield from ()

    def lose(self, incident: Incident) -> Count:
        """Count an interruption and lose what it takes; return the hosts that it took."""
        hosts = self.damage.take(incident, self.pool, self.queue, self.clock(), self.environment.now)
        self.restore.lose(self.damage.causes[incident.cause], hosts)
        self.ledger.cause = self.damage.labels[incident.cause]
        self._interruptions += 1
        if self._interruptions % _CHECK_EVERY == 0:
            self._check_progress()
        return hosts

    def _check_progress(self) -> None:
        before, work_before = self._checked
        now, work = self.environment.now, self.progress.work if self.replicas else self.progress.secured()
        if work - work_before < _LEAST_PROGRESS * (now - before):
            raise NoProgressError
        if self._too_many is not None:
            raise ScenarioError(self._too_many)
        self._checked = now, work

    def short_of_hosts(self) -> bool:
        lacking = self.pool.lacking(self.environment.now)
        return self.replicas.too_few(lacking) if self.replicas else lacking > 0

    def cut_off(self) -> None:
        """Book what is under way when the clock is stopped."""
        now = self.environment.now
        if self.training_since is not None:
            self.trained(now - self.training_since)
        self.ledger.close(now)
        if self._recovering:
            self._back_to(self._go_back(self.restore.best(now)))

    def _survive(self, incident: Incident) -> Waiting:
        """Go on with fewer replicas, or go back to a save."""
        hosts = self.lose(incident)
        if self.replicas:
            incident, hosts = yield from shrink(self, incident, hosts)
        if incident.cause >= 0:
            self.progress.interrupt(self.environment.now)
            self._recovering = True
            self._back_to(self._go_back((yield from recover(self, incident, hosts))))

    def _go_back(self, found: tuple[int, Saved] | None) -> Seconds:
        return self.progress.go_back(*found) if found else self.progress.start_over()

    def _back_to(self, lost: Seconds) -> None:
        """Account for `lost` work, and for what is undone with it."""
        self._recovering = False
        self.ledger.parts["lost"] += lost
        self.corruptions.undo(self.progress.work)
        every = self._evaluations.every
        if math.isfinite(every):
            self._evaluate_at = (math.floor(self.progress.work / every + 1e-9) + 1) * every
        if self._revise and (plan := self._revise(self.clock(), self._interruptions)) is not None:
            self.progress.follow(plan)

    def _find_corruption(self) -> Waiting:
        """Go back to the last save before the state was damaged, or to the start where that was not kept."""
        corruption = self.corruptions.take()
        self.lose(corruption.incident)
        self.progress.interrupt(self.environment.now)
        self._recovering = True
        clean = (len(self.progress.plan.tiers) - 1, corruption.clean) if self.restore.kept(corruption.clean) else None
        yield from recover(self, corruption.incident, 0, unnoticed=0.0)
        self._back_to(self._go_back(clean))

    def _rejoin(self) -> Waiting:
        """Take back a replica, for which everybody waits."""
        assert self.replicas is not None
        self.replicas.take_back()
        yield from self.busy("restart", self.replicas.rejoin())

    def save(self) -> Waiting:
        """Save to the farthest tier, outside the rhythm."""
        stall = self.progress.stall_left
        yield from self.down(("checkpoint", stall))
        self.up += stall
        self.progress.save_here(self.environment.now)

    def _stop_as_planned(self) -> Waiting:
        yield from self.save()
        yield from self.down(("planned", self._stop_time))
        if self.wall:
            self.queue.pause(self._stop_time)
        self._stopped()

    def _stopped(self) -> None:
        self.planned += 1
        self._stop, self._stop_time = next(self._stops.ahead, (math.inf, 0.0))

    def _merge_stops(self, time: Seconds) -> None:
        """Do the stops that are due during a recovery that took `time`; a longer stop goes on after it."""
        while self._stop - self.clock() <= self._stops.merge:
            self._stop_time -= time
            if self._stop_time > 0:
                self._stop = min(self._stop, self.clock())
                return
            self._stopped()

    def _arrive(self) -> Waiting:
        """Evaluate, or save what is finished; return "done" at the end."""
        if self.progress.work == self._evaluate_at:
            self._evaluate_at += self._evaluations.every
            if not (yield from self.busy("other", self._evaluations.time)):
                return ""
        if self.progress.work < self._work:
            return ""
        saved = yield from self.busy("checkpoint", self.progress.last_stall)
        return "done" if saved else ""
