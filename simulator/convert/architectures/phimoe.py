"""Phi-3.5-MoE: Mixtral's layers with layer norms and biases in attention.

The biases of the attention's output and of the head, a millionth of the parameters, count as none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.convert.architectures.base import (
    LOCAL_EXPERTS,
    SHAPE,
    Architecture,
    Plain,
    read_window,
    write_window,
)


def _read(config: Mapping[str, Any]) -> Plain:
    return {"bias": "qkv" if config.get("attention_bias") else "none"} | read_window(config)


def _write(model: Mapping[str, Any]) -> Plain:
    return {"attention_bias": model["bias"] == "qkv"} | write_window(model)


ARCHITECTURE = Architecture(
    model_type="phimoe",
    name="PhimoeForCausalLM",
    keys={**SHAPE, **LOCAL_EXPERTS},
    fixed={"norm": "layernorm"},
    read=_read,
    write=_write,
    reads=("attention_bias", "lm_head_bias", "sliding_window"),
)
