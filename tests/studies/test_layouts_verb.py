"""``foretrain layouts`` ranks, explains, writes the best layout, and goes on after an interruption."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from simulator.cli import app
from simulator.scenario import read
from simulator.simulation import predict

SEARCH = (
    "--set",
    "search={tensor: [2, 4, 8], context: [1], recompute: [none], shard: [optimizer, gradients], chunks: [2, 4]}",
)


def layouts(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["layouts", *map(str, arguments), "--jobs", "1"], terminal_width=80)


def test_rows_are_ranked_and_what_does_not_fit_comes_last(dense: str) -> None:
    done = layouts(dense, *SEARCH, "--quick", "--csv")
    assert done.exit_code == 0
    rows = list(csv.DictReader(StringIO(done.stdout)))
    able = [row for row in rows if float(row["p_fits"]) >= 0.5]
    assert rows[: len(able)] == able
    assert [int(row["rank"]) for row in able] == list(range(1, len(able) + 1))
    times = [float(row["step_time_s"]) for row in able]
    assert times == sorted(times)
    large = [row for row in rows if row["verdict"] == "oom"]
    assert large
    assert all(row["reason"] and not row["step_time_s"] and not row["rank"] for row in large)


def test_the_table_fits_80_columns_and_explains_the_best(dense: str) -> None:
    text = layouts(dense, *SEARCH).stdout
    assert max(map(len, text.splitlines())) <= 80
    assert text.startswith("Best: TP")
    assert "Why, beside the runner-up" in text


def test_terms_of_the_explanation_sum_to_both_steps(dense: str) -> None:
    found = json.loads(layouts(dense, *SEARCH, "--json").stdout)
    for name, row in (("best", found["layouts"][0]), ("other", None)):
        total = sum(term[name] for term in found["explained"])
        if row is not None:
            assert total == pytest.approx(row["step_time_s"], rel=1e-9)
        else:
            assert any(total == pytest.approx(one["step_time_s"]) for one in found["layouts"][1:20])


def test_the_best_layout_is_a_scenario_that_is_as_fast(dense: str, tmp_path: Path) -> None:
    done = layouts(dense, *SEARCH, "--json", "--out", tmp_path)
    best = json.loads(done.stdout)["layouts"][0]
    scenario = read(tmp_path / "best.yaml")
    assert scenario.parallelism is not None
    assert scenario.parallelism.tensor == best["tensor"]
    assert predict(scenario).step_time_s == pytest.approx(best["step_time_s"], rel=1e-9)
    assert (tmp_path / "pareto.png").exists()


def test_where_the_best_is_tight_the_one_that_surely_fits_is_written_beside_it(dense: str, tmp_path: Path) -> None:
    pins = "search={tensor: [8], context: [1], microbatch: [2], recompute: [none], shard: [gradients], chunks: [1]}"
    arguments = (dense, "--set", "model=llama-3.1-70b", "--set", pins, "--quick", "--out", tmp_path)
    assert "best.yaml is the one that surely fits, fastest.yaml the tight one." in layouts(*arguments).stdout
    best, fastest = (predict(read(tmp_path / f"{name}.yaml")) for name in ("best", "fastest"))
    assert (best.memory.verdict, fastest.memory.verdict) == ("fits", "tight")
    assert fastest.step_time_s < best.step_time_s
    layouts(*arguments, "--sure")
    assert (tmp_path / "best.yaml").exists()
    assert not (tmp_path / "fastest.yaml").exists()


def test_a_best_that_surely_fits_is_the_only_one_that_is_written(dense: str, tmp_path: Path) -> None:
    assert "fastest.yaml" not in layouts(dense, *SEARCH, "--quick", "--out", tmp_path).stdout
    assert not (tmp_path / "fastest.yaml").exists()


def test_a_torn_study_goes_on_with_the_same_bytes(dense: str, tmp_path: Path) -> None:
    first = layouts(dense, *SEARCH, "--quick", "--csv", "--out", tmp_path)
    stored = tmp_path / "rows.jsonl"
    whole = stored.read_bytes()
    stored.write_bytes(whole[: len(whole) // 2])
    second = layouts(dense, *SEARCH, "--quick", "--csv", "--out", tmp_path)
    assert second.stdout == first.stdout
    assert stored.read_bytes() == whole


def test_objectives_of_one_cluster_agree_on_the_best(dense: str) -> None:
    best = [
        json.loads(layouts(dense, *SEARCH, "--json", "--objective", name).stdout)["best"] for name in ("time", "cost")
    ]
    assert len({(row["tensor"], row["pipeline"], row["microbatch"]) for row in best}) == 1


def test_a_scenario_whose_own_layout_does_not_divide_has_layouts(dense: str) -> None:
    done = layouts(
        dense, "--set", "training.global_batch=24", "--set", "parallelism=null", *SEARCH, "--quick", "--json"
    )
    assert done.exit_code == 0
    for row in json.loads(done.stdout)["layouts"]:
        assert row["data"] * row["microbatch"] * row["microbatches"] == 24


def test_nothing_that_fits_is_an_answer_of_no(dense: str) -> None:
    done = layouts(dense, "--set", "model=llama-3.1-405b", "--set", "cluster.hosts=1", *SEARCH)
    assert done.exit_code == 1
    assert "None of" in done.stdout
    assert "GiB more than there are" in " ".join(done.stdout.split())


@pytest.mark.parametrize("arguments", [("--objective", "beauty"), ("--set", "search.tensor=[]"), ("--plot", "a.gif")])
def test_wrong_input_exits_2(dense: str, arguments: tuple[str, ...]) -> None:
    assert layouts(dense, *arguments).exit_code == 2


@pytest.mark.slow
def test_the_layout_of_llama_3_is_among_the_ten_best_and_within_3_percent() -> None:
    pins = "search={context: [1], microbatch: [1, 2], recompute: [none], shard: [optimizer, gradients]}"
    found = json.loads(layouts("published/llama-3.1-405b-16k", "--set", pins, "--quick", "--json").stdout)
    published = {"tensor": 8, "pipeline": 16, "chunks": 8, "microbatch": 1, "shard": "gradients"}
    row = next(row for row in found["layouts"] if published.items() <= row.items())
    assert row["rank"] <= 40
    assert row["p_best"] > 0
    assert row["step_time_s"] <= 1.03 * found["layouts"][0]["step_time_s"]


def test_the_fastest_is_on_the_front_even_where_a_twin_by_another_name_has_more_room(dense: str) -> None:
    lines = layouts(
        dense, "--set", "search={tensor: [4], context: [1], microbatch: [1], shard: [optimizer]}"
    ).stdout.splitlines()
    first = next(line for line in lines if line.startswith(("1 ", "1*", " 1")))
    assert "*" in first
