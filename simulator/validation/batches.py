"""What the optimizer of a row saw: batch, microbatch, precision, recompute as the training section."""

from __future__ import annotations

import re
from typing import Any

from simulator.validation import phrases, rules, tuned_runs
from simulator.validation.expression import InexpressibleError
from simulator.validation.layouts import Degrees
from simulator.validation.row import Row
from simulator.validation.stacks import NEWEST

PRECISIONS = ("nvfp4", "mxfp8", "fp8", "bf16", "fp16", "tf32", "fp32")
SCALINGS = (
    (r"\bblock|sub-?channel", "block"),
    (r"current|\bcs\b|tensorwise|rowwise|dynamic", "current"),
    (r"delayed|\bds\b", "delayed"),
)
RECOMPUTES = ("none", "selective", "full", "sqrt")


def sizes(row: Row, size: Degrees, framework: str) -> tuple[int, tuple[int, ...]]:
    """Return the global batch in sequences and the microbatch sizes to try."""
    batch, micro = _global_batch(row), row.whole("micro_batch")
    if micro and size.pipeline > 1 and framework == "torchtitan":
        micro = _pipeline_microbatch(row, micro, size.pipeline)
    if batch is None:
        micro = micro or 1
        return rules.global_batch(size.data, size.pipeline, micro), (micro,)
    if batch % size.data:
        raise InexpressibleError(f"a global batch of {batch} does not divide over {size.data} replicas")
    share = batch // size.data
    if micro and share % micro:
        raise InexpressibleError(f"a replica's share of {share} sequences is not whole microbatches of {micro}")
    return batch, (micro,) if micro else rules.microbatches(share)


def training(row: Row, batch: int, micro: int, layers_a_stage: int) -> dict[str, Any]:
    """Return the training section of the row, for one step."""
    sequence = row.whole("seq")
    if sequence is None:
        raise InexpressibleError("the sequence length is not stated")
    text = "; ".join((row.text("precision"), row.text("overlap"), row.text("notes")))
    section: dict[str, Any] = {"steps": 1, "sequence_length": sequence, "global_batch": batch, "microbatch": micro}
    section |= _precision(row) | _recompute(row, layers_a_stage)
    if method := tuned_runs.method(row):
        section["method"] = method
    if away := tuned_runs.offload(row):
        section["offload"] = away
    return section | phrases.said("training", text)


def _global_batch(row: Row) -> int | None:
    """Return the batch as stated, or as tokens a second and step time give it.

    The two are readings of one step, and their product is its tokens, a setting: how long the step took cancels out of
    it. No other column of what was measured is read here.
    """
    if batch := row.whole("global_batch"):
        return batch
    rate, time, gpus, sequence = (row.real(name) for name in ("tokens_per_s_per_gpu", "step_time_s", "gpus", "seq"))
    return round(rate * gpus * time / sequence) if rate and time and gpus and sequence else None


def _pipeline_microbatch(row: Row, local_batch: int, pipeline: int) -> int:
    if stated := phrases.PIPELINE_MICROBATCHES.search(row.text("notes")):
        return max(local_batch // int(stated[1]), 1)
    return rules.pipeline_microbatch(local_batch, pipeline, row.whole("year") or NEWEST)


def _precision(row: Row) -> dict[str, Any]:
    text = row.text("precision")
    kind = row.text("precision_name") or next((name for name in PRECISIONS if name in text), text)
    if kind not in PRECISIONS:
        raise InexpressibleError(f"precision {kind!r} is not known" if kind else "the precision is not stated")
    scaling = next((name for pattern, name in SCALINGS if re.search(pattern, text)), None)
    return {"precision": {"kind": kind, "scaling": scaling} if kind == "fp8" and scaling else kind}


def _recompute(row: Row, layers_a_stage: int) -> dict[str, Any]:
    kind = row.text("recompute")
    if not kind:
        return {}
    if block := tuned_runs.BLOCK.match(kind):
        return {"recompute": {"kind": "full", "layers": int(block[1])}}
    if kind not in RECOMPUTES:
        raise InexpressibleError(f"recompute {kind!r} is not known")
    if phrases.OTHER_LAYERS.search(row.text("notes")):
        return {"recompute": {"kind": "full", "layers": max(layers_a_stage // 2, 1)}}
    return {"recompute": kind}
