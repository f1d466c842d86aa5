"""GPT-2: layer norms, learned positions, biases everywhere."""

from __future__ import annotations

from simulator.convert.architectures.base import Architecture

ARCHITECTURE = Architecture(
    model_type="gpt2",
    name="GPT2LMHeadModel",
    keys={
        "layers": "n_layer|num_hidden_layers",
        "hidden": "n_embd|hidden_size",
        "heads": "n_head|num_attention_heads",
        "ffn": "n_inner",
        "vocabulary": "vocab_size",
        "activation": "activation_function",
        "tied": "tie_word_embeddings",
        "max_positions": "n_positions|max_position_embeddings",
        "dropout": "resid_pdrop",
    },
    fixed={"gated": False, "norm": "layernorm", "bias": "all", "positions": "learned"},
    defaults={"tie_word_embeddings": True, "activation_function": "gelu_new", "resid_pdrop": 0.1},
)
