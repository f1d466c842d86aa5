"""``foretrain sweep`` gives one row a point, the same from any number of processes and after any interruption."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from simulator.cli import app
from simulator.studies.lines import line, parsed

PRICES = "--vary=prices.gpu_hour=[$1.00, $2.00, $3.00, $4.00]"
HOSTS = "--vary=cluster.hosts=[8, 16, 32]"


def sweep(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["sweep", *map(str, arguments)], terminal_width=80)


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text)))


def test_one_row_a_point_of_the_product(measured: str) -> None:
    found = rows(sweep(measured, PRICES, HOSTS, "--csv", "--jobs", "1").stdout)
    assert len(found) == 4 * 3
    assert [row["cluster.hosts"] for row in found[:3]] == ["8", "16", "32"]


def test_dollars_are_the_price_of_all_hours(measured: str) -> None:
    found = rows(sweep(measured, PRICES, "--csv", "--jobs", "1").stdout)
    hours = 16 * 8 * 1000 * 9 / 3600
    assert [float(row["dollars_p50"]) for row in found] == pytest.approx([price * hours for price in (1, 2, 3, 4)])


def test_a_point_that_contradicts_itself_is_a_row_with_the_reason(dense: str) -> None:
    found = rows(sweep(dense, "--vary", "parallelism.tensor=[3, 4]", "--quick", "--csv", "--jobs", "1").stdout)
    assert [row["verdict"] for row in found] == ["infeasible", "fits"]
    assert "not divisible by tensor 3" in found[0]["reason"]
    assert found[0]["step_time_s"] == ""


def test_a_study_without_a_point_that_can_be_run_says_no(dense: str) -> None:
    done = sweep(dense, "--vary", "parallelism.tensor=[3, 5]", "--quick", "--jobs", "1")
    assert done.exit_code == 1
    assert "None of 2 points" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--vary", "parallelism.tensr=[1, 2]"),
        ("--vary", "parallelism.tensor"),
        ("--vary", "parallelism.tensor=2,4,8"),
        ("--vary", "parallelism.tensor=[1]", "--metric", "speed-of-light"),
        ("--vary", "parallelism.tensor=[1]", "--plot", "picture.bmp"),
        ("--vary", "parallelism.tensor=[1]", "--dask", "tcp://127.0.0.1:1"),
    ],
    ids=" ".join,
)
def test_wrong_input_exits_2(dense: str, arguments: tuple[str, ...]) -> None:
    done = sweep(dense, *arguments, "--quick", "--jobs", "1")
    assert done.exit_code == 2, done.stderr
    assert done.stdout == ""


def test_the_table_fits_80_columns(dense: str) -> None:
    done = sweep(dense, "--vary", "parallelism.tensor=[1, 3, 4]", "--vary", "training.microbatch=[1, 2]", "--jobs", "1")
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_a_quick_step_is_the_whole_step(dense: str) -> None:
    axis = ("--vary", "parallelism.tensor=[2, 4]", "--csv", "--jobs", "1")
    quick, whole = rows(sweep(dense, *axis, "--quick").stdout), rows(sweep(dense, *axis).stdout)
    for one, other in zip(quick, whole, strict=True):
        assert float(one["step_time_s"]) == pytest.approx(float(other["step_time_s"]), rel=0.01)
        assert one["peak_bytes"] == other["peak_bytes"]


def test_json_has_the_axes_and_the_rows(measured: str) -> None:
    found = json.loads(sweep(measured, PRICES, "--json", "--jobs", "1").stdout)
    assert found["axes"] == {"prices.gpu_hour": ["$1.00", "$2.00", "$3.00", "$4.00"]}
    assert len(found["rows"]) == 4


def test_scenarios_may_be_several(measured: str, dense: str) -> None:
    found = rows(sweep(measured, dense, "--quick", "--csv", "--jobs", "1").stdout)
    assert [row["scenario"] for row in found] == ["measured", "dense"]


def test_two_processes_write_the_same_bytes_as_one(measured: str, tmp_path: Path) -> None:
    one = sweep(measured, PRICES, HOSTS, "--csv", "--jobs", "1", "--out", tmp_path / "one")
    two = sweep(measured, PRICES, HOSTS, "--csv", "--jobs", "2", "--out", tmp_path / "two")
    assert one.stdout == two.stdout
    for name in ("rows.jsonl", "rows.csv", "sweep.svg"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


@pytest.mark.parametrize("torn", [1, 40, 5000])
def test_a_torn_study_goes_on_and_ends_with_the_same_bytes(measured: str, tmp_path: Path, torn: int) -> None:
    arguments = (measured, PRICES, HOSTS, "--csv", "--jobs", "1", "--out", tmp_path)
    sweep(*arguments)
    stored = tmp_path / "rows.jsonl"
    whole = stored.read_bytes()
    stored.write_bytes(whole[:-torn])
    assert sweep(*arguments).exit_code == 0
    assert stored.read_bytes() == whole


def test_what_is_there_is_not_computed_again(measured: str, tmp_path: Path) -> None:
    arguments = (measured, PRICES, "--csv", "--jobs", "1", "--out", tmp_path)
    sweep(*arguments)
    stored = tmp_path / "rows.jsonl"
    row = parsed(stored.read_bytes().splitlines(keepends=True)[0])
    assert row is not None
    stored.write_bytes(line(row.pop("key"), row | {"dollars_p50": 123.0}))
    assert "123.0" in sweep(*arguments).stdout


def test_another_seed_is_another_study(measured: str, tmp_path: Path) -> None:
    arguments = (measured, PRICES, "--csv", "--jobs", "1", "--out", tmp_path)
    sweep(*arguments)
    sweep(*arguments, "--seed", "5")
    assert len((tmp_path / "rows.jsonl").read_text().splitlines()) == 8


def test_the_best_surely_fits_and_a_tight_one_that_is_better_is_a_risk(dense: str) -> None:
    done = sweep(dense, "--vary", "parallelism.tensor=[2, 4]", "--set", "training.microbatch=2", "--jobs", "1")
    said = " ".join(done.stdout.partition("\n\n")[0].split())
    assert said.partition(" with ")[2].startswith("tensor 4. ")
    assert "with tensor 2 (tight, P(fits) " in said
    assert said.endswith("may run out of memory.")
    assert "P(fits)" in done.stdout.splitlines()[-3]
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_where_nothing_surely_fits_the_best_is_told_as_tight(dense: str) -> None:
    done = sweep(dense, "--vary", "parallelism.tensor=[2]", "--set", "training.microbatch=2", "--jobs", "1", "--quick")
    assert " with tensor 2 (tight, P(fits) " in " ".join(done.stdout.split())


def test_dropped_tokens_stand_beside_the_best_and_in_the_table(mixture: str) -> None:
    arguments = (mixture, "--vary", "moe.capacity=[0.75, 1]", "--metric", "mfu", "--jobs", "1")
    done = sweep(*arguments)
    assert " with capacity 0.75 (drops 25.0% of its tokens)" in " ".join(done.stdout.split())
    table = done.stdout.splitlines()[-3:]
    assert [line.split()[-1] for line in table] == ["dropped", "25.0%", "0%"]
    assert [float(row["dropped_tokens"]) for row in rows(sweep(*arguments, "--csv").stdout)] == [0.25, 0.0]


def test_tables_in_which_nothing_is_dropped_do_not_say_so(mixture: str) -> None:
    assert "dropped" not in sweep(mixture, "--vary", "moe.capacity=[1, 1.25]", "--quick", "--jobs", "1").stdout


def test_a_key_of_another_kind_is_a_mistake_of_vary_with_the_kind_to_set(measured: str) -> None:
    done = sweep(measured, "--vary", "checkpoint.interval=[5min]", "--jobs", "1")
    assert "--vary checkpoint.interval=5min: " in done.stdout
    assert "add --set checkpoint.kind=fixed" in " ".join(done.stdout.split())
