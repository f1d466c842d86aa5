"""What failures do to the job, by their effect: the words of `StruckJob`, said in processes of simpy."""

from __future__ import annotations

from simulator.engine.run.corruptions import Corruptions
from simulator.engine.run.job import Job, Waiting
from simulator.engine.run.losses import Loss, Losses
from simulator.engine.run.recovery import Recovery
from simulator.engine.run.replicas import Replicas
from simulator.engine.run.slow_downs import SlowDowns
from simulator.engine.run.states import RESTARTING
from simulator.engine.run.stops import PlannedStops
from simulator.reliability.incident import Incident
from simulator.units import Seconds


class FailureEffects:
    def __init__(
        self,
        job: Job,
        losses: Losses,
        recovery: Recovery,
        replicas: Replicas | None,
        slow_downs: SlowDowns,
        corruptions: Corruptions,
        stops: PlannedStops,
    ) -> None:
        self._job = job
        self._losses = losses
        self._recovery = recovery
        self._replicas = replicas
        self._slow_downs = slow_downs
        self._corruptions = corruptions
        self._stops = stops
        job.meet, job.meet_down = self.meet, self.meet_down

    def meet(self, incident: Incident) -> Waiting:
        """Deal with a failure while the job runs, and return whether that stopped it."""
        aimed = self._losses.aimed(incident)
        if aimed is None:
            return _nothing()
        cause = self._losses.causes[aimed.cause]
        return cause.does.strike(self, aimed, cause)

    def meet_down(self, incident: Incident) -> bool:
        """Deal with a failure while the job is down; return whether it undoes a restart under way."""
        aimed = self._losses.aimed(incident)
        return aimed is not None and self._losses.causes[aimed.cause].does.strike_down(self, aimed)

    def fail(
        self, incident: Incident, *, unnoticed: Seconds | None = None, repaired_in: Seconds | None = None
    ) -> Waiting:
        """Save within the notice there is, then go on with fewer replicas or restart from a save."""
        job, began = self._job, self._job.environment.now
        if 0 < self._losses.causes[incident.cause].seconds_of_notice() >= job.progress.save_time:
            yield from job.save()
        loss = self._losses.lose(incident, unnoticed=unnoticed, repaired_in=repaired_in)
        fatal: Loss | None = loss
        if self._replicas is not None:
            fatal = yield from self._replicas.survive(loss, self._recovery)
        if fatal is not None:
            yield from self._recovery.recover(fatal)
        self._stops.merge(job.environment.now - began)
        return True

    def fail_again(self, incident: Incident) -> bool:
        return self._recovery.lose_more(self._losses.lose(incident), restarting=self._job.state is RESTARTING)

    def stall(self, time: Seconds) -> Waiting:
        self._slow_downs.episodes += 1
        return (yield from self._job.stall(time))

    def corrupt(self, incident: Incident) -> None:
        self._corruptions.begin(incident)

    def slow_down(self, incident: Incident) -> None:
        self._slow_downs.begin(self._losses.causes[incident.cause], self.length(incident), degrades=False)

    def degrade(self, incident: Incident) -> None:
        self._slow_downs.begin(self._losses.causes[incident.cause], self.length(incident), degrades=True)

    def length(self, incident: Incident) -> Seconds:
        return self._losses.length(incident)


def _nothing() -> Waiting:
    yield from ()
    return False
