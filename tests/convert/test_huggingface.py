"""Configurations of Hugging Face: what they say is kept, what they cannot say is refused."""

import dataclasses
import json

import pytest

from simulator import catalog
from simulator.convert import huggingface
from simulator.convert.architectures import architectures
from simulator.convert.architectures.unbuilt import UNBUILT
from simulator.convert.shape import complete
from simulator.workload.model import Model

NAMES = catalog.names("model")
WITHOUT = ("gopher-280b", "chinchilla-70b", "palm-8b", "palm-62b", "palm-540b")
"""Models of which no code was published."""
LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "hidden_act": "silu",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "model_type": "llama",
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "rms_norm_eps": 1e-05,
    "rope_theta": 500000.0,
    "torch_dtype": "bfloat16",
    "vocab_size": 128256,
}
DEEPSEEK = {
    "model_type": "deepseek_v3",
    "first_k_dense_replace": 3,
    "hidden_act": "silu",
    "hidden_size": 7168,
    "intermediate_size": 18432,
    "kv_lora_rank": 512,
    "moe_intermediate_size": 2048,
    "moe_layer_freq": 1,
    "n_group": 8,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "num_attention_heads": 128,
    "num_experts_per_tok": 8,
    "num_hidden_layers": 61,
    "num_key_value_heads": 128,
    "num_nextn_predict_layers": 1,
    "q_lora_rank": 1536,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "tie_word_embeddings": False,
    "topk_group": 4,
    "v_head_dim": 128,
    "vocab_size": 129280,
}


def shape(name):
    entry = catalog.entry("model", name)
    return {key: value for key, value in entry.items() if key not in ("source", "aliases", "published")}


def text(**keys):
    return json.dumps(LLAMA | keys)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in WITHOUT])
def test_a_model_of_the_catalog_is_the_same_after_a_round_trip(name):
    written = huggingface.write(shape(name), name)
    assert json.loads(written)["_name_or_path"] == name
    assert complete(huggingface.read(written)) == complete(shape(name))
    assert huggingface.ignored(written) == []


def test_a_shape_that_no_architecture_has_is_refused():
    with pytest.raises(ValueError, match="no architecture of Hugging Face"):
        huggingface.write(shape("palm-540b"))


def test_llama_reads_as_the_entry_of_the_catalog():
    model = huggingface.read(text())
    assert complete(model) == complete(shape("llama-3.1-8b"))


def test_deepseek_reads_as_the_entry_of_the_catalog():
    model = huggingface.read(json.dumps(DEEPSEEK))
    assert complete(model) == complete(shape("deepseek-v3"))


def test_arguments_without_bearing_on_the_shape_are_reported():
    assert huggingface.ignored(text()) == ["rms_norm_eps", "rope_theta", "torch_dtype"]


@pytest.mark.parametrize(
    ("name", "architecture"),
    [
        ("gpt-2", "gpt2"),
        ("llama-3.1-8b", "llama"),
        ("mistral-7b", "mistral"),
        ("mixtral-8x7b", "mixtral"),
        ("qwen2.5-7b", "qwen2"),
        ("qwen3-8b", "qwen3"),
        ("qwen3-30b-a3b", "qwen3_moe"),
        ("olmo-2-7b", "olmo2"),
        ("bloom-176b", "bloom"),
        ("mosaicml-mpt-7b", "mpt"),
        ("falcon-7b", "falcon"),
        ("gemma-7b", "gemma"),
        ("gemma-2-9b", "gemma2"),
        ("nemotron-4-340b", "nemotron"),
        ("deepseek-v2", "deepseek_v2"),
        ("deepseek-v3", "deepseek_v3"),
        ("gpt-oss-120b", "gpt_oss"),
    ],
)
def test_models_are_written_as_their_own_architecture(name, architecture):
    assert json.loads(huggingface.write(shape(name)))["model_type"] == architecture


@pytest.mark.parametrize(("model_type", "mixer"), sorted(UNBUILT.items()))
def test_an_architecture_with_a_mixer_that_no_block_says_is_refused_by_its_name(model_type, mixer):
    assert model_type not in architectures()
    with pytest.raises(ValueError, match=f"^model_type: '{model_type}' mixes tokens by {mixer}, and no block"):
        huggingface.read(text(model_type=model_type))


@pytest.mark.parametrize("model_type", ["rwkv", "t5", None, ["llama"], {}])
def test_an_unknown_architecture_is_named_and_never_guessed(model_type):
    with pytest.raises(ValueError, match=r"is not known; known are .*llama"):
        huggingface.read(text(model_type=model_type))


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"attention_bias": True}, "one without the other"),
        ({"hidden_act": "relu6"}, "activation 'relu6' is not known"),
        ({"num_hidden_layers": None}, "num_hidden_layers: missing"),
        ({"num_hidden_layers": "32"}, "num_hidden_layers: expected a whole number, found '32'"),
        ({"num_hidden_layers": True}, "num_hidden_layers: expected a whole number, found True"),
        ({"hidden_size": -1}, "hidden_size: expected no negative number"),
        ({"num_attention_heads": 0}, "heads: expected a whole number"),
        ({"model_type": "gemma2", "layer_types": 5}, "cannot be read"),
        ({"model_type": "mpt", "d_model": 64, "n_layers": 2, "n_heads": 2, "attn_config": [1]}, "cannot be read"),
        ({"model_type": "opt", "ffn_dim": 64}, "max_position_embeddings: missing"),
        ({"tie_word_embeddings": 1}, "tie_word_embeddings: expected true or false"),
        ({"model_type": "qwen2", "use_sliding_window": True, "max_window_layers": 4}, "max_window_layers"),
        ({"model_type": "qwen3_moe", "mlp_only_layers": [3]}, "mlp_only_layers"),
        ({"model_type": "gpt_oss", "layer_types": ["full_attention", "sliding_attention"]}, "layer_types"),
    ],
)
def test_what_cannot_be_expressed_is_refused(keys, message):
    with pytest.raises(ValueError, match=message):
        huggingface.read(text(**keys))


@pytest.mark.parametrize("content", ["", "[]", "null", "{", "[" * 100_000])
def test_other_text_is_no_configuration(content):
    with pytest.raises(ValueError, match=r"not a Hugging Face config\.json"):
        huggingface.read(content)


def test_a_window_that_is_switched_off_is_no_window():
    off = {"model_type": "qwen2", "sliding_window": 4096, "use_sliding_window": False, "max_window_layers": 28}
    assert "attention" not in huggingface.read(text(**off))


def test_opt_has_two_positions_more_than_its_sequence():
    opt = {"model_type": "opt", "max_position_embeddings": 2048, "ffn_dim": 16384, "do_layer_norm_before": True}
    assert huggingface.read(text(**opt))["max_positions"] == 2050


def test_older_spellings_are_understood():
    bloom = {"model_type": "bloom", "n_layer": 70, "n_embed": 14336, "num_attention_heads": 112, "vocab_size": 250880}
    assert complete(huggingface.read(json.dumps(bloom))) == complete(shape("bloom-176b"))


def test_numbers_may_still_be_text():
    spelled = huggingface.write({"layers": "2", "hidden": "64", "heads": "4", "vocabulary": "100", "tied": "true"})
    assert spelled == huggingface.write({"layers": 2, "hidden": 64, "heads": 4, "vocabulary": 100, "tied": True})


@pytest.mark.parametrize("architecture", architectures().values(), ids=architectures())
def test_every_architecture_reads_what_it_needs(architecture):
    assert {"layers", "hidden", "heads", "vocabulary", "tied"} <= architecture.keys.keys()
    fields = {field.name for field in dataclasses.fields(Model)}
    assert {key.partition(".")[0] for key in (*architecture.keys, *architecture.fixed)} <= fields
