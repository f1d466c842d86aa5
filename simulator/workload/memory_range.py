"""How far off the peak of a stage may be: switches of the stack that nobody stated, and the spread of a profile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import sqrt
from typing import Any

from simulator.sums import added
from simulator.units import Bytes, Share
from simulator.workload.holdings import Holding
from simulator.workload.rank import Rank
from simulator.workload.replica import Content, Replica
from simulator.workload.stage_peak import peak


def otherwise(replica: Replica, held: tuple[Content, ...], moments: tuple[Holding, ...]) -> list[dict[str, float]]:
    """Return the parts of a stage at its peak with each switch that is not known set the other way, one at a time."""
    return [peak(other, held, moments) for other in _alternatives(replica)]


def between(nbytes: Bytes, others: Sequence[Bytes], spread: Share) -> tuple[Bytes, Bytes]:
    """Return the range around a peak of `nbytes`, which would be one of `others` with one switch the other way.

    Switches are independent, so their effects add as squares, down and up apart. The spread of a known profile
    widens either end.

    >>> between(10.0, (7.0, 6.0, 11.0), 0.5)
    (2.5, 16.5)
    """
    down = sqrt(added((nbytes - other) ** 2 for other in others if other < nbytes))
    up = sqrt(added((other - nbytes) ** 2 for other in others if other > nbytes))
    return max(nbytes - down, 0.0) * (1 - spread), (nbytes + up) * (1 + spread)


def _alternatives(replica: Replica) -> list[Replica]:
    """Return the replica with each unknown switch set the other way."""
    rank, stack = replica.rank, replica.rank.stack
    ranks: list[Rank] = []
    for switch in stack.unsure:
        if switch == "gradients":
            gradients: Any = "bf16" if rank.states.gradients == "fp32" else "fp32"
            ranks.append(replace(rank, states=replace(rank.states, gradients=gradients)))
        elif switch == "loss":
            ranks += [replace(rank, stack=replace(stack, loss_bytes=nbytes)) for nbytes in (4.0, 16.1)]
        elif switch == "saved_gathers":
            ranks.append(replace(rank, stack=replace(stack, saved_gathers=not stack.saved_gathers)))
        else:
            other: dict[str, Any] = {switch: "eager" if getattr(stack, switch) == "fused" else "fused"}
            ranks.append(replace(rank, stack=replace(stack, **other)))
    return [replace(replica, rank=rank) for rank in ranks]
