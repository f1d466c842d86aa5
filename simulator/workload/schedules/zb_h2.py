"""ZB-H2, the schedule without bubble (ZB-2p): nearly twice the forwards ahead buy what is left of the bubble.

Qi et al., 2023 (arXiv 2401.10241), section 2.3: stage i runs 2(p - i) - 1 forwards before its first backward and
delays weight gradients by 2i microbatches, so every stage holds 2p - 1 microbatches. With F = I = W a stage never
idles between its first and its last task.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.workload.schedules.base import Schedule, Task
from simulator.workload.schedules.zb_h1 import split_backward_tasks


@dataclass(frozen=True, kw_only=True)
class ZeroBubbleH2(Schedule):
    kind: ClassVar[str] = "zb-h2"
    splits: ClassVar[bool] = True

    def tasks(self, stage: int, stages: int, microbatches: int) -> tuple[Task, ...]:
        return split_backward_tasks(warmup=2 * (stages - 1 - stage), delay=2 * stage, microbatches=microbatches)

    def representative(self, stages: int, microbatches: int) -> int:
        return min(microbatches, 4 * stages)
