"""All checks between sections, as far as the sections themselves could be read."""

from __future__ import annotations

from typing import Any

from simulator.scenario import consistency, feasibility, tuning
from simulator.scenario.mistakes import Mistakes


def check(parts: dict[str, Any], mistakes: Mistakes) -> None:
    """Note what does not fit together in `parts`, the sections that could be read."""
    cluster, training, layout = parts.get("cluster"), parts.get("training"), parts.get("parallelism")
    failures, recovery = parts.get("failures"), parts.get("recovery")
    if cluster:
        feasibility.check_fabric(cluster, mistakes)
        feasibility.check_collectives(cluster, mistakes)
    if training:
        feasibility.check_amount(training, mistakes)
    if training and cluster and parts.get("model"):
        feasibility.check_precision(training, cluster, mistakes)
    if failures:
        feasibility.check_causes(failures, mistakes)
    if cluster and failures and recovery:
        feasibility.check_spares(cluster, failures, recovery, mistakes)
    if layout and cluster:
        _check_layout(parts, mistakes)


def _check_layout(parts: dict[str, Any], mistakes: Mistakes) -> None:
    layout: Any = parts["parallelism"]
    training, model, stack = (parts.get(name) for name in ("training", "model", "stack"))
    data = consistency.check_mesh(layout, parts["cluster"], mistakes)
    if data is None:
        return
    consistency.check_shard(layout, data, mistakes)
    if stack:
        consistency.check_axes(layout, stack, mistakes)
        consistency.check_level(layout, data, stack, mistakes)
    if training:
        microbatches = consistency.check_batch(data, layout, training, mistakes)
        if microbatches is not None:
            consistency.check_schedule(layout, microbatches, mistakes)
    if model:
        consistency.check_experts(model, layout, data, mistakes)
    if model and training:
        consistency.check_model(model, layout, training, mistakes)
    if model and training:
        tuning.check(model, training, mistakes)
    if model and stack:
        consistency.check_split(model, stack, layout, mistakes)
    if parts.get("recovery"):
        feasibility.check_elastic(parts["recovery"], data, mistakes)
