"""The `parallelism` section; what is left out follows from the stack."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, Literal

from simulator.scenario.altered import altered, given
from simulator.units import Count
from simulator.workload.layout import Parallelism, Shard
from simulator.workload.stack import Stack

ParallelismSection: Any = altered(
    Parallelism,
    sequence=bool,
    shard=altered(Shard, level=Literal["none", "optimizer", "gradients", "parameters"]),
    order=Literal["tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp"],
    split=tuple[Count, ...] | Literal["even", "slots", "slots-if-uneven", "cost"],
)


def resolve(section: Any, keys: Collection[str], stack: Stack) -> tuple[Parallelism, Stack]:
    """Return the layout, and the stack with the split rule that a scenario names instead of a list."""
    fields = given(section, keys)
    rule: Any = section.split
    if isinstance(rule, str):
        stack = replace(stack, split=rule)  # type: ignore[arg-type]
        del fields["split"]
    if section.sequence is None:
        fields["sequence"] = section.tensor > 1 and stack.sequence
    shard = section.shard
    if section.order is None:
        fields.pop("order", None)
    fields["shard"] = Shard(
        level=(shard and shard.level) or stack.shard, replicas=shard.replicas if shard else Shard.replicas
    )
    return Parallelism(**fields), stack
