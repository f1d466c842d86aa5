"""What every format promises; a new one is tested by being there."""

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator import convert
from simulator.convert import formats

every = pytest.mark.parametrize("name", formats())
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
KEYS = ["model_type", "hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size", "sliding_window"]
KEYS += ["layer_types", "attn_config", "n_layer", "head_dim", "train_batch_size", "zero_optimization", "optimizer"]
FLAGS = ["--num-layers", "--num-experts", "--moe-layer-freq", "--window-size", "--multi-latent-attention", "--bf16"]
FLAGS += ["--training.seq_len", "--parallelism.tensor_parallel_degree", "--module", "--config", "MODEL_ARGS:", "\n"]
TYPES = ["llama", "gemma2", "mpt", "falcon", "opt", "gpt_oss", "deepseek_v3", "qwen3_moe", "bloom"]


def test_formats_are_found_by_being_there():
    assert list(formats()) == ["deepspeed", "fsdp", "huggingface", "megatron", "torchtitan"]


def read_or_refuse(name, text):
    """Read `text`; whatever it is, the answer is sections or a mistake that is explained."""
    for reader in (formats()[name].read, formats()[name].ignored):
        with suppress(ValueError):
            reader(text)


@every
@settings(max_examples=40)
@given(text=st.text(max_size=200))
def test_any_text_is_read_or_refused(name, text):
    read_or_refuse(name, text)


@every
@settings(max_examples=40)
@given(config=st.dictionaries(st.sampled_from(KEYS), JSON | st.sampled_from(TYPES)))
def test_any_json_is_read_or_refused(name, config):
    read_or_refuse(name, json.dumps(config))


@pytest.mark.parametrize("model_type", TYPES)
@settings(max_examples=40)
@given(config=st.dictionaries(st.sampled_from(KEYS), JSON))
def test_any_configuration_of_a_known_architecture_is_read_or_refused(model_type, config):
    read_or_refuse("huggingface", json.dumps(config | {"model_type": model_type}))


@pytest.mark.parametrize("name", ["megatron", "torchtitan"])
@settings(max_examples=40)
@given(words=st.lists(st.sampled_from(FLAGS) | st.text(max_size=6) | st.integers(-2, 99).map(str), max_size=12))
def test_any_words_are_read_or_refused(name, words):
    read_or_refuse(name, " ".join(words))


@pytest.mark.parametrize("name", [name for name, module in formats().items() if not hasattr(module, "SECTION")])
@pytest.mark.parametrize("training", [{"method": {"kind": "lora"}}, {"freeze": ["embedding"]}])
def test_a_format_without_frozen_weights_refuses_them(name, training):
    with pytest.raises(ValueError, match="cannot be written in the format of"):
        convert.write(name, {"training": training})
