"""``foretrain stress`` finds the interval of the closed form, gives runs to what is close, and calls ties ties."""

from __future__ import annotations

import csv
import json
from io import StringIO
from math import sqrt
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from simulator.cli import app
from simulator.io.readable import duration
from simulator.reliability.advice import interval_advice
from simulator.scenario import read
from simulator.simulation import simulate
from simulator.studies.stress import FIRST

MTBF, STALL = 36_000.0, 60.0
TEXT = f"""\
version: 1
name: one failure in ten hours
cluster: {{host: hgx-h100, hosts: 16}}
training: {{steps: 80000, step_time: 9s}}
failures: {{causes: [{{kind: exponential, unit: job, mtbf: {MTBF}s}}]}}
checkpoint: {{kind: fixed, interval: 30min, stall: {STALL}s, mode: blocking}}
recovery: {{detect: 0s, restart: 0s, repair: 1h}}
prices: {{gpu_hour: $2.00}}
runs: 100
"""
INTERVALS = (500, 1000, 2000, 4000, 8000)
GRID = "--vary=checkpoint.interval=[" + ", ".join(f"{interval}s" for interval in INTERVALS) + "]"


@pytest.fixture
def failing(tmp_path: Path) -> str:
    path = tmp_path / "failing.yaml"
    path.write_text(TEXT)
    return str(path)


def stress(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["stress", *map(str, arguments), "--jobs", "1"], terminal_width=80)


def rows(*arguments: str) -> list[dict[str, Any]]:
    return json.loads(stress(*arguments, "--json").stdout)["rows"]


def test_the_best_interval_is_that_of_young(failing: str) -> None:
    optimum = sqrt(2 * STALL * MTBF)  # 2,078 s
    best = next(row for row in rows(failing, GRID, "--objective", "goodput") if row["best"])
    assert best["checkpoint.interval"] == f"{min(INTERVALS, key=lambda interval: abs(interval - optimum))}s"


def test_what_is_close_gets_more_runs_than_what_is_not(failing: str) -> None:
    found = {
        row["checkpoint.interval"]: row for row in rows(failing, "--vary", "checkpoint.interval=[200s, 2000s, 2078s]")
    }
    assert found["200s"]["runs"] == FIRST
    assert found["2000s"]["runs"] == found["2078s"]["runs"] == 100
    assert not found["200s"]["tie"]
    assert sum(row["best"] for row in found.values()) == 1
    assert found["2000s"]["tie"] or found["2078s"]["tie"]


def test_a_policy_twice_by_another_name_is_a_tie_of_zero(failing: str) -> None:
    first, second = rows(failing, "--vary", "checkpoint.interval=[30min, 1800s]")
    assert (first["best"], second["tie"], second["worse"]) == (True, True, 0.0)


def test_a_policy_meets_the_failures_that_run_meets(failing: str) -> None:
    (row,) = rows(failing, "--vary", "checkpoint.interval=[30min]", "--runs", "25")
    told = simulate(read(failing, overrides=["runs=25"]))
    assert row["wall_clock_p50_s"] == told.run.wall_clock_s.p50
    assert row["dollars_mean"] == pytest.approx(told.cost.dollars.mean, rel=1e-12)
    assert row["step_time_s"] == told.step.time_s


def test_more_failures_are_never_better_and_have_a_best_of_their_own(failing: str) -> None:
    found = rows(failing, GRID, "--vary", "failures.scale=[1, 16]", "--runs", "10")
    best = {row["failures.scale"]: row for row in found if row["best"]}
    assert best["1"]["goodput_mean"] > best["16"]["goodput_mean"]
    intervals = [float(row["checkpoint.interval"].removesuffix("s")) for row in (best["1"], best["16"])]
    assert intervals == sorted(intervals, reverse=True)


def test_without_failures_all_that_save_alike_are_equal(failing: str) -> None:
    found = rows(failing, "--vary", "recovery.restart=[1min, 1h]", "--set", "failures.scale=0", "--runs", "25")
    assert [row["worse"] for row in found] == [None, 0.0]


def test_policies_of_different_kinds_stand_in_one_grid(failing: str) -> None:
    found = rows(failing, "--vary", "checkpoint=[young-daly, {kind: fixed, interval: 4h}, none]", "--runs", "25")
    assert [row["checkpoint"] for row in found] == ["young-daly", "{kind: fixed, interval: 4h}", "none"]
    assert found[0]["best"]
    assert not found[2]["tie"]


def test_a_policy_that_contradicts_itself_is_a_row_with_the_reason(failing: str) -> None:
    grid = ("--vary", "checkpoint.kind=[fixed, young]", "--vary", "checkpoint.interval=[30min]", "--runs", "25")
    found = rows(failing, *grid)
    assert [row["verdict"] for row in found] == [None, "infeasible"]
    assert "unknown key of kind young" in found[1]["reason"]


def test_a_run_that_never_ends_is_no_progress(failing: str) -> None:
    done = stress(failing, "--vary", "failures.scale=[100000]")
    assert done.exit_code == 1
    assert "no progress" in done.stdout


def test_the_table_fits_80_columns(failing: str) -> None:
    done = stress(failing, GRID, "--vary", "failures.scale=[1, 4]", "--runs", "25")
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert done.stdout.startswith("Best with failures.scale 1: checkpoint.interval")


def test_one_and_two_processes_write_the_same_bytes_and_a_torn_study_goes_on(failing: str, tmp_path: Path) -> None:
    arguments = ("stress", failing, GRID, "--csv", "--runs", "30")
    one = CliRunner().invoke(app, [*arguments, "--jobs", "1", "--out", str(tmp_path / "one")])
    two = CliRunner().invoke(app, [*arguments, "--jobs", "2", "--out", str(tmp_path / "two")])
    assert one.stdout == two.stdout
    stored = tmp_path / "one" / "rows.jsonl"
    whole = stored.read_bytes()
    assert whole == (tmp_path / "two" / "rows.jsonl").read_bytes()
    stored.write_bytes(whole[: len(whole) // 3])
    again = CliRunner().invoke(app, [*arguments, "--jobs", "1", "--out", str(tmp_path / "one")])
    assert again.stdout == one.stdout
    assert stored.read_bytes() == whole
    assert len(list(csv.DictReader(StringIO(one.stdout)))) == len(INTERVALS)
    assert (tmp_path / "one" / "policies.svg").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--vary", "parallelism.tensor=[1, 2]"),
        ("--vary", "checkpoint.intervall=[1min]"),
        ("--vary", "checkpoint.interval=[1]"),
        (GRID, "--objective", "fame"),
    ],
    ids=" ".join,
)
def test_wrong_input_exits_2(failing: str, arguments: tuple[str, ...]) -> None:
    done = stress(failing, *arguments)
    assert done.exit_code == 2
    assert done.stdout == ""


def test_it_says_what_theory_says_of_the_interval(failing: str) -> None:
    found = " ".join(stress(failing, GRID).stdout.split())
    theory = interval_advice(STALL, MTBF)
    assert f"In theory the best interval is {duration(theory.best)}; half of it loses" in found
    (best,) = (row for row in rows(failing, GRID) if row["best"])
    assert best["best_interval_s"] == pytest.approx(theory.best)
    assert best["loss_at_half"] == pytest.approx(theory.loss_at_half)
    assert best["loss_at_double"] == pytest.approx(theory.loss_at_double)


def test_kinds_of_a_policy_can_be_varied_over_one_that_has_keys_of_its_own(failing: str) -> None:
    found = rows(failing, "--vary", "checkpoint.kind=[fixed, young, optimal]")
    assert [row["reason"] for row in found] == [None, None, None]


@pytest.mark.parametrize("kind", ["young-daly", "none"])
def test_an_interval_of_a_kind_without_one_is_a_mistake_of_vary(failing: str, kind: str) -> None:
    done = stress(failing, GRID, "--set", f"checkpoint={kind}")
    assert done.exit_code == 2
    assert done.stderr.startswith("--vary checkpoint.interval=500s: ")
    assert done.stderr.rstrip().endswith("add --set checkpoint.kind=fixed")
