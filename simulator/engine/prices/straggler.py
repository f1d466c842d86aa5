"""What the spread between GPUs costs: a step ends when its slowest rank does."""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

from simulator.scenario.jitter import Jitter
from simulator.units import Number, Share


class Straggling(NamedTuple):
    factor: Number
    """Mean step over the step of equal GPUs."""
    p_slow_host: Share
    """Probability that at least one host is slow."""


def straggling(jitter: Jitter, gpus: int, hosts: int) -> Straggling:
    """Return what spread and slow hosts do to a step of `gpus` ranks.

    The mean of the largest of n normal draws is close to the quantile (n - 0.375) / (n + 0.25) (Blom 1958). With a
    share f of slow hosts, a job of N hosts has at least one with probability 1 - (1 - f)^N: in small jobs the count
    matters, in large ones the factor.

    >>> straggling(Jitter(slow_hosts=0.005, slow=1.1), 16384, 2048).p_slow_host > 0.9999
    True
    """
    spread = (jitter.gpu**2 + jitter.step**2) ** 0.5
    largest = NormalDist().inv_cdf((gpus - 0.375) / (gpus + 0.25)) if gpus > 1 else 0.0
    p_slow = 1 - (1 - jitter.slow_hosts) ** hosts
    return Straggling((1 + spread * largest) * (1 + p_slow * (jitter.slow - 1)), p_slow)
