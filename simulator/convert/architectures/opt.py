"""OPT: GPT-2 with ReLU; positions start at 2, so the table has two rows more than the sequence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.convert.architectures.base import OLD_SHAPE, Architecture, Plain


def _read(config: Mapping[str, Any]) -> Plain:
    if config.get("word_embed_proj_dim", config["hidden_size"]) != config["hidden_size"]:
        raise ValueError("word_embed_proj_dim: an embedding of another width cannot be expressed")
    if not config.get("do_layer_norm_before", True):
        raise ValueError("do_layer_norm_before: false cannot be expressed")
    return {"max_positions": config["max_position_embeddings"] + 2}


def _write(model: Mapping[str, Any]) -> Plain:
    return {"max_position_embeddings": model["max_positions"] - 2, "word_embed_proj_dim": model["hidden"]}


ARCHITECTURE = Architecture(
    model_type="opt",
    name="OPTForCausalLM",
    keys={**OLD_SHAPE, "ffn": "ffn_dim", "activation": "activation_function", "dropout": "dropout"},
    fixed={"gated": False, "norm": "layernorm", "bias": "all", "positions": "learned"},
    defaults={"tie_word_embeddings": True, "activation_function": "relu", "dropout": 0.1},
    read=_read,
    write=_write,
    reads=("max_position_embeddings", "word_embed_proj_dim", "do_layer_norm_before"),
)
