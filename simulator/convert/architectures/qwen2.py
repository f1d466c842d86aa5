"""Qwen2 and Qwen2.5 (and Qwen1.5): Llama with biases on query, key and value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.convert.architectures.base import SHAPE, Architecture, Plain, read_window

WINDOW_KEYS = ("use_sliding_window", "sliding_window", "max_window_layers")


def read_used_window(config: Mapping[str, Any]) -> Plain:
    """Read the window where it is switched on; files carry its size even where it is off."""
    if not config.get("use_sliding_window"):
        return {}
    if config.get("max_window_layers"):
        raise ValueError("max_window_layers: a window on the later layers only cannot be expressed")
    return read_window(config)


ARCHITECTURE = Architecture(
    model_type="qwen2",
    name="Qwen2ForCausalLM",
    keys=SHAPE,
    fixed={"bias": "qkv"},
    read=read_used_window,
    reads=WINDOW_KEYS,
)
