"""Stop everything, replace what failed, start again from the last save."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.reliability.durations.base import Duration
from simulator.reliability.recovery.base import Recovery


@dataclass(frozen=True, kw_only=True)
class Restart(Recovery):
    kind: ClassVar[str] = "restart"
    in_place: Duration | None = None
    """Restart where no host was taken away (processes only); `restart` where left out."""
    standby: Duration | None = None
    """Restart onto a spare that is kept warm; used while a spare is there."""
