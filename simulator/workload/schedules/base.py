"""What every pipeline schedule is: where chunks of layers live and in which order a stage works."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple


class Task(NamedTuple):
    """Work of one microbatch on one chunk of layers of a stage.

    F is forward, B the whole backward; I and W are the two halves of a split backward: gradients of
    the inputs, which the stage before waits for, and of the weights, which nobody waits for.
    """

    phase: Literal["F", "B", "I", "W"]
    microbatch: int
    chunk: int = 0


@dataclass(frozen=True, kw_only=True)
class Schedule(ABC):
    kind: ClassVar[str]

    @property
    def chunks_per_stage(self) -> int:
        return 1

    @abstractmethod
    def tasks(self, stage: int, stages: int, microbatches: int) -> tuple[Task, ...]:
        """Return what `stage` does, in order; the clock decides when."""

    def route(self, stages: int) -> tuple[tuple[int, int], ...]:
        """Return the (stage, chunk) that holds each part of the model, first layers first."""
        return tuple((stage, 0) for stage in range(stages))

    def check(self, stages: int, microbatches: int) -> str | None:
        """Return why these numbers cannot run, or None."""
        return None
