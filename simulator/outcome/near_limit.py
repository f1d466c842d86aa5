"""What is said of a run whose memory is nearly full: it may work, and yet be slower than its step.

A caching allocator without a free block asks the driver for one. Where the driver has none left, the allocator waits
for the GPU, gives back all blocks that are cached, and asks again (`num_alloc_retries` of PyTorch's `memory_stats`).
What that costs depends on the order of sizes, so no time is put on it.
"""

from __future__ import annotations

from collections.abc import Iterator

from simulator.workload.memory import MemoryEstimate
from simulator.workload.stack import Stack


def warnings(held: MemoryEstimate | None, stack: Stack) -> Iterator[str]:
    """Yield the warning of a run that may fit, but with fewer bytes left than its allocator would keep cached."""
    if held is None or held.verdict == "oom" or stack.reserved_factor <= 1:
        return
    overhead = held.process_bytes - held.reserved_bytes
    if held.allocated_bytes * stack.reserved_factor + overhead < held.usable_bytes and held.verdict == "fits":
        return
    yield (
        f"memory: at {held.peak_bytes / held.usable_bytes:.1%} of what is usable the allocator may flush its cache and "
        "retry (`num_alloc_retries` in PyTorch), which the step does not include"
    )
