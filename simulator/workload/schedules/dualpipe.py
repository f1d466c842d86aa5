"""DualPipe: microbatches enter at both ends, so a forward of one half runs beside a backward of the other.

DeepSeek-AI, 2024 (arXiv 2412.19437), section 3.2.1, and github.com/deepseek-ai/DualPipe. Each part of the model
is held by two stages, i and p - 1 - i. Bubble (p/2 - 1)(F&B + B - 3W); a stage holds p + 1 microbatches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulator.workload.schedules.base import Route, Schedule, Task


@dataclass(frozen=True, kw_only=True)
class DualPipe(Schedule):
    """Chunk 0 of a stage serves the first half of the microbatches, from stage 0 on; chunk 1 the other half."""

    kind: ClassVar[str] = "dualpipe"
    splits: ClassVar[bool] = True

    @property
    def chunks_per_stage(self) -> int:
        return 2

    @property
    def copies(self) -> int:
        return 2

    def path(self, microbatch: int, stages: int, microbatches: int) -> Route:
        if microbatch < microbatches // 2:
            return self.route(stages)
        return tuple((stage, 1) for stage in reversed(range(stages)))

    def check(self, stages: int, microbatches: int) -> str | None:
        if stages % 2 or microbatches % 2:
            return f"two directions need even numbers of stages and microbatches, not {stages} and {microbatches}"
        if microbatches < 2 * stages:
            return (
                f"{stages} stages need at least {2 * stages} microbatches to fill both directions, not {microbatches}"
            )
        return None

    def tasks(self, stage: int, stages: int, microbatches: int) -> tuple[Task, ...]:
        mirrored = stage >= stages // 2
        depth = min(stage, stages - 1 - stage)
        half = microbatches // 2
        order: list[Task] = []
        done = {(phase, chunk): 0 for phase in "FIW" for chunk in (0, 1)}
        waiting: list[tuple[int, int]] = []

        def forward(near: int) -> None:
            order.append(Task("F", *next_of("F", near)))

        def backward(near: int) -> None:
            order.append(Task("B", *next_of("I", near)))

        def input_gradient(near: int) -> None:
            waiting.append(next_of("I", near))
            order.append(Task("I", *waiting[-1]))

        def weight_gradient() -> None:
            order.append(Task("W", *waiting.pop(0)))

        def next_of(phase: str, near: int) -> tuple[int, int]:
            chunk = near ^ mirrored
            done[phase, chunk] += 1
            return done[phase, chunk] - 1 + chunk * half, chunk

        # 0 is the direction that enters at the nearer end, 1 the other one.
        inward = stages // 2 - 1 - depth
        for _ in range(2 * inward):
            forward(0)
        for _ in range(depth + 1):
            forward(0)
            forward(1)
        for _ in range(inward):
            input_gradient(1)
            weight_gradient()
            forward(1)
        for _ in range(half - stages + depth + 1):
            forward(0)
            backward(1)
            forward(1)
            backward(0)
        for _ in range(inward):
            backward(1)
            forward(1)
            backward(0)
        whole = depth + 1
        for number in range(2 * (depth + 1)):
            (backward if number < whole else input_gradient)(1 - number % 2)
        for _ in range(inward):
            weight_gradient()
            input_gradient(0)
        for _ in range(depth + 1):
            weight_gradient()
        return tuple(order)

    def representative(self, stages: int, microbatches: int) -> int:
        return min(microbatches, 4 * stages)

    def period(self, stages: int, microbatches: int) -> int | None:
        return None
