"""What every cause of failure is: which unit fails, what that does to the job, and how it is noticed and mended.

Hardware rates belong to components and grow with their number; software failures belong to the job
(unit ``job``): Meta saw 54 software failures in 54 days on 16,384 GPUs and 48 in 72 days on 32,768.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar, Literal, get_args

from simulator.kinds import NameOf
from simulator.reliability.durations.base import Duration
from simulator.reliability.effects.base import Effect, effect_named
from simulator.units import Count, Number, Seconds, Share

Unit = Literal["gpu", "nic", "link", "host", "rack", "pod", "switch", "power", "job"]
EffectName = Annotated[str, NameOf(Effect)]
UNITS: tuple[str, ...] = get_args(Unit)


@dataclass(frozen=True, kw_only=True)
class Cause(ABC):
    kind: ClassVar[str]
    default_kind: ClassVar[str] = "exponential"
    """The kind of a cause that names none."""
    name: str = ""
    """What reports call it; kind and unit where left out."""
    unit: Unit = "gpu"
    """What fails: a leaf switch is ``switch``, a power row ``power``, software ``job``."""
    effect: EffectName = "crash"
    """crash stops the job; slow multiplies the step by `slow`; degrade leaves `bandwidth` of the unit's links;
    corrupt is silent until `detect` has passed and then rolls back to a save made before it; flap takes a link down
    while it `lasts`, which stalls the job up to `timeout` and kills it beyond."""
    detect: Duration | None = None
    """Until the failure is noticed; the recovery's where left out."""
    repair: Duration | None = None
    """How long a host that was taken away is gone; the recovery's where left out."""
    hosts: Count | None = None
    """Hosts that one event takes away; by the unit where left out: gpu, nic and host one, link and job none,
    rack, pod, switch and power the hosts behind one of them."""
    drains: Share = 1.0
    """Share of events that take hosts away; the others need only a restart."""
    slow: Number = 1.1
    """Factor on the step while an episode of effect slow lasts (of degrade, where no network is given)."""
    bandwidth: Share = 0.5
    """Share of its bandwidth that a degraded unit keeps."""
    lasts: Duration | None = None
    """Length of an episode of effect slow, degrade or flap; required for those."""
    timeout: Seconds = 30.0
    """How long a collective waits for a link that is down before the job dies: of InfiniBand, 4.096 us x 2^exponent x
    retries: 30 s with NCCL_IB_TIMEOUT 20, the default from NCCL 2.23 on, and NCCL_IB_RETRY_CNT 7; 7.5 s with 18."""

    @property
    def label(self) -> str:
        return self.name or f"{self.unit} {self.kind}"

    @cached_property
    def does(self) -> Effect:
        """What an event does to the job."""
        return effect_named(self.effect)

    @property
    def interrupting(self) -> Share:
        """Share of events that stop the job, at once or when they are found."""
        return self.does.interrupting(self)

    @property
    def interrupts(self) -> bool:
        return self.interrupting > 0

    @property
    def is_episode(self) -> bool:
        """Whether it has a length, `lasts`."""
        return self.does.has_length

    @property
    def on_host(self) -> bool:
        """Whether it happens to one host, which may be a lemon, collect strikes and fail again."""
        return self.unit in ("gpu", "nic", "host")

    @abstractmethod
    def rate(self, units: int) -> float:
        """Return the long-run events per second of exposure of `units` units together."""

    def warnings(self) -> tuple[str, ...]:
        return ()

    def seconds_of_notice(self) -> Seconds:
        """Return how long before the failure the job is told of it."""
        return 0.0
