"""Granite with experts: Mixtral's shape; its multipliers of embedding, residuals and logits change no count."""

from __future__ import annotations

from simulator.convert.architectures.base import LOCAL_EXPERTS, SHAPE, Architecture, refuse

ARCHITECTURE = Architecture(
    model_type="granitemoe",
    name="GraniteMoeForCausalLM",
    keys={**SHAPE, **LOCAL_EXPERTS},
    read=refuse("attention_bias"),
    reads=("attention_bias",),
    written=False,
)
