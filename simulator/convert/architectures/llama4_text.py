"""Llama 4, the text model: experts beside a shared one, in the last of each `interleave_moe_layer_step` layers.

Attention within chunks (`attention_chunk_size`) is taken as full attention, and its norm of queries and keys has no
weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.convert.architectures.base import LOCAL_EXPERTS, SHAPE, Architecture, Plain


def _read(config: Mapping[str, Any]) -> Plain:
    step, layers = config.get("interleave_moe_layer_step", 1), config["num_hidden_layers"]
    placed = config.get("moe_layers")
    if placed is not None and list(placed) != list(range(step - 1, layers, step)):
        raise ValueError("moe_layers: experts elsewhere than in the last of each interleave_moe_layer_step layers")
    return {}


ARCHITECTURE = Architecture(
    model_type="llama4_text",
    name="Llama4ForCausalLM",
    keys={
        **SHAPE,
        **LOCAL_EXPERTS,
        "ffn": "intermediate_size_mlp",
        "experts.every": "interleave_moe_layer_step",
    },
    fixed={"experts.shared": 1},
    defaults={"interleave_moe_layer_step": 1, "hidden_act": "silu"},
    read=_read,
    reads=("moe_layers",),
)
