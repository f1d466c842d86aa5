"""A published row says on which cluster, with which software and in which layout it ran."""

from __future__ import annotations

import pytest
from published_row import row, scenario

from simulator.validation.rows import expression

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
        "scale_up": {"domain": 4},
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


def test_words_of_a_row_name_a_framework_only_where_its_column_says_less() -> None:
    assert scenario(stack="other", year="", framework="MaxText on XLA")["stack"]["base"] == "maxtext-2025"
    assert (
        scenario(stack="megatron-deepspeed", framework="on Gaudi")["stack"]["base"] == "megatron-deepspeed-gaudi-2024"
    )
    assert scenario(stack="fsdp", year="2023", framework="FSDP and kernels of lit-gpt")["stack"]["base"] == "fsdp-2023"


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
