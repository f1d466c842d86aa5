"""Qwen3: Llama with a norm on each query and key head."""

from __future__ import annotations

from simulator.convert.architectures.base import SHAPE, Architecture
from simulator.convert.architectures.qwen2 import WINDOW_KEYS, read_used_window

ARCHITECTURE = Architecture(
    model_type="qwen3",
    name="Qwen3ForCausalLM",
    keys=SHAPE,
    fixed={"qk_norm": "head"},
    defaults={"head_dim": 128},
    read=read_used_window,
    reads=WINDOW_KEYS,
)
