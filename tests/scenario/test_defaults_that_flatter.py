"""Reports name the defaults that published runs fell short of; words that change nothing are named too."""

from __future__ import annotations

from typing import Any

from typer.testing import CliRunner

from simulator.cli import app
from simulator.report import optimism, run
from simulator.scenario import Scenario, from_dict
from simulator.simulation import simulate


def scenario(hosts: int = 512, **sections: Any) -> Scenario:
    return from_dict(
        {
            "version": "1",
            "name": "flattering",
            "cluster": {"host": "hgx-h100", "hosts": str(hosts)},
            "training": {"duration": "10d", "step_time": "1s"},
            "failures": "rsc1",
        }
        | sections
    )


def said(scenario: Scenario) -> str:
    return optimism.line(scenario.assumptions, scenario.gpus) or ""


def test_every_default_that_is_left_open_is_named_with_its_value_and_what_was_seen():
    line = said(scenario())
    for key, value in {"detect": "1min", "diagnose": "0s", "restart": "{kind: lognormal, mean: 8min, cv: 0.5}"}.items():
        assert f"recovery.{key} {value}, but " in line
    assert "cluster.spares none, but " in line
    assert line.count("arXiv") >= 4


def test_the_report_of_a_run_says_so_if_failures_stop_it():
    """A fast one for the number of GPUs, whose restart is not named."""
    stopped = {"causes": [{"unit": "host", "mtbf": "500h"}]}
    checkpoint = {"kind": "fixed", "interval": "1h", "stall": "10s"}
    (note,) = run.section(simulate(scenario(4, failures=stopped, checkpoint=checkpoint, runs="2"))).notes
    assert note.startswith("optimistic defaults: recovery.detect 1min, but ")
    assert "recovery.restart" not in note
    assert run.section(simulate(scenario(4, failures={}, runs="1"))).notes == ()


def test_what_is_written_is_not_named():
    cluster = {"host": "hgx-h100", "hosts": "512", "spares": "2"}
    given = {"detect": "10min", "diagnose": "5min", "restart": "15min", "repair": "24h"}
    assert said(scenario(cluster=cluster, recovery=given)) == ""


def test_phases_are_a_restart_that_is_written():
    assert "recovery.restart" not in said(scenario(recovery={"phases": [{"name": "cold start", "time": "900s"}]}))


def test_restarts_of_small_jobs_were_not_slower_than_the_default():
    """454 s on 2,048 GPUs, of which a default of 480 s is no flattery."""
    assert "recovery.restart" not in said(scenario(hosts=256))


def test_runs_that_nothing_stops_have_nothing_to_say(tmp_path):
    file = tmp_path / "slow.yaml"
    text = "version: 1\nname: x\ncluster: {host: hgx-h100, hosts: 512}\ntraining: {duration: 10d, step_time: 1s}\n"
    file.write_text(text + "failures: greyhound_2025\n")
    assert "optimistic" not in CliRunner().invoke(app, ["check", str(file)]).stdout
    file.write_text(text + "failures: rsc1\n")
    assert "optimistic defaults: recovery.detect" in CliRunner().invoke(app, ["check", str(file)]).stdout


def test_downtimes_in_a_log_change_nothing_without_spares_and_that_is_said():
    log = {"kind": "trace", "unit": "host", "log": "time,host,class,downtime\n3600,1,gpu,600\n"}
    cluster = {"host": "hgx-h100", "hosts": "4", "spares": "1"}
    warning = "the downtimes in the log of host trace change nothing without `cluster.spares`"
    assert any(warning in one for one in scenario(4, failures={"causes": [log]}).warnings)
    spared = scenario(4, failures={"causes": [log]}, cluster=cluster, recovery={"repair": "1h"})
    assert not any(warning in one for one in spared.warnings)


def test_a_log_without_downtimes_gets_no_warning():
    log = {"kind": "trace", "unit": "host", "log": "time,host,class\n3600,1,gpu\n"}
    assert not any("downtimes" in one for one in scenario(4, failures={"causes": [log]}).warnings)
