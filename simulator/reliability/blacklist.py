"""Which host a failure strikes, where hosts are not alike: lemons, and a rule that evicts after so many failures.

The rates of the causes are means over the fleet as it starts. Every eviction of a lemon brings in a healthy
host; the failures that no longer happen are thinned out, in proportion to the hazard that is left.
"""

from __future__ import annotations

from collections.abc import Iterator

from simulator.reliability.fleet import Lemons
from simulator.units import Count


class Blacklist:
    def __init__(self, hosts: Count, lemons: Lemons | None, evict_after: Count | None, coin: Iterator[float]) -> None:
        self._coin = coin
        self._hosts = hosts
        self._factor = lemons.factor if lemons else 1.0
        self._lemons = list(range(round(hosts * lemons.share))) if lemons else []
        self._healthy_from = len(self._lemons)
        self._evict_after = evict_after
        self._strikes: dict[int, int] = {}
        self._initial = self._hazard()
        self.tells = bool(self._lemons) or evict_after is not None
        """Whether it makes a difference which host a failure strikes."""
        self.evicted = 0

    def _hazard(self) -> float:
        return len(self._lemons) * self._factor + self._hosts - len(self._lemons)

    def struck(self) -> int | None:
        """Return the host of a failure, or None where the failure does not happen any more."""
        lemons = len(self._lemons) * self._factor
        place = next(self._coin) * self._initial
        if place < lemons:
            return self._lemons[min(int(place / self._factor), len(self._lemons) - 1)]
        if place >= self._hazard():
            return None
        return self._healthy_from + int(place - lemons)

    def strike(self, host: int) -> bool:
        """Count a failure of `host`; return whether it is evicted for it."""
        if self._evict_after is None:
            return False
        strikes = self._strikes.get(host, 0) + 1
        self._strikes[host] = strikes
        if strikes < self._evict_after:
            return False
        self.evicted += 1
        del self._strikes[host]
        if host < self._healthy_from and host in self._lemons:
            self._lemons.remove(host)
        return True
