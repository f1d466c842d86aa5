"""How long a piece of work takes: repeated until the clock is fine enough, the fastest of several rounds.

What else the machine does only ever makes a round longer, so that the fastest is nearest to the work alone.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from simulator.units import Seconds

ROUNDS = 7


def seconds(work: Callable[[], object], least: Seconds = 0.02) -> Seconds:
    """Return the time of one call; each round takes at least `least` seconds."""
    work()
    count, spent = 1, 0.0
    while True:
        start = perf_counter()
        for _ in range(count):
            work()
        spent = perf_counter() - start
        if spent >= least / ROUNDS:
            break
        count *= 2
    rounds = [spent / count]
    for _ in range(ROUNDS - 1):
        start = perf_counter()
        for _ in range(count):
            work()
        rounds.append((perf_counter() - start) / count)
    return min(rounds)
