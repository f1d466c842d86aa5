"""Collective communication: how long, and how many bytes on the wire.

``time(operation, nbytes, channel)`` chooses the algorithm as NCCL does; ``algorithm`` pins one.
"""

from simulator.machine.collectives.choose import algorithms, choose, time, wire_bytes

__all__ = ["algorithms", "choose", "time", "wire_bytes"]
