"""GPT-NeoX and Pythia: rotary positions, biases everywhere, attention and MLP side by side."""

from __future__ import annotations

from simulator.convert.architectures.base import OLD_SHAPE, Architecture

ARCHITECTURE = Architecture(
    model_type="gpt_neox",
    name="GPTNeoXForCausalLM",
    keys={
        **OLD_SHAPE,
        "ffn": "intermediate_size",
        "activation": "hidden_act",
        "dropout": "hidden_dropout",
        "parallel": "use_parallel_residual",
    },
    fixed={"gated": False, "norm": "layernorm", "bias": "all"},
    defaults={"hidden_act": "gelu", "use_parallel_residual": True},
)
