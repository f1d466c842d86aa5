"""A layout of a study as changes of a scenario: what ``--set`` takes to load it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.explorer.asked import applied
from simulator.scenario import Scenario
from simulator.studies.layouts import Layout
from simulator.studies.point import Base

KEYS = {
    "tensor": "parallelism.tensor",
    "pipeline": "parallelism.pipeline",
    "context": "parallelism.context.size",
    "expert": "parallelism.expert",
    "expert_tensor": "parallelism.expert_tensor",
    "schedule": "parallelism.schedule",
    "sequence": "parallelism.sequence",
    "shard": "parallelism.shard.level",
    "microbatch": "training.microbatch",
    "recompute": "training.recompute",
}
"""Columns of a layout, and the keys of a scenario that say the same."""


def settings(row: Mapping[str, Any], now: Scenario) -> tuple[str, ...]:
    """Return the changes that make the layout of `now` that of `row`; those that are as they should be are left out."""
    have, want = _texts(of_scenario(now)), _texts(row)
    changes = [f"{KEYS[name]}={text}" for name, text in want.items() if have[name] != text]
    split = now.parallelism.split if now.parallelism else None
    if split and (have["pipeline"], have["schedule"]) != (want["pipeline"], want["schedule"]):
        changes.append("parallelism.split=null")
    return tuple(changes)


def load(base: Base, row: Mapping[str, Any]) -> Base:
    """Return `base` in the layout of `row`."""
    return applied(base, settings(row, base.read()))


def of_scenario(scenario: Scenario) -> dict[str, Any]:
    """Return the columns of a scenario's own layout."""
    assert scenario.parallelism is not None
    return Layout(scenario.parallelism, scenario.training).columns


def words(row: Mapping[str, Any]) -> str:
    """Return a layout in a few words: the axes that are not 1, schedule, microbatch, shard and recompute.

    >>> words({"tensor": 8, "pipeline": 8, "context": 1, "expert": 1, "schedule": "interleaved-1f1b", "chunks": 3,
    ...        "microbatch": 1, "shard": "none", "recompute": "selective", "data": 16})
    'tensor 8, pipeline 8, data 16, interleaved-1f1b with 3 chunks, microbatch 1, recompute selective'
    """
    axes = [
        f"{name} {row[name]}" for name in ("tensor", "context", "expert", "pipeline", "data") if row.get(name, 1) > 1
    ]
    parts = axes or ["one GPU"]
    if row["pipeline"] > 1:
        parts.append(row["schedule"] + (f" with {row['chunks']} chunks" if row["chunks"] > 1 else ""))
    parts.append(f"microbatch {row['microbatch']}")
    parts += [f"{name} {row[name]}" for name in ("shard", "recompute") if row[name] != "none"]
    return ", ".join(parts)


def _texts(row: Mapping[str, Any]) -> dict[str, str]:
    texts = {name: str(row[name]).lower() for name in KEYS}
    if row["chunks"] > 1 and row["schedule"] not in ("dualpipe", "zb-v"):
        texts["schedule"] = f"{{kind: {row['schedule']}, chunks: {row['chunks']}}}"
    return texts
