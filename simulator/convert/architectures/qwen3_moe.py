"""Qwen3 with experts: in every layer, or in the last of each `decoder_sparse_step`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.convert.architectures.base import SHAPE, Architecture, Plain, experts_as
from simulator.convert.architectures.qwen2 import WINDOW_KEYS, read_used_window


def read(config: Mapping[str, Any]) -> Plain:
    if config.get("mlp_only_layers"):
        raise ValueError("mlp_only_layers: dense layers at chosen places cannot be expressed")
    return read_used_window(config)


ARCHITECTURE = Architecture(
    model_type="qwen3_moe",
    name="Qwen3MoeForCausalLM",
    keys={
        **SHAPE,
        **experts_as("num_experts", "moe_intermediate_size"),
        "experts.every": "decoder_sparse_step",
    },
    fixed={"qk_norm": "head"},
    defaults={"head_dim": 128},
    read=read,
    reads=("mlp_only_layers", *WINDOW_KEYS),
)
