"""BLOOM: GPT-2 with ALiBi and a norm after the embedding."""

from __future__ import annotations

from simulator.convert.architectures.base import Architecture

ARCHITECTURE = Architecture(
    model_type="bloom",
    name="BloomForCausalLM",
    keys={
        "layers": "n_layer|num_hidden_layers",
        "hidden": "hidden_size|n_embed",
        "heads": "n_head|num_attention_heads",
        "vocabulary": "vocab_size",
        "tied": "tie_word_embeddings",
        "dropout": "hidden_dropout",
    },
    fixed={
        "gated": False,
        "norm": "layernorm",
        "bias": "all",
        "activation": "gelu",
        "positions": "alibi",
        "embedding_norm": True,
    },
    defaults={"tie_word_embeddings": True},
)
