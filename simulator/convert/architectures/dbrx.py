"""DBRX: experts in every layer, layer norms without bias, sections for attention and experts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.convert.architectures.base import Architecture, Plain


def _read(config: Mapping[str, Any]) -> Plain:
    attention, inner = config["attn_config"], config["ffn_config"]
    activation = (inner.get("ffn_act_fn") or {}).get("name", "silu")
    if activation != "silu":
        raise ValueError(f"ffn_config.ffn_act_fn: {activation!r} cannot be expressed")
    experts = {"count": inner["moe_num_experts"], "active": inner["moe_top_k"], "ffn": inner["ffn_hidden_size"]}
    return {"kv_heads": attention["kv_n_heads"], "ffn": inner["ffn_hidden_size"], "experts": experts}


def _write(model: Mapping[str, Any]) -> Plain:
    experts = model["experts"]
    return {
        "attn_config": {"kv_n_heads": model["kv_heads"]},
        "ffn_config": {
            "ffn_hidden_size": experts["ffn"],
            "moe_num_experts": experts["count"],
            "moe_top_k": experts["active"],
        },
    }


ARCHITECTURE = Architecture(
    model_type="dbrx",
    name="DbrxForCausalLM",
    keys={
        "layers": "n_layers",
        "hidden": "d_model",
        "heads": "n_heads",
        "vocabulary": "vocab_size",
        "tied": "tie_word_embeddings",
        "dropout": "resid_pdrop",
    },
    fixed={"norm": "layernorm", "norm_bias": False},
    read=_read,
    write=_write,
    reads=("attn_config", "ffn_config", "num_key_value_heads"),
)
