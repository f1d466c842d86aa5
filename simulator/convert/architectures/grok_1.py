"""Grok-1: experts with a GELU gate in every layer, a norm before and after attention and MLP."""

from __future__ import annotations

from simulator.convert.architectures.base import SHAPE, Architecture, experts_as

ARCHITECTURE = Architecture(
    model_type="grok-1",
    name="Grok1ModelForCausalLM",
    keys={**SHAPE, **experts_as("num_experts", "intermediate_size")},
    fixed={"norms": 4},
    defaults={"hidden_act": "gelu", "tie_word_embeddings": True},
)
