"""OLMoE: experts in every layer, and a norm over all query and all key heads."""

from __future__ import annotations

from simulator.convert.architectures.base import SHAPE, Architecture, experts_as, refuse

ARCHITECTURE = Architecture(
    model_type="olmoe",
    name="OlmoeForCausalLM",
    keys={name: key for name, key in SHAPE.items() if name != "head_size"}
    | experts_as("num_experts", "intermediate_size"),
    fixed={"qk_norm": "full"},
    read=refuse("attention_bias"),
    reads=("attention_bias",),
)
