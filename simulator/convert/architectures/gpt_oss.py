"""gpt-oss: experts in every layer, biases everywhere, a sink logit a head, a window on every other layer."""

from __future__ import annotations

from simulator.convert.architectures.base import (
    LOCAL_EXPERTS,
    SHAPE,
    Architecture,
    read_alternating,
    write_alternating,
)

ARCHITECTURE = Architecture(
    model_type="gpt_oss",
    name="GptOssForCausalLM",
    keys={**SHAPE, **LOCAL_EXPERTS},
    fixed={"bias": "all", "sinks": True},
    read=read_alternating,
    write=write_alternating,
    reads=("sliding_window", "layer_types"),
)
