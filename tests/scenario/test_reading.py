"""What is written becomes a scenario: names, short forms, defaults that are told, and the echo."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from simulator import shipped
from simulator.errors import ScenarioError
from simulator.scenario import from_dict, read

SHIPPED = sorted(shipped.folder().rglob("*.yaml"))


def assumed(scenario) -> dict[str, str]:
    return {assumption.key: assumption.value for assumption in scenario.assumptions}


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_every_shipped_scenario_reads_without_a_warning(file):
    assert read(file).warnings == ()


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_the_echo_reads_back_as_the_same_scenario(file):
    scenario = read(file)
    again = from_dict(json.loads(json.dumps(scenario.resolved)))
    assert again == scenario
    assert again.resolved == scenario.resolved


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_a_scenario_travels_to_another_process(file):
    scenario = read(file)
    assert pickle.loads(pickle.dumps(scenario)) == scenario


def test_a_text_is_read_like_a_file(tmp_path):
    text = SHIPPED[0].read_text()
    file = tmp_path / SHIPPED[0].name
    file.write_text(text)
    assert read(text).resolved == read(file).resolved


def test_a_scenario_without_a_name_has_that_of_its_file(tmp_path, minimal):
    file = tmp_path / "mine.yaml"
    file.write_text(json.dumps(minimal))
    assert read(file).name == "mine"


def test_the_order_of_keys_changes_nothing(minimal):
    turned = {key: minimal[key] for key in reversed(minimal)}
    assert from_dict(turned) == from_dict(minimal)


def test_other_units_change_nothing(minimal):
    bits = minimal | {"cluster": {"host": {"base": "hgx-h100", "nic_bandwidth": "200Gbps"}, "hosts": 4}}
    bytes_ = minimal | {"cluster": {"host": {"base": "hgx-h100", "nic_bandwidth": "25GB/s"}, "hosts": "4"}}
    assert from_dict(bits) == from_dict(bytes_)


def test_every_default_is_told(minimal):
    told = assumed(from_dict(minimal))
    assert told["stack"] == "generic"
    assert told["parallelism.tensor"] == "1"
    assert told["cluster.topology.kind"] == "fat-tree"
    assert told["cluster.topology.link_bandwidth"] == "50GB/s"
    assert told["cluster.storage.write"] == "4GB/s"
    assert told["prices.gpu_hour"] == "$2.50/h"
    assert told["training.microbatch"] == "1"
    assert told["failures"] == "none"
    assert told["runs"] == "200"


def test_what_is_given_is_not_assumed(minimal):
    minimal |= {"stack": "megatron-core-2024", "seed": 3, "failures": "llama3", "parallelism": {"tensor": 2}}
    told = assumed(from_dict(minimal))
    assert not {"stack", "seed", "failures", "parallelism.tensor", "failures.planned", "model.layers"} & told.keys()
    assert {"runs", "checkpoint.kind", "recovery.kind", "parallelism.pipeline"} <= told.keys()


def test_hosts_that_are_replaced_at_once_are_an_assumption(minimal):
    told = {one.key: one for one in from_dict(minimal | {"failures": "llama3"}).assumptions}
    assert (told["cluster.spares"].value, told["recovery.repair"].value) == ("none", "none")
    assert told["cluster.spares"].source == "failed hosts are replaced at once and free of charge"


def test_spares_and_repair_are_not_assumed_where_they_are_given_or_mean_nothing(minimal):
    minimal |= {"cluster": {"host": "hgx-h100", "hosts": 4, "spares": 1}}
    given = assumed(from_dict(minimal | {"failures": "llama3", "recovery": {"repair": "1d"}}))
    software = assumed(from_dict(minimal | {"failures": [{"unit": "job", "mtbf": "1d"}]}))
    assert not {"cluster.spares", "recovery.repair"} & (
        given.keys() | software.keys() | assumed(from_dict(minimal)).keys()
    )


def test_the_echo_assumes_nothing(minimal):
    told = assumed(from_dict(from_dict(minimal).resolved))
    assert set(told) <= {"parallelism.split", "failures", "cluster.topology.link_bandwidth"}


def test_the_split_of_llama_3_is_echoed():
    scenario = read(shipped.folder() / "published/llama-3.1-405b-16k.yaml")
    split = next(item for item in scenario.assumptions if item.key == "parallelism.split")
    assert split.value == "[0, 126 x 1, 0]"
    assert split.source == "rule `slots` of stack meta-2024: 126 layers in 128 chunks"


def test_a_name_and_its_base_are_the_same(minimal):
    assert from_dict(minimal | {"model": {"base": "llama-3.1-8b"}}) == from_dict(minimal)


def test_an_alias_has_the_name_of_its_entry(minimal):
    assert from_dict(minimal | {"model": "Llama 3.1 8B"}).model_name == "llama-3.1-8b"


def test_a_catalog_beside_the_package_is_searched_first(tmp_path, minimal):
    folder = tmp_path / "host"
    folder.mkdir()
    entry = "gpu: h100-sxm-80gb\ngpus: 4\nscale_up: {domain: 4, bandwidth: 450GB/s}\nnics: 4\n"
    (folder / "tiny.yaml").write_text(entry + "nic_bandwidth: 100Gbps\nsource: a test\n")
    minimal["cluster"]["host"] = "tiny"
    scenario = from_dict(minimal, catalogs=[tmp_path])
    assert (scenario.gpus, scenario.cluster.host_name) == (16, "tiny")
    with pytest.raises(ScenarioError, match="no host named `tiny`"):
        from_dict(minimal)


def test_null_takes_a_key_of_an_entry_away(minimal):
    assert from_dict(minimal | {"model": {"base": "mixtral-8x7b", "experts": None}}).model.experts is None


def test_a_hugging_face_file_is_found_beside_the_scenario(tmp_path, minimal):
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "vocab_size": 128256,
        "hidden_act": "silu",
        "tie_word_embeddings": False,
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    file = tmp_path / "mine.yaml"
    file.write_text(json.dumps(minimal | {"model": {"huggingface": "config.json"}}))
    scenario = read(file)
    assert (scenario.model.kv_heads, scenario.model_name) == (8, "custom")
    assert from_dict(scenario.resolved) == scenario


def test_keys_of_a_stack_without_a_base_change_the_default_one(minimal):
    named = from_dict(minimal, overrides=["stack={base: generic, cuda_graphs: true}"])
    for found in (
        from_dict(minimal, overrides=["stack.cuda_graphs=true"]),
        from_dict({**minimal, "stack": {"cuda_graphs": True}}),
    ):
        assert (found.stack, found.stack_name) == (named.stack, "generic")
        assert from_dict(found.resolved).stack == found.stack
        assert {a.key: a.value for a in found.assumptions}["stack.base"] == "generic"


def test_sequence_parallelism_follows_the_stack(minimal):
    minimal["parallelism"] = {"tensor": 2}
    assert from_dict(minimal).parallelism.sequence is True
    assert from_dict(minimal, overrides=["stack={base: generic, sequence: false}"]).parallelism.sequence is False
    assert from_dict(minimal, overrides=["parallelism.tensor=1"]).parallelism.sequence is False


def test_the_scenario_beats_the_stack(minimal):
    minimal["stack"] = "meta-2024"
    assert from_dict(minimal).parallelism.shard.level == "gradients"
    assert from_dict(minimal, overrides=["parallelism.shard=none"]).parallelism.shard.level == "none"
    assert from_dict(minimal, overrides=["parallelism.shard.replicas=2"]).parallelism.shard.level == "gradients"


def test_states_left_out_are_the_stacks(minimal):
    minimal["training"]["states"] = {"gradients": "bf16"}
    states = from_dict(minimal).training.states
    assert (states.weights, states.gradients, states.moments) == ("bf16", "bf16", "fp32")


def test_single_precision_has_no_second_copy_of_the_weights(minimal):
    minimal["training"]["precision"] = "fp32"
    states = from_dict(minimal).training.states
    assert (states.weights, states.gradients, states.master) == ("fp32", "fp32", "none")


@pytest.mark.parametrize(("text", "seconds", "share"), [("2s", 2.0, None), ("3%", None, 0.03), ("0.03", None, 0.03)])
def test_a_stall_is_a_time_or_a_share_of_the_step(minimal, text, seconds, share):
    minimal["training"]["data_stall"] = text
    scenario = from_dict(minimal)
    assert (scenario.training.data_stall, scenario.training.data_stall_share) == (seconds, share)
    assert from_dict(scenario.resolved) == scenario


def test_a_ramp_is_part_of_the_tokens(minimal):
    minimal["training"]["phases"] = [{"tokens": "10G", "global_batch": 32}, {"tokens": "90G", "global_batch": 64}]
    assert from_dict(minimal).training.tokens == 10**12
    del minimal["training"]["tokens"]
    assert from_dict(minimal).training.tokens == 100 * 10**9


def test_a_split_rule_may_be_named_instead_of_a_list(minimal):
    scenario = from_dict(minimal, overrides=["parallelism.split=cost"])
    assert (scenario.stack.split, scenario.parallelism.split) == ("cost", None)


def test_a_measured_step_needs_neither_model_nor_layout():
    scenario = from_dict(
        {"cluster": {"host": "hgx-h100", "hosts": 4}, "training": {"steps": 1000, "step_time": "9s"}},
    )
    assert (scenario.model, scenario.parallelism, scenario.gpus) == (None, None, 32)


def test_a_measured_step_may_have_them(minimal):
    minimal["training"]["step_time"] = "9s"
    assert from_dict(minimal).model.layers == 32


def test_causes_beside_a_preset_are_added(minimal):
    cause = {"kind": "eviction", "unit": "host", "mtbf": "1000h"}
    alone = from_dict(minimal | {"failures": "llama3"})
    both = from_dict(minimal | {"failures": {"preset": "llama3", "causes": [cause]}})
    assert len(both.failures.causes) == len(alone.failures.causes) + 1
    assert len(both.resolved["failures"]["causes"]) == 1
    assert from_dict(both.resolved) == both


def test_the_exposure_chooses_the_denominator_of_a_preset(minimal):
    def first(exposure):
        return from_dict(minimal | {"failures": {"preset": "llama3", "exposure": exposure}}).failures.causes[0]

    assert first("uptime").mtbf / first("wall").mtbf == pytest.approx(0.945)


def test_a_pair_of_ratios_or_one_is_an_oversubscription(minimal):
    minimal["cluster"]["topology"] = {"kind": "fat-tree", "levels": 3, "oversubscription": [1, 7]}
    assert from_dict(minimal).cluster.topology.oversubscription == (1.0, 7.0)
    minimal["cluster"]["topology"]["oversubscription"] = 2
    assert from_dict(minimal).cluster.topology.oversubscription == 2.0


def test_a_topology_without_a_kind_is_a_fat_tree(minimal):
    minimal["cluster"]["topology"] = {"oversubscription": 2}
    assert from_dict(minimal).cluster.topology.kind == "fat-tree"


def test_a_calibration_file_is_found_beside_the_scenario(tmp_path, minimal):
    (tmp_path / "mine.yaml").write_text("products: {bf16: 1.05}\n")
    scenario = from_dict(minimal | {"calibration": "mine.yaml"}, folder=tmp_path)
    assert scenario.calibration.products == {"bf16": 1.05}
    assert from_dict(scenario.resolved) == scenario


def test_a_log_of_failures_is_found_beside_the_scenario(tmp_path, minimal):
    (tmp_path / "log.csv").write_text("time,host\n100,3\n")
    minimal["failures"] = [{"kind": "trace", "unit": "host", "file": "log.csv"}]
    assert Path(from_dict(minimal, folder=tmp_path).failures.causes[0].file) == tmp_path / "log.csv"


def test_interleaving_that_does_not_divide_tells_its_rule(minimal):
    minimal["parallelism"] = {"pipeline": 4, "schedule": {"kind": "interleaved-1f1b", "chunks": 2}}
    assert "parallelism.schedule.group" not in assumed(from_dict(minimal))
    scenario = from_dict(minimal, overrides=["training.global_batch=80"])
    assert (scenario.microbatches, assumed(scenario)["parallelism.schedule.group"]) == (10, "5")


def test_a_cause_without_a_kind_is_exponential(minimal):
    minimal["failures"] = [{"unit": "gpu", "mtbf": "50000h"}]
    assert from_dict(minimal).failures.causes[0].kind == "exponential"


def test_evaluation_is_counted_in_steps(minimal):
    minimal["training"]["evaluation"] = {"every": "1000 steps", "time": "12min"}
    assert from_dict(minimal).training.evaluation.every == 1000


def test_expectations_keep_what_is_given(minimal):
    minimal["expect"] = {"step.mfu": {"at_least": 0.4}, "step.time_s": {"value": 9, "within": "8%"}}
    assert from_dict(minimal).expect == {"step.mfu": {"at_least": 0.4}, "step.time_s": {"value": 9.0, "within": 0.08}}


def test_spares_left_out_and_none_differ(minimal):
    assert from_dict(minimal).cluster.spares is None
    minimal["cluster"]["spares"] = 0
    assert from_dict(minimal).cluster.spares == 0


def test_replicas_and_microbatches_follow(minimal):
    minimal["parallelism"] = {"tensor": 2, "pipeline": 2}
    scenario = from_dict(minimal)
    assert (scenario.gpus, scenario.data, scenario.microbatches) == (32, 8, 8)


def test_equal_machines_are_one_object(minimal):
    one, other = from_dict(minimal), from_dict(minimal)
    assert one.cluster.host is other.cluster.host
    assert one.model is other.model
