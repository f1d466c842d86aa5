"""DeepSeek-V2: multi-head latent attention, small experts beside shared ones, first layers dense."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.convert.architectures.base import GROUPS, ONE_GROUP, SHAPE, Architecture, Plain, experts_as

KEYS = {name: key for name, key in SHAPE.items() if name != "head_size"} | {
    "attention.q_rank": "q_lora_rank",
    "attention.kv_rank": "kv_lora_rank",
    "attention.rope_size": "qk_rope_head_dim",
    "attention.nope_size": "qk_nope_head_dim",
    "attention.value_size": "v_head_dim",
    **experts_as("n_routed_experts", "moe_intermediate_size"),
    "experts.shared": "n_shared_experts",
    "experts.dense_layers": "first_k_dense_replace",
    **GROUPS,
}
CHECKED = ("attention_bias", "moe_layer_freq")


def check(config: Mapping[str, Any]) -> Plain:
    """Refuse what our model cannot say."""
    if config.get("attention_bias") or config.get("moe_layer_freq", 1) != 1:
        raise ValueError("attention_bias and moe_layer_freq: other values than false and 1 cannot be expressed")
    return {}


ARCHITECTURE = Architecture(
    model_type="deepseek_v2",
    name="DeepseekV2ForCausalLM",
    keys=KEYS,
    fixed={"attention.kind": "mla"},
    read=check,
    reads=CHECKED,
    defaults=ONE_GROUP,
)
