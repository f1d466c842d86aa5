"""Replace slow hosts once they have cost as much as replacing them: ski rental.

Nobody knows how long a host will stay slow. To replace it after it has cost as much as the replacement loses at most
twice what knowing would (Karlin et al., Algorithmica 3, 1988), and no fixed rule does better; GREYHOUND (ATC 2025) goes
from one remedy to the next so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.reliability.stragglers.base import SlowHostPolicy
from simulator.units import Number, Seconds


@dataclass(frozen=True, kw_only=True)
class Replace(SlowHostPolicy):
    kind: ClassVar[str] = "replace"
    patience: Number = 1.0
    """Replacements that slow hosts may cost before they are replaced: 1 is ski rental, 0 at once."""

    def bears(self, cost: Seconds) -> Seconds:
        return self.patience * cost

    @property
    def competitive(self) -> Number:
        """Return the most it loses over what knowing would: 1 + max(patience, 1 / patience).

        >>> Replace().competitive, Replace(patience=0.5).competitive
        (2.0, 3.0)
        """
        return 1 + max(self.patience, 1 / self.patience if self.patience else float("inf"))
