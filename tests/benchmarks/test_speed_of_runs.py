"""How fast whole runs are simulated by one process; limits hold for a core of a 2023 server (Intel Xeon, 2.1 GHz)."""

from __future__ import annotations

from math import inf
from time import process_time

import pytest

from simulator.engine.run import RunInput, simulate
from simulator.reliability.checkpointing.fixed import FixedInterval
from simulator.reliability.durations.fixed import Fixed
from simulator.reliability.fleet import Failures
from simulator.reliability.recovery.base import Recovery
from simulator.reliability.recovery.elastic import Elastic
from simulator.reliability.recovery.restart import Restart
from simulator.scenario import from_dict

pytestmark = pytest.mark.benchmark
DAY = 86400.0


def llama_3() -> Failures:
    return from_dict(
        {
            "version": "1",
            "name": "speed",
            "cluster": {"host": "hgx-h100", "hosts": "2048"},
            "training": {"steps": "1", "step_time": "1s"},
            "failures": "llama3",
        }
    ).failures


def run(gpus: int, days: float, recovery: Recovery, spares: int | None) -> RunInput:
    return RunInput(
        work=inf,
        until=days * DAY,
        units={"gpu": gpus, "nic": gpus, "host": gpus // 8},
        failures=llama_3(),
        checkpoint=FixedInterval(interval=600.0, stall=10.0),
        recovery=recovery,
        spares=spares,
    )


@pytest.mark.parametrize(
    ("gpus", "days", "runs", "recovery", "spares", "limit"),
    [
        (16384, 54, 200, Restart(repair=Fixed(time=DAY)), 16, 5.0),
        (16384, 54, 1000, Restart(), None, 20.0),
        (1_000_000, 100, 10, Elastic(replicas=128, stall=Fixed(time=60.0)), None, 20.0),
    ],
    ids=["the README's runs", "1,000 runs of 54 days, 10 s on two cores", "a million GPUs for 100 days"],
)
def test_runs_are_simulated_within(gpus, days, runs, recovery, spares, limit):
    given = run(gpus, days, recovery, spares)
    simulate(given, 1, 1)
    begun = process_time()
    simulate(given, 7, runs)
    assert process_time() - begun < limit
