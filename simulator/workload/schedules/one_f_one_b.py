"""1F1B: a stage starts a backward as soon as it can, and so holds few microbatches (PipeDream-Flush).

Narayanan et al., 2021 (arXiv 2104.04473), section 2.2.1: bubble (p - 1)(f + b), stage i holds p - i microbatches.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

from simulator.workload.schedules.base import Schedule, Task


@dataclass(frozen=True, kw_only=True)
class OneForwardOneBackward(Schedule):
    kind: ClassVar[str] = "1f1b"

    def tasks(self, stage: int, stages: int, microbatches: int) -> tuple[Task, ...]:
        warmup = min(stages - 1 - stage, microbatches)
        forwards = [Task("F", microbatch) for microbatch in range(microbatches)]
        backwards = [Task("B", microbatch) for microbatch in range(microbatches)]
        steady = chain.from_iterable(zip(forwards[warmup:], backwards, strict=False))
        return (*forwards[:warmup], *steady, *backwards[microbatches - warmup :])

    def representative(self, stages: int, microbatches: int) -> int:
        return min(microbatches, stages)
