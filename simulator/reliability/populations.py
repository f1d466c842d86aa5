"""Closed forms of many hosts: time between failures, spares, peers, lemons, shared domains."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import NormalDist

from simulator.sums import added
from simulator.units import Number, Seconds

_NORMAL = 1e5
"""A Poisson mean beyond which the normal distribution gives its quantiles to a thousandth."""


def job_mtbf(hosts: int, rate: float) -> Seconds:
    """Return the mean time between failures of a job on `hosts` hosts of `rate` failures per second each.

    >>> round(job_mtbf(2048, 6.5e-3 / 86400) / 3600, 3)  # Meta's RSC-1 projects 1.8 h on 16,384 GPUs
    1.803
    """
    return 1 / (hosts * rate)


def erlang_b(load: Number, servers: int) -> Number:
    """Return Erlang's loss formula B(a, S) by its recursion B(a, s) = a B(s-1) / (s + a B(s-1)).

    >>> round(erlang_b(7.762, 10), 3)
    0.111
    """
    blocked = 1.0
    for server in range(1, servers + 1):
        blocked = load * blocked / (server + load * blocked)
    return blocked


def waiting_share(hosts: int, rate: float, repair: Seconds, spares: int) -> Number:
    """Return the share of time that a job waits for a host: Erlang B(a, S + 1), a = N r E[repair].

    Failures strike only while the job runs; the distribution of the repair does not matter, only its mean.
    """
    return erlang_b(hosts * rate * repair, spares + 1)


def poisson_quantile(mean: Number, level: Number) -> int:
    """Return the smallest k with P(Poisson(mean) <= k) >= level: the hosts out of a large fleet.

    >>> poisson_quantile(0.65, 0.99), poisson_quantile(13.07, 0.99)
    (3, 22)
    """
    if mean > _NORMAL:
        return math.ceil(mean + NormalDist().inv_cdf(level) * math.sqrt(mean))
    cumulative, k = 0.0, -1
    while cumulative < level * (1 - 1e-12):
        k += 1
        cumulative += math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) if mean else 1.0
        if k > mean + 40 * math.sqrt(mean + 1):
            break
    return k


def binomial_quantile(count: int, share: Number, level: Number) -> int:
    """Return the smallest k with P(Binomial(count, share) <= k) >= level: standbys for one replacement window.

    >>> binomial_quantile(1024, 0.00234, 0.99), binomial_quantile(1024, 0.0065, 0.99)
    (7, 13)
    """
    if share in (0, 1):
        return int(count * share)
    odds = math.log(share) - math.log1p(-share)
    base = count * math.log1p(-share) + math.lgamma(count + 1)
    cumulative = 0.0
    for k in range(count + 1):
        cumulative += math.exp(base + k * odds - math.lgamma(k + 1) - math.lgamma(count - k + 1))
        if cumulative >= level * (1 - 1e-12):
            return k
    return count


def node_availability(mtbf: Seconds, repair: Seconds) -> Number:
    """Return the share of time that one unit is up: M / (M + repair)."""
    return mtbf / (mtbf + repair)


def peers_survive(hosts: int, lost: int, peers: int) -> Number:
    """Return the probability that no whole group of `peers` hosts is among `lost` random hosts of `hosts`.

    Inclusion and exclusion over the hosts/peers disjoint groups.

    >>> round(peers_survive(16, 2, 2), 4), round(peers_survive(16, 3, 2), 4)
    (0.9333, 0.8)
    """
    groups = hosts // peers
    ways: int = added(
        (-1) ** whole * math.comb(groups, whole) * math.comb(hosts - whole * peers, lost - whole * peers)
        for whole in range(min(groups, lost // peers) + 1)
    )
    return ways / math.comb(hosts, lost)


def lemon_failure(drawn: int, hazard: Number, share: Number, factor: Number) -> Number:
    """Return the probability that a job on `drawn` random hosts fails when a `share` of hosts are lemons.

    `hazard` is that of a healthy host over the job, `factor` that of a lemon over it.

    >>> round(lemon_failure(64, 6.38e-4, 40 / 3000, 217), 2), round(lemon_failure(64, 6.38e-4, 0, 217), 2)
    (0.14, 0.04)
    """
    return 1 - ((1 - share) * math.exp(-hazard) + share * math.exp(-factor * hazard)) ** drawn


def domains(units: Iterable[tuple[int, float, int]]) -> tuple[float, float]:
    """Return (interruptions, hosts lost) per time of units given as (number, rate of one, hosts behind one).

    >>> tuple(round(x, 3) for x in domains([(2048, 3e-3, 1), (128, 1.7e-5, 16)]))
    (6.146, 6.179)
    """
    rows = tuple(units)
    return added(n * rate for n, rate, _ in rows), added(n * rate * behind for n, rate, behind in rows)


def slow_host_probability(hosts: int, share: Number) -> Number:
    """Return P(at least one slow host) = 1 - (1 - share)^hosts."""
    return -math.expm1(hosts * math.log1p(-share))
