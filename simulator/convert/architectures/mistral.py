"""Mistral: Llama with a window."""

from __future__ import annotations

from simulator.convert.architectures.base import SHAPE, Architecture, read_window, write_window

ARCHITECTURE = Architecture(
    model_type="mistral",
    name="MistralForCausalLM",
    keys=SHAPE,
    read=read_window,
    write=write_window,
    reads=("sliding_window",),
)
