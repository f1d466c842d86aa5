"""MiniMax-M2: small experts in every layer, a balancing bias in the router, one norm over all query and all key heads.

MiniMax-Text-01 (`minimax`), whose layers alternate with linear attention, cannot be expressed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.convert.architectures.base import LOCAL_EXPERTS, SHAPE, Architecture, Plain, shared_experts

SHARED = "shared_intermediate_size"


def _read(config: Mapping[str, Any]) -> Plain:
    if 0 in (config.get("attn_type_list") or ()):
        raise ValueError("attn_type_list: layers of linear attention cannot be expressed")
    if config.get("use_routing_bias") is False:
        raise ValueError("use_routing_bias: false cannot be expressed")
    norm = "full" if config.get("qk_norm_type", "per_layer") == "per_layer" else "head"
    modules = config.get("num_mtp_modules", 0) if config.get("use_mtp") else 0
    shared = shared_experts(config.get(SHARED), config["intermediate_size"], SHARED)
    return {"qk_norm": norm if config.get("use_qk_norm", True) else "none", "mtp": modules, **shared}


def _write(model: Mapping[str, Any]) -> Plain:
    norm, experts = model["qk_norm"], model["experts"]
    return {
        "use_qk_norm": norm != "none",
        "qk_norm_type": "per_layer" if norm == "full" else "per_head",
        "use_mtp": model["mtp"] > 0,
        "num_mtp_modules": model["mtp"],
        SHARED: experts["shared"] * experts["ffn"],
    }


ARCHITECTURE = Architecture(
    model_type="minimax_m2",
    name="MiniMaxM2ForCausalLM",
    keys={**SHAPE, **LOCAL_EXPERTS},
    fixed={"experts.router_bias": True},
    read=_read,
    write=_write,
    reads=("attn_type_list", "use_routing_bias", "use_qk_norm", "qk_norm_type", "use_mtp", "num_mtp_modules", SHARED),
)
