"""The verb `calibrate`: errors before and after on stdout, a file that a scenario takes, presets of failures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from simulator.cli import app

NCCL = """\
# nThread 1 nGpus 1 minBytes 8 maxBytes 8589934592 all_reduce_perf
#  Rank  0 Group  0 Pid 1 on a device 0 [0x1b] NVIDIA H100
#  Rank  1 Group  0 Pid 2 on a device 1 [0x1b] NVIDIA H100
"""


def call(*arguments: str):
    return CliRunner().invoke(app, ["calibrate", *arguments])


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "gemm.csv").write_text("m,n,k,time_us\n4096,4096,4096,250\n8192,8192,8192,1800\n")
    rows = "".join(f"{1 << p} {1 << p} float sum -1 90.0 1 1 0 {30 + (1 << p) / 1e4} 1 1 0\n" for p in range(3, 30))
    (tmp_path / "ar.log").write_text(NCCL + rows)
    (tmp_path / "fail.csv").write_text("cause,unit,lifetime,ended\n" + "GPU,gpu,100,1\n" * 3 + "GPU,gpu,500,0\n" * 20)
    return tmp_path


def test_errors_are_told_and_the_file_works_in_a_scenario(here: Path):
    out = here / "mine.yaml"
    done = call(
        *("--nccl-tests", str(here / "ar.log"), "--host", "hgx-h100"),
        *("--gemm", str(here / "gemm.csv"), "--gpu", "h100-sxm-80gb"),
        *("--run", "tutorial/1-one-host=20s", "--out", str(out)),
    )
    assert done.exit_code == 0, done.stderr
    assert "nccl-tests" in done.stdout
    assert "matrix products" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    scenario = here / "s.yaml"
    scenario.write_text(
        "version: 1\nmodel: llama-3.1-8b\ncluster: {host: hgx-h100, hosts: 1}\nparallelism: {shard: parameters}\n"
        "training: {tokens: 1G, sequence_length: 4096, global_batch: 8}\ncalibration: mine.yaml\nruns: 1\n"
    )
    ran = CliRunner().invoke(app, ["run", str(scenario), "--json"])
    assert ran.exit_code == 0, ran.stderr
    assert json.loads(ran.stdout)["scenario"]["calibration"]["gpu"] == "h100-sxm-80gb"


def test_json_has_the_evidence(here: Path):
    found = json.loads(call("--gemm", str(here / "gemm.csv"), "--gpu", "h100-sxm-80gb", "--json").stdout)
    (evidence,) = found["evidence"]
    assert evidence["rows"] == 2
    assert evidence["after"] < evidence["before"]


def test_a_log_of_failures_becomes_a_preset(here: Path):
    out = here / "cat" / "failures" / "ours.yaml"
    done = call("--failures", str(here / "fail.csv"), "--host", "hgx-h100", "--hosts", "3", "--out", str(out))
    assert done.exit_code == 0, done.stderr
    assert "GPU" in done.stdout
    shown = CliRunner().invoke(app, ["catalog", "failures", "ours", "--catalog", str(here / "cat")])
    assert shown.exit_code == 0
    assert "counted" in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "nothing to learn from"),
        (("--gemm", "no.csv", "--gpu", "h100-sxm-80gb"), "no such file"),
        (("--gemm", "no.csv"), "--gemm needs --gpu"),
        (("--nccl-tests", "no.log"), "--nccl-tests needs --host"),
        (("--run", "tutorial/1-one-host"), "expected SCENARIO=STEP"),
        (("--run", "tutorial/1-one-host=fast"), "is no file, no duration"),
        (("--failures", "x.csv", "--host", "hgx-h100"), "--failures needs --hosts"),
        (("--measure", "--plot", "x.bmp"), "a drawing ends in"),
    ],
)
def test_wrong_input_exits_2_with_a_sentence(arguments: tuple[str, ...], message: str):
    done = call(*arguments)
    assert done.exit_code == 2
    assert message in done.stderr
