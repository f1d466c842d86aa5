"""The `search` section: the values that `foretrain layouts` tries, axis by axis."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

from simulator.kinds import kinds
from simulator.scenario.mistakes import Mistakes, did_you_mean
from simulator.units import Count
from simulator.workload.schedules import Schedule


@dataclass(frozen=True, kw_only=True)
class Search:
    """An axis that is left out takes every valid value."""

    tensor: tuple[Count, ...] | None = None
    """Tensor-parallel sizes."""
    pipeline: tuple[Count, ...] | None = None
    """Numbers of stages."""
    context: tuple[Count, ...] | None = None
    """Context-parallel sizes."""
    expert: tuple[Count, ...] | None = None
    """Expert-parallel sizes."""
    expert_tensor: tuple[Count, ...] | None = None
    """Ranks that share one expert."""
    schedule: tuple[str, ...] | None = None
    """Kinds of schedules."""
    chunks: tuple[Count, ...] | None = None
    """Chunks a stage of interleaved schedules."""
    microbatch: tuple[Count, ...] | None = None
    """Sequences a microbatch."""
    shard: tuple[Literal["none", "optimizer", "gradients", "parameters"], ...] | None = None
    """What replicas share out."""
    recompute: tuple[Literal["none", "selective", "full", "sqrt"], ...] | None = None
    """Kinds of recompute."""
    sequence: tuple[bool, ...] | None = None
    """Sequence parallelism, on and off."""

    def axes(self) -> dict[str, tuple[Any, ...]]:
        """Return the axes that are given."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: tuple(value) for name, value in values.items() if value is not None}


def check(search: Search, mistakes: Mistakes) -> None:
    """Note an axis without a value, and schedules that do not exist."""
    known = list(kinds("simulator.workload.schedules", Schedule))
    for axis, values in search.axes().items():
        if not values:
            mistakes.add(("search", axis), "an empty list leaves no layout; leave the axis out to try every value")
        for index, value in enumerate(values):
            if axis == "schedule" and value not in known:
                mistakes.add(("search", axis, index), f"unknown value `{value[:40]}`; {did_you_mean(value, known)}")
