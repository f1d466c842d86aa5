"""GLM-4.5 to 4.7: DeepSeek-V3's experts under grouped-query attention, with biases on query, key and value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.convert.architectures.base import SHAPE, Architecture, Plain, experts_as


def _read(config: Mapping[str, Any]) -> Plain:
    return {
        "bias": "qkv" if config.get("attention_bias") else "none",
        "qk_norm": "head" if config.get("use_qk_norm") else "none",
    }


def _write(model: Mapping[str, Any]) -> Plain:
    return {"attention_bias": model["bias"] == "qkv", "use_qk_norm": model["qk_norm"] == "head"}


ARCHITECTURE = Architecture(
    model_type="glm4_moe",
    name="Glm4MoeForCausalLM",
    keys={
        **SHAPE,
        **experts_as("n_routed_experts", "moe_intermediate_size"),
        "experts.shared": "n_shared_experts",
        "experts.dense_layers": "first_k_dense_replace",
        "mtp": "num_nextn_predict_layers",
    },
    fixed={"experts.router_bias": True},
    read=_read,
    write=_write,
    reads=("attention_bias", "use_qk_norm"),
)
