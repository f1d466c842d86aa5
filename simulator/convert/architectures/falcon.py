"""Falcon: attention and MLP side by side, with one norm and one key head (7B) or two norms and several (40B)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.convert.architectures.base import Architecture, Plain


def _read(config: Mapping[str, Any]) -> Plain:
    heads = config.get("num_attention_heads", config.get("n_head"))
    new, parallel = config.get("new_decoder_architecture", False), config.get("parallel_attn", True)
    kv_heads = 1 if config.get("multi_query", True) else heads
    if new:
        kv_heads = config.get("num_kv_heads") or config.get("n_head_kv") or heads
    norms = (config.get("num_ln_in_parallel_attn") or 2) if new else (1 if parallel else 2)
    return {
        "kv_heads": kv_heads,
        "parallel": new or parallel,
        "norms": norms,
        "bias": "all" if config.get("bias") else "none",
        "positions": "alibi" if config.get("alibi") else "rope",
        "ffn": config.get("ffn_hidden_size") or 4 * config["hidden_size"],
    }


def _write(model: Mapping[str, Any]) -> Plain:
    new = model["kv_heads"] not in (1, model["heads"]) or (model["parallel"] and model["norms"] == 2)
    return {
        "new_decoder_architecture": new,
        "num_kv_heads": model["kv_heads"],
        "num_ln_in_parallel_attn": model["norms"] if new else None,
        "multi_query": model["kv_heads"] == 1,
        "parallel_attn": model["parallel"],
        "bias": model["bias"] == "all",
        "alibi": model["positions"] == "alibi",
        "ffn_hidden_size": model["ffn"],
    }


ARCHITECTURE = Architecture(
    model_type="falcon",
    name="FalconForCausalLM",
    keys={
        "layers": "num_hidden_layers|n_layer",
        "hidden": "hidden_size",
        "heads": "num_attention_heads|n_head",
        "vocabulary": "vocab_size",
        "tied": "tie_word_embeddings",
        "activation": "activation",
        "dropout": "hidden_dropout",
    },
    fixed={"gated": False, "norm": "layernorm"},
    defaults={"tie_word_embeddings": True, "activation": "gelu"},
    read=_read,
    write=_write,
    reads=(
        "num_kv_heads|n_head_kv",
        "multi_query",
        "new_decoder_architecture",
        "parallel_attn",
        "num_ln_in_parallel_attn",
        "bias",
        "alibi",
        "ffn_hidden_size",
    ),
)
