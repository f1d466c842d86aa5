"""Sensitivity: a figure moves by what an input is worth, and not at all by what it does not depend on."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from simulator.cli import app
from simulator.scenario import read
from simulator.simulation import predict
from simulator.studies.point import Base
from simulator.studies.tornado import INPUTS, bends, evaluate, swings


def tornado(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["sweep", *map(str, arguments), "--tornado", "--jobs", "1"], terminal_width=80)


def test_dollars_follow_the_price_and_a_measured_step_its_efficiency(measured: str) -> None:
    rows = [evaluate(bend) for bend in bends(Base("measured", measured))]
    expected = rows[0]["dollars_p50"]
    found = {swing.name: swing for swing in swings(rows, "dollars_p50")}
    assert found.keys() == {"price of a GPU-hour", "kernel efficiency"}
    price, efficiency = INPUTS["price of a GPU-hour"], INPUTS["kernel efficiency"]
    assert found["price of a GPU-hour"].low == pytest.approx(price.low * expected)
    assert found["price of a GPU-hour"].high == pytest.approx(price.high * expected)
    assert found["kernel efficiency"].low == pytest.approx(expected / efficiency.low)
    assert next(iter(found)) == "price of a GPU-hour"


def test_a_step_does_not_depend_on_prices_failures_or_storage(dense: str) -> None:
    rows = [evaluate(bend) for bend in bends(Base("dense", dense), quick=True)]
    assert {swing.name for swing in swings(rows, "step_time_s")} <= {"kernel efficiency", "network bandwidth"}
    assert rows[0]["step_time_s"] == predict(read(dense)).step_time_s


def test_more_of_what_is_good_is_never_worse(dense: str) -> None:
    rows = [evaluate(bend) for bend in bends(Base("dense", dense), quick=True)]
    for swing in swings(rows, "step_time_s"):
        assert swing.low is not None
        assert swing.high is not None
        assert swing.low >= rows[0]["step_time_s"] >= swing.high


def test_a_restart_that_is_twice_as_long_costs_its_failures_so_much_more(measured: str) -> None:
    script = ("failures=[{kind: scripted, unit: job, every: 1h}]", "recovery.restart=8min", "recovery.detect=0s")
    rows = [evaluate(bend) for bend in bends(Base("failing", measured, script))]
    found = {swing.name: swing for swing in swings(rows, "wall_clock_p50_s")}["restart time"]
    assert found.high - rows[0]["wall_clock_p50_s"] == pytest.approx(rows[0]["interruptions"] * 480.0)
    assert rows[0]["wall_clock_p50_s"] - found.low == pytest.approx(rows[0]["interruptions"] * 240.0)


def test_the_widest_swing_comes_first(dense: str) -> None:
    found = json.loads(tornado(dense, "--metric", "dollars", "--json").stdout)
    widths = [abs(swing["high"] - swing["low"]) for swing in found["swings"]["dollars_p50"]]
    assert widths == sorted(widths, reverse=True)
    assert len(found["rows"]) == 1 + 2 * len(INPUTS)


def test_the_table_fits_80_columns(dense: str) -> None:
    text = tornado(dense).stdout
    assert max(map(len, text.splitlines())) <= 80
    assert "Not moved by" in text


def test_a_tornado_varies_nothing_else(dense: str) -> None:
    assert tornado(dense, "--vary", "cluster.hosts=[1,2]").exit_code == 2
    assert tornado(dense, dense).exit_code == 2
