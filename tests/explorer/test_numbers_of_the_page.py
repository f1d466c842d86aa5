"""Every number of the page is the command line's for the same scenario."""

import json

import pytest
from typer.testing import CliRunner

from simulator.cli import app
from simulator.explorer import answers, asked, figures, link, settings
from simulator.explorer.levers import binding, levers
from simulator.io.readable import dollars, duration, percent
from simulator.report import record
from simulator.studies.point import Base, Point, evaluate

NAMES = ("tutorial/2-a-rack", "tutorial/3-failures", "studies/fewer-nics")
RACK = link.read({link.SCENARIO: ["tutorial/2-a-rack"]})


@pytest.mark.parametrize("name", NAMES)
def test_the_result_is_that_of_run(name):
    base = asked.applied(link.read({link.SCENARIO: [name]}), ("runs=20", "cluster.host.nics=4"))
    words = asked.command(base).split()
    found = CliRunner().invoke(app, [*words[1:], "--json"])
    assert json.loads(record.write(answers.told(base))) == json.loads(found.stdout)


def test_the_yaml_gives_the_same_result_as_the_page(tmp_path):
    base = asked.applied(RACK, ("parallelism.tensor=4", "runs=5"))
    file = tmp_path / "taken.yaml"
    file.write_text(asked.as_yaml(base))
    found = CliRunner().invoke(app, ["run", str(file), "--json"])
    assert json.loads(found.stdout) == json.loads(record.write(answers.told(base)))


def test_the_headline_says_what_the_result_says():
    result = answers.whole(RACK)
    told = {label: (value, note) for label, value, note in figures.whole(result)}
    run, cost = result.run, result.cost
    assert told["step"][0] == duration(result.step.time_s)
    assert told["MFU"][0] == percent(result.step.mfu)
    assert told["wall clock"] == (
        duration(run.wall_clock_s.p50),
        f"{duration(run.wall_clock_s.p10)} to {duration(run.wall_clock_s.p90)}",
    )
    assert told["cost"][0] == dollars(cost.dollars.p50)


def test_the_first_answer_is_that_of_the_fast_clock():
    row, result = evaluate(Point(RACK, (), quick=True)), answers.whole(RACK)
    assert figures.quick(row)[0][1] == duration(row["step_time_s"])
    assert row["step_time_s"] == pytest.approx(result.step.time_s, rel=0.01)
    assert figures.quick(row)[2] == figures.whole(result)[2]


def test_what_binds_takes_the_most_of_the_peak():
    result = answers.whole(RACK)
    (_, peak), *causes, _ = result.step.waterfall
    assert binding(result)[1] == max(taken for _, taken in causes) / peak


def test_a_lever_does_what_it_promises():
    base = asked.changed(RACK, "training.recompute", "full")
    best = levers(base)[0]
    found = evaluate(Point(asked.applied(base, best.settings), (), quick=True))
    assert found["step_time_s"] == pytest.approx(best.step_time_s, rel=0.01)
    assert found["step_time_s"] < evaluate(Point(base, (), quick=True))["step_time_s"]
    assert found["verdict"] == "fits"


def test_a_layout_of_a_study_is_loaded_as_it_is():
    now = RACK.read()
    row = {**settings.of_scenario(now), "tensor": 4, "schedule": "interleaved-1f1b", "pipeline": 2, "chunks": 4}
    loaded = settings.load(RACK, row).read()
    assert settings.of_scenario(loaded) == row


def test_the_layout_of_a_scenario_needs_no_change():
    assert settings.settings(settings.of_scenario(RACK.read()), RACK.read()) == ()


def test_a_measured_step_has_no_lever():
    assert levers(link.read({link.SCENARIO: ["studies/how-often-to-save"]})) == ()


def test_the_same_question_is_asked_once():
    from simulator.explorer.desk import Desk

    desk = Desk()
    first = desk.ask(len, "abc")
    assert desk.ask(len, "abc") is first
    assert desk.found(len, "abc") == 3
    assert desk.found(len, "abcd") is None


def test_a_name_with_changes_is_shown_as_it_stands():
    base = Base("<b>x</b>", RACK.source, ("name='<img src=x>'",))
    assert base.read().name == "<img src=x>"
