"""Collective communication: how long, and how many bytes on the wire.

``time(operation, nbytes, channel)`` chooses the algorithm as NCCL does; ``algorithm`` pins one.
"""

from simulator.machine.collectives.choose import (
    algorithms,
    bus_bandwidth,
    choose,
    scale_up_bytes,
    time,
    wire_bytes,
)

__all__ = ["algorithms", "bus_bandwidth", "choose", "scale_up_bytes", "time", "wire_bytes"]
