"""What starting a kernel costs when the GPU is otherwise ready."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.units import Seconds

if TYPE_CHECKING:
    from simulator.machine.hardware import Gpu


def launch_overhead(gpu: Gpu, graphs: bool = False) -> Seconds:
    """Return the time between the starts of two empty kernels, from a stream or replayed from a graph.

    Measured back to back: 2.5 us on H200 and 2.6 on A100 from a stream, 1.3 from a graph (te42kyfo/gpu-benches). The
    processor's own time to issue the work of a layer is the stack's, not the GPU's.
    """
    launch = gpu.kernels.launch
    return launch.graphs if graphs else launch.stream
