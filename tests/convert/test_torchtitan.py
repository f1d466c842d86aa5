"""Command lines of torchtitan: read, written, read again."""

import pytest

from simulator import catalog
from simulator.convert import torchtitan

LINE = """
--module llama3 --config llama3_405b
--parallelism.tensor_parallel_degree 8 --parallelism.pipeline_parallel_degree 8
--parallelism.pipeline-parallel-schedule Interleaved1F1B --parallelism.data_parallel_shard_degree 8
--training.global_batch_size 256 --training.seq_len=8192 --training.steps 3000
--compile.enable --metrics.log_freq 10
activation-checkpoint:full
"""
SCENARIO = {
    "model": "qwen3-30b-a3b",
    "parallelism": {
        "tensor": 4,
        "pipeline": 1,
        "context": 2,
        "expert": 8,
        "expert_tensor": 1,
        "sequence": False,
        "shard": {"level": "parameters", "replicas": 2},
    },
    "training": {
        "steps": 100,
        "sequence_length": 4096,
        "global_batch": 64,
        "microbatch": 2,
        "precision": "bf16",
        "recompute": "selective",
    },
}


def test_a_command_line_gives_model_parallelism_and_training():
    assert torchtitan.read(LINE) == {
        "model": "llama-3.1-405b",
        "parallelism": {
            "tensor": 8,
            "pipeline": 8,
            "context": 1,
            "expert": 1,
            "expert_tensor": 1,
            "sequence": True,
            "shard": "parameters",
            "schedule": {"kind": "interleaved-1f1b", "chunks": 2},
        },
        "training": {
            "steps": 3000,
            "sequence_length": 8192,
            "global_batch": 256,
            "microbatch": 1,
            "recompute": "full",
        },
    }


def test_what_is_not_used_is_reported():
    assert torchtitan.ignored(LINE) == ["--compile.enable", "--metrics.log_freq"]


def test_a_scenario_is_the_same_after_a_round_trip():
    written = torchtitan.write(SCENARIO)
    assert torchtitan.read(written) == SCENARIO
    assert torchtitan.ignored(written) == []


CLUSTER = {"hosts": 4, "host": {"gpus": 8}}


def test_unsharded_weights_are_replicated_over_all_data_ranks():
    written = torchtitan.write({"cluster": CLUSTER, "parallelism": {"tensor": 4, "context": 2, "shard": "none"}})
    assert "--parallelism.data_parallel_replicate_degree 4\n--parallelism.data_parallel_shard_degree 1\n" in written
    assert torchtitan.read(written)["parallelism"]["shard"] == "none"


def test_a_pipeline_gets_the_whole_batch_of_its_data_rank():
    training = {"global_batch": 64, "microbatch": 2}
    written = torchtitan.write({"cluster": CLUSTER, "parallelism": {"pipeline": 4}, "training": training})
    assert "--training.local_batch_size 8\n" in written
    assert torchtitan.read(written)["training"] == training


@pytest.mark.parametrize("level", ["gradients", "parameters"])
def test_shard_levels_are_kept(level):
    assert torchtitan.read(torchtitan.write({"parallelism": {"shard": level}}))["parallelism"]["shard"] == level


@pytest.mark.parametrize("kind", ["1f1b", "gpipe", "zb-v", "dualpipe"])
def test_schedules_are_kept(kind):
    section = {"pipeline": 4, "schedule": {"kind": kind}}
    assert torchtitan.read(torchtitan.write({"parallelism": section}))["parallelism"]["schedule"] == {"kind": kind}


@pytest.mark.parametrize(("name", "layers", "hidden"), torchtitan.MODELS.values())
def test_every_recipe_is_a_model_of_the_catalog(name, layers, hidden):
    entry = catalog.entry("model", name)
    assert (int(entry["layers"]), int(entry["hidden"])) == (layers, hidden)
    assert torchtitan.read(torchtitan.write({"model": name, "cluster": CLUSTER}))["model"] == name


def test_a_model_with_other_layers_is_no_recipe():
    assert "--config" in torchtitan.write({"model": {"base": "llama-3.1-8b", "layers": "32"}})
    assert "--config" not in torchtitan.write({"model": {"base": "llama-3.1-8b", "layers": "16"}})


def test_tokens_become_whole_steps():
    training = {"tokens": "1M", "global_batch": 64, "sequence_length": 4096}
    assert "--training.steps 4\n" in torchtitan.write({"training": training})


@pytest.mark.parametrize(
    "old", ["--model.name llama3 --model.flavor 8B --activation_checkpoint.mode full --training.batch_size 2"]
)
def test_older_spellings_are_read(old):
    sections = torchtitan.read(old)
    assert sections["model"] == "llama-3.1-8b"
    assert sections["training"] == {"microbatch": 2, "recompute": "full"}


def test_a_local_batch_in_a_pipeline_is_reported():
    line = "--parallelism.pipeline_parallel_degree 2 --training.local_batch_size 8"
    assert torchtitan.ignored(line) == [
        "--training.local_batch_size 8 (a pipeline runs the whole batch of its data rank)"
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "no flags found"),
        ("--module llama3 --config llama3_9b", "llama3 9b is not known; known are llama3 1b"),
        ("--parallelism.pipeline_parallel_schedule Fancy", "'Fancy' is not known"),
        ("--training.seq_len long", "--training.seq_len: expected a number"),
    ],
)
def test_wrong_flags_say_what_is_wrong(line, message):
    with pytest.raises(ValueError, match=message):
        torchtitan.read(line)


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"shard": "none"}, "needs the number of GPUs"),
        ({"shard": "optimizer"}, "torchtitan shards gradients with the optimizer"),
        ({"schedule": {"kind": "zb-h1"}}, "torchtitan has no zb-h1"),
    ],
)
def test_what_torchtitan_cannot_do_is_refused(section, message):
    with pytest.raises(ValueError, match=message):
        torchtitan.write({"parallelism": section})
