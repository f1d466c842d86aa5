"""Arguments of Megatron-LM: read from command lines and test files, written, read again."""

import pytest

from simulator import catalog
from simulator.convert import megatron
from simulator.convert.shape import complete

LLAMA = """
torchrun --nproc_per_node 8 pretrain_gpt.py \\
    --num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32 \\
    --group-query-attention --num-query-groups 8 --swiglu --normalization RMSNorm \\
    --position-embedding-type rope --disable-bias-linear --untie-embeddings-and-output-weights \\
    --hidden-dropout 0.0 --attention-dropout 0.0 --vocab-size 128256 \\
    --tensor-model-parallel-size 4 --pipeline-model-parallel-size 2 --num-layers-per-virtual-pipeline-stage 4 \\
    --context-parallel-size 2 --sequence-parallel --use-distributed-optimizer --overlap-grad-reduce \\
    --micro-batch-size 1 --global-batch-size 512 --seq-length 8192 --train-samples 1000 --bf16 \\
    --recompute-granularity selective  # a comment
"""
TEST_FILE = """
ENV_VARS:
  NCCL_ALGO: Ring
MODEL_ARGS:
  --num-layers: 12
  --hidden-size: 512
  --num-attention-heads: 8
  --vocab-size: 1024
  --max-position-embeddings: 1024
  --tensor-model-parallel-size: 2
  --micro-batch-size: 4
  --bf16: true
  --log-interval: 1
"""
MOE = {
    "parallelism": {
        "tensor": 2,
        "pipeline": 4,
        "context": {"size": 2, "kind": "all-gather"},
        "expert": 8,
        "expert_tensor": 1,
        "schedule": {"kind": "interleaved-1f1b", "chunks": 3},
        "sequence": True,
        "shard": "optimizer",
        "order": "tp-cp-ep-pp-dp",
    },
    "training": {
        "tokens": 8192 * 100,
        "sequence_length": 8192,
        "global_batch": 64,
        "microbatch": 1,
        "precision": {"kind": "fp8", "scaling": "block"},
        "optimizer": "adamw",
        "recompute": {"kind": "selective", "modules": ["mla_up", "moe_activation"]},
        "offload": {"optimizer": 0.5, "to": "cpu"},
    },
}
PLAIN = {
    "parallelism": {"tensor": 1, "pipeline": 1, "context": 1, "sequence": False, "shard": "none"},
    "training": {"steps": 10, "sequence_length": 2048, "global_batch": 8, "microbatch": 2, "precision": "fp16"},
}


def shape(name):
    entry = catalog.entry("model", name)
    return {key: value for key, value in entry.items() if key not in ("source", "aliases", "published")}


def test_a_command_line_gives_model_parallelism_and_training():
    sections = megatron.read(LLAMA)
    assert complete(sections["model"]) == complete(shape("llama-3.1-8b"))
    assert sections["parallelism"] == {
        "tensor": 4,
        "pipeline": 2,
        "context": {"size": 2, "kind": "ring"},
        "schedule": {"kind": "interleaved-1f1b", "chunks": 4},
        "sequence": True,
        "shard": "optimizer",
    }
    assert sections["training"] == {
        "tokens": 8_192_000,
        "sequence_length": 8192,
        "global_batch": 512,
        "microbatch": 1,
        "precision": "bf16",
        "recompute": "selective",
    }


@pytest.mark.parametrize(
    ("context", "flags"),
    [
        ({"size": 8, "kind": "ring"}, "--cp-comm-type p2p"),
        (
            {"size": 8, "kind": "ring", "ulysses": 4},
            "--cp-comm-type a2a+p2p\n--hierarchical-context-parallel-sizes 4 2",
        ),
        ({"size": 8, "kind": "ulysses"}, "--cp-comm-type a2a"),
        ({"size": 8, "kind": "all-gather"}, "--cp-comm-type all_gather"),
    ],
)
def test_every_exchange_of_the_context_axis_is_the_same_after_a_round_trip(context, flags):
    written = megatron.write({"parallelism": {"context": context}})
    assert f"--context-parallel-size 8\n{flags}\n" in written
    assert megatron.read(written)["parallelism"]["context"] == context
    assert megatron.ignored(written) == []


def test_what_is_not_used_is_reported():
    assert megatron.ignored(LLAMA) == ["--attention-dropout", "--nproc_per_node", "--overlap-grad-reduce"]
    assert megatron.ignored(TEST_FILE) == ["--log-interval"]


def test_a_test_file_holds_its_arguments_under_model_args():
    sections = megatron.read(TEST_FILE)
    assert sections["model"]["layers"] == 12
    assert sections["model"]["bias"] == "all"
    assert (sections["parallelism"]["tensor"], sections["training"]["precision"]) == (2, "bf16")


@pytest.mark.parametrize(
    "name",
    [
        "deepseek-v2",
        "deepseek-v2-lite",
        "deepseek-v3",
        "gpt-2",
        "kimi-k2",
        "llama-3.1-405b",
        "llama-3.2-1b",
        "megatron-175b",
        "mistral-7b",
        "mixtral-8x7b",
        "nemotron-4-340b",
        "qwen2.5-72b",
        "qwen3-235b-a22b",
        "qwen3-32b",
    ],
)
def test_a_model_is_the_same_after_a_round_trip(name):
    written = megatron.write({"model": shape(name)})
    assert complete(megatron.read(written)["model"]) == complete(shape(name))
    assert megatron.ignored(written) == []


@pytest.mark.parametrize(
    ("name", "key"),
    [("bloom-176b", "embedding_norm"), ("palm-540b", "parallel"), ("olmo-2-7b", "qk_norm"), ("gpt-oss-20b", "sinks")],
)
def test_a_model_without_arguments_is_refused_by_name(name, key):
    with pytest.raises(ValueError, match=rf"no arguments for this model.*{key}"):
        megatron.write({"model": shape(name)})


@pytest.mark.parametrize(
    ("scenario", "model"), [(MOE, "deepseek-v3"), (PLAIN, "gpt-2")], ids=["mixture of experts", "dense"]
)
def test_the_other_sections_are_the_same_after_a_round_trip(scenario, model):
    sections = megatron.read(megatron.write({"model": shape(model)} | scenario))
    assert sections["parallelism"] == scenario["parallelism"]
    assert sections["training"] == scenario["training"]


@pytest.mark.parametrize("level", ["none", "optimizer", "gradients", "parameters"])
def test_every_shard_level_has_arguments(level):
    assert megatron.read(megatron.write({"parallelism": {"shard": level}}))["parallelism"]["shard"] == level


@pytest.mark.parametrize("recompute", ["full", {"kind": "full", "layers": 3}, "selective"])
def test_recompute_keeps_its_layers(recompute):
    assert megatron.read(megatron.write({"training": {"recompute": recompute}}))["training"]["recompute"] == recompute


@pytest.mark.parametrize("precision", ["bf16", "fp16", "mxfp8", "nvfp4", {"kind": "fp8", "scaling": "current"}])
def test_precision_keeps_its_scaling(precision):
    assert megatron.read(megatron.write({"training": {"precision": precision}}))["training"]["precision"] == precision


def test_experts_take_the_tensor_parallelism_of_the_rest_unless_told():
    moe = "--num-layers 2 --num-experts 8 --ffn-hidden-size 64 --tensor-model-parallel-size 4 "
    assert megatron.read(moe)["parallelism"]["expert_tensor"] == 4
    assert megatron.read(moe + "--expert-tensor-parallel-size 1")["parallelism"]["expert_tensor"] == 1


@pytest.mark.parametrize(
    ("pattern", "dense"), [("1", 0), ("([0]*3+[1]*58)", 3), ("[0,0]+[1]*2", 2), ("[1,1,1]", 0), ("([0]+[1]*26)", 1)]
)
def test_a_pattern_of_layers_is_read_and_not_executed(pattern, dense):
    moe = f"--num-layers 2 --num-experts 8 --ffn-hidden-size 64 --moe-layer-freq '{pattern}'"
    assert megatron.read(moe)["model"]["experts"]["dense_layers"] == dense


def test_gated_mlps_are_two_thirds_as_wide_by_default():
    gated = "--num-layers 2 --hidden-size 4096 --num-attention-heads 32 --vocab-size 100"
    assert megatron.read(f"{gated} --swiglu")["model"]["ffn"] == 10880
    assert megatron.read(gated)["model"]["ffn"] == 16384


def test_modules_without_meaning_here_are_reported():
    assert megatron.ignored("--recompute-granularity selective --recompute-modules moe_act mhc") == [
        "--recompute-modules mhc"
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "no flags found"),
        ("hello world", "no flags found"),
        ("--num-layers 'unclosed", "not a command line"),
        ("--num-layers ${LAYERS}", r"--num-layers: expected a number, found '\${LAYERS}'"),
        ("--num-layers 2 --normalization Batch", "--normalization: 'Batch' is not known; known are LayerNorm"),
        ("--num-layers 2 --position-embedding-type none", "--position-embedding-type: 'none' is not known"),
        ("--num-layers 9 --pipeline-model-parallel-size 2 --num-layers-per-virtual-pipeline-stage 2", "9 layers"),
        ("--num-layers 2 --num-experts 4 --ffn-hidden-size 8 --moe-layer-freq __import__('os')", "--moe-layer-freq"),
        ("--num-layers 2 --num-experts 4 --ffn-hidden-size 8 --moe-layer-freq [1,0,1]", "dense layers after"),
        ("--num-layers 2 --num-experts 4 --ffn-hidden-size 8 --moe-layer-freq [1]*9999+[1]*9999", "more than 10000"),
        ("--num-layers 2 --multi-latent-attention", "--kv-lora-rank: needed"),
        ("MODEL_ARGS: [1, 2]", "expected flags and their values"),
        ("MODEL_ARGS: {", "not YAML"),
        ("--num-layers 2 " * 100_000, "larger than"),
        ("--context-parallel-size 8 --cp-comm-type a2a+p2p", "needs two numbers"),
    ],
)
def test_wrong_arguments_say_what_is_wrong(arguments, message):
    with pytest.raises(ValueError, match=message):
        megatron.read(arguments)


@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        ({"model": "gpt-3-175b"}, "its shape is needed"),
        ({"parallelism": {"schedule": {"kind": "zb-v"}}}, "Megatron-LM has no zb-v"),
        ({"parallelism": {"context": {"size": 8, "kind": "all-gather", "ulysses": 2}}}, "heads inside a ring only"),
        ({"parallelism": {"context": {"size": 8, "tokens": "contiguous"}}}, "a chunk from each end"),
    ],
)
def test_what_megatron_cannot_say_is_refused(scenario, message):
    with pytest.raises(ValueError, match=message):
        megatron.write(scenario)
