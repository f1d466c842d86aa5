"""Every number that storage, checkpoint and recovery are given moves the run, and what is said of its interval."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.engine.run import plan
from simulator.outcome.campaign import run_input
from simulator.outcome.results import RunResult
from simulator.scenario import from_dict
from simulator.simulation import simulate

HOUR = 3600.0
SIZE = 2e12
RUN: dict[str, Any] = {
    "version": "1",
    "name": "what moves a run",
    "cluster": {"host": "hgx-h100", "hosts": "16", "spares": "1", "storage": {"write": "20GB/s", "read": "20GB/s"}},
    "training": {"duration": "60d", "step_time": "1s"},
    "failures": [{"unit": "host", "mtbf": "500h"}],
    "checkpoint": {"kind": "young-daly", "bytes": "2TB", "mode": "async"},
    "recovery": {"detect": "60s", "restart": "8min", "repair": "24h", "diagnose": "1min", "missed": "10%"},
    "runs": "20",
}


def run(section: str = "", **changes: str) -> RunResult:
    whole, keys = dict(RUN), section.split(".") if section else []
    inner: Any = whole
    for key in keys:
        inner[key] = dict(inner[key])
        inner = inner[key]
    inner.update(changes)
    return simulate(from_dict(whole)).run


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("cluster.storage", "read", "1GB/s"),
        ("cluster.storage", "write", "1GB/s"),
        ("checkpoint", "bytes", "4TB"),
        ("checkpoint", "load", "1h"),
        ("checkpoint", "stall", "60s"),
        ("checkpoint", "persist", "30min"),
        ("recovery", "detect", "10min"),
        ("recovery", "diagnose", "1h"),
        ("recovery", "restart", "1h"),
        ("recovery", "missed", "50%"),
        ("recovery", "timeout", "2h"),
    ],
)
def test_a_number_that_gets_worse_makes_the_run_longer_and_the_advice_another(
    section: str, key: str, value: str
) -> None:
    plain, worse = run(), run(section, **{key: value})
    assert worse.wall_clock_s.mean > plain.wall_clock_s.mean
    assert worse.checkpoint["loss_at_half"] != plain.checkpoint["loss_at_half"]


def test_a_restart_reads_the_save_back_at_the_pace_of_the_storage() -> None:
    """20 GB/s give back 2 TB in 100 s; what 16 hosts' networks carry together bounds it; a given time is the time."""
    load = SIZE / 20e9
    scenario = from_dict(RUN)
    assert plan(run_input(scenario, HOUR, 1.0)).tiers[0].load == load == 100.0
    slow = RUN | {"cluster": RUN["cluster"] | {"host": {"base": "hgx-h100", "nics": "1", "nic_bandwidth": "1GB/s"}}}
    assert plan(run_input(from_dict(slow), HOUR, 1.0)).tiers[0].load == SIZE / 16e9
    given = RUN | {"checkpoint": RUN["checkpoint"] | {"load": "0s"}}
    assert plan(run_input(from_dict(given), HOUR, 1.0)).tiers[0].load == 0.0


def test_each_restart_takes_longer_by_the_reading() -> None:
    with_reading, without = run(), run("checkpoint", load="0s")
    interruptions = with_reading.interruptions["mean"]
    extra = with_reading.parts_s["restart"] - without.parts_s["restart"]
    assert extra == pytest.approx(interruptions * SIZE / 20e9, rel=0.02)


def test_the_time_to_come_back_is_stated_once() -> None:
    recovery = from_dict(RUN).recovery
    assert recovery.mean_down(128, 100.0) == pytest.approx(0.9 * 60 + 0.1 * 1800 + 60 + 480 + 100)
