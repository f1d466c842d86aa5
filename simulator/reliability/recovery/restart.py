"""Stop everything, replace what failed, start again from the last save."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from simulator.reliability.durations.base import Duration
from simulator.reliability.recovery.base import Recovery
from simulator.reliability.stragglers.base import SlowHostPolicy
from simulator.reliability.stragglers.ignore import Ignore


@dataclass(frozen=True, kw_only=True)
class Restart(Recovery):
    kind: ClassVar[str] = "restart"
    in_place: Duration | None = None
    """Restart where no host was taken away (processes only); `restart` where left out."""
    standby: Duration | None = None
    """Restart onto a spare that is kept warm; used while a spare is there."""
    slow_hosts: SlowHostPolicy = field(default_factory=Ignore)
    """What is done about causes of effect slow that strike hosts, or what is in them."""
