"""Whether hosts, and not GPUs, are short of memory."""

from __future__ import annotations

from typing import Protocol

from simulator.units import Bytes


class Offloaded(Protocol):
    """What is known of memory, by an estimate or in a result."""

    @property
    def usable_bytes(self) -> Bytes: ...
    @property
    def peak_bytes(self) -> Bytes: ...
    @property
    def host_peak_bytes(self) -> Bytes: ...
    @property
    def host_bytes(self) -> Bytes: ...


def host_is_fuller(held: Offloaded) -> bool:
    """Return whether the memory of hosts decides if it fits."""
    return held.host_bytes > 0 and held.host_peak_bytes / held.host_bytes > held.peak_bytes / held.usable_bytes
