"""Questions people asked about layouts, networks and scale: which is faster, by how much, and how far it scales.

Numbers in brackets are the rows of the collection of such questions; the links are to where they were asked.
"""

from __future__ import annotations

import pytest
from user_case import DAY, Answer, ask, published


def close(shares: list[float], expected: list[float], points: float) -> bool:
    return all(abs(share - wanted) <= points / 100 for share, wanted in zip(shares, expected, strict=True))


def efficiencies(*names: str) -> list[float]:
    """Return the tokens a second and GPU of each row over those of the first."""
    rates = [published(name).rate for name in names]
    return [rate / rates[0] for rate in rates[1:]]


# Layouts.


def test_bloom_is_fastest_with_two_to_four_sequences_a_microbatch() -> None:
    """c039, BigScience's chronicles: 183.6, 172.4, 173.9, 192.4 s with 1, 2, 4, 8; 39, 45, 56, 75 GB."""
    answers = {
        size: published(name) for size, name in {1: "BLM-0003", 2: "BLM-0010", 4: "BLM-0011", 8: "BLM-0012"}.items()
    }
    steps = {size: answer.step for size, answer in answers.items()}
    memory = [answer.prediction.memory.process_bytes / 1e9 for answer in answers.values()]
    assert memory == pytest.approx([39, 45, 56, 75], rel=0.2)
    assert min(steps, key=steps.__getitem__) in (2, 4)
    assert steps[8] > steps[2]


def test_a_width_that_divides_is_faster() -> None:
    """c040, BigScience's chronicles: 94.4 TFLOP/s with heads of 225, 120 with heads of 216."""
    odd, even = published("BLM-0007"), published("BLM-0021")
    assert 1.1 <= even.tflops() / odd.tflops() <= 1.4


def test_tensor_parallelism_over_hosts_halves_the_speed_of_3_6b() -> None:
    """c042, vTrain: 3.57, 3.98, 4.63, 5.18 and 10.89 s with TP 1, 2, 4, 8 and 16 on 64 A100."""
    names = ("VT-0001", "VT-0003", "VT-0010", "VT-0019", "VT-0024")
    answers = [published(name) for name in names]
    assert [answer.scenario.parallelism.tensor for answer in answers] == [1, 2, 4, 8, 16]  # type: ignore[union-attr]
    assert {answer.scenario.training.microbatch for answer in answers} == {8}
    steps = [answer.step for answer in answers]
    assert steps == sorted(steps)
    assert steps[4] / steps[3] >= 1.6
    measured = [3.5665, 3.9752, 4.6344, 5.178, 10.894]
    ratios = [step / steps[0] for step in steps]
    assert ratios == pytest.approx([time / measured[0] for time in measured], rel=0.2)


def steps_of_18_4b() -> list[float]:
    """Return the step times of the layouts of c043, vTrain: TP8, TP4 PP2, PP8, TP16 on 256 A100."""
    return [published(name).step for name in ("VT-0027", "VT-0033", "VT-0035", "VT-0040")]


@pytest.mark.xfail(raises=AssertionError, reason="10.29 s TP8, 7% slow, and 9.48 s TP4 PP2, 5% fast, change places")
def test_four_layouts_of_18_4b_in_their_order() -> None:
    """c043, vTrain: 9.60 s TP8, 10.03 TP4 PP2, 12.38 PP8, 20.41 TP16."""
    steps = steps_of_18_4b()
    assert steps == sorted(steps)


def test_four_layouts_of_18_4b_relative_to_the_fastest() -> None:
    """c043, vTrain: 9.60 s TP8, 10.03 TP4 PP2, 12.38 PP8, 20.41 TP16; each ratio within 20%."""
    steps = steps_of_18_4b()
    measured = [9.6036, 10.0316, 12.379, 20.4148]
    assert [step / steps[0] for step in steps] == pytest.approx([time / measured[0] for time in measured], rel=0.2)


def test_full_recompute_and_a_deep_pipeline_cost_70b_a_third() -> None:
    """c047, https://github.com/NVIDIA/Megatron-LM/issues/1031: 296.5 against 420.5 TFLOP/s, a ratio of 0.705."""
    stack = {"base": "megatron-core-2024", "shard": "optimizer"}
    wide = ask(
        "llama-2-70b",
        "dgx-h100",
        96,
        stack,
        {"tensor": 8, "pipeline": 2, "schedule": {"kind": "interleaved-1f1b", "chunks": 5}},
        sequence_length=4096,
        global_batch=768,
        recompute="none",
    )
    deep = ask(
        "llama-2-70b",
        "dgx-h100",
        16,
        stack,
        {"tensor": 8, "pipeline": 8, "schedule": {"kind": "interleaved-1f1b", "chunks": 2}},
        sequence_length=4096,
        global_batch=128,
        recompute="full",
    )
    assert 0.62 <= deep.tflops() / wide.tflops() <= 0.80


def test_7b_is_faster_without_tensor_parallelism() -> None:
    """c049, https://github.com/alibaba/Megatron-LLaMA/issues/24: TP1 beats TP4, and neither reaches the peak."""
    stack = {"base": "megatron-core-2024", "shard": "optimizer"}
    host = {"base": "dgx-a100", "gpu": "a800-sxm-80gb"}
    split = ask("llama-2-7b", host, 1, stack, {"tensor": 4}, sequence_length=4096, global_batch=64)
    whole = ask("llama-2-7b", host, 1, stack, {"tensor": 1}, sequence_length=4096, global_batch=64)
    assert whole.rate > split.rate
    assert whole.tflops() < 312


def test_a_balanced_split_of_bloom_evens_the_stages() -> None:
    """c050, BigScience: 3.6B parameters of embedding and 2.47B a block; at most 15% between stages when balanced."""
    found = ask(
        "bloom-176b",
        "jean-zay-a100",
        48,
        "megatron-deepspeed-2022",
        {"tensor": 4, "pipeline": 12, "split": "slots"},
        sequence_length=2048,
        global_batch=2048,
        microbatch=2,
        recompute="full",
    )
    weights = [stage["weights_bytes"] for stage in found.prediction.memory.stages]
    assert max(weights) / min(weights) <= 1.15


# Scale.


@pytest.mark.xfail(raises=AssertionError, reason="98.7% and 96.4%: 4.1 points, since gathers take less from compute")
def test_mpt_7b_scales_weakly_to_512_h100() -> None:
    """c072, llm-foundry: 96.6% at 256 and 92.3% at 512 GPUs of the rate at 128, within 4 points."""
    assert close(efficiencies("mosaic-012", "mosaic-011", "mosaic-010"), [0.966, 0.923], 4)


def test_mpt_70b_scales_weakly_to_512_h100() -> None:
    """c073, llm-foundry: 97.8% and 95.2%, within 4 points."""
    assert close(efficiencies("mosaic-003", "mosaic-002", "mosaic-001"), [0.978, 0.952], 4)


@pytest.mark.xfail(raises=AssertionError, reason="95.5% at 512 GPUs, 5.2 points above what was measured")
def test_mpt_1b_scales_weakly_to_512_h100() -> None:
    """c074, llm-foundry: MPT 1B keeps 96.4% and 90.3%, within 5 points."""
    assert close(efficiencies("mosaic-018", "mosaic-017", "mosaic-016"), [0.964, 0.903], 5)


def test_a_small_model_scales_worse_than_a_large_one() -> None:
    """c074, llm-foundry: at 512 GPUs, MPT 1B keeps less of its rate than MPT 70B."""
    small, large = (
        efficiencies("mosaic-018", "mosaic-017", "mosaic-016"),
        efficiencies("mosaic-003", "mosaic-002", "mosaic-001"),
    )
    assert small[1] < large[1]


def test_a_small_gpt_on_four_times_the_gpus() -> None:
    """c080, https://github.com/modal-labs/multinode-training-guide/pull/27: 3.8 times as fast; 3.5 to 4.0."""
    model = {"layers": 12, "hidden": 768, "heads": 12, "ffn": 3072, "vocabulary": 50304, "gated": False, "tied": True}
    two, eight = (
        ask(model, "hgx-h100", hosts, "generic", sequence_length=1024, global_batch=512, microbatch=8)
        for hosts in (2, 8)
    )
    assert 3.5 <= two.step / eight.step <= 4.0
    assert two.step == pytest.approx(0.115, rel=0.35)


def test_mt_nlg_530b_in_seconds() -> None:
    """c075, arXiv 2201.11990: 60.1, 50.2, 44.4 s on 2,240, 2,800, 3,360 A100, within 10%."""
    steps = [published(name).step for name in ("MTN-0001", "MTN-0002", "MTN-0003")]
    assert steps == pytest.approx([60.1, 50.2, 44.4], rel=0.10)


def test_mt_nlg_530b_at_a_fixed_batch() -> None:
    """c075: the ratios within 4%."""
    steps = [published(name).step for name in ("MTN-0001", "MTN-0002", "MTN-0003")]
    assert [step / steps[0] for step in steps] == pytest.approx([1, 50.2 / 60.1, 44.4 / 60.1], rel=0.04)


def test_overlapping_the_optimizer_matters_at_512_gpus() -> None:
    """c076, Megatron-LLaMA: 1,845 and 1,430 tokens/s at 512 GPUs with and without; at least 8 points apart."""

    def rates(overlap: bool) -> list[float]:
        stack = {
            "base": "megatron-2023",
            "attention": "newest",
            "shard": "optimizer",
            "overlap_gradient_reduce": overlap,
            "overlap_parameter_gather": overlap,
        }
        return [
            ask(
                "llama-13b",
                {"base": "dgx-a100", "nics": 4},
                hosts,
                stack,
                {"tensor": 2},
                sequence_length=2048,
                global_batch=2048,
            ).rate
            for hosts in (32, 64)
        ]

    with_overlap, without = rates(True), rates(False)
    assert with_overlap[1] / without[1] - 1 >= 0.08


def test_gpt_3_loses_a_few_points_of_mfu_from_96_to_4608_gpus() -> None:
    """c077, Megatron-LM: MFU falls from 47% to 42% at a fixed batch of 1,152."""

    def tflops(hosts: int) -> float:
        layout = {"tensor": 4, "pipeline": 8, "schedule": {"kind": "interleaved-1f1b", "chunks": 6}}
        if hosts == 12:
            layout = {"tensor": 8, "pipeline": 12, "schedule": {"kind": "interleaved-1f1b", "chunks": 8}}
        model = {"base": "gpt-3-175b", "vocabulary": 131072, "max_positions": 4096}
        stack = {"base": "megatron-core-2024", "shard": "optimizer"}
        return ask(model, "dgx-h100", hosts, stack, layout, sequence_length=4096, global_batch=1152).tflops("full")

    drop = 100 * (tflops(12) - tflops(576)) / 989.4
    assert 3 <= drop <= 9


def llama_405b(hosts: int, data: int, sequence: int = 8192, context: int = 1) -> Answer:
    return ask(
        "llama-3.1-405b",
        "meta-grand-teton-h100",
        hosts,
        "meta-2024",
        {
            "tensor": 8,
            "pipeline": 16,
            "context": {"size": context, "kind": "all-gather"},
            "schedule": {"kind": "interleaved-1f1b", "chunks": 8},
            "order": "tp-cp-ep-pp-dp",
        },
        sequence_length=sequence,
        global_batch=16 * data if context > 1 else 2048,
    )


def test_llama_405b_from_8192_to_16384_gpus() -> None:
    """c078, arXiv 2407.21783, table 4: 430 and 400 TFLOP/s, 380 at 131,072 tokens; the doubling keeps 0.90 to 0.97."""
    small, large = llama_405b(1024, 64), llama_405b(2048, 128)
    assert small.tflops() == pytest.approx(430, rel=0.12)
    assert large.tflops() == pytest.approx(400, rel=0.12)
    assert 0.90 <= large.tflops() / small.tflops() <= 0.97


def test_8b_on_twice_as_many_gh200() -> None:
    """c079: 430 and 413 TFLOP/s on 16 and 32 nodes of four at a fixed batch of 2M tokens: 96%, within 4 points."""

    def tflops(hosts: int) -> float:
        host = {"gpu": "gh200-96gb", "gpus": 4, "scale_up": {"domain": 4, "bandwidth": "450GB/s"}}
        host |= {"nics": 4, "nic_bandwidth": "200Gbps"}
        stack = {"base": "megatron-core-2024", "shard": "optimizer"}
        model = {"base": "llama-3.1-8b", "tied": True}
        return ask(model, host, hosts, stack, {"tensor": 1}, sequence_length=8192, global_batch=256).tflops()

    assert close([tflops(32) / tflops(16)], [0.96], 4)


# Networks.


@pytest.mark.xfail(
    raises=AssertionError,
    reason="the ratio is 1.08: memory was nearly full on 64 GPUs, and retries of the allocator are not modelled",
)
def test_too_few_tokens_a_gather_slow_70b_on_a100_40gb() -> None:
    """c082, llm-foundry: 276 tokens/s on 64 GPUs with 2 sequences, 376 on 128 with 4: a ratio of 1.15 to 1.6."""
    assert 1.15 <= published("mosaic-139").rate / published("mosaic-140").rate <= 1.6


def test_too_few_tokens_a_gather_slow_70b_on_h100() -> None:
    """c083, llm-foundry: 882 tokens/s on 32 GPUs with 2 sequences, 1,039 on 64 with 8: a ratio of 1.08 to 1.30."""
    assert 1.08 <= published("mosaic-019").rate / published("mosaic-020").rate <= 1.30


def days(name: str) -> float:
    """Return the days of 300 billion tokens."""
    answer = published(name)
    return 300e9 / answer.tokens * answer.step / DAY


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("NAR2-0007", "NAR2-0008", "NAR2-0009"), [84, 43, 23]),
        (("NAR2-0010", "NAR2-0011", "NAR2-0012"), [156, 80, 42]),
    ],
    ids=["175B (c084)", "530B (c085)"],
)
def test_days_of_three_dimensional_parallelism(names: tuple[str, ...], expected: list[float]) -> None:
    """arXiv 2104.04473, table 2, within 10%."""
    assert [days(name) for name in names] == pytest.approx(expected, rel=0.10)


@pytest.mark.xfail(
    raises=AssertionError,
    reason="ZeRO-3 takes 0.8 and 0.9 times as long: collectives of DeepSpeed in 2021 were about ten times slower than "
    "any collective model gives for this network",
)
@pytest.mark.parametrize(("sharded", "split"), [("NAR2-0003", "NAR2-0009"), ("NAR2-0006", "NAR2-0012")])
def test_sharding_alone_is_half_as_fast_at_scale(sharded: str, split: str) -> None:
    """c084, c085, arXiv 2104.04473, table 2: ZeRO-3 takes at least twice as long on 1,536 and 2,240 GPUs."""
    assert published(sharded).step >= 2 * published(split).step
