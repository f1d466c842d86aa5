"""How a row was parallelised: its degrees, schedule and sharding as the parallelism section."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from simulator.validation import phrases, rules
from simulator.validation.expression import InexpressibleError
from simulator.validation.row import Row
from simulator.validation.stacks import Choice, fact

SHARD = {
    "0": "none",
    "1": "optimizer",
    "2": "gradients",
    "3": "parameters",
    "dist-opt": "optimizer",
    "hsdp": "parameters",
}
INTERLEAVED = "interleaved-1f1b"
PLAIN = "1f1b"


@dataclass(frozen=True, kw_only=True)
class Degrees:
    tensor: int
    pipeline: int
    context: int
    expert: int
    data: int


def degrees(row: Row) -> Degrees:
    """Return the degrees of the row; the data degree is what the others leave of its GPUs."""
    gpus = row.whole("gpus") or 1
    tensor, pipeline, context, expert = (row.whole(name) or 1 for name in ("tp", "pp", "cp", "ep"))
    model = tensor * pipeline * context
    stated = row.whole("dp")
    if gpus % model or (stated and stated * model != gpus):
        data = f" x data {stated}" if stated else ""
        raise InexpressibleError(
            f"tensor {tensor} x pipeline {pipeline} x context {context}{data} does not make {gpus} GPUs"
        )
    return Degrees(tensor=tensor, pipeline=pipeline, context=context, expert=expert, data=gpus // model)


def parallelism(row: Row, size: Degrees, stack: Choice, gpus_per_host: int, microbatches: int) -> dict[str, Any]:
    """Return the parallelism section of the row."""
    section: dict[str, Any] = {"tensor": size.tensor, "pipeline": size.pipeline, "context": size.context}
    if size.context > 1 and phrases.ULYSSES.search(row.text("notes")):
        section["context"] = {"size": size.context, "kind": "ulysses"}
    if row.whole("experts"):
        ranks = size.tensor * size.context * size.data
        split = row.whole("expert_tensor") or rules.expert_tensor(size.tensor, size.expert, ranks)
        section |= {"expert": size.expert, "expert_tensor": split}
    if size.tensor > 1 and (sequence := row.flag("sequence_parallel")) is not None:
        section["sequence"] = sequence
    if size.pipeline > 1:
        section["schedule"] = schedule(row, size, stack, microbatches)
    return section | _shard(row, size, gpus_per_host) | _split(row, section, stack)


def schedule(row: Row, size: Degrees, stack: Choice, microbatches: int) -> dict[str, Any]:
    """Return the schedule; chunks stated with any 1F1B are interleaved, and one chunk is plain 1F1B."""
    name, chunks = row.text("schedule"), row.whole("vpp")
    if name.startswith("none"):
        name = ""
    if not name:
        name = rules.schedule(stack.interleaves, microbatches, size.pipeline) if chunks is None else PLAIN
    if name not in (PLAIN, INTERLEAVED):
        return {"kind": name}
    if name == INTERLEAVED and chunks is None:
        chunks = rules.chunks(row.whole("layers") or size.pipeline, size.pipeline, stack.small_chunks)
    return {"kind": INTERLEAVED, "chunks": chunks} if chunks and chunks > 1 else {"kind": PLAIN}


def _split(row: Row, section: dict[str, Any], stack: Choice) -> dict[str, str]:
    layers = row.whole("layers")
    parts = section["pipeline"] * section.get("schedule", {}).get("chunks", 1)
    uneven = layers is not None and layers % parts
    return {"split": rules.split()} if uneven and fact(stack.name, "split", "even") == "even" else {}


def _shard(row: Row, size: Degrees, gpus_per_host: int) -> dict[str, Any]:
    stage = row.text("zero_stage")
    if not stage:
        return {}
    if stage not in SHARD:
        raise InexpressibleError(f"sharding {stage!r} is not known")
    level, ranks = SHARD[stage], size.data * size.context
    if stage == "0" and phrases.ZERO_3.search(row.text("notes")):
        return {"shard": "parameters"}  # one rank, whose engine shards all the same
    group = ranks
    if within := phrases.SHARD_GROUP.search(row.text("notes")):
        group = int(within[1])
    elif stage == "hsdp" and (slices := phrases.slices(row.text("network"))):
        group = max(ranks // slices, 1)
    elif stage == "hsdp":
        group = rules.host_group(gpus_per_host, size.tensor, ranks)
    if level == "none" or group >= ranks:
        return {"shard": level}
    if ranks % group:
        raise InexpressibleError(f"{ranks} data ranks are not whole shard groups of {group}")
    return {"shard": {"level": level, "replicas": ranks // group}}
