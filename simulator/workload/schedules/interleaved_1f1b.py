"""Interleaved 1F1B: each stage holds several chunks of layers, so that the pipeline fills faster.

Narayanan et al., 2021 (arXiv 2104.04473), section 2.2.2: bubble (p - 1)(f + b)/v, at v times the messages.
A chunk takes a group of consecutive microbatches before the next chunk has its turn. The group is as long as
the pipeline where the number of microbatches divides; otherwise it is the shortest one that Megatron-Core
accepts (`megatron/core/pipeline_parallel/schedules.py`, `microbatch_group_size_per_vp_stage`): at least p, and
the last group, if shorter, at least p too. Fewer microbatches than stages make one group, as in
`torch.distributed.pipelining`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

from simulator.units import Count
from simulator.workload.schedules.base import Route, Schedule, Task


@dataclass(frozen=True, kw_only=True)
class InterleavedOneForwardOneBackward(Schedule):
    kind: ClassVar[str] = "interleaved-1f1b"

    chunks: Count = 2
    """Chunks of layers a stage."""
    group: Count | None = None
    """Consecutive microbatches of a chunk; the shortest valid number where left out."""

    @property
    def chunks_per_stage(self) -> int:
        return self.chunks

    def route(self, stages: int) -> Route:
        return tuple((stage, chunk) for chunk in range(self.chunks) for stage in range(stages))

    def group_size(self, stages: int, microbatches: int) -> int:
        """Return how many consecutive microbatches a chunk takes."""
        if self.group is not None or microbatches <= stages:
            return self.group or microbatches
        sizes = range(stages, microbatches + 1)
        return next(size for size in sizes if not 0 < microbatches % size < stages)

    def check(self, stages: int, microbatches: int) -> str | None:
        if self.chunks < 2:
            return f"interleaving needs at least 2 chunks a stage, not {self.chunks}; 1f1b is the schedule with one"
        if self.group is None:
            return None
        if not min(stages, microbatches) <= self.group <= microbatches:
            return (
                f"a group of {self.group} microbatches is not between {stages} stages and {microbatches} microbatches"
            )
        if 0 < microbatches % self.group < stages:
            return (
                f"the last group would hold {microbatches % self.group} of {microbatches} microbatches, "
                f"fewer than the {stages} stages"
            )
        return None

    def tasks(self, stage: int, stages: int, microbatches: int) -> tuple[Task, ...]:
        group = self.group_size(stages, microbatches)
        turns = [
            (microbatch, chunk)
            for first in range(0, microbatches, group)
            for chunk in range(self.chunks)
            for microbatch in range(first, min(first + group, microbatches))
        ]
        forwards = [Task("F", microbatch, chunk) for microbatch, chunk in turns]
        backwards = [Task("B", microbatch, self.chunks - 1 - chunk) for microbatch, chunk in turns]
        warmup = min(2 * (stages - 1 - stage) + (self.chunks - 1) * group, len(turns))
        steady = chain.from_iterable(zip(forwards[warmup:], backwards, strict=False))
        return (*forwards[:warmup], *steady, *backwards[len(turns) - warmup :])

    def representative(self, stages: int, microbatches: int) -> int:
        group = self.group_size(stages, microbatches)
        return min(microbatches, 4 * group) if microbatches % group == 0 else microbatches

    def period(self, stages: int, microbatches: int) -> int | None:
        group = self.group_size(stages, microbatches)
        return group if group == stages and microbatches % group == 0 else None

    def round_size(self, stages: int, microbatches: int) -> int:
        return self.group_size(stages, microbatches)
