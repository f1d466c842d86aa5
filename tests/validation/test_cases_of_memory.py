"""Questions people asked about memory: does it fit, and how much does it take.

Numbers in brackets are the rows of the collection of such questions; the links are to where they were asked.
"""

from __future__ import annotations

import pytest
from user_case import GB, GIB, Answer, ask, published

from simulator.errors import ScenarioError
from simulator.workload.flops import multiplied_parameters
from simulator.workload.layer import kept_bytes
from simulator.workload.layers import blocks_of
from simulator.workload.parameters import embedding_on_rank, head_on_rank, layer_on_rank, layer_parts, table_on_rank
from simulator.workload.rank import padded_vocabulary
from simulator.workload.training import Recompute

EIGHTEEN = {"base": "megatron-2022", "shard": "none", "attention": "flash-2"}
"""18 bytes a parameter: half-precision weights, fp32 gradients, master weights and moments."""


# Does it fit?


def test_falcon_40b_needs_sixteen_a100() -> None:
    """c002, https://github.com/epfLLM/Megatron-LLM/issues/6."""
    one = ask("falcon-40b", "dgx-a100", 1, EIGHTEEN, {"tensor": 8}, sequence_length=2048, global_batch=64)
    two = ask(
        "falcon-40b", "dgx-a100", 2, EIGHTEEN, {"tensor": 8, "pipeline": 2}, sequence_length=2048, global_batch=64
    )
    assert one.p_fits < 0.5
    assert two.p_fits > 0.5


def test_llama_2_7b_in_megatron_needs_two_a100() -> None:
    """c003, the FAQ of epfLLM/Megatron-LLM: state of 121 GB on one, 61 on each of two."""
    one = ask("llama-2-7b", {"base": "dgx-a100", "gpus": 1}, 1, EIGHTEEN, sequence_length=1024, global_batch=8)
    two = ask(
        "llama-2-7b", {"base": "dgx-a100", "gpus": 2}, 1, EIGHTEEN, {"tensor": 2}, sequence_length=1024, global_batch=8
    )
    assert one.p_fits < 0.2
    assert one.state == pytest.approx(121 * GB, rel=0.02)
    assert two.p_fits > 0.5
    assert two.state == pytest.approx(61 * GB, rel=0.02)


def test_llama_2_7b_in_fp32_does_not_fit_one_a100_even_without_gradients() -> None:
    """c004, https://github.com/young-geng/EasyLM/issues/87: 12 bytes a parameter, about 84 GB."""
    found = ask(
        "llama-2-7b",
        {"base": "dgx-a100", "gpus": 1},
        1,
        "generic",
        sequence_length=1024,
        global_batch=1,
        states={"weights": "fp32", "gradients": "none", "master": "none", "moments": "fp32"},
    )
    assert 78 * GB <= found.state <= 85 * GB
    assert found.p_fits < 0.5


def mpt_30b_with_lion_on_v100(hosts: int) -> Answer:
    """Return the answer for c005, https://github.com/mosaicml/llm-foundry/issues/437."""
    host = {"base": "dgx-1-v100", "gpu": "v100-sxm-16gb"}
    return ask(
        "mpt-30b",
        host,
        hosts,
        "llm-foundry-2023",
        {"shard": "parameters"},
        sequence_length=512,
        global_batch=8 * hosts,
        optimizer="lion",
        precision="fp16",
        recompute="full",
    )


@pytest.mark.parametrize("hosts", [2, 4])
def test_state_of_mpt_30b_with_lion(hosts: int) -> None:
    """c005: 12 bytes per parameter, 360 GB over all GPUs."""
    assert mpt_30b_with_lion_on_v100(hosts).state == pytest.approx(360 * GB / (8 * hosts), rel=0.03)


def test_mpt_30b_with_lion_does_not_fit_16_v100() -> None:
    """c005: 22.5 GB of state per GPU are more than 16 GB."""
    assert mpt_30b_with_lion_on_v100(2).p_fits < 0.5


@pytest.mark.xfail(
    raises=AssertionError,
    reason="P(fits) is 3%: the source counts 11.3 GB of state; gathered layers and the CUDA context are 9 GB more",
)
def test_mpt_30b_with_lion_fits_32_v100() -> None:
    """c005: 11.3 GB of state per GPU are less than 16 GB."""
    assert mpt_30b_with_lion_on_v100(4).p_fits > 0.5


@pytest.mark.parametrize(
    ("host", "hosts"),
    [("dgx-a100", 1), ({"base": "dgx-a100-40gb"}, 2)],
    ids=["8 x A100-80GB (c006)", "16 x A100-40GB (c007)"],
)
def test_zero_3_of_70b_does_not_fit(host: object, hosts: int) -> None:
    """c006, c007, https://github.com/hiyouga/LlamaFactory/issues/747: 1.12 TB of state."""
    found = ask(
        "llama-2-70b",
        host,
        hosts,
        "deepspeed-2024",
        {"shard": "parameters"},
        sequence_length=2048,
        global_batch=8 * hosts,
        recompute="full",
    )
    assert found.state * 8 * hosts >= 1.05e12
    assert found.verdict == "oom"


def test_70b_on_sixteen_a10_does_not_fit() -> None:
    """c008, https://github.com/lm-sys/FastChat/issues/2322: about 1.26 TB against 368 GB."""
    a10 = {
        "memory": "24GiB",
        "memory_bandwidth": "600GB/s",
        "peak": {"fp16": "125TFLOPS", "bf16": "125TFLOPS"},
        "architecture": "ampere-ga10x",
        "sms": 72,
    }
    found = ask(
        "llama-2-70b",
        {
            "gpu": a10,
            "gpus": 16,
            "scale_up": {"domain": 1, "bandwidth": "25GB/s"},
            "nics": 1,
            "nic_bandwidth": "100Gbps",
        },
        1,
        "fsdp-2023",
        {"shard": "parameters"},
        sequence_length=2048,
        global_batch=16,
        recompute="full",
    )
    assert found.verdict == "oom"


def test_the_optimizer_of_70b_shrinks_with_replicas() -> None:
    """c014, https://github.com/NVIDIA/Megatron-LM/issues/1031: 12 x 4.4e9 x (1/8 - 1/48) = 5.5 GB."""
    layout = {"tensor": 8, "pipeline": 2, "shard": "optimizer"}
    few, many = (
        ask(
            "llama-2-70b", "dgx-h100", hosts, "megatron-core-2024", layout, sequence_length=4096, global_batch=hosts * 8
        )
        for hosts in (16, 96)
    )
    assert few.stage("optimizer", 0) - many.stage("optimizer", 0) == pytest.approx(5.5 * GB, rel=0.1)


def test_fragmentation_makes_a_run_of_58_gb_tight() -> None:
    """c015, Megatron-Bridge's memory tuning: 58.8 GB allocated, out of memory without expandable segments."""
    found = published("MS-0001")
    assert 50 * GB <= found.prediction.memory.allocated_bytes <= 66 * GB
    assert found.verdict == "tight"


# How much does it take?


@pytest.mark.parametrize(
    ("layers", "hidden", "heads", "microbatch", "pipeline", "chunks", "none", "selective", "state"),
    [
        pytest.param(48, 6144, 64, 4, 1, 1, 59.25, 9.5625, 45.5625, id="22B (c018)"),
        pytest.param(96, 12288, 96, 1, 8, 3, 66.84, 12.35, 45.5625, id="175B (c019)"),
        pytest.param(105, 20480, 128, 1, 35, 3, 114.02, 23.08, 31.64, id="530B (c020)"),
        pytest.param(128, 25600, 160, 1, 64, 1, 131.25, 26.56, 32.96, id="1T (c021)"),
    ],
)
def test_megatron_of_22b_to_1t(
    layers: int,
    hidden: int,
    heads: int,
    microbatch: int,
    pipeline: int,
    chunks: int,
    none: float,
    selective: float,
    state: float,
) -> None:
    """c018 to c021, arXiv 2205.05198, figures 1 and 7: layers of the first stage, times what its schedule holds."""
    model = {"layers": layers, "hidden": hidden, "heads": heads, "vocabulary": 51200, "gated": False}
    model |= {"activation": "gelu", "norm": "layernorm", "bias": "all", "dropout": "10%"}
    layout: dict[str, object] = {"tensor": 8, "pipeline": pipeline}
    if chunks > 1:
        layout["schedule"] = {"kind": "interleaved-1f1b", "chunks": chunks}
    stack = {"base": "megatron-2022", "split": "even"}
    for sequence, recompute, expected in ((False, "none", none), (True, "selective", selective)):
        found = ask(
            model,
            "dgx-a100",
            pipeline,
            stack,
            layout | {"sequence": sequence},
            sequence_length=2048,
            global_batch=8 * pipeline * microbatch,
            microbatch=microbatch,
            precision="fp16",
            recompute=recompute,
        )
        asked = found.scenario
        assert asked.model is not None
        assert asked.parallelism is not None
        rank, first = asked.rank, blocks_of(asked.model, 0)
        a_layer = kept_bytes(rank, first, Recompute(kind=recompute))
        held = asked.parallelism.schedule.in_flight(0, pipeline, asked.microbatches)
        assert a_layer * layers / pipeline / chunks * held == pytest.approx(expected * GIB, rel=0.01)
        blocks = layer_on_rank(rank, first).dense * layers / pipeline
        assert 18 * blocks == pytest.approx(state * GIB, rel=0.01)
        stage = min(1, pipeline - 1)
        ends = 0.0 if stage else embedding_on_rank(rank) + head_on_rank(rank, beside_embedding=False)
        parts = sum(found.stage(part, stage) for part in ("weights", "gradients", "optimizer"))
        assert parts == pytest.approx(18 * (blocks + ends), rel=0.01)


def test_llama_2_7b_on_eight_h800() -> None:
    """c023, https://github.com/NVIDIA/Megatron-LM/pull/482: 49.8 GB with PP2, 28.8 GB with TP8."""
    stack = {"base": "megatron-core-2024", "shard": "optimizer"}
    pipeline = ask(
        "llama-2-7b", "dgx-h100", 1, stack, {"pipeline": 2}, sequence_length=2048, global_batch=64, microbatch=2
    )
    tensor = ask(
        "llama-2-7b",
        "dgx-h100",
        1,
        stack,
        {"tensor": 8, "sequence": False},
        sequence_length=2048,
        global_batch=64,
        microbatch=4,
    )
    assert pipeline.prediction.memory.process_bytes == pytest.approx(49.8 * GB, rel=0.12)
    assert tensor.prediction.memory.process_bytes == pytest.approx(28.8 * GB, rel=0.12)


def test_8b_shrinks_from_8_to_128_gpus_by_its_sharded_state() -> None:
    """c024, torchtitan: 77.0 GiB on 8 H100, 62.0 on 128; 16 bytes a parameter x (1/8 - 1/128) are 14.0 GiB."""
    small, large = (published(name).prediction.memory.reserved_bytes for name in ("tt-003", "tt-004"))
    assert small - large == pytest.approx(14.0 * GIB, rel=0.1)
    assert small == pytest.approx(77.0 * GIB, rel=0.2)
    assert large == pytest.approx(62.0 * GIB, rel=0.2)


def test_70b_over_256_h100() -> None:
    """c025, torchtitan: 71.9 GiB."""
    assert published("tt-011").prediction.memory.reserved_bytes == pytest.approx(71.9 * GIB, rel=0.2)


def test_7b_with_tensor_parallelism_of_eight() -> None:
    """c026, https://github.com/aliyun/aicb/pull/36: 21 GB by nvidia-smi."""
    found = ask(
        {"layers": 32, "hidden": 4096, "heads": 32, "ffn": 10880, "vocabulary": 50304},
        "dgx-a100",
        4,
        "megatron-core-2024",
        {"tensor": 8, "shard": "none"},
        sequence_length=4096,
        global_batch=4,
    )
    assert found.prediction.memory.process_bytes == pytest.approx(21 * GB, rel=0.15)


def test_zero_1_saves_half_of_bloom() -> None:
    """c029, BigScience's chronicles: 37 GB with stage 1, 72 GB with stage 0, and hardly any difference in time."""
    with_zero = published("BLM-0026")
    model = {
        "layers": 72,
        "hidden": 14336,
        "heads": 64,
        "vocabulary": 250000,
        "gated": False,
        "tied": True,
        "norm": "layernorm",
        "activation": "gelu",
        "bias": "all",
    }
    layout = {"tensor": 8, "pipeline": 12, "shard": "none"}
    without = ask(
        model,
        "jean-zay-a100",
        48,
        "megatron-deepspeed-2022",
        layout,
        sequence_length=2048,
        global_batch=2048,
        microbatch=2,
        precision="fp16",
        recompute="full",
    )
    saved = without.prediction.memory.process_bytes / with_zero.prediction.memory.process_bytes
    assert saved >= 1.4
    assert without.step >= 0.99 * with_zero.step


def test_llama_8b_at_32k_tokens() -> None:
    """c031, stas00/ml-engineering: a hidden state of 0.25 GiB, 8 GiB of checkpoints, logits of 15.7 GiB in fp32."""
    tokens, hidden, layers, vocabulary = 32768, 4096, 32, 128256
    assert 2 * tokens * hidden == 0.25 * GIB
    assert tokens * vocabulary * 4 == pytest.approx(15.7 * GIB, rel=0.03)
    host = {"base": "dgx-h100", "gpus": 1}
    eager = ask("llama-3.1-8b", host, 1, "torchtune-2025", sequence_length=tokens, global_batch=1)
    kept = ask("llama-3.1-8b", host, 1, "torchtune-2025", sequence_length=tokens, global_batch=1, recompute="full")
    assert eager.stage("activations") == pytest.approx(224 * GIB, rel=0.25)
    assert 8 * GIB <= kept.stage("activations") <= 8 * GIB + eager.stage("activations") / layers * 1.5


def test_a_chunked_loss_saves_the_logits() -> None:
    """c032, https://github.com/NovaSky-AI/SkyRL/pull/1610: 33.6 GB of fp32 logits, 42 GB saved by chunks."""
    model = {"layers": 1, "hidden": 1024, "heads": 8, "vocabulary": 128000}
    host = {"base": "dgx-h100", "gpus": 1}
    whole = {"base": "torchtune-2025", "loss": "replicated"}
    chunked = whole | {"loss": "chunked", "loss_bytes": 1}
    some, none = (ask(model, host, 1, stack, sequence_length=65536, global_batch=1) for stack in (whole, chunked))
    logits = 4 * 65536 * model["vocabulary"]
    assert logits == pytest.approx(33.6 * GB, rel=0.01)
    assert 33 * GB <= some.prediction.memory.peak_bytes - none.prediction.memory.peak_bytes <= 125 * GB


def test_70b_in_16_bit_takes_more_than_500_gb() -> None:
    """c033, https://github.com/huggingface/blog/issues/2245: 8 bytes a parameter, not the 300 GB of the chart."""
    states = {"weights": "bf16", "gradients": "bf16", "master": "none", "moments": "bf16"}
    host = {"base": "dgx-h100", "gpus": 1}
    found = ask("llama-3.1-70b", host, 1, "generic", sequence_length=128, global_batch=1, states=states)
    assert found.state == pytest.approx(565 * GB, rel=0.01)


@pytest.mark.xfail(
    raises=AssertionError,
    reason="20.5 GB with every second matrix product saved; the source does not say what else was saved for backward",
)
def test_activations_of_70b_at_128k_tokens() -> None:
    """c035, https://github.com/pytorch/torchtitan/issues/678: about 50 GB with TP8, CP8, selective."""
    found = ask(
        "llama-3.1-70b",
        "dgx-h100",
        8,
        "torchtitan-2024",
        {"tensor": 8, "context": 8},
        sequence_length=131072,
        global_batch=1,
        recompute="selective",
    )
    assert found.stage("activations") == pytest.approx(50 * GB, rel=0.25)


# How many parameters?


def test_a_gated_model_has_three_matrices() -> None:
    """c160, https://github.com/EleutherAI/cookbook/issues/36: Qwen1.5-72B has 72.3B parameters, not 56.2B."""
    found = ask("qwen1.5-72b", "dgx-h100", 16, "generic", {"tensor": 8}, sequence_length=128, global_batch=16)
    assert found.scenario.model is not None
    head_and_embedding = 152064 * 8192
    assert multiplied_parameters(found.scenario.model) + head_and_embedding == pytest.approx(72.3e9, rel=0.002)


def test_two_key_and_value_heads_over_four_ranks_are_copied() -> None:
    """c163, https://github.com/sgl-project/sglang/pull/19086: two heads in all, each held twice, not four."""
    model = {"layers": 1, "hidden": 1024, "heads": 8, "kv_heads": 2, "vocabulary": 128}
    found = ask(
        model, {"base": "dgx-h100", "gpus": 4}, 1, "generic", {"tensor": 4}, sequence_length=128, global_batch=1
    )
    assert found.scenario.model is not None
    parts = {"key_value": 0, "tensor": 0, "replicated": 0}
    for part in layer_parts(found.scenario.model, blocks_of(found.scenario.model, 0)):
        parts[part.division] += part.size
    assert parts["key_value"] == 2 * 2 * 1024 * 128
    per_rank = 2 * 1024 * 128
    alone = layer_on_rank(found.scenario.rank, blocks_of(found.scenario.model, 0)).dense
    assert alone == (parts["tensor"] / 4) + per_rank + parts["replicated"]


@pytest.mark.parametrize("tensor", [1, 2, 4, 8, 13, 26, 52])
def test_52_heads_are_divided_by_what_divides_52(tensor: int) -> None:
    """c164, https://github.com/deepspeedai/DeepSpeed/issues/3634: LLaMA 30B with TP8 is a mistake of the input."""
    model = {"layers": 60, "hidden": 6656, "heads": 52, "ffn": 17888, "vocabulary": 32000}
    host = {"base": "dgx-a100", "gpus": tensor}
    if 52 % tensor == 0:
        assert ask(model, host, 1, "generic", {"tensor": tensor}, sequence_length=5200, global_batch=1).step > 0
        return
    with pytest.raises(ScenarioError, match="52 attention heads are not divisible by tensor 8"):
        ask(model, host, 1, "generic", {"tensor": tensor}, sequence_length=5200, global_batch=1)


def test_a_vocabulary_is_padded_to_a_multiple_of_128_a_rank() -> None:
    """c165, https://github.com/NVIDIA/Megatron-LM/issues/1702: 151,936 rows become 152,576 on eight ranks."""
    model = {"layers": 1, "hidden": 1024, "heads": 8, "vocabulary": 151936}
    found = ask(
        model, {"base": "dgx-h100", "gpus": 8}, 1, "generic", {"tensor": 8}, sequence_length=128, global_batch=1
    )
    assert found.scenario.model is not None
    assert table_on_rank(found.scenario.rank) == 152576 / 8 * 1024
    assert padded_vocabulary(151936, tensor=8, multiple=1187) == 151936
