"""What every checkpoint policy is: how much useful work lies between saves, and what the user says a save costs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

from simulator.reliability.checkpointing.tier import Tier
from simulator.units import Bytes, Count, Seconds, Share


@dataclass(frozen=True, kw_only=True)
class CheckpointPolicy(ABC):
    kind: ClassVar[str]
    saves: ClassVar[bool] = True
    given: ClassVar[bool] = False
    """Whether the interval is the user's own, not computed."""
    learns: ClassVar[bool] = False
    """Whether it is revised in the light of what happens."""
    mode: Literal["blocking", "async"] = "blocking"
    """Async stalls only while the state is copied out of the GPU; the save counts once it has been persisted."""
    stall: Seconds | None = None
    """Training time lost per save; from bytes and bandwidths where left out."""
    persist: Seconds | None = None
    """Time after the stall until the save can be used (async); from bytes and storage where left out."""
    load: Seconds | None = None
    """Time to read a save, added to the restart; from bytes and storage where left out."""
    bytes: Bytes | None = None
    """Size of a save; from the layout where left out."""
    keep: Count | None = None
    """Saves kept; all where left out. Silent corruption may need an old one."""
    slowdown: Share = 0.0
    """Share of training speed lost while a save is being persisted."""
    fabric: Literal["separate", "shared"] = "separate"
    """Whether an asynchronous save goes to storage over the NICs that training uses, and so slows it down; one to
    `tiers` does not."""
    tiers: tuple[Tier, ...] = ()
    """Nearest first. Given, they say interval, stall, load and persist, and the kind's interval is not used."""

    @abstractmethod
    def every(self, *, stall: Seconds, mtbf: Seconds, recovery: Seconds) -> Seconds:
        """Return the useful work between saves, the save itself excluded.

        `stall` is what a save costs, `mtbf` the job's mean time between interruptions, `recovery` the mean
        time from an interruption to training again.
        """

    def revised(self, *, stall: Seconds, mtbf: Seconds, exposed: Seconds, interruptions: int) -> Seconds | None:
        """Return another interval in the light of what has happened so far, or None for the same."""
        return None
