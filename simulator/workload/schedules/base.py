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


Route = tuple[tuple[int, int], ...]
"""The (stage, chunk) that holds each part of the model, first layers first."""


@dataclass(frozen=True, kw_only=True)
class Schedule(ABC):
    kind: ClassVar[str]
    splits: ClassVar[bool] = False
    """Whether some backwards are done in two halves, I and W."""

    @property
    def chunks_per_stage(self) -> int:
        return 1

    @property
    def copies(self) -> int:
        """Return how many stages hold each part of the model: 2 where microbatches enter at both ends."""
        return 1

    @abstractmethod
    def tasks(self, stage: int, stages: int, microbatches: int) -> tuple[Task, ...]:
        """Return what `stage` does, in order; the clock decides when."""

    def route(self, stages: int) -> Route:
        """Return the (stage, chunk) that holds each part of the model, first layers first."""
        return tuple((stage, 0) for stage in range(stages))

    def path(self, microbatch: int, stages: int, microbatches: int) -> Route:
        """Return the route of one microbatch; all take the same one unless some enter at the other end."""
        return self.route(stages)

    def check(self, stages: int, microbatches: int) -> str | None:
        """Return why these numbers cannot run, or None."""
        return None

    def representative(self, stages: int, microbatches: int) -> int:
        """Return a number of microbatches, as few as known, for which each stage holds as much at its peak."""
        return microbatches

    def period(self, stages: int, microbatches: int) -> int | None:
        """Return how many microbatches later every stage does the same again; None where it never does."""
        return stages

    def round_size(self, stages: int, microbatches: int) -> int:
        """Return how many microbatches in a row pass one chunk before another has its turn."""
        return 1

    def in_flight(self, stage: int, stages: int, microbatches: int) -> int:
        """Return the most (microbatch, chunk) pairs whose forward `stage` has done and whose backward it has not.

        A split backward releases with its second half, which still needs the inputs of the layers.
        """
        held = peak = 0
        for task in self.tasks(stage, stages, self.representative(stages, microbatches)):
            held += {"F": 1, "B": -1, "I": 0, "W": -1}[task.phase]
            peak = max(peak, held)
        return peak
