"""Silent damage to the state of training, until it is found."""

from __future__ import annotations

import heapq
import math
from typing import NamedTuple

from simulator.engine.progress import Saved
from simulator.reliability.incidents import Incident
from simulator.units import Seconds


class Corruption(NamedTuple):
    found: Seconds
    """When it is found, in uptime."""
    since: Seconds
    """Work at which it began."""
    incident: Incident
    clean: Saved
    """The last save before it."""


class Corruptions:
    def __init__(self) -> None:
        self.hidden: list[Corruption] = []
        self.next_found: Seconds = math.inf
        """Uptime at which the next one is found."""

    def add(self, corruption: Corruption) -> None:
        heapq.heappush(self.hidden, corruption)
        self.next_found = self.hidden[0].found

    def take(self) -> Corruption:
        """Return the one that is found."""
        taken = heapq.heappop(self.hidden)
        self.next_found = self.hidden[0].found if self.hidden else math.inf
        return taken

    def undo(self, work: Seconds) -> None:
        """Forget those that began after `work`, to which training has gone back."""
        if self.hidden:
            self.hidden = [corruption for corruption in self.hidden if corruption.since < work]
            heapq.heapify(self.hidden)
            self.next_found = self.hidden[0].found if self.hidden else math.inf
