"""GPipe: all forwards, then all backwards, last microbatch first (Huang et al., 2019, arXiv 1811.06965, figure 2).

Bubble (p - 1)(f + b), as 1F1B; every stage holds all microbatches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.workload.schedules.base import Schedule, Task


@dataclass(frozen=True, kw_only=True)
class GPipe(Schedule):
    kind: ClassVar[str] = "gpipe"

    def tasks(self, stage: int, stages: int, microbatches: int) -> tuple[Task, ...]:
        forwards = (Task("F", microbatch) for microbatch in range(microbatches))
        backwards = (Task("B", microbatch) for microbatch in reversed(range(microbatches)))
        return (*forwards, *backwards)
