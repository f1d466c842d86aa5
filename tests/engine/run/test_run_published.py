"""Llama 3 on 16,384 GPUs, as counted, and the variants of its recovery."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_runs import DAY, efficiency, mean

from simulator.engine.run import RunInput, simulate
from simulator.reliability.checkpointing.fixed import FixedInterval
from simulator.reliability.durations.fixed import Fixed
from simulator.reliability.recovery.restart import Restart
from simulator.scenario import from_dict

COUNTED = {
    "faulty GPU": 148,
    "HBM3 memory": 72,
    "software bug": 54,
    "network switch or cable": 35,
    "host maintenance": 32,
}


def llama_3(**fields: object) -> RunInput:
    """Return 54 days on 16,384 GPUs with the recovery that reproduces the published effective time."""
    scenario = from_dict(
        {
            "version": "1",
            "name": "Llama 3",
            "cluster": {"host": "hgx-h100", "hosts": "2048"},
            "training": {"steps": "10", "step_time": "1s"},
            "failures": "llama3",
        }
    )
    known = {
        "work": float("inf"),
        "until": 54 * DAY,
        "units": {"gpu": 16384, "nic": 16384, "host": 2048},
        "failures": scenario.failures,
        "checkpoint": FixedInterval(interval=600.0, stall=10.0),
        "recovery": Restart(),
    }
    return RunInput(**known | fields)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def outcomes():
    return simulate(llama_3(), 7, 200)


def test_419_unexpected_interruptions(outcomes):
    counts = [outcome.unexpected for outcome in outcomes]
    assert mean(counts) == pytest.approx(419, rel=0.02)
    assert (mean(count**2 for count in counts) - mean(counts) ** 2) ** 0.5 == pytest.approx(19.5, abs=2.5)


def test_47_planned_interruptions(outcomes):
    assert mean(outcome.planned for outcome in outcomes) == pytest.approx(47, rel=0.05)


def test_over_90_percent_effective_training_time(outcomes):
    assert mean(outcome.goodput for outcome in outcomes) == pytest.approx(0.9045, abs=0.005)
    assert mean(outcome.goodput for outcome in outcomes) >= 0.90


@pytest.mark.parametrize("component", COUNTED)
def test_each_component_has_its_share(outcomes, component: str):
    total = sum(outcome.unexpected for outcome in outcomes)
    share = COUNTED[component] / 419
    found = sum(outcome.interruptions[component] for outcome in outcomes) / total
    assert found == pytest.approx(share, abs=2 * (share * (1 - share) / 419) ** 0.5)


def test_the_count_is_the_same_on_the_wall_clock():
    failures = llama_3().failures
    wall = replace(failures, exposure="wall", scale=failures.uptime)
    counts = [outcome.unexpected for outcome in simulate(llama_3(failures=wall), 7, 60)]
    assert mean(counts) == pytest.approx(419, rel=0.02)


@pytest.mark.parametrize(
    ("stall", "interval", "detect", "restart", "goodput"),
    [
        (10, 600, 600, 480, 0.862),
        (10, 600, 60, 200, 0.930),
        (60, 1200, 60, 480, 0.848),
        (10, 600, 30, 60, 0.947),
        (1, 150, 30, 105, 0.973),
    ],
)
def test_variants_of_the_recovery(stall, interval, detect, restart, goodput):
    run = llama_3(
        checkpoint=FixedInterval(interval=float(interval), stall=float(stall)),
        recovery=Restart(detect=Fixed(time=float(detect)), restart=Fixed(time=float(restart))),
    )
    assert efficiency(simulate(run, 7, 20)) == pytest.approx(goodput, abs=0.005)


def test_frequent_asynchronous_saves():
    run = llama_3(checkpoint=FixedInterval(interval=300.0, stall=0.6, mode="async"))
    assert efficiency(simulate(run, 7, 20)) == pytest.approx(0.931, abs=0.005)
