"""How a model is split over ranks: axes, groups, and the layers of each stage and chunk."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from simulator.units import Count
from simulator.workload.schedules import Schedule
from simulator.workload.schedules.one_f_one_b import OneForwardOneBackward

AXES = ("tensor", "context", "expert", "data", "pipeline")


@dataclass(frozen=True, kw_only=True)
class Context:
    size: Count = 1
    kind: Literal["ring", "all-gather", "ulysses"] = "ring"


@dataclass(frozen=True, kw_only=True)
class Shard:
    """Sharding over the data axis (ZeRO, FSDP)."""

    level: Literal["none", "optimizer", "gradients", "parameters"] = "none"
    replicas: Count = 1
    """Groups that each hold a whole copy (HSDP); 1 shards over the whole data axis."""


@dataclass(frozen=True, kw_only=True)
class Parallelism:
    tensor: Count = 1
    pipeline: Count = 1
    context: Context = field(default_factory=Context)
    expert: Count = 1
    expert_tensor: Count = 1
    schedule: Schedule = field(default_factory=OneForwardOneBackward)
    sequence: bool = False
    shard: Shard = field(default_factory=Shard)
    split: tuple[Count, ...] | None = None
    """Layers of each chunk in the order of the model; the stack's rule where left out."""
    order: str = "tp-cp-ep-dp-pp"
