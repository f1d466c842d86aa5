"""Phi-3: Llama with query, key, value and gate, up in one matrix each, which changes no count."""

from __future__ import annotations

from simulator.convert.architectures.base import SHAPE, Architecture, read_window, write_window

ARCHITECTURE = Architecture(
    model_type="phi3",
    name="Phi3ForCausalLM",
    keys={**SHAPE, "dropout": "resid_pdrop"},
    read=read_window,
    write=write_window,
    reads=("sliding_window",),
)
