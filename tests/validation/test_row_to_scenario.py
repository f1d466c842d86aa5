"""A published row says the same as the scenario that is made of it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from simulator.validation import files
from simulator.validation.expression import InexpressibleError
from simulator.validation.rows import expression
from simulator.validation.suites.base import Row
from simulator.validation.suites.runs import Runs

PLAIN = {
    "id": "one",
    "family": "F",
    "gpu_name": "A100-80GB-SXM",
    "gpus": "16",
    "gpus_per_node": "8",
    "nics": "8",
    "nic_gbps": "200",
    "stack": "megatron",
    "year": "2022",
    "precision_name": "bf16",
    "precision": "bf16",
    "layers": "24",
    "hidden": "2048",
    "heads": "16",
    "kv_heads": "16",
    "ffn": "8192",
    "gated_mlp": "0",
    "vocab": "51200",
    "tie_embeddings": "1",
    "seq": "2048",
    "tp": "2",
    "pp": "2",
    "dp": "4",
    "cp": "1",
    "ep": "1",
    "vpp": "1",
    "schedule": "1f1b",
    "micro_batch": "2",
    "global_batch": "64",
    "sequence_parallel": "1",
    "recompute": "none",
    "zero_stage": "1",
    "flash_attention": "0",
}


def row(**changes: str) -> Row:
    texts = PLAIN | changes
    numbers = {name: float(text) for name in Runs.numbers if (text := texts.get(name, ""))}
    return Row(line=2, texts=texts, numbers=numbers)


def scenario(**changes: str) -> dict[str, Any]:
    (plain,) = expression(row(**changes)).scenarios
    return plain


@cache
def shipped() -> Mapping[str, Row]:
    return {row.text("id"): row for path in files.shipped() if path.stem == "runs" for row in files.read(path).rows}


def published(name: str) -> dict[str, Any]:
    (plain,) = expression(shipped()[name]).scenarios
    return plain


# Whole rows.


def test_korthikanti_175b() -> None:
    assert published("KOR-0004") == {
        "version": 1,
        "name": "KOR-0004",
        "model": {
            "layers": 96,
            "hidden": 12288,
            "heads": 96,
            "kv_heads": 96,
            "ffn": 49152,
            "vocabulary": 51200,
            "gated": False,
            "tied": True,
            "norm": "layernorm",
            "activation": "gelu",
            "bias": "all",
            "positions": "learned",
            "max_positions": 2048,
            "dropout": "10%",
        },
        "cluster": {"host": {"base": "dgx-a100"}, "hosts": 8},
        "stack": {"base": "megatron-2022"},
        "parallelism": {
            "tensor": 8,
            "pipeline": 8,
            "context": 1,
            "sequence": True,
            "schedule": {"kind": "interleaved-1f1b", "chunks": 3},
            "shard": "none",
        },
        "training": {
            "steps": 1,
            "sequence_length": 2048,
            "global_batch": 64,
            "microbatch": 1,
            "precision": "fp16",
            "recompute": "selective",
        },
    }


def test_a_mosaic_run_on_one_host() -> None:
    plain = published("mosaic-044")
    assert plain["model"]["base"] == "mpt-3b"
    assert plain["cluster"] == {"host": {"base": "dgx-h100"}, "hosts": 1}
    assert plain["parallelism"] == {"tensor": 1, "pipeline": 1, "context": 1, "shard": "parameters"}
    assert plain["training"] == {
        "steps": 1,
        "sequence_length": 8192,
        "global_batch": 144,
        "microbatch": 3,
        "precision": "bf16",
        "recompute": "none",
    }


def test_a_mixture_of_experts() -> None:
    plain = published("mb-077")
    assert plain["model"]["base"] == "qwen3-235b-a22b"
    assert plain["model"]["experts"] == {"count": 128, "active": 8, "ffn": 1536, "shared": 0, "dense_layers": 0}
    assert plain["parallelism"]["expert"] == 32
    assert plain["parallelism"]["expert_tensor"] == 1
    assert plain["parallelism"]["schedule"] == {"kind": "interleaved-1f1b", "chunks": 4}
    assert plain["moe"] == {"imbalance": 1}


def test_latent_attention_takes_its_sizes_from_the_note() -> None:
    assert published("tt-109")["model"]["attention"] == {
        "kind": "mla",
        "q_rank": 0,
        "kv_rank": 512,
        "nope_size": 128,
        "rope_size": 64,
        "value_size": 128,
    }


def test_a_window_of_every_other_layer_is_read_from_the_note() -> None:
    assert published("mb-098")["model"]["attention"] == {"window": 128, "full_every": 2}


def test_experts_that_alternate_with_dense_layers() -> None:
    experts = published("dgxc-040")["model"]["experts"]
    assert (experts["every"], "dense_layers" in experts) == (2, False)


def test_a_run_on_one_gpu() -> None:
    plain = published("tune-009")
    assert (plain["cluster"]["hosts"], plain["cluster"]["host"]["gpu"], plain["cluster"]["host"]["gpus"]) == (
        1,
        "rtx-4090",
        1,
    )
    assert plain["training"]["optimizer"] == "adam-8bit"


def test_torchtitan_cuts_the_local_batch_of_a_pipeline_into_single_sequences() -> None:
    training = published("tt-013")["training"]
    assert (training["global_batch"], training["microbatch"]) == (256, 1)


# The cluster.


def test_network_cards_that_differ_from_the_catalog_are_changed() -> None:
    assert scenario(nics="2", nic_gbps="50")["cluster"]["host"] == {
        "base": "dgx-a100",
        "nics": 2,
        "nic_bandwidth": "50Gbps",
    }


def test_the_host_with_the_same_cards_and_network_is_found() -> None:
    cards = {"gpu_name": "A100-80GB-SXM", "nics": "4", "nic_gbps": "100"}
    assert scenario(**cards, network="4x Omni-Path 100Gb/s")["cluster"]["host"] == {"base": "jean-zay-a100"}
    assert scenario(**cards, network="AWS EFA")["cluster"]["host"] == {"base": "aws-p4de"}


def test_part_of_a_host_is_a_host_of_fewer_gpus() -> None:
    plain = scenario(gpus="4", dp="1")
    assert plain["cluster"] == {"host": {"base": "dgx-a100", "gpus": 4}, "hosts": 1}


def test_a_gpu_without_a_host_in_the_catalog_is_written_out() -> None:
    host = scenario(gpu_name="V100-16GB-SXM", gpus_per_node="4", nics="4", nic_gbps="100")["cluster"]["host"]
    assert host == {
        "gpu": "v100-sxm-16gb",
        "gpus": 4,
        "scale_up": {"domain": 4, "bandwidth": "150GB/s"},
        "nics": 4,
        "nic_bandwidth": "100Gbps",
    }


def test_hosts_of_a_row_that_does_not_say_are_the_catalogs() -> None:
    assert scenario(gpus_per_node="", nics="", nic_gbps="")["cluster"] == {"host": {"base": "dgx-a100"}, "hosts": 2}


# The stack.


@pytest.mark.parametrize(
    ("framework", "year", "entry"),
    [
        ("megatron", "2021", "megatron-2021"),
        ("megatron", "2025", "megatron-core-2025"),
        ("nemo", "2022", "nemo-2022"),
        ("torchtitan", "2025", "torchtitan-2025"),
        ("aleph-alpha", "2023", "aa-2023"),
    ],
)
def test_the_entry_that_claims_framework_and_year_is_taken(framework: str, year: str, entry: str) -> None:
    said = expression(row(stack=framework, year=year))
    assert said.scenarios[0]["stack"]["base"] == entry
    assert not [note for note in said.notes if note.startswith("stack")]


def test_the_nearest_year_stands_in_and_says_so() -> None:
    said = expression(row(stack="megatron-bridge", year="2024"))
    assert said.scenarios[0]["stack"]["base"] == "megatron-bridge-2025"
    assert "stack megatron-bridge-2025: nearest to megatron-bridge 2024" in said.notes


def test_a_row_without_a_year_ran_on_the_newest_entry() -> None:
    assert scenario(stack="megatron", year="")["stack"]["base"] == "megatron-core-2025"


def test_an_unknown_framework_is_the_generic_stack_and_says_so() -> None:
    said = expression(row(stack="homemade"))
    assert said.scenarios[0]["stack"]["base"] == "generic"
    assert "stack generic: no entry for homemade" in said.notes


def test_attention_is_changed_only_where_the_row_contradicts_the_stack() -> None:
    assert scenario(stack="megatron", year="2022", flash_attention="0")["stack"] == {"base": "megatron-2022"}
    assert scenario(stack="megatron", year="2022", flash_attention="1")["stack"]["attention"] == "newest"
    assert scenario(stack="nemo", year="2024", flash_attention="0")["stack"]["attention"] == "unfused"
    assert scenario(stack="nemo", year="2024", flash_attention="2")["stack"] == {"base": "nemo-2024"}


def test_a_kernel_that_is_named_is_taken() -> None:
    sweep = {"stack": "aleph-alpha", "year": "2023", "flash_attention": ""}
    assert scenario(**sweep, kernel="flash_attentionv1.0.8")["stack"] == {"base": "aa-2023", "attention": "flash-1"}
    assert scenario(**sweep, kernel="flash_attention2 + RMS kernel")["stack"] == {
        "base": "aa-2023",
        "attention": "flash-2",
        "norm": "fused",
    }
    assert scenario(**sweep, kernel="torch")["stack"]["softmax"] == "eager"


@pytest.mark.parametrize(
    ("note", "precision", "entry"),
    [
        ("compile", "bf16", "torchtitan-2024"),
        ("no compile stated", "bf16", "torchtitan-2024-eager"),
        ("", "bf16", "torchtitan-2024-eager"),
        ("", "fp8", "torchtitan-2024"),
    ],
)
def test_torchtitan_runs_eagerly_unless_compiled_or_in_fp8(note: str, precision: str, entry: str) -> None:
    plain = scenario(stack="torchtitan", year="2024", notes=note, precision_name=precision, pp="1", dp="8")
    assert plain["stack"]["base"] == entry


@pytest.mark.parametrize(
    ("note", "key", "value"),
    [
        ("partial CUDA graph", "cuda_graphs", True),
        ("HybridEP, EP overlap", "moe_dispatcher", "fused"),
        ("DeepEP, 1F1B A2A overlap", "moe_overlap", True),
        ("OOM from allocator fragmentation", "expandable_segments", False),
        ("baseline + expandable_segments allocator", "expandable_segments", True),
        ("distributed_fused_adam, no comm overlap", "overlap_gradient_reduce", False),
        ("chunked cross entropy", "loss", "chunked"),
        ("all overlaps off", "async_tensor", "none"),
    ],
)
def test_what_a_note_states_wins_over_the_stack(note: str, key: str, value: object) -> None:
    assert scenario(notes=note)["stack"][key] == value


def test_a_note_without_a_known_phrase_changes_nothing() -> None:
    assert scenario(notes="single iteration (2nd) snapshot; step time rounded")["stack"] == {"base": "megatron-2022"}


# The layout.


@pytest.mark.parametrize(
    ("stage", "shard"),
    [
        ("0", "none"),
        ("1", "optimizer"),
        ("dist-opt", "optimizer"),
        ("2", "gradients"),
        ("3", "parameters"),
    ],
)
def test_zero_stages(stage: str, shard: str) -> None:
    assert scenario(zero_stage=stage)["parallelism"]["shard"] == shard


def test_sharding_is_the_stacks_where_left_out() -> None:
    assert "shard" not in scenario(zero_stage="")["parallelism"]


def test_hybrid_sharding_spans_a_host_unless_the_note_says_otherwise() -> None:
    layout = {"tp": "1", "pp": "1", "dp": "16"}
    assert scenario(**layout, zero_stage="hsdp")["parallelism"]["shard"] == {"level": "parameters", "replicas": 2}
    assert scenario(**layout, zero_stage="1", notes="ZeRO-1 over 4 GPUs in node")["parallelism"]["shard"] == {
        "level": "optimizer",
        "replicas": 4,
    }


def test_one_chunk_interleaved_is_plain() -> None:
    assert scenario(schedule="interleaved-1f1b", vpp="1")["parallelism"]["schedule"] == {"kind": "1f1b"}


def test_chunks_stated_are_interleaved() -> None:
    schedule = {"kind": "interleaved-1f1b", "chunks": 3}
    assert scenario(schedule="1f1b", vpp="3")["parallelism"]["schedule"] == schedule
    assert scenario(schedule="", vpp="3")["parallelism"]["schedule"] == schedule


@pytest.mark.parametrize("name", ["zb-h1", "zb-h2", "zb-v", "dualpipe", "gpipe"])
def test_other_schedules_keep_their_names(name: str) -> None:
    assert scenario(schedule=name)["parallelism"]["schedule"] == {"kind": name}


def test_a_schedule_left_out_is_the_frameworks() -> None:
    left_out = {"schedule": "", "vpp": ""}
    assert scenario(**left_out)["parallelism"]["schedule"] == {"kind": "1f1b"}
    modern = scenario(**left_out, stack="nemo", year="2024", layers="24")
    assert modern["parallelism"]["schedule"] == {"kind": "interleaved-1f1b", "chunks": 12}
    uneven = scenario(**left_out, stack="nemo", year="2024", global_batch="24")
    assert uneven["parallelism"]["schedule"] == {"kind": "1f1b"}


@pytest.mark.parametrize("none", ["none", "none (grad accumulation)", ""])
def test_without_a_pipeline_there_is_no_schedule(none: str) -> None:
    assert "schedule" not in scenario(schedule=none, pp="1", dp="8")["parallelism"]


def test_layers_that_do_not_divide_count_embedding_and_head() -> None:
    assert scenario(layers="23")["parallelism"]["split"] == "slots"
    assert "split" not in scenario(layers="24")["parallelism"]


def test_experts_are_split_like_the_rest_where_the_ranks_allow_it() -> None:
    experts = {"experts": "8", "top_k": "2", "moe_ffn": "8192", "ep": "4"}
    assert scenario(**experts)["parallelism"]["expert_tensor"] == 2
    assert scenario(**experts, expert_tensor="1")["parallelism"]["expert_tensor"] == 1
    assert scenario(**experts | {"ep": "8"})["parallelism"]["expert_tensor"] == 1


# The batch.


def test_a_microbatch_left_out_is_tried_in_every_size_that_divides() -> None:
    said = expression(row(micro_batch=""))
    assert [plain["training"]["microbatch"] for plain in said.scenarios] == [1, 2, 4, 8]
    said = expression(row(micro_batch="", global_batch="24"))
    assert [plain["training"]["microbatch"] for plain in said.scenarios] == [1, 2]


def test_a_batch_left_out_follows_from_the_token_rate() -> None:
    plain = scenario(global_batch="", tokens_per_s_per_gpu="4096", step_time_s="2", gpus="16")
    assert plain["training"]["global_batch"] == 64


def test_a_batch_that_nothing_tells_is_one_microbatch_a_replica_and_stage() -> None:
    assert scenario(global_batch="")["training"]["global_batch"] == 2 * 2 * 4


def test_recompute_of_every_other_layer() -> None:
    plain = scenario(recompute="selective", notes="selective: every-other-layer AC")
    assert plain["training"]["recompute"] == {"kind": "full", "layers": 6}


def test_recompute_left_out_is_the_stacks() -> None:
    assert "recompute" not in scenario(recompute="")["training"]


@pytest.mark.parametrize(
    ("text", "precision"),
    [
        ("fp8", "fp8"),
        ("fp8 (per-tensor current scaling)", {"kind": "fp8", "scaling": "current"}),
        ("fp8-cs", {"kind": "fp8", "scaling": "current"}),
        ("fp8 blockwise", {"kind": "fp8", "scaling": "block"}),
    ],
)
def test_fp8_names_its_scaling_where_the_source_does(text: str, precision: object) -> None:
    assert scenario(precision_name="fp8", precision=text)["training"]["precision"] == precision


def test_a_precision_without_a_normalised_name_is_found_in_the_text() -> None:
    text = {"precision_name": "", "precision": "mxfp8 (cublas)"}
    assert scenario(**text)["training"]["precision"] == "mxfp8"


# The model.


def test_a_model_that_the_catalog_knows_by_name_and_size_is_based_on_it() -> None:
    known = {"model_name": "Llama-3.1-8B (SFT)", "layers": "32", "hidden": "4096", "heads": "32", "tp": "1", "dp": "8"}
    assert scenario(**known)["model"]["base"] == "llama-3.1-8b"
    assert "base" not in scenario(**known | {"layers": "16"})["model"]


def test_learned_positions_reach_as_far_as_the_sequences() -> None:
    assert published("mosaic-044")["model"]["max_positions"] == 8192


def test_a_gated_model_has_llamas_details() -> None:
    model = scenario(gated_mlp="1", tie_embeddings="")["model"]
    assert (model["norm"], model["positions"], model["bias"], model["dropout"]) == ("rmsnorm", "rope", "none", 0)
    assert model["tied"] is False


def test_dimensions_left_out_follow_the_rules() -> None:
    model = scenario(heads="", kv_heads="", ffn="", vocab="", gated_mlp="")["model"]
    assert (model["heads"], model["ffn"], model["vocabulary"], model["gated"]) == (16, 8192, 50304, False)


# What cannot be said.


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"layers": "", "model_name": "GPT (size not stated)"}, "the dimensions of the model are not stated"),
        ({"gpu_name": "Abacus"}, "no GPU named 'Abacus' in the catalog"),
        ({"gpus": ""}, "the number of GPUs is not stated"),
        ({"gpus": "12", "dp": "3"}, "12 GPUs are not whole hosts of 8"),
        ({"dp": "5"}, "tensor 2 x pipeline 2 x context 1 x data 5 does not make 16 GPUs"),
        ({"seq": ""}, "the sequence length is not stated"),
        ({"global_batch": "63"}, "a global batch of 63 does not divide over 4 replicas"),
        ({"global_batch": "60"}, "a replica's share of 15 sequences is not whole microbatches of 2"),
        ({"zero_stage": "7"}, "sharding '7' is not known"),
        ({"recompute": "sometimes"}, "recompute 'sometimes' is not known"),
        ({"precision_name": "int4"}, "precision 'int4' is not known"),
        ({"experts": "8", "top_k": ""}, "how many experts a token visits, or how wide they are, is not stated"),
    ],
)
def test_a_row_that_no_scenario_says_has_a_reason(changes: dict[str, str], reason: str) -> None:
    with pytest.raises(InexpressibleError) as error:
        expression(row(**changes))
    assert str(error.value) == reason


def test_fields_left_out_are_named_in_a_note() -> None:
    said = expression(row(micro_batch="", recompute=""))
    assert "by rule: micro_batch, recompute" in said.notes
    assert expression(row()).notes == ()
