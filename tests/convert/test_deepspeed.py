"""Configurations of DeepSpeed: read, written, read again."""

import json

import pytest

from simulator.convert import deepspeed

CONFIG = {
    "train_batch_size": 1024,
    "train_micro_batch_size_per_gpu": 4,
    "gradient_accumulation_steps": "auto",
    "optimizer": {"type": "AdamW", "params": {"lr": 1e-4}},
    "bf16": {"enabled": True},
    "fp16": {"enabled": False},
    "zero_optimization": {
        "stage": 3,
        "overlap_comm": True,
        "offload_optimizer": {"device": "cpu", "ratio": 0.4},
        "offload_param": {"device": "none"},
    },
}
SCENARIO = {
    "parallelism": {"shard": "gradients", "tensor": 2},
    "training": {
        "global_batch": 256,
        "microbatch": 2,
        "precision": "fp16",
        "optimizer": "lion",
        "offload": {"to": "nvme", "optimizer": 1, "parameters": 1},
    },
}


def test_a_configuration_gives_batch_precision_and_shard():
    assert deepspeed.read(json.dumps(CONFIG)) == {
        "parallelism": {"shard": "parameters"},
        "training": {
            "global_batch": 1024,
            "microbatch": 4,
            "precision": "bf16",
            "optimizer": "adamw",
            "offload": {"to": "cpu", "optimizer": 0.4},
        },
    }


def test_what_is_not_used_is_reported():
    assert deepspeed.ignored(json.dumps(CONFIG)) == [
        "gradient_accumulation_steps",
        "optimizer.params.lr",
        "zero_optimization.overlap_comm",
    ]


def test_automatic_values_are_left_out_and_reported():
    config = json.dumps({"train_batch_size": "auto", "zero_optimization": {"stage": 2}})
    assert deepspeed.read(config) == {"parallelism": {"shard": "gradients"}}
    assert deepspeed.ignored(config) == ["train_batch_size"]


def test_a_scenario_is_the_same_after_a_round_trip():
    written = deepspeed.write(SCENARIO)
    assert deepspeed.read(written) == SCENARIO
    assert deepspeed.ignored(written) == []


@pytest.mark.parametrize("stage", range(4))
def test_the_stage_is_the_place_of_the_level(stage):
    config = json.dumps({"zero_optimization": {"stage": stage}})
    level = deepspeed.read(config)["parallelism"]["shard"]
    assert json.loads(deepspeed.write({"parallelism": {"shard": level}}))["zero_optimization"]["stage"] == stage


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("", "not a DeepSpeed configuration"),
        ("[1]", "expected one JSON object"),
        ("[" * 100_000, "not a DeepSpeed configuration"),
        ('{"zero_optimization": {"stage": 4}}', "expected 0 to 3, found 4"),
        ('{"train_batch_size": "many"}', "train_batch_size: expected a number, found 'many'"),
        ('{"optimizer": {"type": "Magic"}}', "optimizer.type: 'magic' is not known"),
    ],
)
def test_wrong_configurations_say_what_is_wrong(config, message):
    with pytest.raises(ValueError, match=message):
        deepspeed.read(config)


def test_an_optimizer_without_a_name_there_is_refused():
    with pytest.raises(ValueError, match="DeepSpeed has no adafactor"):
        deepspeed.write({"training": {"optimizer": "adafactor"}})
