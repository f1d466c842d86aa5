"""ZB-V: two chunks a stage, laid out as a V, so that the last layers end on the first stage.

Qi et al., 2024 (arXiv 2405.15362), V-ZB: forward, input gradient and weight gradient of equal length leave no
bubble, and a stage holds 2p chunks, as many bytes as the first stage of 1F1B.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.workload.schedules.base import Route, Schedule, Task


@dataclass(frozen=True, kw_only=True)
class ZeroBubbleV(Schedule):
    kind: ClassVar[str] = "zb-v"
    splits: ClassVar[bool] = True

    @property
    def chunks_per_stage(self) -> int:
        return 2

    def route(self, stages: int) -> Route:
        down = [(stage, 0) for stage in range(stages)]
        up = [(stage, 1) for stage in reversed(range(stages))]
        return (*down, *up)

    def tasks(self, stage: int, stages: int, microbatches: int) -> tuple[Task, ...]:
        # The pattern needs 2p - 1 microbatches to fill; with fewer, those that do not exist are left out.
        needed = max(microbatches, 2 * stages - 1)
        order = (Task(phase, number, chunk) for phase, number, chunk in _pattern(stage, stages, needed))
        return tuple(task for task in order if task.microbatch < microbatches)

    def representative(self, stages: int, microbatches: int) -> int:
        return min(microbatches, 4 * stages)


def _pattern(stage: int, stages: int, microbatches: int) -> list[Task]:
    order: list[Task] = []
    done = {(phase, chunk): 0 for phase in "FIW" for chunk in (0, 1)}

    def do(*steps: str) -> None:
        for step in steps:
            phase, chunk = step[0], int(step[1])
            order.append(Task(phase, done[phase, chunk], chunk))  # type: ignore[arg-type]
            done[phase, chunk] += 1

    behind = stages - stage
    do(*["F0"] * (2 * behind - 1))
    do(*["F1", "F0"] * stage)
    do(*["F1", "I1", "W1"] * behind)
    while done["F", 1] < microbatches:
        do(*["F0"] * (done["F", 0] < microbatches), "I0", "W0", "F1", "I1", "W1")
    do(*["I0", "I1"] * stage)
    do(*["I0", "W0"] * behind)
    do(*["W1"] * (microbatches - done["W", 1]), *["W0"] * (microbatches - done["W", 0]))
    return order
