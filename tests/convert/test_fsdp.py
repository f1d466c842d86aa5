"""FSDP settings of accelerate: both versions are read, version 2 is written."""

import pytest

from simulator.convert import fsdp

V1 = """
compute_environment: LOCAL_MACHINE
distributed_type: FSDP
mixed_precision: bf16
num_machines: 2
num_processes: 16
fsdp_config:
  fsdp_sharding_strategy: SHARD_GRAD_OP
  fsdp_offload_params: true
  fsdp_activation_checkpointing: true
  fsdp_use_orig_params: true
"""
CLUSTER = {"hosts": 2, "host": {"gpus": 8}}


def test_version_1_names_its_strategy():
    assert fsdp.read(V1) == {
        "parallelism": {"shard": "gradients"},
        "training": {
            "precision": "bf16",
            "recompute": "full",
            "offload": {"parameters": 1, "optimizer": 1, "to": "cpu"},
        },
    }
    assert fsdp.ignored(V1) == [
        "compute_environment",
        "fsdp_config.fsdp_use_orig_params",
        "num_machines",
        "num_processes",
    ]


@pytest.mark.parametrize(("number", "level"), [(1, "parameters"), (2, "gradients"), (3, "none"), (4, "parameters")])
def test_a_strategy_may_be_a_number(number, level):
    text = f"distributed_type: FSDP\nfsdp_config: {{fsdp_sharding_strategy: {number}}}"
    assert fsdp.read(text)["parallelism"]["shard"] == level


@pytest.mark.parametrize(
    "parallelism",
    [
        {"shard": "parameters"},
        {"shard": "gradients"},
        {"shard": "none"},
        {"tensor": 4, "shard": "parameters"},
        {"tensor": 2, "context": 2, "shard": {"level": "parameters", "replicas": 2}},
    ],
)
def test_a_layout_is_the_same_after_a_round_trip(parallelism):
    assert fsdp.read(fsdp.write({"parallelism": parallelism, "cluster": CLUSTER}))["parallelism"] == parallelism


@pytest.mark.parametrize("training", [{"precision": "bf16"}, {"precision": "fp32", "recompute": "full"}])
def test_training_is_the_same_after_a_round_trip(training):
    assert fsdp.read(fsdp.write({"training": training}))["training"] == training


@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        ({"parallelism": {"pipeline": 2}}, "has no pipeline"),
        ({"parallelism": {"shard": "optimizer"}}, "it has no `optimizer`"),
        ({"parallelism": {"tensor": 2}}, "need the number of GPUs"),
        ({"training": {"precision": "nvfp4"}}, "accelerate has no nvfp4"),
    ],
)
def test_what_fsdp_cannot_say_is_refused(scenario, message):
    with pytest.raises(ValueError, match=message):
        fsdp.write(scenario)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a mapping"),
        ("a: [", "not YAML"),
        ("distributed_type: FSDP\nfsdp_config: {fsdp_sharding_strategy: ALL}", "'ALL' is not known"),
        ("parallelism_config: {parallelism_config_tp_size: x}", "tp_size: expected a whole number"),
    ],
)
def test_wrong_settings_say_what_is_wrong(text, message):
    with pytest.raises(ValueError, match=message):
        fsdp.read(text)
