"""`check`, `new` and `schema` on the command line."""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

from simulator.cli import app
from simulator.scenario import json_schema, read


def run(*arguments: str, text: str | None = None):
    return CliRunner().invoke(app, list(arguments), input=text)


def test_new_is_valid_and_commented(tmp_path):
    file = tmp_path / "mine.yaml"
    assert run("new", str(file)).exit_code == 0
    assert "# " in file.read_text()
    assert read(file).warnings == ()


@pytest.mark.parametrize(("model", "host", "hosts"), [("gpt-2", "dgx-a100", 1), ("mixtral-8x7b", "hgx-b200", 64)])
def test_new_is_valid_for_any_model_and_host(model, host, hosts):
    result = run("new", "--model", model, "--host", host, "--hosts", str(hosts))
    assert (result.exit_code, result.stderr) == (0, "")
    scenario = read(result.stdout)
    assert (scenario.model_name, scenario.cluster.host_name, scenario.cluster.hosts) == (model, host, hosts)


def test_new_overwrites_nothing(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("precious")
    result = run("new", str(file))
    assert (result.exit_code, file.read_text()) == (2, "precious")
    assert "exists already" in result.stderr


def test_new_knows_only_the_catalog():
    result = run("new", "--model", "llama-3.1-9b")
    assert result.exit_code == 2
    assert "did you mean" in result.stderr


def test_check_says_what_a_scenario_is(tmp_path):
    result = run("check", "tutorial/1-one-host")
    assert (result.exit_code, result.stderr) == (0, "")
    first, second = result.stdout.splitlines()
    assert first == "tutorial/1-one-host: fits, llama-3.1-8b on 8 GPUs (1 hgx-h100), data 8"
    assert re.fullmatch(
        r"  stage 0 needs \S+ of 79.6 GiB, \S+ GiB to spare, P\(fits\) .+, most of it \w+, \S+ GiB", second
    )


def test_check_says_what_to_change_where_it_does_not_fit():
    result = run("check", "tutorial/1-one-host", "--set", "training.microbatch=4")
    assert (result.exit_code, result.stderr) == (1, "")
    assert "does not fit" in result.stdout
    assert "--set training.microbatch=" in result.stdout
    assert result.stdout.count("P(fits)") > 2


def test_check_says_what_would_save_memory_when_asked():
    asked = run("check", "tutorial/1-one-host", "--advice")
    assert asked.exit_code == 0
    assert "to save memory, cheapest first" in asked.stdout


def test_check_of_a_measured_step_has_no_memory():
    given = "version: 1\ncluster: {host: hgx-h100, hosts: 16}\ntraining: {steps: 10, step_time: 9s}\n"
    assert run("check", "-", text=given).stdout == "-: ok, 128 GPUs (16 hgx-h100), a measured step\n"


def test_check_reads_what_new_writes():
    assert run("check", "-", text=run("new").stdout).exit_code == 0


def test_check_tells_the_mistakes_of_every_file(tmp_path):
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("modle: gpt-2\n")
    result = run("check", "tutorial/1-one-host", str(wrong), str(tmp_path / "missing.yaml"))
    assert result.exit_code == 2
    assert result.stdout.startswith("tutorial/1-one-host: fits")
    assert f"{wrong}:1:1: modle: unknown key; did you mean `model`?" in result.stderr
    assert "missing.yaml: no such file" in result.stderr


def test_check_warns_on_stderr():
    result = run("check", "tutorial/1-one-host", "--set", "prices.gpu_hour=$20")
    assert result.exit_code == 0
    assert "warning: tutorial/1-one-host: prices.gpu_hour" in result.stderr


def test_schema_is_json():
    assert json.loads(run("schema").stdout) == json_schema()


def test_experts_lie_inside_the_other_axes():
    """8 hosts of 8 on 2 stages are 32 data-parallel ranks, and 8 of them share the experts."""
    made = run("new", "--model", "mixtral-8x7b", "--hosts", "8").stdout
    layout = {"parallelism.tensor": 1, "parallelism.pipeline": 2, "parallelism.expert": 8}
    changes = [word for key, value in layout.items() for word in ("--set", f"{key}={value}")]
    first = run("check", "-", *changes, text=made).stdout.splitlines()[0]
    assert first.endswith("64 GPUs (8 hgx-h100), pipeline 2 x data 32 (expert 8 inside)")
