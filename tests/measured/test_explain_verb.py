"""`foretrain explain` holds a log against the prediction, and its parts sum to the gap."""

import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import simulator as ft
from simulator.cli import app
from simulator.measured.explained import explain
from tests.measured.made import megatron, times

HOST = "tutorial/1-one-host"
STEP = ft.predict(HOST).step_time_s
BATCH = ft.read(HOST).training.global_batch


def said(*arguments):
    return CliRunner().invoke(app, ["explain", *arguments], prog_name="foretrain", env={"COLUMNS": "80"})


def log_of(tmp_path, seconds, name="train.log"):
    path = tmp_path / name
    path.write_text(megatron(seconds, BATCH))
    return str(path)


@settings(max_examples=30)
@given(level=st.floats(0.3, 3.0), change=st.floats(1.0, 2.0), every=st.integers(10, 60), extra=st.floats(0.0, 20.0))
def test_parts_of_the_gap_sum_to_it(level, change, every, extra):
    seconds = times(1, 200, level * STEP, step_change=change, at=120, every=every, extra=extra)
    told = explain(megatron(seconds, BATCH), "train.log", ft.read(HOST))
    assert sum(told.parts_s.values()) == pytest.approx(told.gap_s, abs=1e-9)
    assert told.gap_s == pytest.approx(told.found.mean_s - STEP, abs=1e-9)


def test_a_healthy_log_is_within_what_was_expected(tmp_path):
    result = said(HOST, "--log", log_of(tmp_path, times(1, 200, STEP)), "--json")
    told = json.loads(result.stdout)
    assert result.exit_code == 0, result.output
    assert told["gap"]["within_range"]
    assert [one["cause"] for one in told["causes"]] == ["none"]
    assert told["expected"]["source"] == "prediction"


def test_a_level_out_of_range_is_unexplained_and_says_no(tmp_path):
    result = said(HOST, "--log", log_of(tmp_path, times(1, 200, 2 * STEP)))
    assert result.exit_code == 1
    assert "a log does not say why" in " ".join(result.stdout.split())


def test_a_gap_that_the_log_explains_is_an_answer(tmp_path):
    log = log_of(tmp_path, times(1, 400, STEP, step_change=1.8, at=150))
    result = said(HOST, "--log", log)
    assert result.exit_code == 0, result.output
    assert "step_change" in result.stdout
    assert said(HOST, "--log", log, "--fail-over", "10%").exit_code == 1


def test_without_a_scenario_the_run_is_its_own_measure(tmp_path):
    told = json.loads(said("--log", log_of(tmp_path, times(1, 200, 3.0, every=20, extra=9.0)), "--json").stdout)
    assert told["expected"]["source"] == "peers"
    assert told["expected"]["time_s"] == pytest.approx(3.0, rel=0.005)
    assert told["causes"][0]["cause"] == "periodic"


def test_plain_and_gzip_are_the_same_log(tmp_path):
    plain = log_of(tmp_path, times(1, 50, 3.0))
    packed = tmp_path / "train.log.gz"
    packed.write_bytes(gzip.compress((tmp_path / "train.log").read_bytes()))
    one, two = (json.loads(said("--log", name, "--json").stdout) for name in (plain, str(packed)))
    assert one["measured"] == two["measured"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no step times found"),
        (b"\x1f\x8bnothing", "no gzip file that can be read"),
        (b"\xff\xfe\x00\x01" * 50, "no step times found"),
        (megatron([1.0] * 9, 77).encode(), "batches of 77 sequences"),
    ],
)
def test_what_is_no_log_of_the_scenario_is_refused_in_a_sentence(tmp_path, content, message):
    (tmp_path / "train.log").write_bytes(content)
    result = said(HOST, "--log", str(tmp_path / "train.log"))
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


def test_the_number_of_gpus_is_checked_by_the_clock(tmp_path):
    tokens = ft.read(HOST).training.global_batch * ft.read(HOST).training.sequence_length
    lines = "".join(
        f"[titan] 2026-01-01 00:{n // 60:02d}:{n % 60:02d},000 - root - INFO - step: {n}  loss:  8.1  "
        f"memory: 40.00GiB(50.0%)  tps: {tokens / 16:,.0f}  tflops: 300.00  mfu: 30.00%\n"
        for n in range(1, 30)
    )
    (tmp_path / "train.log").write_text(lines)
    result = said(HOST, "--log", str(tmp_path / "train.log"))
    assert result.exit_code == 2
    assert "the number of GPUs" in " ".join(result.output.split())


def test_files_are_written(tmp_path):
    result = said("--log", log_of(tmp_path, times(1, 100, 3.0)), "--out", str(tmp_path / "told"))
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in (tmp_path / "told").iterdir()) == ["explained.json", "steps.png", "steps.svg"]


def test_set_without_a_scenario_is_refused(tmp_path):
    result = said("--log", log_of(tmp_path, [3.0] * 9), "--set", "runs=3")
    assert result.exit_code == 2
    assert "--set changes a scenario" in result.output


def test_from_python_it_prints_the_same(tmp_path):
    log = log_of(tmp_path, times(1, 200, STEP, every=20, extra=9.0))
    told = ft.explain((tmp_path / "train.log").read_text(), HOST)
    assert str(told).replace("the log", log).split()[:40] == said(HOST, "--log", log).stdout.split()[:40]
