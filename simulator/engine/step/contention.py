"""How much slower compute is beside transfers: by what they take of the GPU, and by what the operation needs of it.

A transfer that kernels carry out takes multiprocessors (and, with them, power), and moves bytes through the GPU's
memory. Work that is bound by arithmetic needs the multiprocessors, work that is bound by memory needs the bandwidth:
each has what is left of it, so that an operation with a share m of its time bound by memory takes, of what it takes
alone::

    (1 - m) / (1 - sms taken) + m / (1 - memory bandwidth taken)

Multiprocessors come first in that arithmetic-bound work cannot do without them; memory-bound work fills the bandwidth
with a part of them (S. Williams et al., CACM 52, 2009: a roofline under reduced resources). The same rule holds for
gathers of weights, buckets of gradients, and exchanges of tensor, context and expert parallelism.

Measured: compute takes 18.9% longer in the mean, and 40% at most, beside the collectives of FSDP and pipelines on A100,
H100, MI210 and MI250 (arXiv 2507.03114).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from simulator.units import Share

MOST_TAKEN: Share = 0.9
"""Compute never stops beside transfers, however many there are."""


class Taken(NamedTuple):
    """What transfers take of a GPU while they run."""

    sms: Share = 0.0
    """Of the rate of work that is bound by arithmetic."""
    memory: Share = 0.0
    """Of the bandwidth of the GPU's memory."""


NONE = Taken()


def together(taken: Iterable[Taken]) -> Taken:
    """Return what several transfers take at once."""
    sms = memory = 0.0
    for one in taken:
        sms += one.sms
        memory += one.memory
    return Taken(min(MOST_TAKEN, sms), min(MOST_TAKEN, memory))


def pace(taken: Taken, memory: Share) -> Share:
    """Return the rate that is left to an operation with a share `memory` of its time bound by memory.

    >>> pace(Taken(sms=0.2, memory=0.5), 0.0), pace(Taken(sms=0.2, memory=0.5), 1.0)
    (0.8, 0.5)
    """
    return 1 / ((1 - memory) / (1 - taken.sms) + memory / (1 - taken.memory))
