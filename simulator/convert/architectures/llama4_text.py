"""Llama 4, the text model: experts beside a shared one, in the last of each `interleave_moe_layer_step` layers.

Attention within chunks (`attention_chunk_size`) is taken as full attention, and its norm of queries and keys has no
weights.
"""

from __future__ import annotations

from simulator.convert.architectures.base import SHAPE, Architecture

ARCHITECTURE = Architecture(
    model_type="llama4_text",
    name="Llama4ForCausalLM",
    keys={
        **SHAPE,
        "ffn": "intermediate_size_mlp",
        "experts.count": "num_local_experts",
        "experts.active": "num_experts_per_tok",
        "experts.ffn": "intermediate_size",
        "experts.every": "interleave_moe_layer_step",
    },
    fixed={"experts.shared": 1},
    defaults={"interleave_moe_layer_step": 1, "hidden_act": "silu"},
)
