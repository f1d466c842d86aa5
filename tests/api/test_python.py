"""From Python every answer is that of the command line, and prints as it does there."""

import doctest
import inspect
import json
import subprocess
import sys
from importlib import import_module

import pytest
from typer.testing import CliRunner

import simulator as ft
from simulator.cli import app

HOST = "tutorial/1-one-host"


def printed(*arguments):
    result = CliRunner().invoke(app, list(arguments), prog_name="foretrain", env={"COLUMNS": "80", "NO_COLOR": "1"})
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("module", ["questions", "runs", "studies", "policies", "measurements", "shown"])
def test_examples_of_docstrings_run(module):
    assert doctest.testmod(import_module(f"simulator.api.{module}")).failed == 0


def test_every_name_that_is_promised_is_there_and_says_what_it_is():
    assert sorted(ft._FROM) == sorted(ft.__all__)
    for name in ft.__all__:
        assert name in dir(ft)
        assert name == "Question" or inspect.getdoc(getattr(ft, name))


def test_a_name_that_is_not_there_is_no_attribute():
    with pytest.raises(AttributeError, match="no attribute 'predct'"):
        _ = ft.predct


def test_importing_it_loads_no_library():
    code = (
        "import sys, simulator; print(sorted({'numpy', 'simpy', 'networkx', 'yaml', 'matplotlib'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


def test_a_run_is_that_of_the_command_line():
    run = ft.simulate(HOST, {"runs": 3, "training.microbatch": 1})
    said = ("run", HOST, "--runs", "3", "--set", "training.microbatch=1")
    assert run.to_dict() == json.loads(printed(*said, "--json"))
    assert str(run) == printed(*said)


def test_a_sweep_is_that_of_the_command_line():
    found = ft.sweep(HOST, {"training.microbatch": [1, 2]}, quick=True, metrics=["mfu"])
    said = ("sweep", HOST, "--vary", "training.microbatch=[1,2]", "--quick", "--metric", "mfu", "--jobs", "1")
    assert str(found) == printed(*said)
    rows = [{name: value for name, value in row.items() if name != "scenario"} for row in found.rows]
    told = json.loads(printed(*said, "--json"))["rows"]
    assert rows == [{name: value for name, value in row.items() if name != "scenario"} for row in told]


def test_layouts_are_those_of_the_command_line():
    only = {"search.tensor": [1, 2], "search.context": [1], "search.pipeline": [1]}
    found = ft.layouts(HOST, only, quick=True, top=3)
    said = ["layouts", HOST, "--quick", "--top", "3", "--jobs", "1"]
    said += [word for key, values in only.items() for word in ("--set", f"{key}={json.dumps(values)}")]
    assert str(found) == printed(*said)
    assert json.loads(json.dumps(found.to_dict())) == json.loads(printed(*said, "--json"))
    best = next(row for row in found.rows if row["verdict"] == "fits")
    assert ft.predict(found.best).step_time_s == pytest.approx(best["step_time_s"], rel=1e-9)


def test_policies_are_those_of_the_command_line():
    found = ft.stress("tutorial/3-failures", {"cluster.spares": [0, 4]}, {"runs": 25}, objective="days")
    said = ("stress", "tutorial/3-failures", "--vary", "cluster.spares=[0,4]", "--runs", "25")
    said += ("--objective", "days", "--jobs", "1")
    assert str(found) == printed(*said)
    assert json.loads(json.dumps(found.to_dict())) == json.loads(printed(*said, "--json"))


def test_a_policy_that_changes_the_step_is_refused():
    with pytest.raises(ft.ScenarioError, match="is no policy"):
        ft.stress(HOST, {"training.microbatch": [1, 2]})
    with pytest.raises(ft.ScenarioError, match="nothing is varied"):
        ft.stress(HOST, {})
    with pytest.raises(ft.ScenarioError, match="one of dollars, cost, days, goodput"):
        ft.stress(HOST, {"cluster.spares": [0, 1]}, objective="joy")


def test_a_validation_is_that_of_the_command_line():
    found = ft.validate(families=["KOR"])
    assert str(found) == printed("validate", "--family", "KOR")
    assert found.to_dict() == json.loads(printed("validate", "--family", "KOR", "--json"))
    assert [row["id"] for row in found.rows] == [line.id for line in found.lines]


def test_a_comparison_is_that_of_the_command_line():
    change = {"cluster.host": "hgx-h200"}
    found = ft.compare(HOST, ft.read(HOST, {**change, "name": "H200"}))
    told = json.loads(printed("compare", HOST, "--with", "cluster.host=hgx-h200", "--json", "--jobs", "1"))
    assert found.ratios["step time"][0][0] == told["ratios"]["step time"][0]["ratio"]


def test_a_check_says_what_the_command_line_says():
    tight = {"cluster.hosts": 2, "parallelism.tensor": 2, "training.microbatch": 4}
    said = [word for key, value in tight.items() for word in ("--set", f"{key}={value}")]
    name = ft.read(HOST).name
    assert f"{ft.check(HOST, tight)}\n" == printed("check", HOST, *said).replace(HOST, name)


def test_a_scenario_that_is_read_again_is_itself_and_changes_as_its_file_does():
    scenario = ft.read(HOST)
    assert ft.read(scenario) is scenario
    assert ft.read(scenario, {"parallelism.tensor": 4}) == ft.read(HOST, {"parallelism.tensor": 4})


@pytest.mark.parametrize("value", [8, "8", 8.0])
def test_a_number_is_one_however_python_writes_it(value):
    assert ft.read(HOST, {"parallelism.tensor": value}).parallelism.tensor == 8


def test_a_mapping_is_a_scenario():
    scenario = ft.read(HOST)
    assert ft.read(scenario.written) == scenario


@pytest.mark.parametrize("question", [{"name": object()}, {1: {2: {3}}}, {}])
def test_a_mapping_that_is_no_scenario_is_refused_in_words(question):
    with pytest.raises(ft.ScenarioError):
        ft.read(question)


def test_files_that_a_scenario_names_are_found_again(tmp_path):
    (tmp_path / "mine.yaml").write_text(json.dumps(ft.read(HOST).written | {"calibration": "measured.yaml"}))
    (tmp_path / "measured.yaml").write_text("products: {bf16: 1.05}\n")
    scenario = ft.read(tmp_path / "mine.yaml")
    assert [name for name, _ in scenario.files] == ["measured.yaml"]
    assert ft.read(scenario, {"seed": 3}).files == scenario.files


def test_nothing_to_vary_and_nothing_to_compare_are_said():
    with pytest.raises(ft.ScenarioError, match="nothing is varied"):
        ft.sweep(HOST, {})
    with pytest.raises(ft.ScenarioError, match=r"nothing is varied for cluster\.hosts"):
        ft.sweep(HOST, {"cluster.hosts": []})
    with pytest.raises(ft.ScenarioError, match="nothing to compare"):
        ft.compare(HOST)


def test_rows_become_a_data_frame():
    pandas = pytest.importorskip("pandas")
    found = ft.sweep(HOST, {"training.microbatch": [1, 2]}, quick=True)
    frame = found.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame["step_time_s"]) == [row["step_time_s"] for row in found.rows]


def test_answers_show_in_a_notebook():
    assert "<iframe srcdoc=" in ft.simulate(HOST, {"runs": 1})._repr_html_()
    assert ft.check(HOST)._repr_html_().startswith("<pre>")
