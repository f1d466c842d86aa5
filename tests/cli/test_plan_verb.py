"""The verb `plan`: JSON as the contract says, text that fits a terminal, drawings, and mistakes in a sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from simulator.cli import app

LAW_KEYS = {
    "name",
    "parameters",
    "tokens",
    "loss",
    "flops",
    "flops_definition",
    "batch_tokens",
    "learning_rate",
    "in_range",
}
SMALL = """\
version: 1
model: llama-3.1-8b
cluster: {host: hgx-h100, hosts: 2}
stack: megatron-core-2024
training: {tokens: 1T, sequence_length: 4096, global_batch: 128, microbatch: 1}
search: {tensor: [1, 2], pipeline: [1], context: [1], recompute: [none], microbatch: [1]}
runs: 1
"""
TABLE = "params,tokens,loss\n" + "".join(
    f"{n},{d},{1.8 + 400 / n**0.34 + 2000 / d**0.36}\n" for n in (1e7, 3e7, 1e8, 3e8) for d in (1e9, 3e9, 1e10)
)


def call(*arguments: str):
    return CliRunner().invoke(app, ["plan", *arguments])


def plan(*arguments: str) -> dict:
    done = call(*arguments, "--json")
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def test_json_is_what_the_contract_says():
    found = plan("--flops", "1e24", "--gpus", "4096", "--peak", "989TFLOPS", "--mfu", "40%", "--price", "2.30")
    assert found["inputs"]["flops"] == 1e24
    assert all(row.keys() >= LAW_KEYS for row in found["laws"])
    assert found["run"].keys() >= {"gpu_hours", "days", "dollars", "mfu"}
    assert found["run"]["gpu_hours"] == pytest.approx(702_168, abs=1)
    assert found["run"]["days"] == pytest.approx(7.14, abs=0.01)
    twenty = next(row for row in found["laws"] if row["name"] == "twenty-tokens")
    assert twenty["parameters"] == pytest.approx(91e9, rel=0.005)


def test_text_fits_80_columns_and_warnings_go_to_stderr():
    done = call("--flops", "1e23", "--serve", "10T", "--unique", "100B", "--gpu", "h100-sxm-80gb", "--mfu", "0.4")
    assert done.exit_code == 0
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "are not to be compared" in done.stdout
    assert "times beyond the fitted runs" in done.stderr
    assert "warning" not in done.stdout


def test_a_scenario_is_simulated_and_its_plan_runs(tmp_path: Path):
    (tmp_path / "small.yaml").write_text(SMALL)
    found = plan(str(tmp_path / "small.yaml"), "--flops", "1e21", "--out", str(tmp_path / "out"))
    assert found["run"]["how"] == "simulated"
    assert 0.2 < found["run"]["mfu"] < 0.7
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {
        "plan.json",
        "isoflop.png",
        "contour.svg",
        "scenario.yaml",
    }
    checked = CliRunner().invoke(app, ["check", str(tmp_path / "out" / "scenario.yaml")])
    assert checked.exit_code == 0
    exported = CliRunner().invoke(app, ["export", "megatron", str(tmp_path / "out" / "scenario.yaml")])
    assert "--num-layers" in exported.stdout


def test_a_price_follows_from_dollars_days_and_gpus():
    found = plan("--dollars", "20M", "--days", "1095", "--gpus", "512", "--gpu", "h100-sxm-80gb", "--mfu", "40%")
    assert found["price_per_gpu_hour"] == pytest.approx(1.49, abs=0.005)


def test_runs_give_a_law_and_the_law_a_plan(tmp_path: Path):
    (tmp_path / "runs.csv").write_text(TABLE)
    alone = json.loads(call("--fit", str(tmp_path / "runs.csv"), "--bootstrap", "20", "--json").stdout)
    assert alone["fit"]["constants"]["alpha"]["value"] == pytest.approx(0.34, rel=1e-3)
    assert alone["fit"]["frontier"]["exponent"] < 0
    found = plan("--fit", str(tmp_path / "runs.csv"), "--bootstrap", "20", "--flops", "1e21", "--observed", "2.5")
    assert found["laws"][0]["name"] == "your-runs"
    assert found["prediction"]["loss"]["low"] <= found["laws"][0]["loss"] <= found["prediction"]["loss"]["high"]
    assert found["track"]["word"] == "behind"
    text = call("--fit", str(tmp_path / "runs.csv"), "--bootstrap", "20", "--flops", "1e21", "--observed", "2.5").stdout
    assert "Your run is behind" in text
    assert max(map(len, text.splitlines())) <= 80


def test_phases_are_added_up(tmp_path: Path):
    (tmp_path / "p.yaml").write_text("parameters: 8B\nphases: [{name: all, tokens: 1T}, {name: failed, share: 30%}]\n")
    done = call("--phases", str(tmp_path / "p.yaml"), "--gpus", "64", "--rate", "400TFLOPS", "--price", "2", "--json")
    total = json.loads(done.stdout)["total"]
    assert total["gpu_hours"] == pytest.approx(1.3 * 6 * 8e21 / 400e12 / 3600)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 2, "nothing to plan from"),
        (("--flops", "many"), 2, "--flops: `many` is not"),
        (("--flops", "1e21", "--law", "chinchila"), 2, "no scaling law named 'chinchila'"),
        (("--flops", "1e21", "--params", "1B", "--tokens", "1T"), 2, "leave one out"),
        (("--dollars", "1M"), 2, "need a machine"),
        (("--dollars", "1M", "--rate", "400TFLOPS"), 2, "without a price"),
        (("--days", "3", "--rate", "400TFLOPS"), 2, "without GPUs"),
        (("--flops", "1e21", "--gpu", "h100-sxm-80gb"), 2, "a machine needs a rate"),
        (("--flops", "1e21", "--mfu", "90%", "--rate", "1TFLOPS", "--peak", "2TFLOPS"), 2, "say the same"),
        (("--flops", "1e21", "--rate", "3TFLOPS", "--peak", "2TFLOPS"), 2, "150% of the peak"),
        (("--flops", "1e21", "--gpu", "h10"), 2, "no gpu named"),
        (("tutorial/2-a-rack", "--flops", "1e21", "--mfu", "40%"), 2, "the scenario says what trains"),
        (("--flops", "1e21", "--law", "hestness-2017"), 1, "the law does not say"),
        (("--loss", "1.7"), 1, "no budget has its best choice"),
        (("--flops", "1e21", "--law", "llama-3", "--serve", "1T"), 2, "serving needs a law of the loss"),
        (("--flops", "1e21", "--plot", "x.bmp"), 2, "a drawing ends in"),
        (("--fit", "no.csv"), 2, "no such file"),
        (("--phases", "no.yaml"), 2, "--phases needs a machine"),
    ],
)
def test_wrong_questions_get_a_sentence(arguments: tuple[str, ...], code: int, message: str):
    done = call(*arguments)
    assert done.exit_code == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("option", ["--tokens-per-param", "--loss", "--sparsity", "--factor", "--observed"])
@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "0", "-1"])
def test_a_number_that_is_no_amount_is_refused(option: str, number: str):
    done = call("--flops", "1e21", option, number)
    assert done.exit_code == 2
    assert done.stderr == f"{option} {number}: a number above zero belongs here\n"
