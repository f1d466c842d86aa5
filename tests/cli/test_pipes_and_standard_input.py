"""What is named on the command line may be a pipe; what cannot be read is wrong input to every verb."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner

from simulator.cli import app

ROOT = Path(__file__).parents[2]
FORETRAIN = f"{sys.executable} -m simulator"
TEXT = """version: 1
model: llama-3.1-8b
cluster: {host: hgx-h100, hosts: 2}
parallelism: {tensor: 8}
training: {steps: 10, sequence_length: 8192, global_batch: 64, microbatch: 1}
"""
TABLE = "m,n,k,time_us,dtype,groups\n4096,4096,4096,230.5,bf16,1\n"


def shell(command: str, given: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, shell=True, executable="/bin/bash", input=given, capture_output=True, text=True, env=environment
    )


@pytest.mark.parametrize("name", ["/dev/stdin", "<(cat)", "-"])
def test_a_scenario_may_come_through_a_pipe(name):
    done = shell(f"{FORETRAIN} check {name}", TEXT)
    assert "llama-3.1-8b on 16 GPUs" in done.stdout, done.stderr


def test_a_table_may_come_through_a_pipe():
    done = shell(f"{FORETRAIN} calibrate --gemm <(cat) --gpu h100-sxm-80gb", TABLE)
    assert done.returncode == 0, done.stderr


def test_a_pipe_in_a_study_is_read_once(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(TEXT))
    writer.start()
    done = CliRunner().invoke(app, ["sweep", str(pipe), "--vary", "training.microbatch=[1,2]", "--quick", "--csv"])
    writer.join()
    assert done.exit_code == 0, done.stderr
    assert len(done.stdout.splitlines()) == 3


@pytest.mark.parametrize("verb", ["check -", "sweep - --vary runs=[1,2]", "import megatron -"])
def test_a_closed_standard_input_is_a_message(verb):
    done = shell(f"{FORETRAIN} {verb} <&-")
    assert done.returncode == 2
    assert done.stderr.splitlines() == ["<stdin>: is closed; name a file, or give the text on standard input"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "{}"),
        ("run", "{}"),
        ("sweep", "{}", "--vary", "runs=[1,2]"),
        ("layouts", "{}"),
        ("stress", "{}", "--vary", "failures.scale=[1,2]"),
        ("validate", "{}"),
        ("import", "megatron", "{}"),
        ("calibrate", "--gemm", "{}", "--gpu", "h100-sxm-80gb"),
        ("plan", "--fit", "{}", "--flops", "1e22"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_what_has_no_end_is_read_to_its_bound_and_a_folder_is_named(arguments, tmp_path):
    for name, said in (("/dev/zero", "is larger than"), (str(tmp_path), "is a folder, not a file")):
        done = CliRunner().invoke(app, [part.format(name) for part in arguments])
        assert (done.exit_code, said in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize("content", [b"a" * 1_000_001, b"root:x:0:0\n", b"\xff", b"a: [", b""])
def test_a_text_that_is_no_scenario_is_wrong_input_to_a_study(content, tmp_path):
    (tmp_path / "mine.yaml").write_bytes(content)
    for verb, key in (("sweep", "cluster.hosts"), ("stress", "failures.scale")):
        done = CliRunner().invoke(app, [verb, str(tmp_path / "mine.yaml"), "--vary", f"{key}=[1,2]"])
        assert done.exit_code == 2, (verb, done.stdout, done.stderr)
        assert "mine.yaml" in done.stderr
