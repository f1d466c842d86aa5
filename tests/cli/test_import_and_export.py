"""The verbs `import` and `export`: sections in and out, what is ignored named on stderr."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from simulator.cli import app
from simulator.scenario import read

ARGUMENTS = """\
torchrun pretrain_gpt.py --num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32 \\
  --group-query-attention --num-query-groups 8 --swiglu --normalization RMSNorm --disable-bias-linear \\
  --position-embedding-type rope --untie-embeddings-and-output-weights --hidden-dropout 0.0 --vocab-size 128256 \\
  --tensor-model-parallel-size 4 --sequence-parallel --use-distributed-optimizer --micro-batch-size 1 \\
  --global-batch-size 128 --seq-length 8192 --train-samples 100000 --bf16 --log-interval 1
"""


def call(*arguments: str, input: str | None = None):
    return CliRunner().invoke(app, list(arguments), input=input)


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "train.sh"
    path.write_text(ARGUMENTS)
    return str(path)


def test_arguments_with_a_cluster_are_a_scenario(script: str):
    done = call("import", "megatron", script, "--host", "dgx-h100", "--hosts", "16")
    assert done.exit_code == 0
    scenario = read(done.stdout)
    assert (scenario.gpus, scenario.data, scenario.parallelism.tensor) == (128, 32, 4)
    assert scenario.training.tokens == 100_000 * 8192


def test_what_is_ignored_is_named_on_stderr_and_what_is_missing_is_a_comment(script: str):
    done = call("import", "megatron", script)
    assert f"warning: {script}: --log-interval: means nothing here, ignored" in done.stderr
    assert "# cluster: {host: hgx-h100, hosts: 1}" in done.stdout
    assert "--log-interval" not in done.stdout


def test_a_config_json_is_a_model():
    exported = call("export", "huggingface", "tutorial/1-one-host")
    assert json.loads(exported.stdout)["architectures"] == ["LlamaForCausalLM"]
    imported = call("import", "huggingface", "-", input=exported.stdout)
    assert yaml.safe_load(imported.stdout)["model"]["kv_heads"] == 8


def test_flags_of_llama_405b_are_the_published_layout():
    """Table 4 of arXiv 2407.21783: TP 8, CP 1, PP 16, DP 128, 16 sequences of 8,192 tokens a data rank."""
    flags = call("export", "megatron", "published/llama-3.1-405b-16k").stdout.splitlines()
    published = {
        "--tensor-model-parallel-size 8",
        "--context-parallel-size 1",
        "--pipeline-model-parallel-size 16",
        "--global-batch-size 2048",
        "--seq-length 8192",
        "--num-layers 126",
        "--hidden-size 16384",
        "--ffn-hidden-size 53248",
        "--num-attention-heads 128",
        "--num-query-groups 8",
        "--vocab-size 128256",
        "--sequence-parallel",
        "--bf16",
    }
    assert published <= set(flags)
    assert 16384 // (8 * 16) == 2048 // 16


def test_what_the_format_cannot_say_is_named():
    done = call("export", "deepspeed", "published/llama-3.1-405b-16k")
    assert json.loads(done.stdout)["zero_optimization"] == {"stage": 2}
    assert "warning: parallelism.pipeline: not said" in done.stderr
    assert "parallelism.tensor" not in done.stderr
    assert call("export", "megatron", "published/llama-3.1-405b-16k").stderr == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("import", "megatran", "x"), "did you mean megatron?"),
        (("import", "megatron", "no-such-file"), "no-such-file: no such file"),
        (("import", "huggingface", "-"), "not a Hugging Face config.json"),
        (("import", "megatron", "-", "--host", "hgx-h1000"), "did you mean hgx-h100"),
        (("import", "megatron", "-", "--hosts", "2"), "--hosts needs --host"),
        (("export", "torchtitan", "tutorial/2-a-rack", "--set", "parallelism.shard=optimizer"), "has no `optimizer`"),
        (("export", "fsdp", "tutorial/2-a-rack"), "has no pipeline"),
    ],
)
def test_wrong_input_exits_2_with_a_sentence(arguments: tuple[str, ...], message: str):
    done = call(*arguments, input="--num-layers 2")
    assert done.exit_code == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_an_architecture_that_is_not_known_is_named():
    done = call("import", "huggingface", "-", input='{"model_type": "mamba"}')
    assert done.exit_code == 2
    assert "architecture 'mamba' is not known" in done.stderr
