"""MPT: learned positions or ALiBi, with all biases or none, those of norms included (llm-foundry)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.convert.architectures.base import Architecture, Plain


def _read(config: Mapping[str, Any]) -> Plain:
    attention = {"alibi": True, "qk_ln": False} | (config.get("attn_config") or {})
    if attention["qk_ln"] or attention.get("attn_type", "multihead_attention") != "multihead_attention":
        raise ValueError("attn_config: only multi-head attention without norms of queries and keys can be expressed")
    plain = config.get("no_bias", True)
    positions = {"positions": "alibi"}
    if not attention["alibi"]:
        positions = {"positions": "learned", "max_positions": config["max_seq_len"]}
    ffn = config.get("expansion_ratio", 4) * config["d_model"]
    return {"bias": "none" if plain else "all", "norm_bias": not plain, "ffn": ffn, **positions}


def _write(model: Mapping[str, Any]) -> Plain:
    learned = model["positions"] == "learned"
    return {
        "expansion_ratio": model["ffn"] // model["hidden"],
        "no_bias": model["bias"] == "none",
        "learned_pos_emb": learned,
        "max_seq_len": model["max_positions"] if learned else 2048,
        "attn_config": {"attn_type": "multihead_attention", "alibi": not learned, "qk_ln": False},
    }


ARCHITECTURE = Architecture(
    model_type="mpt",
    name="MptForCausalLM",
    keys={
        "layers": "n_layers",
        "hidden": "d_model",
        "heads": "n_heads",
        "vocabulary": "vocab_size",
        "tied": "tie_word_embeddings",
        "dropout": "resid_pdrop",
    },
    fixed={"gated": False, "norm": "layernorm", "activation": "gelu"},
    defaults={"tie_word_embeddings": True},
    read=_read,
    write=_write,
    reads=("no_bias", "expansion_ratio", "learned_pos_emb", "max_seq_len", "attn_config"),
)
