"""Rows of published runs, made up or shipped, and the scenario that each says."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from simulator.validation import files
from simulator.validation.row import Row
from simulator.validation.rows import expression
from simulator.validation.suites.runs import Runs

PLAIN = {
    "id": "one",
    "family": "F",
    "gpu_name": "A100-80GB-SXM",
    "gpus": "16",
    "gpus_per_node": "8",
    "nics": "8",
    "nic_gbps": "200",
    "stack": "megatron",
    "year": "2022",
    "precision_name": "bf16",
    "precision": "bf16",
    "layers": "24",
    "hidden": "2048",
    "heads": "16",
    "kv_heads": "16",
    "ffn": "8192",
    "gated_mlp": "0",
    "vocab": "51200",
    "tie_embeddings": "1",
    "seq": "2048",
    "tp": "2",
    "pp": "2",
    "dp": "4",
    "cp": "1",
    "ep": "1",
    "vpp": "1",
    "schedule": "1f1b",
    "micro_batch": "2",
    "global_batch": "64",
    "sequence_parallel": "1",
    "recompute": "none",
    "zero_stage": "1",
    "flash_attention": "0",
}


def row(**changes: str) -> Row:
    texts = PLAIN | changes
    numbers = {name: float(text) for name in Runs.numbers if (text := texts.get(name, ""))}
    return Row(line=2, texts=texts, numbers=numbers)


def scenario(**changes: str) -> dict[str, Any]:
    (plain,) = expression(row(**changes)).scenarios
    return plain


@cache
def shipped() -> Mapping[str, Row]:
    return {row.text("id"): row for path in files.shipped() if path.stem == "runs" for row in files.read(path).rows}


def published(name: str) -> dict[str, Any]:
    (plain,) = expression(shipped()[name]).scenarios
    return plain
