"""A comparison's factors multiply to its ratio, and a break-even makes two figures equal."""

from __future__ import annotations

import json
from math import exp, prod
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from simulator.cli import app
from simulator.errors import InfeasibleError, ScenarioError
from simulator.outcome.results import Result
from simulator.scenario import Scenario, read
from simulator.simulation import simulate
from simulator.studies.breakeven import even
from simulator.studies.compare import FIGURES, differences, factors, terms, value

TEXT = """\
version: 1
model: llama-3.1-8b
cluster: {host: hgx-h100, hosts: 4, spares: 1}
stack: megatron-core-2024
parallelism: {tensor: 2, pipeline: 2}
training: {tokens: 10G, sequence_length: 4096, global_batch: 64, microbatch: 1}
failures: {preset: llama3, scale: 50}
recovery: {repair: 2h}
prices: {gpu_hour: $2.50}
runs: 3
"""
CHANGES = [
    (),
    ("cluster.host=dgx-a100",),
    ("cluster.hosts=8", "prices.gpu_hour=$1.10"),
    ("training.recompute=full", "training.microbatch=2"),
    ("model=llama-3.1-70b", "parallelism.tensor=8", "cluster.hosts=32"),
    ("failures.scale=0", "cluster.spares=null"),
    ("prices.electricity=$0.10/kWh",),
]


def told(*changes: str) -> tuple[Scenario, Result]:
    scenario = read(TEXT, overrides=changes)
    return scenario, simulate(scenario)


@pytest.fixture(scope="module")
def base() -> tuple[Scenario, Result]:
    return told()


@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize("changes", CHANGES, ids=lambda changes: ", ".join(changes) or "nothing")
def test_factors_multiply_to_the_ratio(base: tuple[Scenario, Result], changes: tuple[str, ...], figure: str) -> None:
    other = told(*changes)
    ratio = value(other[1], figure) / value(base[1], figure)
    assert prod(factor.ratio for factor in factors(base, other, figure)) == pytest.approx(ratio, rel=1e-9)
    assert prod(terms(*other, figure).values()) == pytest.approx(value(other[1], figure), rel=1e-9)


def test_a_scenario_beside_itself_differs_in_nothing(base: tuple[Scenario, Result]) -> None:
    assert all(factors(base, base, figure) == () for figure in FIGURES)
    assert differences([base[0].resolved, base[0].resolved]) == ()


def test_a_price_is_the_only_factor_of_a_price() -> None:
    one, two = told("prices.gpu_hour=$2"), told("prices.gpu_hour=$3")
    (factor,) = factors(one, two, "dollars")
    assert (factor.name, factor.ratio) == ("price of a GPU-hour", pytest.approx(1.5))
    assert factors(one, two, "days") == ()


def test_a_measured_step_is_one_factor(base: tuple[Scenario, Result]) -> None:
    measured = told("training.step_time=9s")
    (factor,) = factors(base, measured, "step time")
    assert factor.ratio == pytest.approx(9.0 / base[1].step.time_s)


def test_differences_name_the_key_and_both_values() -> None:
    one, two = read(TEXT), read(TEXT, overrides=["parallelism.tensor=4", "model=llama-3.1-70b"])
    found = {one.key: one.values for one in differences([one.resolved, two.resolved])}
    assert found["parallelism.tensor"] == ("2", "4")
    assert found["model.base"] == ("llama-3.1-8b", "llama-3.1-70b")
    assert "model.layers" not in found


# Break-even.


@given(st.floats(0.05, 20.0), st.floats(0.3, 3.0))
@settings(deadline=None)
def test_a_power_law_is_equal_where_its_closed_form_says(times: float, power: float) -> None:
    solved = even("a", {"a": "400Gbps"}, lambda text: float(text.removesuffix("Gbps")) ** power, (400 * times) ** power)
    assert solved.times == pytest.approx(times, rel=2e-3)
    assert solved.value.endswith("Gbps")


def test_a_count_is_the_smallest_that_reaches_it() -> None:
    solved = even("hosts", {"hosts": "16"}, lambda text: 1000 / int(text), 1000 / 37.5)
    assert solved.value == "38"


def test_counts_that_cannot_be_run_are_passed_over() -> None:
    solved = even("hosts", {"hosts": "16"}, lambda text: 1000 / int(text) if int(text) % 8 == 0 else None, 1000 / 37.5)
    assert solved.value == "40"


def test_equal_already_is_once_the_present_value() -> None:
    assert even("a", {"a": "$2.50"}, lambda text: 7.0, 7.0).times == 1.0


def test_what_never_happens_is_an_answer_of_no() -> None:
    with pytest.raises(InfeasibleError, match="no value"):
        even("a", {"a": "2.0"}, lambda text: 1 + exp(-float(text)), 5.0)


@pytest.mark.parametrize(("key", "said"), [("b", {"a": "1"}), ("a", {"a": "fixed"}), ("a.b", {"a": "1"})])
def test_a_key_without_a_number_is_a_mistake(key: str, said: dict[str, str]) -> None:
    with pytest.raises(ScenarioError, match="--solve"):
        even(key, said, lambda text: 1.0, 2.0)


# The verb.


def compare(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["compare", *map(str, arguments), "--jobs", "1"], terminal_width=80)


def test_the_page_fits_80_columns_and_says_why(dense: str) -> None:
    done = compare(dense, "--with", "parallelism.tensor=8")
    assert done.exit_code == 0
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "parallelism.tensor" in done.stdout
    assert "tensor parallelism" in done.stdout


def test_factors_of_the_json_multiply_to_its_ratios(dense: str) -> None:
    found = json.loads(
        compare(dense, "--with", "cluster.host=dgx-a100", "--with", "training.microbatch=2", "--json").stdout
    )
    for figure, pairs in found["ratios"].items():
        assert len(pairs) == 2, figure
        for pair in pairs:
            assert prod(pair["factors"].values()) == pytest.approx(pair["ratio"], rel=1e-9)


def test_a_price_that_makes_options_equal_is_found(measured: str) -> None:
    change = "training.step_time=6s"
    found = json.loads(compare(measured, "--with", change, "--solve", "prices.gpu_hour", "--json").stdout)
    assert found["even"]["times"] == pytest.approx(1.5, rel=1e-3)


def test_runs_that_never_end_are_compared_in_their_step_only(measured: str) -> None:
    endless = "failures.causes=[{kind: exponential, unit: gpu, mtbf: 60s}]"
    done = compare(measured, "--with", endless)
    assert done.exit_code == 1
    assert "step x1" in done.stdout


@pytest.mark.parametrize("arguments", [(), ("--with", "a.b=1"), ("--with", "cluster.hosts=2", "--metric", "joy")])
def test_wrong_input_exits_2(measured: str, arguments: tuple[str, ...]) -> None:
    assert compare(measured, *arguments).exit_code == 2


def test_equal_scenarios_have_equal_figures(dense: str) -> None:
    found = json.loads(compare(dense, dense, "--json").stdout)
    assert [pair["ratio"] for pairs in found["ratios"].values() for pair in pairs] == [1.0, 1.0, 1.0]


def test_dropped_tokens_stand_side_by_side_where_there_are_any(mixture: str) -> None:
    lines = compare(mixture, "--with", "moe.capacity=0.5").stdout.splitlines()
    assert ["dropped", "0%", "50.0%"] in [line.split() for line in lines]
    assert "dropped" not in compare(mixture, "--with", "training.microbatch=2").stdout
