"""DeepSeek-V3: DeepSeek-V2 with a balancing bias in the router and multi-token prediction."""

from __future__ import annotations

from simulator.convert.architectures.base import ONE_GROUP, Architecture
from simulator.convert.architectures.deepseek_v2 import CHECKED, KEYS, check

ARCHITECTURE = Architecture(
    model_type="deepseek_v3",
    name="DeepseekV3ForCausalLM",
    keys={**KEYS, "mtp": "num_nextn_predict_layers"},
    fixed={"attention.kind": "mla", "experts.router_bias": True},
    read=check,
    reads=CHECKED,
    defaults=ONE_GROUP,
)
