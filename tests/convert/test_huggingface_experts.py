"""Configurations of models with experts, as published: each reads with its experts, or is refused by name."""

from __future__ import annotations

import json
from typing import Any

import pytest

from simulator.convert import huggingface
from simulator.convert.shape import complete
from simulator.scenario import from_dict
from simulator.workload.model import Model
from simulator.workload.parameters import total_parameters

SHARED = {"hidden_act": "silu", "tie_word_embeddings": False, "router_aux_loss_coef": 0.001, "rope_theta": 1e6}
QWEN_15_MOE = SHARED | {
    "model_type": "qwen2_moe",
    "decoder_sparse_step": 1,
    "hidden_size": 2048,
    "intermediate_size": 5632,
    "mlp_only_layers": [],
    "moe_intermediate_size": 1408,
    "norm_topk_prob": False,
    "num_attention_heads": 16,
    "num_experts": 60,
    "num_experts_per_tok": 4,
    "num_hidden_layers": 24,
    "num_key_value_heads": 16,
    "shared_expert_intermediate_size": 5632,
    "vocab_size": 151936,
}
QWEN_3_30B = SHARED | {
    "model_type": "qwen3_moe",
    "attention_bias": False,
    "decoder_sparse_step": 1,
    "head_dim": 128,
    "hidden_size": 2048,
    "intermediate_size": 6144,
    "mlp_only_layers": [],
    "moe_intermediate_size": 768,
    "num_attention_heads": 32,
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "num_hidden_layers": 48,
    "num_key_value_heads": 4,
    "vocab_size": 151936,
}
OLMOE = SHARED | {
    "model_type": "olmoe",
    "attention_bias": False,
    "clip_qkv": None,
    "hidden_size": 2048,
    "intermediate_size": 1024,
    "num_attention_heads": 16,
    "num_experts": 64,
    "num_experts_per_tok": 8,
    "num_hidden_layers": 16,
    "num_key_value_heads": 16,
    "vocab_size": 50304,
}
GRANITE_3B = SHARED | {
    "model_type": "granitemoe",
    "attention_bias": False,
    "attention_multiplier": 0.015625,
    "hidden_size": 1536,
    "intermediate_size": 512,
    "num_attention_heads": 24,
    "num_experts_per_tok": 8,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "num_local_experts": 40,
    "tie_word_embeddings": True,
    "vocab_size": 49155,
}
PHI_35_MOE = SHARED | {
    "model_type": "phimoe",
    "attention_bias": True,
    "hidden_size": 4096,
    "input_jitter_noise": 0.01,
    "intermediate_size": 6400,
    "lm_head_bias": True,
    "num_attention_heads": 32,
    "num_experts_per_tok": 2,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "num_local_experts": 16,
    "router_jitter_noise": 0.01,
    "vocab_size": 32064,
}
GLM_47 = SHARED | {
    "model_type": "glm4_moe",
    "attention_bias": True,
    "first_k_dense_replace": 3,
    "head_dim": 128,
    "hidden_size": 5120,
    "intermediate_size": 12288,
    "moe_intermediate_size": 1536,
    "n_group": 1,
    "n_routed_experts": 160,
    "n_shared_experts": 1,
    "num_attention_heads": 96,
    "num_experts_per_tok": 8,
    "num_hidden_layers": 92,
    "num_key_value_heads": 8,
    "num_nextn_predict_layers": 1,
    "routed_scaling_factor": 2.5,
    "topk_group": 1,
    "use_qk_norm": True,
    "vocab_size": 151552,
}
MINIMAX_M2 = SHARED | {
    "model_type": "minimax_m2",
    "attn_type_list": [1] * 62,
    "head_dim": 128,
    "hidden_size": 3072,
    "intermediate_size": 1536,
    "num_attention_heads": 48,
    "num_expert_group": None,
    "num_experts_per_tok": 8,
    "num_hidden_layers": 62,
    "num_key_value_heads": 8,
    "num_local_experts": 256,
    "num_mtp_modules": 3,
    "qk_norm_type": "per_layer",
    "shared_intermediate_size": 0,
    "use_mtp": True,
    "use_qk_norm": True,
    "use_routing_bias": True,
    "vocab_size": 200064,
}
DBRX = {
    "model_type": "dbrx",
    "attn_config": {"clip_qkv": 8, "kv_n_heads": 8, "model_type": "", "rope_theta": 500000},
    "d_model": 6144,
    "ffn_config": {
        "ffn_hidden_size": 10752,
        "model_type": "",
        "moe_jitter_eps": 0.01,
        "moe_loss_weight": 0.05,
        "moe_num_experts": 16,
        "moe_top_k": 4,
    },
    "n_heads": 48,
    "n_layers": 40,
    "resid_pdrop": 0.0,
    "tie_word_embeddings": False,
    "vocab_size": 100352,
}
LLAMA_4_SCOUT = {
    "architectures": ["Llama4ForConditionalGeneration"],
    "model_type": "llama4",
    "image_token_index": 200092,
    "text_config": {
        "model_type": "llama4_text",
        "attention_chunk_size": 8192,
        "head_dim": 128,
        "hidden_act": "silu",
        "hidden_size": 5120,
        "interleave_moe_layer_step": 1,
        "intermediate_size": 8192,
        "intermediate_size_mlp": 16384,
        "moe_layers": list(range(48)),
        "num_attention_heads": 40,
        "num_experts_per_tok": 1,
        "num_hidden_layers": 48,
        "num_key_value_heads": 8,
        "num_local_experts": 16,
        "vocab_size": 202048,
    },
    "tie_word_embeddings": False,
    "vision_config": {"model_type": "llama4_vision_model", "hidden_size": 1408},
}
MIXTRAL = SHARED | {
    "model_type": "mixtral",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_attention_heads": 32,
    "num_experts_per_tok": 2,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "num_local_experts": 8,
    "sliding_window": None,
    "vocab_size": 32000,
}
LLAMA = {name: value for name, value in MIXTRAL.items() if "experts" not in name} | {"model_type": "llama"}


def model(config: dict[str, Any]) -> Model:
    plain = huggingface.read(json.dumps(config))
    cluster = {"host": "hgx-h100", "hosts": 1}
    training = {"steps": 1, "sequence_length": 128, "global_batch": 8}
    scenario = from_dict({"version": 1, "name": "x", "model": plain, "cluster": cluster, "training": training})
    assert scenario.model is not None
    return scenario.model


@pytest.mark.parametrize(
    ("config", "billions"),
    [
        pytest.param(QWEN_15_MOE, 14.3, id="Qwen1.5-MoE-A2.7B"),
        pytest.param(QWEN_3_30B, 30.5, id="Qwen3-30B-A3B"),
        pytest.param(OLMOE, 6.92, id="OLMoE-1B-7B"),
        pytest.param(GRANITE_3B, 3.3, id="granite-3.0-3b-a800m"),
        pytest.param(PHI_35_MOE, 41.9, id="Phi-3.5-MoE"),
        pytest.param(GLM_47 | {"num_nextn_predict_layers": 0}, 355, id="GLM-4.7"),
        pytest.param(MINIMAX_M2 | {"use_mtp": False}, 229, id="MiniMax-M2"),
        pytest.param(DBRX, 132, id="DBRX"),
        pytest.param(LLAMA_4_SCOUT, 107.8, id="Llama-4-Scout, text"),
        pytest.param(MIXTRAL, 46.7, id="Mixtral-8x7B"),
    ],
)
def test_parameters_are_those_published(config: dict[str, Any], billions: float) -> None:
    assert total_parameters(model(config)) / 1e9 == pytest.approx(billions, rel=0.01)


@pytest.mark.parametrize("config", [QWEN_15_MOE, OLMOE, PHI_35_MOE, GLM_47, MINIMAX_M2, DBRX, MIXTRAL])
def test_a_shape_with_experts_is_written_as_its_own_architecture(config: dict[str, Any]) -> None:
    plain = huggingface.read(json.dumps(config))
    written = huggingface.write(plain)
    assert json.loads(written)["model_type"] == config["model_type"]
    assert complete(huggingface.read(written)) == complete(plain)


def test_granite_is_written_as_mixtral_whose_shape_it_has() -> None:
    assert json.loads(huggingface.write(huggingface.read(json.dumps(GRANITE_3B))))["model_type"] == "mixtral"


@pytest.mark.parametrize("config", [MIXTRAL, QWEN_3_30B, QWEN_15_MOE, OLMOE, GLM_47, MINIMAX_M2])
@pytest.mark.parametrize("spelling", ["num_local_experts", "num_experts", "n_routed_experts"])
def test_every_spelling_of_the_number_of_experts_gives_the_same_model(config: dict[str, Any], spelling: str) -> None:
    """Versions of transformers take one for the other, and write either."""
    (usual,) = {"num_local_experts", "num_experts", "n_routed_experts"} & config.keys()
    other = {name: value for name, value in config.items() if name != usual} | {spelling: config[usual]}
    assert huggingface.read(json.dumps(other)) == huggingface.read(json.dumps(config))


@pytest.mark.parametrize("missing", ["num_local_experts", "num_experts_per_tok"])
def test_experts_without_a_number_are_refused_and_not_dense(missing: str) -> None:
    config = {name: value for name, value in MIXTRAL.items() if name != missing}
    with pytest.raises(ValueError, match=f"{missing}: missing"):
        huggingface.read(json.dumps(config))


def test_experts_that_are_said_to_be_none_are_none() -> None:
    assert model(MIXTRAL | {"num_local_experts": None}).experts is None


@pytest.mark.parametrize(
    ("keys", "named"),
    [
        ({"num_local_experts": 8}, "num_local_experts"),
        ({"num_experts": 64, "num_experts_per_tok": 8}, "num_experts"),
        ({"n_routed_experts": 160}, "n_routed_experts"),
        ({"moe_num_experts": 4}, "moe_num_experts"),
        ({"moe_intermediate_size": 1408}, "moe_intermediate_size"),
        ({"first_k_dense_replace": 3}, "first_k_dense_replace"),
        ({"ffn_config": {"moe_num_experts": 8}}, r"ffn_config\.moe_num_experts"),
        ({"use_moe": True}, "use_moe"),
    ],
)
def test_no_key_that_speaks_of_experts_is_passed_over(keys: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=f"{named}: speaks of experts"):
        huggingface.read(json.dumps(LLAMA | keys))


def test_a_key_of_a_variant_with_experts_is_refused_too() -> None:
    with pytest.raises(ValueError, match="expert_layer_period: speaks of experts"):
        huggingface.read(json.dumps(MIXTRAL | {"expert_layer_period": 2}))


@pytest.mark.parametrize(
    "keys", [{"num_experts": 1}, {"num_local_experts": None}, {"router_aux_loss_coef": 0.02}, {"moe_loss_weight": 0.05}]
)
def test_keys_that_change_no_parameter_are_passed_over(keys: dict[str, Any]) -> None:
    assert huggingface.read(json.dumps(LLAMA | keys)) == huggingface.read(json.dumps(LLAMA))


@pytest.mark.parametrize("model_type", ["jamba", "minimax"])
def test_hybrids_with_experts_are_refused_by_name(model_type: str) -> None:
    with pytest.raises(ValueError, match=f"'{model_type}' is not known"):
        huggingface.read(json.dumps(MIXTRAL | {"model_type": model_type}))


@pytest.mark.parametrize(
    ("config", "keys", "message"),
    [
        (QWEN_15_MOE, {"shared_expert_intermediate_size": 2000}, "not a multiple"),
        (QWEN_15_MOE, {"mlp_only_layers": [3]}, "mlp_only_layers"),
        (MINIMAX_M2, {"attn_type_list": [1, 0] * 31}, "linear attention"),
        (OLMOE, {"attention_bias": True}, "attention_bias: True cannot be expressed"),
        (LLAMA_4_SCOUT["text_config"], {"moe_layers": [1, 3]}, "moe_layers"),
    ],
)
def test_what_cannot_be_expressed_is_refused(config: dict[str, Any], keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        huggingface.read(json.dumps(config | keys))


def test_what_surrounds_a_text_model_is_named() -> None:
    assert {"vision_config", "image_token_index"} <= set(huggingface.ignored(json.dumps(LLAMA_4_SCOUT)))
