"""Qwen2 with experts (Qwen1.5-MoE): Qwen3's placing of experts, biases on query, key and value, a wide shared expert.

The shared expert counts as several of the width of a routed one, its gate of one column as nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.convert.architectures import qwen3_moe
from simulator.convert.architectures.base import Architecture, Plain, shared_experts

SHARED = "shared_expert_intermediate_size"


def _read(config: Mapping[str, Any]) -> Plain:
    shared = shared_experts(config.get(SHARED), config["moe_intermediate_size"], SHARED)
    return {"bias": "qkv" if config.get("qkv_bias", True) else "none"} | shared | qwen3_moe.read(config)


def _write(model: Mapping[str, Any]) -> Plain:
    experts = model["experts"]
    return {"qkv_bias": model["bias"] == "qkv", SHARED: experts["shared"] * experts["ffn"]}


ARCHITECTURE = Architecture(
    model_type="qwen2_moe",
    name="Qwen2MoeForCausalLM",
    keys=qwen3_moe.ARCHITECTURE.keys,
    read=_read,
    write=_write,
    reads=(SHARED, "qkv_bias", *qwen3_moe.ARCHITECTURE.reads),
)
