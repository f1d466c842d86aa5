"""What every effect says: how often it stops the job, and what it does to a job that runs or that is down.

An effect does nothing itself: it names what the job does, in the words of `StruckJob`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from typing import Any, ClassVar, Protocol

from simulator.errors import ScenarioError
from simulator.kinds import members
from simulator.reliability.durations.base import Duration
from simulator.reliability.incident import Incident
from simulator.units import Seconds, Share

Steps = Generator[Any, Any, bool]
"""What the job does about a failure; returns whether that stopped it."""


class Lasting(Protocol):
    """What an effect may ask of the cause of a failure."""

    @property
    def lasts(self) -> Duration | None: ...

    @property
    def timeout(self) -> Seconds: ...


class StruckJob(Protocol):
    """What a job can do when a failure strikes it."""

    def fail(
        self, incident: Incident, *, unnoticed: Seconds | None = None, repaired_in: Seconds | None = None
    ) -> Steps:
        """Stop, and come back from a save or with fewer replicas.

        `unnoticed` is the time until the failure is noticed where the effect knows it, `repaired_in` how long its host
        is away where nothing else says.
        """

    def fail_again(self, incident: Incident) -> bool:
        """Lose what a further failure takes while the job is down; return whether it undoes a restart under way."""

    def stall(self, time: Seconds) -> Steps:
        """Stand still for `time`, all processes alive."""

    def corrupt(self, incident: Incident) -> None:
        """Train on with a damaged state until that is found."""

    def slow_down(self, incident: Incident) -> None:
        """Run as slowly as the cause says while it lasts."""

    def degrade(self, incident: Incident) -> None:
        """Run on the links that are left while it lasts."""

    def length(self, incident: Incident) -> Seconds:
        """Return how long the episode lasts."""


class Effect(ABC):
    kind: ClassVar[str]
    has_length: ClassVar[bool] = False
    """Whether it is an episode, so that its cause must say how long it `lasts`."""
    needs_repair: ClassVar[bool] = True
    """Whether nobody but a repair time says how long a host that it takes is away."""

    def interrupting(self, cause: Lasting) -> Share:
        """Return the share of events that stop the job, at once or when they are found."""
        return 0.0

    @abstractmethod
    def strike(self, job: StruckJob, incident: Incident, cause: Lasting) -> Steps:
        """Strike a job that runs; return whether it stopped."""

    def strike_down(self, job: StruckJob, incident: Incident) -> bool:
        """Strike a job that is down; return whether a restart under way is undone."""
        return False


def effect_named(name: str) -> Effect:
    """Return the effect of that name. Raises ScenarioError where there is none."""
    known: dict[str, type[Effect]] = members(Effect)
    if name not in known:
        raise ScenarioError(f"failures: no effect is named {name!r}; there are {', '.join(known)}")
    return known[name]()
