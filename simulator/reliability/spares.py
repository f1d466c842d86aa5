"""How many hosts are away for repair, and how many spares that asks for."""

from __future__ import annotations

from collections.abc import Mapping

from simulator.reliability.durations.base import Duration
from simulator.reliability.failures.base import Cause
from simulator.reliability.fleet import Failures
from simulator.reliability.populations import erlang_b, poisson_quantile
from simulator.reliability.recovery.base import Recovery
from simulator.units import Count, Number, Share


def hosts_taken(cause: Cause, hosts_of: Mapping[str, int], usual: Duration | None) -> Count:
    """Return the hosts that one event of `cause` takes away; none where their repair, or the `usual` one, takes no
    time."""
    if cause.needs_no_repair(usual):
        return 0
    if cause.hosts is not None:
        return cause.hosts
    if cause.on_host:
        return 1
    return 0 if cause.unit in ("job", "link") else hosts_of[cause.unit]


def load(failures: Failures, recovery: Recovery, units: Mapping[str, int], hosts_of: Mapping[str, int]) -> Number:
    """Return the mean number of hosts that would be away if failures never paused: rate x hosts x mean repair."""
    away = 0.0
    for cause in failures.causes:
        repair = cause.repaired_in(recovery.repair)
        if repair is None or not cause.interrupts:
            continue
        rate = cause.rate(units.get(cause.unit, 1)) * failures.factor(cause.unit, units["gpu"]) * cause.interrupting
        away += rate * hosts_taken(cause, hosts_of, recovery.repair) * cause.drains * repair.expected()
    return away


def needed(load: Number, level: Share = 0.99) -> Count:
    """Return the spares with which hosts are lacking for at most 1 - `level` of the time.

    Hosts away are Poisson, whatever the shape of the repair (M/G/infinity).

    >>> needed(2048 * 0.00379 * 40.4 / 24)
    22
    """
    return poisson_quantile(load, level)


def waiting(load: Number, spares: Count) -> Share:
    """Return the share of time that a job waits for a host, failures striking only while it runs: B(a, S + 1)."""
    return erlang_b(load, spares + 1)
