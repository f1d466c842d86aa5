"""Gemma 2: Gemma with norms before and after attention and MLP, and a window on every other layer."""

from __future__ import annotations

from simulator.convert.architectures.base import Architecture, read_alternating, write_alternating
from simulator.convert.architectures.gemma import KEYS

ARCHITECTURE = Architecture(
    model_type="gemma2",
    name="Gemma2ForCausalLM",
    keys=KEYS,
    fixed={"activation": "gelu", "norms": 4},
    defaults={"tie_word_embeddings": True, "head_dim": 256},
    read=read_alternating,
    write=write_alternating,
    reads=("sliding_window", "layer_types"),
)
