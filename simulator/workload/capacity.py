"""What experts with a capacity accept: as many rows from every rank, padded or cut off.

A rank gives an expert ceil(capacity x tokens x active / count) rows (Megatron-Core 0.15, `get_capacity`, padded to it).
Of the loads of experts only the largest over the mean is known, the imbalance i. The family of loads that has it, the
mean 1 and no load below 0 is x(u) = i u^(i-1) for u from 0 to 1: all alike at i = 1, evenly spread from 0 to 2 at
i = 2, ever fewer busy experts beyond. An expert takes its capacity c (Lepikhin et al. 2020, arXiv 2006.16668; Fedus et
al. 2021, arXiv 2101.03961) and drops the rest::

    dropped = integral of max(0, x(u) - c) = 1 - v^i - c (1 - v),   v = (c / i)^(1 / (i - 1))

What chance adds to routing of a given mean, about one standard deviation of a binomial an expert, is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from simulator.units import Number, Share
from simulator.workload.model import Experts

FEW: Share = 0.01
"""A share of dropped visits below which a run is as good as one that drops nothing."""


@dataclass(frozen=True, kw_only=True)
class Moe:
    imbalance: Number = 1.0
    """Tokens of the busiest expert rank over the mean; published speeds are measured with balanced routing."""
    capacity: Number | None = None
    """Most tokens of an expert over the mean: experts are padded to it and drop the rest; none where left out."""


EVEN = Moe()


def rows(experts: Experts, tokens: Number, capacity: Number | None) -> Number:
    """Return the rows that a rank with so many tokens sends to all experts; without a capacity one a visit."""
    if capacity is None:
        return tokens * experts.active
    return experts.count * ceil(capacity * tokens * experts.active / experts.count)


def dropped(imbalance: Number, capacity: Number | None) -> Share:
    """Return the share of token visits that experts drop; nothing without a capacity.

    >>> dropped(1, 1.25), dropped(2, 1), round(dropped(3, 1.5), 4), dropped(1, 0.75)
    (0.0, 0.25, 0.2071, 0.25)
    """
    if capacity is None or capacity >= imbalance:
        return 0.0
    if imbalance == 1:
        return 1 - capacity
    full = (capacity / imbalance) ** (1 / (imbalance - 1))
    share: Share = max(0.0, 1 - full**imbalance - capacity * (1 - full))
    return share
