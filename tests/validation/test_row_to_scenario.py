"""A published row says what its scenario says: whole rows, batch, model, and what cannot be said."""

from __future__ import annotations

import pytest
from published_row import published, row, scenario

from simulator.validation import rules
from simulator.validation.expression import InexpressibleError
from simulator.validation.rows import expression

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


@pytest.mark.parametrize(
    ("notes", "context"),
    [("sequence parallel = Ulysses all-to-all", {"size": 2, "kind": "ulysses"}), ("zigzag ring attention", 2)],
)
def test_an_exchange_of_heads_is_read_from_the_note(notes: str, context: object) -> None:
    assert scenario(cp="2", dp="2", notes=notes)["parallelism"]["context"] == context


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


def test_torchtitan_of_2024_cuts_the_local_batch_of_a_pipeline_into_as_many_microbatches_as_stages() -> None:
    training = published("tt-013")["training"]
    assert (training["global_batch"], training["microbatch"]) == (256, 32 // 8)


def test_torchtitan_of_2025_cuts_the_local_batch_of_a_pipeline_into_sequences() -> None:
    assert rules.pipeline_microbatch(local_batch=32, pipeline=8, year=2025) == 1


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
