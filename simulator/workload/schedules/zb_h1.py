"""ZB-H1, the memory-neutral zero-bubble schedule (ZB-1p): weight gradients fill the bubble of 1F1B.

Qi et al., 2023 (arXiv 2401.10241), section 2.2: the backward is split, stage i delays its weight gradients by i
microbatches, so every stage holds p microbatches. Bubble (p - 1)(F + I - W).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.workload.schedules.base import Schedule, Task


@dataclass(frozen=True, kw_only=True)
class ZeroBubbleH1(Schedule):
    kind: ClassVar[str] = "zb-h1"
    splits: ClassVar[bool] = True

    def tasks(self, stage: int, stages: int, microbatches: int) -> tuple[Task, ...]:
        return split_backward_tasks(warmup=stages - 1 - stage, delay=stage, microbatches=microbatches)

    def representative(self, stages: int, microbatches: int) -> int:
        return min(microbatches, 2 * stages)


def split_backward_tasks(*, warmup: int, delay: int, microbatches: int) -> tuple[Task, ...]:
    """Return 1F1B with `warmup` forwards ahead and weight gradients `delay` microbatches behind."""
    ahead = min(warmup, microbatches)
    order = [Task("F", microbatch) for microbatch in range(ahead)]
    for microbatch in range(microbatches):
        if ahead + microbatch < microbatches:
            order.append(Task("F", ahead + microbatch))
        order.append(Task("I", microbatch))
        if microbatch >= delay:
            order.append(Task("W", microbatch - delay))
    order.extend(Task("W", microbatch) for microbatch in range(max(microbatches - delay, 0), microbatches))
    return tuple(order)
