"""`foretrain forecast` says when a run under way ends, and refuses what is no log of it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from functools import cache

import numpy as np
import pytest
from typer.testing import CliRunner

import simulator as ft
from simulator.cli import app

BASE = {
    "training.tokens": "1B",
    "runs": 30,
    "failures.causes": [{"name": "gpu", "unit": "gpu", "mtbf": "80h"}],
    "checkpoint.kind": "fixed",
    "checkpoint.interval": "20min",
    "checkpoint.stall": "10s",
}
HOST = "tutorial/1-one-host"
STEPS = 3815


@cache
def host():
    asked = ft.read(HOST, BASE)
    return asked, ft.predict(asked).step_time_s


def written(tmp_path, changes=None):
    import yaml

    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(ft.read(HOST, BASE | (changes or {})).written, sort_keys=False))
    return str(path)


def log(steps, *, factor=1.0, restarts=(), away=1500.0, back=30, slow_from=None, clocks=True, last=STEPS, first=1):
    """Return a log of Megatron-LM; each restart goes `back` some steps, `away` seconds later."""
    asked, step = host()
    luck = np.random.default_rng(1)
    now, lines, number = datetime(2026, 3, 1, tzinfo=UTC), [], first - 1
    stops = list(restarts)
    while number < steps:
        number += 1
        took = step * factor * (1 + 0.004 * float(luck.standard_normal()))
        took *= 1.3 if slow_from is not None and number >= slow_from else 1.0
        now += timedelta(seconds=took)
        clock = f" [{now:%Y-%m-%d %H:%M:%S.%f}]" if clocks else ""
        lines.append(
            f"{clock} iteration {number}/ {last} | elapsed time per iteration (ms): {1000 * took:.1f} | global batch "
            f"size: {asked.training.global_batch} |\n"
        )
        if stops and number == stops[0]:
            stops.pop(0)
            number, now = number - back, now + timedelta(seconds=away)
    return "".join(lines)


def said(tmp_path, text, *arguments, changes=None):
    file = tmp_path / "train.log"
    file.write_text(text)
    command = ["forecast", written(tmp_path, changes), "--log", str(file), "--jobs", "1", *arguments]
    return CliRunner().invoke(app, command, prog_name="foretrain", env={"COLUMNS": "80"})


def told(tmp_path, text, *arguments, changes=None):
    result = said(tmp_path, text, "--json", *arguments, changes=changes)
    assert result.exit_code in (0, 1), result.output
    return json.loads(result.stdout)


def test_a_run_as_predicted_is_on_course_and_its_range_narrower(tmp_path):
    result = said(tmp_path, log(1000))
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("ON COURSE")
    assert all(len(line) <= 80 for line in result.stdout.splitlines())
    found = told(tmp_path, log(1000))
    before, now = found["before"]["wall_clock_s"], found["forecast"]["wall_clock_s"]
    assert now["p90"] - now["p10"] < 0.5 * (before["p90"] - before["p10"])
    assert found["alarms"] == []


def test_parts_of_the_answer_agree(tmp_path):
    found = told(tmp_path, log(1000, restarts=(300, 700)))
    now, seen = found["forecast"], found["evidence"]
    assert now["wall_clock_s"]["p50"] == pytest.approx(seen["elapsed_s"] + now["left_s"]["p50"], rel=1e-6)
    assert now["finish"]["p50"] - datetime(2026, 3, 1, tzinfo=UTC).timestamp() == pytest.approx(
        now["wall_clock_s"]["p50"], rel=1e-3
    )
    per_second = now["dollars_spent"] / seen["elapsed_s"]
    assert now["dollars"]["p50"] == pytest.approx(per_second * now["wall_clock_s"]["p50"], rel=1e-6)


def test_restarts_of_the_log_are_counted_and_timed(tmp_path):
    found = told(tmp_path, log(1000, restarts=(300, 700)))
    seen = found["evidence"]
    assert seen["failures"] == 2
    assert [one["redone"] for one in seen["interruptions"]] == [30, 30]
    assert seen["away_s"] == pytest.approx([1500, 1500], rel=0.01)
    assert seen["steps_done"] == 1000
    _, step = host()
    assert seen["elapsed_s"] == pytest.approx(1060 * step + 3000, rel=0.01)


def test_more_failures_than_predicted_raise_the_rate_and_the_alarm(tmp_path):
    few = told(tmp_path, log(1000))
    many = told(tmp_path, log(1000), "--failures", "12")
    assert many["forecast"]["failures_per_day"] > 3 * few["forecast"]["failures_per_day"]
    assert many["forecast"]["left_s"]["p50"] > few["forecast"]["left_s"]["p50"]
    assert [one["what"] for one in many["alarms"]] == ["failures"]
    interval = next(one for one in many["levers"] if "checkpoint.interval" in one["settings"])
    assert interval["what"].startswith("save more often")


def test_a_table_of_failures_is_counted(tmp_path):
    table = tmp_path / "failures.csv"
    table.write_text("time,cause,downtime\n3600,gpu,900\n7200,nic,1200\n9000,gpu,600\n")
    found = told(tmp_path, log(1000), "--failures", str(table))
    assert found["evidence"]["failures"] == 3
    assert found["evidence"]["away_s"] == [900, 1200, 600]


def test_a_run_that_became_slow_says_since_when_and_what_that_costs(tmp_path):
    result = said(tmp_path, log(1000, factor=1.1, slow_from=601))
    words = " ".join(result.stdout.split())
    assert "since iteration 601" in words
    assert "find and evict what became slow at step 601" in words
    assert result.stdout.startswith("LATER")


def test_a_missed_deadline_is_in_the_first_line_and_exits_1(tmp_path):
    result = said(tmp_path, log(1000, factor=1.1), "--deadline", "4h")
    assert result.exit_code == 1
    assert result.stdout.startswith("MISSES  the deadline of 4.00 h with")
    found = told(tmp_path, log(1000, factor=1.1), "--deadline", "4h")
    assert found["targets"]["missed"] == ["deadline"]
    assert said(tmp_path, log(1000), "--deadline", "40h").exit_code == 0


def test_without_a_clock_the_steps_are_summed_and_that_is_said(tmp_path):
    text = log(1000, clocks=False)
    found = told(tmp_path, text)
    _, step = host()
    assert found["evidence"]["elapsed_from"] == "steps"
    assert found["evidence"]["elapsed_s"] == pytest.approx(1000 * step, rel=0.01)
    assert found["evidence"]["exposed_s"] == 0
    assert found["forecast"]["finish"] is None
    assert "--elapsed says the time since the start" in " ".join(said(tmp_path, text).stdout.split())
    given = told(tmp_path, text, "--elapsed", "5h", "--failures", "2")
    assert given["evidence"]["elapsed_s"] == 5 * 3600
    assert given["evidence"]["exposed_s"] == pytest.approx(1000 * step, rel=0.01)


def test_a_log_that_begins_late_counts_the_steps_before_it(tmp_path):
    found = told(tmp_path, log(1000, first=501))
    _, step = host()
    assert found["evidence"]["elapsed_s"] == pytest.approx(1000 * step, rel=0.02)
    assert found["evidence"]["exposed_s"] == pytest.approx(500 * step, rel=0.02)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nothing here\n" * 5, "no step times found"),
        (log(STEPS), "is done, nothing is left to forecast"),
        (log(100).replace("size: ", "size: 9"), "training.global_batch"),
    ],
    ids=["no steps", "all steps", "another batch"],
)
def test_a_log_that_cannot_be_forecast_from_gets_a_sentence(tmp_path, text, words):
    result = said(tmp_path, text)
    assert result.exit_code == 2
    assert words in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--failures", "-3"), "neither a number nor a file"),
        (("--elapsed", "0s"), "more than nothing"),
        (("--set", "training.tokens=null", "--set", "training.duration=3d"), "counts steps"),
    ],
)
def test_wrong_input_gets_a_sentence(tmp_path, arguments, words):
    result = said(tmp_path, log(100), *arguments)
    assert result.exit_code == 2
    assert words in " ".join(result.output.split())


def test_another_number_of_steps_than_planned_is_said(tmp_path):
    assert "planned to step 9,999" in " ".join(said(tmp_path, log(500, last=9999)).output.split())


def test_files_and_python_say_the_same(tmp_path):
    text = log(800, restarts=(300,))
    result = said(tmp_path, text, "--out", str(tmp_path / "out"))
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"forecast.json", "finish.png", "finish.svg"}
    assert result.exit_code == 0
    written_file = json.loads((tmp_path / "out" / "forecast.json").read_text())
    found = ft.forecast(text, written(tmp_path)).to_dict()
    for part in ("forecast", "before", "targets", "levers"):
        assert found[part] == written_file[part]
    assert str(ft.forecast(text, written(tmp_path))).splitlines()[0] == result.stdout.splitlines()[0]


def test_pauses_at_one_distance_are_saves_not_failures(tmp_path):
    asked, step = host()
    now, lines = datetime(2026, 3, 1, tzinfo=UTC), []
    for number in range(1, 1001):
        now += timedelta(seconds=step + (300 if number % 200 == 0 else 0))
        lines.append(
            f" [{now:%Y-%m-%d %H:%M:%S.%f}] iteration {number}/ {STEPS} | elapsed time per iteration (ms): "
            f"{1000 * step:.1f} | global batch size: {asked.training.global_batch} |\n"
        )
    assert told(tmp_path, "".join(lines))["evidence"]["failures"] == 0


def test_lines_that_are_far_apart_hold_saves_and_restarts(tmp_path):
    """A line every 200 steps, in each of which saves take 40 s; two restarts, each back to the line before."""
    asked, step = host()
    now, lines, number, stops = datetime(2026, 3, 1, tzinfo=UTC), [], 0, [1000, 2000]
    while number < 3000:
        number += 200
        now += timedelta(seconds=200 * step * (1.1 if number > 1600 else 1.0) + 40)
        took = step * (1.1 if number > 1600 else 1.0)
        lines.append(
            f" [{now:%Y-%m-%d %H:%M:%S.%f}] iteration {number}/ {STEPS} | elapsed time per iteration (ms): "
            f"{1000 * took:.1f} | global batch size: {asked.training.global_batch} |\n"
        )
        if stops and number == stops[0]:
            stops.pop(0)
            number, now = number - 200, now + timedelta(seconds=1800)
    seen = told(tmp_path, "".join(lines))["evidence"]
    assert seen["failures"] == 2
    assert seen["away_s"] == pytest.approx([1840, 1840], rel=0.01)
    assert seen["exposed_s"] == pytest.approx(3400 * step * (1 + 0.1 * 1600 / 3400), rel=0.01)
    assert seen["elapsed_s"] == pytest.approx(seen["exposed_s"] + 17 * 40 + 3600, rel=0.01)
