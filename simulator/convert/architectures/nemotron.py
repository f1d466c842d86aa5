"""Nemotron: layer norms with bias, an ungated MLP with squared ReLU, rotary positions."""

from __future__ import annotations

from simulator.convert.architectures.base import SHAPE, Architecture, read_biases, write_biases

ARCHITECTURE = Architecture(
    model_type="nemotron",
    name="NemotronForCausalLM",
    keys=SHAPE,
    fixed={"gated": False, "norm": "layernorm"},
    defaults={"hidden_act": "relu2"},
    read=read_biases,
    write=write_biases,
    reads=("attention_bias", "mlp_bias"),
)
