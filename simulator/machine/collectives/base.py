"""What every way of running a collective is: bytes on the wire, steps, and time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

from simulator.machine.channel import Channel
from simulator.units import Bytes, Seconds

Operation = Literal["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send"]
OPERATIONS: tuple[Operation, ...] = (
    "all_reduce",
    "all_gather",
    "reduce_scatter",
    "all_to_all",
    "broadcast",
    "send",
)


@dataclass(frozen=True, kw_only=True)
class Collective(ABC):
    """One algorithm. Sizes are the whole buffer of the operation (all ranks' parts together)."""

    kind: ClassVar[str]
    operations: ClassVar[tuple[Operation, ...]]

    def supports(self, operation: Operation, channel: Channel) -> bool:
        """Tell whether this way exists for `operation` on `channel`."""
        return operation in self.operations

    @abstractmethod
    def steps(self, operation: Operation, channel: Channel) -> int:
        """Return the number of messages that follow one another."""

    @abstractmethod
    def wire_bytes(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Bytes:
        """Return the bytes that the busiest GPU sends in all."""

    @abstractmethod
    def time(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Seconds:
        """Return the time from the moment the last rank arrives."""


def bus_factor(operation: Operation, ranks: int) -> float:
    """Return bus bytes over buffer bytes, the convention of nccl-tests (PERFORMANCE.md).

    >>> bus_factor("all_reduce", 8)
    1.75
    """
    if operation == "all_reduce":
        return 2 * (ranks - 1) / ranks
    if operation in ("all_gather", "reduce_scatter", "all_to_all"):
        return (ranks - 1) / ranks
    return 1.0
