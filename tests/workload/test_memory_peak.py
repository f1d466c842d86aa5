"""The peak of every stage: which stage, when, how much of what, and published layouts that ran or died."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from time import perf_counter

import pytest
from model_entries import model
from stack_entries import stack

from simulator.kinds import kinds
from simulator.outcome.results import STAGE_PARTS
from simulator.workload.layer import kept_bytes
from simulator.workload.layers import blocks_of
from simulator.workload.layout import Context, Parallelism, Shard
from simulator.workload.memory import MemoryEstimate, estimate
from simulator.workload.memory_timeline import allocations
from simulator.workload.model import Experts, Model
from simulator.workload.rank import Rank
from simulator.workload.replica import Replica
from simulator.workload.schedules import Schedule
from simulator.workload.schedules.dualpipe import DualPipe
from simulator.workload.schedules.gpipe import GPipe
from simulator.workload.schedules.interleaved_1f1b import InterleavedOneForwardOneBackward
from simulator.workload.schedules.one_f_one_b import OneForwardOneBackward
from simulator.workload.schedules.zb_h1 import ZeroBubbleH1
from simulator.workload.schedules.zb_h2 import ZeroBubbleH2
from simulator.workload.stack import Stack
from simulator.workload.training import Offload, Precision, Recompute, Training

A100, H100 = 79.15 * 2**30, 79.6 * 2**30
ONE_F_ONE_B = OneForwardOneBackward()
PLAIN = Stack(frees_tensors_early=True, attention="flash-2")
GPT = Model(layers=32, hidden=1024, heads=16, vocabulary=1024, gated=False, norm="layernorm", activation="gelu")


def memory(
    shape: Model,
    given: Stack = PLAIN,
    *,
    data: int = 1,
    microbatches: int = 8,
    usable: float = H100,
    shard: str | None = None,
    host_memory: float | None = None,
    **over,
) -> MemoryEstimate:
    training = {
        key: over.pop(key) for key in ("sequence_length", "microbatch", "precision", "optimizer") if key in over
    }
    training |= {key: over.pop(key) for key in ("recompute", "offload") if key in over}
    size = Parallelism(shard=Shard(level=shard or given.shard), **over)
    replica = replica_of(shape, given, size, Training(states=given.states, **training), data, microbatches)
    return estimate(replica, usable=usable, capacity=80 * 2**30, host_memory=host_memory)


def replica_of(
    shape: Model, given: Stack, layout: Parallelism, training: Training, data: int = 1, microbatches: int = 1
) -> Replica:
    return Replica.of(Rank.of(shape, given, layout, training, data=data), layout, training, microbatches)


@pytest.mark.parametrize("kind", list(kinds("simulator.workload.schedules", Schedule).values()), ids=lambda k: k.kind)
def test_parts_sum_to_the_peak_of_each_stage_under_every_schedule(kind):
    found = memory(GPT, pipeline=4, schedule=kind(), microbatches=16)
    assert len(found.stages) == 4
    for stage in found.stages:
        assert set(stage) == {f"{part}_bytes" for part in STAGE_PARTS} | {"peak_bytes"}
        assert sum(stage[f"{part}_bytes"] for part in STAGE_PARTS) == pytest.approx(stage["peak_bytes"], rel=1e-12)
    assert found.peak_bytes == max(stage["peak_bytes"] for stage in found.stages)
    assert found.stages[found.worst_stage]["peak_bytes"] == found.peak_bytes
    assert found.allocated_bytes <= found.reserved_bytes < found.process_bytes
    assert found.low_bytes < found.peak_bytes < found.high_bytes


def activations(schedule: Schedule, stage: int, microbatches: int, pipeline: int = 4) -> float:
    found = memory(GPT, pipeline=pipeline, schedule=schedule, microbatches=microbatches)
    return found.stages[stage]["activations_bytes"]


@pytest.mark.parametrize("stage", [0, 1, 2])
def test_activations_follow_what_the_schedule_holds(stage):
    """One more microbatch in flight costs what its layers keep; the work on top is the same everywhere."""
    layers = 8 * (32 * 1024 + 4 * 16) * 2048
    held = {
        ONE_F_ONE_B: 4 - stage,
        GPipe(): 16,
        ZeroBubbleH1(): 4,
        ZeroBubbleH2(): 7,
        InterleavedOneForwardOneBackward(chunks=2): (2 * (3 - stage) + 4 + 1) / 2,
    }
    base = activations(ONE_F_ONE_B, stage, 16)
    for schedule, count in held.items():
        more = (count - held[ONE_F_ONE_B]) * layers
        assert activations(schedule, stage, 16) - base == pytest.approx(more, rel=1e-3, abs=2e5)


def test_gpipe_keeps_the_loss_of_every_microbatch_on_the_last_stage():
    wide = replace(GPT, vocabulary=131072)
    gpipe = memory(wide, pipeline=4, schedule=GPipe(), microbatches=16)
    plain = memory(wide, pipeline=4, schedule=ONE_F_ONE_B, microbatches=16)
    assert gpipe.worst_stage == 3
    more = gpipe.stages[3]["logits_bytes"] - plain.stages[3]["logits_bytes"]
    assert more == pytest.approx(15 * 4 * 131072 * 2048, rel=0.05)


def test_dualpipe_holds_two_copies_of_the_layers():
    dual = memory(GPT, pipeline=4, schedule=DualPipe(), microbatches=16)
    plain = memory(GPT, pipeline=4, microbatches=16)
    assert dual.stages[1]["weights_bytes"] == pytest.approx(2 * plain.stages[1]["weights_bytes"])
    assert dual.stages[0]["weights_bytes"] == pytest.approx(dual.stages[3]["weights_bytes"])


@pytest.mark.parametrize("more", [{"tensor": 2}, {"pipeline": 2}, {"data": 8, "shard": "parameters"}])
def test_more_ranks_never_need_more_memory_each(more):
    assert memory(GPT, **more).peak_bytes < memory(GPT).peak_bytes


def test_levels_of_sharding_each_need_less():
    peaks = [
        memory(model("llama-2-7b"), data=8, shard=level).peak_bytes
        for level in ("none", "optimizer", "gradients", "parameters")
    ]
    assert all(before > after for before, after in pairwise(peaks))


def test_recompute_trades_bytes_for_time():
    kept = [memory(GPT, recompute=Recompute(kind=kind)).peak_bytes for kind in ("none", "sqrt", "full")]
    assert kept == sorted(kept, reverse=True)
    some = memory(GPT, recompute=Recompute(kind="full", layers=16)).peak_bytes
    assert kept[-1] < some < kept[0]


def test_unknown_switches_widen_the_range():
    known, unsure = memory(GPT), memory(GPT, replace(PLAIN, unsure=("gradients", "loss", "mlp", "saved_gathers")))
    assert unsure.peak_bytes == known.peak_bytes
    assert unsure.low_bytes < known.low_bytes
    assert unsure.high_bytes > known.high_bytes


@pytest.mark.parametrize("data, microbatches", [(64, 32), (128, 16)])
def test_llama_3_405b_ran_without_recompute(data, microbatches):
    """arXiv 2407.21783, table 4: 8,192 and 16,384 H100, no activation checkpointing at 8k."""
    found = memory(
        model("llama-3.1-405b"),
        stack("meta-2024"),
        data=data,
        microbatches=microbatches,
        tensor=8,
        sequence=True,
        pipeline=16,
        schedule=InterleavedOneForwardOneBackward(chunks=8),
        sequence_length=8192,
    )
    assert found.verdict in ("fits", "tight")
    assert 60e9 < found.allocated_bytes < 86e9


def test_optimizer_shards_shrink_with_the_data_axis():
    """Megatron-LM issue 1031: 12 bytes x 4.4e9 x (1/8 - 1/48) = 5.5 GB."""
    few, many = (
        memory(model("llama-2-70b"), replace(PLAIN, shard="optimizer"), tensor=8, sequence=True, pipeline=2, data=data)
        for data in (8, 48)
    )
    less = few.stages[0]["optimizer_bytes"] - many.stages[0]["optimizer_bytes"]
    assert less == pytest.approx(5.5e9, rel=0.02)


def test_falcon_40b_needs_two_hosts():
    """epfLLM issue 6: TP8 PP1 out of memory at 18 bytes a parameter, TP8 PP2 fits (A100 80 GB)."""
    given = stack("megatron-2023")
    for pipeline, expected in ((1, "oom"), (2, "fits")):
        found = memory(model("falcon-40b"), given, tensor=8, pipeline=pipeline, usable=A100)
        assert found.verdict == expected


def test_llama_2_7b_needs_two_gpus():
    """epfLLM's FAQ: 121 GB of state on one A100, 61 GB each on two."""
    for tensor, expected in ((1, "oom"), (2, "fits")):
        found = memory(
            model("llama-2-7b"), stack("megatron-2023"), tensor=tensor, usable=A100, recompute=Recompute(kind="full")
        )
        assert found.verdict == expected
        stage = found.stages[0]
        state = sum(stage[f"{part}_bytes"] for part in ("weights", "gradients", "optimizer"))
        assert state == pytest.approx(121e9 / tensor, rel=0.01)


@pytest.mark.parametrize("host_gpus, usable", [(8, A100), (16, 39.4 * 2**30), (16, 22 * 2**30)])
def test_70b_does_not_fit_one_or_two_hosts(host_gpus, usable):
    """axolotl issue 1439, LlamaFactory issue 747, FastChat issue 2322: ZeRO-3 on 640 GB and less."""
    found = memory(
        model("llama-2-70b"), stack("deepspeed-2024"), data=host_gpus, usable=usable, recompute=Recompute(kind="full")
    )
    assert found.verdict == "oom"


@pytest.mark.parametrize(("host_memory", "verdict"), [(None, "fits"), (2048e9, "fits"), (1024e9, "oom")])
def test_offloading_70b_fills_the_host(host_memory, verdict):
    """c006, axolotl issue 1439: the fp32 state is more than the 1,024 GB of the host."""
    found = memory(
        model("llama-2-70b"),
        stack("deepspeed-2024"),
        data=8,
        usable=A100,
        recompute=Recompute(kind="full"),
        offload=Offload(parameters=1.0, optimizer=1.0),
        host_memory=host_memory,
    )
    assert found.host_peak_bytes > 1024e9
    assert found.verdict == verdict


def test_fragmentation_makes_an_interleaved_fp8_run_tight():
    """Megatron-Bridge memory tuning: 58.8 GB allocated of 80 died, and fits with expandable segments."""
    given = stack("megatron-bridge-2026")
    size = {
        "tensor": 4,
        "sequence": True,
        "pipeline": 4,
        "data": 2,
        "microbatches": 16,
        "schedule": InterleavedOneForwardOneBackward(chunks=5),
        "sequence_length": 4096,
        "precision": Precision(kind="fp8"),
    }
    found = memory(model("llama-3-70b"), given, **size)
    assert 50e9 < found.allocated_bytes < 66e9
    assert found.verdict == "tight"
    assert memory(model("llama-3-70b"), replace(given, expandable_segments=True), **size).verdict == "fits"


def test_llama_2_7b_on_megatron_takes_the_published_bytes():
    """Megatron-LM pull request 482: 49.8 GB with PP2 DP4 and microbatch 2, 28.8 GB with TP8 and microbatch 4."""
    given = replace(stack("megatron-2023"), attention="flash-2")
    two = memory(model("llama-2-7b"), given, pipeline=2, data=4, microbatches=64, microbatch=2, shard="optimizer")
    eight = memory(model("llama-2-7b"), given, tensor=8, microbatch=4)
    assert two.allocated_bytes == pytest.approx(49.8e9, rel=0.12)
    assert eight.allocated_bytes == pytest.approx(28.8e9, rel=0.12)


@pytest.mark.parametrize("microbatch, measured", [(1, 39e9), (2, 45e9), (4, 56e9), (8, 75e9)])
def test_bloom_rig_memory_by_microbatch(microbatch, measured):
    """BigScience prequel, 194B TP8 PP6 DP8 at full recompute: nvidia-smi of the largest rank."""
    shape = Model(
        layers=78,
        hidden=14400,
        heads=64,
        vocabulary=250000,
        gated=False,
        tied=True,
        norm="layernorm",
        activation="gelu",
        bias="all",
        positions="learned",
        dropout=0.1,
    )
    found = memory(
        shape,
        stack("megatron-deepspeed-2022"),
        tensor=8,
        pipeline=6,
        data=8,
        microbatches=2048 // 8 // microbatch,
        microbatch=microbatch,
        usable=A100,
        recompute=Recompute(kind="full"),
    )
    assert found.process_bytes == pytest.approx(measured, rel=0.12)


def test_fsdp_8_to_128_gpus_saves_16_bytes_a_parameter_shared_out():
    """torchtitan's table: 77.0 GiB on 8 GPUs, 62.0 on 128, Llama 3.1 8B at 8k with local batch 2."""
    given = stack("torchtitan-2024")
    size = {"sequence_length": 8192, "microbatch": 2, "microbatches": 1, "usable": 94 * 2**30}
    size["recompute"] = Recompute(kind="selective")
    few, many = (memory(model("llama-3.1-8b"), given, data=data, **size) for data in (8, 128))
    assert (few.reserved_bytes - many.reserved_bytes) / 2**30 == pytest.approx(14.0, rel=0.03)
    assert few.reserved_bytes / 2**30 == pytest.approx(77.0, rel=0.05)
    assert many.reserved_bytes / 2**30 == pytest.approx(62.0, rel=0.06)


def test_context_parallelism_keeps_memory_flat():
    """torchtitan's table: Llama 3.1 8B with full recompute at 32k to 256k tokens, about 84 GiB each."""
    given = stack("torchtitan-2024")
    peaks = [
        memory(
            model("llama-3.1-8b"),
            given,
            data=8 // context,
            context=Context(size=context),
            sequence_length=32768 * context,
            recompute=Recompute(kind="full"),
            microbatches=1,
            usable=94 * 2**30,
        ).reserved_bytes
        / 2**30
        for context in (1, 2, 4, 8)
    ]
    assert peaks == pytest.approx([84] * 4, rel=0.05)


def test_experts_are_divided_by_their_own_axes():
    shape = replace(GPT, experts=Experts(count=16, active=2, ffn=4096))
    whole, spread = memory(shape), memory(shape, data=8, expert=8)
    assert spread.stages[0]["weights_bytes"] < whole.stages[0]["weights_bytes"] / 4


@pytest.mark.benchmark
def test_an_estimate_takes_less_than_a_millisecond():
    layouts = [(t, p, 512 // (t * p)) for t in (1, 2, 4, 8) for p in (1, 2, 4, 8)]
    shape, given = model("llama-3-70b"), stack("megatron-core-2024")

    def sweep() -> float:
        start = perf_counter()
        for tensor, pipeline, data in layouts:
            memory(shape, given, tensor=tensor, pipeline=pipeline, data=data, microbatches=32, sequence=tensor > 1)
        return (perf_counter() - start) / len(layouts)

    assert min(sweep() for _ in range(5)) < 1e-3


@pytest.mark.parametrize("kind", list(kinds("simulator.workload.schedules", Schedule).values()), ids=lambda k: k.kind)
def test_the_largest_allocation_over_a_step_is_the_peak_of_the_stage(kind):
    size = Parallelism(pipeline=4, schedule=kind())
    replica = replica_of(GPT, PLAIN, size, Training(states=PLAIN.states), microbatches=16)
    found = memory(GPT, pipeline=4, schedule=kind(), microbatches=16)
    for stage, parts in enumerate(found.stages):
        over = allocations(replica, stage)
        assert max(moment.during for moment in over) + parts["overhead_bytes"] == pytest.approx(parts["peak_bytes"])
        still = sum(parts[f"{part}_bytes"] for part in ("weights", "gradients", "optimizer", "buffers"))
        assert over[-1].after == pytest.approx(still)
        assert all(moment.after >= still - 1 for moment in over)


def test_bloom_stages_are_balanced_with_the_embedding_as_a_layer():
    """BLOOM's README: TP4 PP12 with embedding and five blocks on the first stage, six in the middle."""
    given = stack("megatron-deepspeed-2022")
    found = memory(model("bloom-176b"), given, tensor=4, pipeline=12, data=8, microbatches=256)
    weights = [stage["weights_bytes"] for stage in found.stages]
    assert max(weights) / min(weights) < 1.15


def test_llama_3_1_8b_at_32k_keeps_what_was_measured():
    """stas00/ml-engineering: 8 GiB with checkpoints, about 224 GiB without (28 copies a layer)."""
    given, size = stack("deepspeed-2024"), {"sequence_length": 32768, "microbatches": 1, "shard": "none"}
    shape = model("llama-3.1-8b")
    whole = memory(shape, given, **size).stages[0]["activations_bytes"] / 2**30
    assert whole == pytest.approx(224, rel=0.25)
    rank = Rank.of(shape, given, Parallelism(), Training(sequence_length=32768))
    assert 32 * kept_bytes(rank, blocks_of(shape, 0), Recompute(kind="full")) == 8 * 2**30


def test_experts_and_latent_attention_under_full_recompute():
    """Megatron-LM pull request 6311: DeepSeek-V3 cut to 14 layers, 68.7 GB without and 60.2 GB with recompute."""
    shape = replace(model("deepseek-v3"), layers=14)
    given = stack("megatron-core-2025")
    none, full = (
        memory(
            shape,
            given,
            pipeline=4,
            data=16,
            expert=16,
            microbatches=16,
            recompute=Recompute(kind=kind),
        ).allocated_bytes
        for kind in ("none", "full")
    )
    assert none == pytest.approx(68.7e9, rel=0.15)
    assert 0.80 < full / none < 0.97
