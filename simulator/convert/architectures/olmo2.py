"""OLMo 2: norms after attention and MLP, and one over all query and all key heads."""

from __future__ import annotations

from simulator.convert.architectures.base import SHAPE, Architecture

ARCHITECTURE = Architecture(
    model_type="olmo2",
    name="Olmo2ForCausalLM",
    keys={name: key for name, key in SHAPE.items() if name != "head_size"},
    fixed={"qk_norm": "full"},
)
