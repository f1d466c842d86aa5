"""Rows of fine-tuning runs as scenarios: methods, lengths, conventions of a step, and reasons why some say nothing."""

from __future__ import annotations

import pytest

from simulator.scenario import from_dict
from simulator.simulation import fits, predict
from simulator.validation import files, phrases, tuned_runs
from simulator.validation.expression import InexpressibleError
from simulator.validation.row import Row
from simulator.validation.rows import expression
from simulator.validation.suites import finetune
from simulator.validation.suites.finetune import Finetune

ROW = {
    "id": "one",
    "source": "a source",
    "stack": "hf-trainer-2024",
    "framework": "Hugging Face trainer",
    "model": "Mistral-7B",
    "method": "lora",
    "lora_targets": "q_proj, v_proj",
    "gpu": "a100-sxm-80gb",
    "sharding": "FSDP full shard",
    "recompute": "full (gradient checkpointing)",
    "precision": "bf16",
    "mem_kind": "device memory in use (nvidia-smi)",
    "mem_unit": "GiB",
}
NUMBERS = {"gpus": 2, "gpus_per_node": 2, "tp": 1, "pp": 1, "cp": 1, "dp": 2, "micro_batch": 4, "global_batch": 8}
NUMBERS |= {"seq": 4096, "lora_rank": 16, "lora_dropout": 0.1, "step_time_s": 2.0, "mem_gb": 20.0, "oom": 0}


def row(numbers: dict[str, float | None] | None = None, **texts: str) -> Row:
    counted = {name: float(value) for name, value in (NUMBERS | (numbers or {})).items() if value is not None}
    return Row(line=2, texts=ROW | texts, numbers=counted)


def training(one: Row) -> dict:
    (said,) = expression(one).scenarios
    return said["training"]


def test_the_columns_tell_the_table_apart():
    header = [*Finetune.columns, "model", "gpus", "tp", "pp", "layers_are_not_there"]
    assert files.suite_of(header, "a.csv").kind == "finetune"  # type: ignore[arg-type]


def test_a_row_of_adapters_says_its_method():
    assert training(tuned_runs.of_step(row()))["method"] == {
        "kind": "lora",
        "rank": 16,
        "targets": ["q_proj", "v_proj"],
        "dropout": 0.1,
    }


@pytest.mark.parametrize(
    ("stored", "base"),
    [("int4 (bitsandbytes nf4)", "nf4"), ("int4 (GPTQ)", "int4"), ("bf16 (base weights kept in FP8/FP4)", "fp8")],
)
def test_the_format_of_the_frozen_weights(stored, base):
    assert tuned_runs.method(row(base_dtype=stored))["base"] == base


def test_full_training_has_no_method():
    assert "method" not in training(tuned_runs.of_step(row(method="full")))


@pytest.mark.parametrize(
    "said", [{"method": "vera"}, {"base_dtype": "int8 (GPTQ)"}, {"sharding": "layers spread over the cards"}]
)
def test_what_is_not_modelled_has_a_reason(said):
    with pytest.raises(InexpressibleError, match="not modelled"):
        expression(tuned_runs.of_step(row(**said)))


def test_padded_batches_are_as_long_as_the_tokens_that_were_counted():
    padded = row({"seq": 768, "tokens_per_step": 8 * 210})
    assert training(tuned_runs.of_step(padded))["sequence_length"] == 210
    assert training(tuned_runs.of_memory(padded))["sequence_length"] == 768


def test_an_iteration_of_one_microbatch_is_not_a_step():
    one = row({"global_batch": 128}, step_kind="ONE MICRO-BATCH iteration (time of 1000 iterations / 1000)")
    assert training(tuned_runs.of_step(one))["global_batch"] == 8


def test_recompute_of_some_layers():
    one = row(recompute="full, 21 of 80 layers (block)")
    assert training(tuned_runs.of_step(one))["recompute"] == {"kind": "full", "layers": 21}


def test_weights_on_the_host():
    one = row(offload="weights to CPU, activations to CPU")
    assert training(tuned_runs.of_step(one))["offload"] == {"parameters": "100%", "activations": "100%"}


def test_the_mean_of_cut_texts():
    """No cut leaves the mean; a short one leaves the cut; longer cuts leave more."""
    means = [tuned_runs.cut_mean(3234.4, 2547.5, cut) for cut in (64, 512, 2048, 8192, 1e9)]
    assert means[0] == pytest.approx(64, rel=1e-3)
    assert means[-1] == pytest.approx(3234.4)
    assert means == sorted(means)


@pytest.mark.parametrize(
    ("texts", "shard"), [({"sharding": "none"}, "none"), ({"sharding": "FSDP full shard"}, "parameters")]
)
def test_what_is_sharded(texts, shard):
    (said,) = expression(tuned_runs.of_step(row(**texts))).scenarios
    assert said["parallelism"]["shard"] == shard


# Questions that people ask most often: does QLoRA of 70B fit?


def verdict(gpu: str, gpus: int, method: dict, **changes) -> float:
    document = {
        "version": 1,
        "model": "llama-2-70b",
        "cluster": {"host": {"gpu": gpu, "gpus": gpus, "scale_up": {"domain": gpus}, "memory": "512GB"}, "hosts": 1},
        "stack": "hugging-face-2024",
        "parallelism": {"shard": "parameters"},
        "training": {"steps": 1, "sequence_length": 2048, "global_batch": gpus, "recompute": "full", "method": method}
        | changes,
    }
    return fits(from_dict(document)).p_fits


QLORA = {"kind": "qlora", "rank": 64, "targets": ["all-linear"]}


def test_qlora_of_70b_fits_on_eight_cards_of_48_gb_and_lora_does():
    """34.5 GB of weights in four bits, 138 GB in sixteen, shared by eight."""
    assert verdict("l40s", 8, QLORA) > 0.8
    assert verdict("l40s", 8, {"kind": "lora", "rank": 64}) > 0.8
    assert verdict("l40s", 8, "full") < 0.2


def test_qlora_of_70b_fits_on_two_cards_of_24_gb_with_weights_on_the_host():
    """AnswerDotAI/fsdp_qlora, benchmarks_03_2024.md: 14.92 GiB on each of two RTX 3090 with CPU offload."""
    assert verdict("rtx-3090", 2, QLORA, offload={"parameters": "100%"}) > 0.8
    assert verdict("rtx-3090", 2, {"kind": "lora", "rank": 64}) < 0.2


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        ({"stack": "unknown"}, {}),
        ({"stack": ""}, {"seq": None, "global_batch": None}),
        ({"length_distribution": "mean 0, standard deviation 0, cut at"}, {}),
        ({"length_distribution": "texts, mean 300.5, standard deviation 0, cut at the maximum length"}, {}),
        ({"sharding": "by magic", "recompute": "perhaps", "mem_kind": "?", "kernels": "all"}, {"gpus": None}),
    ],
)
def test_no_row_stops_the_others(texts, numbers):
    """Whatever a table says, each row has a prediction or a reason."""
    lines = list(finetune.lines(row(numbers, **texts), predict))
    assert lines
    assert all(line.note or line.predicted is not None for line in lines)
    assert not any("a defect" in line.note for line in lines)


@pytest.mark.parametrize(("stack", "targets"), [("torchtune-2025", 4), ("nemo-2025", 1), ("megatron-bridge-2026", 1)])
def test_targets_that_are_not_stated_are_those_of_the_stacks_recipes(stack, targets):
    found = training(tuned_runs.of_step(row(stack=stack, lora_targets="", sharding="")))
    assert len(found["method"]["targets"]) == targets


def test_a_stack_without_known_targets_says_so():
    with pytest.raises(InexpressibleError, match="targets"):
        tuned_runs.method(row(lora_targets=""))


def test_samples_that_are_left_out_are_shorter_than_ones_that_are_cut():
    """Without spread in effect nothing changes; with a low limit about half of the samples are near it at most."""
    assert tuned_runs.dropped_mean(100, 10, 1000) == pytest.approx(100, rel=1e-6)
    assert tuned_runs.cut_mean(100, 10, 1000) == pytest.approx(100, rel=1e-6)
    for limit in (200, 500, 1000, 5000):
        assert tuned_runs.dropped_mean(1000, 900, limit) < tuned_runs.cut_mean(1000, 900, limit) < limit
    texts = "texts, mean 1000, standard deviation 900, cut at the maximum length"
    kept = training(tuned_runs.of_step(row({"seq": 500.0}, stack="ms-swift-2024", length_distribution=texts)))
    cut = training(tuned_runs.of_step(row({"seq": 500.0}, length_distribution=texts)))
    assert kept["sequence_length"] < cut["sequence_length"] < 500


@pytest.mark.parametrize(("notes", "kind"), [("QLoRA FSDP; 108 s", "qlora"), ("LoRA DDP; 88 s", "lora"), ("", None)])
def test_a_table_of_runs_says_its_method_in_its_notes(notes, kind):
    found = phrases.said("training", notes).get("method")
    assert (found["kind"] if found else None) == kind


def full(gpus, microbatch):
    """P(fits) of Mistral 7B trained whole on A100 80GB with the fused kernels, as fms-acceleration did."""
    host = {"gpu": "a100-sxm-80gb", "gpus": gpus, "scale_up": {"domain": gpus}, "memory": "1TB"}
    document = {
        "model": "mistral-7b",
        "cluster": {"host": host, "hosts": 1},
        "stack": "hugging-face-2024-fused",
        "parallelism": {"shard": "parameters" if gpus > 1 else "none"},
        "training": {
            "steps": 1,
            "sequence_length": 4096,
            "global_batch": gpus * microbatch,
            "microbatch": microbatch,
            "recompute": "full",
        },
    }
    return fits(from_dict(document)).p_fits


@pytest.mark.parametrize(("gpus", "microbatch"), [(1, 4), (2, 4), (4, 4), (4, 8), (4, 16)])
def test_7b_trained_whole_fits_where_it_ran(gpus, microbatch):
    """fms-acceleration, a100_80gb.csv: 74.3, 73.8, 49.9, 57.4 and 75.0 GiB."""
    assert full(gpus, microbatch) > 0.5


@pytest.mark.parametrize(("gpus", "microbatch"), [(1, 16), (1, 32), (2, 16), (2, 32), (4, 32)])
def test_7b_trained_whole_does_not_fit_where_it_ran_out_of_memory(gpus, microbatch):
    assert full(gpus, microbatch) < 0.5
