"""Llama: RMS norms, rotary positions, gated MLP; the shape that most later models share."""

from __future__ import annotations

from simulator.convert.architectures.base import SHAPE, Architecture, read_biases, write_biases

ARCHITECTURE = Architecture(
    model_type="llama",
    name="LlamaForCausalLM",
    keys=SHAPE,
    read=read_biases,
    write=write_biases,
    reads=("attention_bias", "mlp_bias"),
)
