"""What every way of running a collective is: bytes on the wire, steps, and time as a function of size."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import hypot
from typing import ClassVar, Literal

from simulator.machine.channel import Channel
from simulator.units import Bytes, Seconds

Operation = Literal["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send"]
OPERATIONS: tuple[Operation, ...] = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send")


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """One algorithm and protocol on one channel: time as a function of the buffer's size alone.

    time = latency + T + sum of F T' / (F + T'), with T the bytes over the rate of the busiest link. A pipeline of
    pieces starts as if it had one, with T' of extra time in which nothing overlaps, and ends with F, one piece
    of full size under way at each place. Where steps overlap with their transfers, each takes the longer of both: all
    but the latency is the hypotenuse over the steps' ``floor``.
    """

    protocol: str
    latency: Seconds
    per_byte: float
    """Seconds a byte of the buffer on the busiest link."""
    fills: tuple[tuple[Seconds, float], ...] = ()
    """F, and T' a byte."""
    floor: Seconds = 0.0
    """Latency of all steps, where it overlaps with the transfer."""
    expected_latency: Seconds | None = None
    """What the library expects when it chooses; the same as the time where left out."""
    expected_per_byte: float = 0.0
    correction: Callable[[Bytes, str], float] | None = None
    """Share of the expected bandwidth by size and protocol."""

    def time(self, nbytes: Bytes) -> Seconds:
        """Return the time from the moment the last rank arrives."""
        time = self.per_byte * nbytes
        for most, per_byte in self.fills:
            if most > 0:
                alone = per_byte * nbytes
                time += most * alone / (most + alone)
        return self.latency + (hypot(time, self.floor) if self.floor else time)

    def expected(self, nbytes: Bytes) -> Seconds:
        """Return the time by which the library chooses."""
        if self.expected_latency is None:
            return self.time(nbytes)
        share = 1.0 if self.correction is None else self.correction(nbytes, self.protocol)
        return self.expected_latency + self.expected_per_byte * nbytes / share


@dataclass(frozen=True, kw_only=True)
class Collective(ABC):
    """One algorithm. Sizes are the whole buffer of the operation: of all-gather, all ranks' parts together."""

    kind: ClassVar[str]
    operations: ClassVar[tuple[Operation, ...]]
    automatic: ClassVar[bool] = True
    """Whether a library takes it by itself; others run only when the scenario pins them."""
    since: ClassVar[int] = 0
    """The first year whose frameworks ship with a library that has it."""

    def supports(self, operation: Operation, channel: Channel) -> bool:
        """Tell whether this way exists for `operation` on `channel`."""
        return operation in self.operations

    @abstractmethod
    def steps(self, operation: Operation, channel: Channel) -> int:
        """Return the number of messages that follow one another."""

    @abstractmethod
    def up_bytes(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Bytes:
        """Return the bytes that the busiest GPU sends over its scale-up links."""

    @abstractmethod
    def out_bytes(self, operation: Operation, nbytes: Bytes, channel: Channel) -> Bytes:
        """Return the bytes that the group sends out of its busiest domain, over all its NICs together."""

    @abstractmethod
    def plans(self, operation: Operation, channel: Channel) -> tuple[Plan, ...]:
        """Return the ways to run `operation`, one a protocol."""


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
