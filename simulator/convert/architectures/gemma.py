"""Gemma: Llama's layers with GELU in the gate and a tied head; its code ignores what activation the file names."""

from __future__ import annotations

from simulator.convert.architectures.base import SHAPE, Architecture

KEYS = {name: key for name, key in SHAPE.items() if name != "activation"}

ARCHITECTURE = Architecture(
    model_type="gemma",
    name="GemmaForCausalLM",
    keys=KEYS,
    fixed={"activation": "gelu"},
    defaults={"tie_word_embeddings": True, "head_dim": 256},
)
