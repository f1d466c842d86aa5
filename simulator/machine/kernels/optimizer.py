"""How long the optimizer takes: one sweep over weights, gradients, master weights and moments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.units import Bytes, Seconds

if TYPE_CHECKING:
    from simulator.machine.hardware import Gpu


def time(gpu: Gpu, nbytes: Bytes) -> Seconds:
    """Return the time of a multi-tensor kernel that reads and writes `nbytes` of optimizer state.

    No timings of it are published; it is taken at 80% of what the streaming benchmark reaches.
    """
    constants = gpu.kernels.elementwise
    return constants.start + nbytes / (gpu.memory_bandwidth * constants.optimizer)
