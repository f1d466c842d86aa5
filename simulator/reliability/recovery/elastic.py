"""Go on with fewer data-parallel replicas, and take the replica back when its host has been replaced.

Meta, 98,304 GPUs in 12 replicas: a stall of 3 min, 7 min at 11/12 of the speed, one failure every 18 min give
80% where restarting gives 44% (arXiv 2602.00277). Failures of the job itself, and of the last replicas that
are needed, restart from a save.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from simulator.reliability.durations.base import Duration
from simulator.reliability.durations.fixed import Fixed
from simulator.reliability.recovery.base import Recovery
from simulator.units import Count, Share


@dataclass(frozen=True, kw_only=True)
class Elastic(Recovery):
    kind: ClassVar[str] = "elastic"
    replicas: Count
    """Data-parallel replicas of the whole job."""
    stall: Duration = field(default_factory=lambda: Fixed(time=180.0))
    """From the failure to training with the replicas that are left, detection included."""
    replace: Duration = field(default_factory=lambda: Fixed(time=420.0))
    """From the end of the stall, once there is a host, until the replica is back."""
    rejoin: Duration = field(default_factory=lambda: Fixed(time=0.0))
    """Stall of everybody when it comes back."""
    minimum: Count = 1
    """Fewest replicas that go on."""
    overhead: Share = 0.0
    """Speed that being able to do this costs all the time."""
