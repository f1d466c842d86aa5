"""How long memory-bound kernels take: norms, activations, rotary positions, residuals, casts, losses.

time = kernels · start + bytes / (bandwidth · share). ``start`` is an empty kernel. Fused kernels read and write each
tensor once; eager ones are counted with the bytes they really move, so their share differs little.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from simulator.units import Bytes, Seconds

if TYPE_CHECKING:
    from simulator.machine.hardware import Gpu


@lru_cache(maxsize=65536)
def time(gpu: Gpu, nbytes: Bytes, *, kernels: int = 1, fused: bool = True) -> Seconds:
    """Return the time of `kernels` kernels that move `nbytes` together."""
    constants = gpu.kernels.elementwise
    share = constants.fused if fused else constants.eager
    return kernels * constants.start + nbytes / (gpu.memory_bandwidth * share)
