"""`foretrain run` from the file to the last byte: stdout is the result, the exit code the answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from simulator.cli import app

SMALL = ["run", "tutorial/1-one-host", "--runs", "3"]


def foretrain(*arguments: str) -> Result:
    return CliRunner().invoke(app, [*SMALL, *arguments])


@pytest.fixture(scope="module")
def printed() -> Result:
    return foretrain("--json")


def test_json_is_all_of_stdout(printed: Result) -> None:
    assert printed.exit_code == 0
    document = json.loads(printed.stdout)
    assert document["verdict"] == "fits"
    assert document["step"]["time_s"] == pytest.approx(sum(document["step"]["parts_s"].values()))


def test_the_same_seed_gives_the_same_bytes(printed: Result) -> None:
    assert foretrain("--json").stdout == printed.stdout


def test_set_and_seed_reach_the_scenario() -> None:
    document = json.loads(foretrain("--json", "--seed", "11", "--set", "training.global_batch=64").stdout)
    assert document["seed"] == 11
    assert str(document["scenario"]["training"]["global_batch"]) == "64"


def test_text_begins_with_the_verdict() -> None:
    done = foretrain()
    assert done.exit_code == 0
    assert done.stdout.startswith("FITS")
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_out_holds_report_pictures_trace_and_json(tmp_path: Path) -> None:
    assert foretrain("--out", str(tmp_path / "out"), "--trace", str(tmp_path / "step.json")).exit_code == 0
    written = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert {"out/report.html", "out/result.json", "out/trace.json", "step.json", "out/plots/waterfall.png"} <= written
    assert json.loads((tmp_path / "step.json").read_text())["traceEvents"]


def test_a_missed_floor_is_named_and_exits_1_with_the_result_printed() -> None:
    done = foretrain("--json", "--fail-under", "mfu=0.99")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["step"]["mfu"] < 0.99
    assert "mfu is" in done.stderr


def test_a_wrong_floor_is_wrong_input() -> None:
    assert foretrain("--fail-under", "mfuu=0.4").exit_code == 2


def test_what_does_not_fit_exits_1_with_the_result_printed() -> None:
    done = foretrain("--json", "--set", "training.microbatch=64", "--set", "training.global_batch=512")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["verdict"] == "oom"
