"""Mixtral: Mistral with experts in every layer."""

from __future__ import annotations

from simulator.convert.architectures.base import LOCAL_EXPERTS, SHAPE, Architecture, read_window, write_window

ARCHITECTURE = Architecture(
    model_type="mixtral",
    name="MixtralForCausalLM",
    keys={**SHAPE, **LOCAL_EXPERTS},
    read=read_window,
    write=write_window,
    reads=("sliding_window",),
)
