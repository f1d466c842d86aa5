"""Saves that share the NICs with training slow it down by what they send; those on a network of their own do not."""

from __future__ import annotations

import pytest

from simulator.reliability.checkpointing import cost
from simulator.reliability.checkpointing.fixed import FixedInterval
from simulator.scenario import Scenario, from_dict
from simulator.simulation import predict, simulate

HOSTS, NICS, RATE = 16, 8, 50e9
"""HGX H100: eight NICs of 400 Gbps."""
SIZE, WRITE = 4e12, 1e12
MEASURED = {
    "cluster": {"host": "hgx-h100", "hosts": str(HOSTS), "storage": {"write": "1TB/s", "read": "1TB/s"}},
    "training": {"steps": "1000", "step_time": "10s"},
    "runs": "1",
}


def saved(fabric: str, **changes: str) -> dict[str, str]:
    save = {"kind": "fixed", "interval": "500s", "mode": "async", "stall": "1s", "bytes": "4TB", "fabric": fabric}
    return save | changes


def measured(fabric: str, **changes: str) -> Scenario:
    return from_dict(MEASURED | {"checkpoint": saved(fabric, **changes)})


def wall(scenario: Scenario) -> float:
    return simulate(scenario).run.wall_clock_s.mean


def test_a_measured_step_loses_the_bytes_of_a_save_over_the_bandwidth_of_all_nics():
    lost = SIZE / (HOSTS * NICS * RATE)
    saves = 10_000 / 500
    assert wall(measured("separate")) == pytest.approx(10_000 + saves * 1.0)
    assert wall(measured("shared")) == pytest.approx(10_000 + saves * (1.0 + lost))


def test_a_save_that_wants_more_than_half_of_the_nics_gets_half_and_takes_longer():
    network = HOSTS * NICS * RATE
    policy = FixedInterval(interval=500.0, mode="async", fabric="shared")
    found = cost.save_cost(
        policy,
        size=SIZE,
        copied=SIZE / 128 / 5e10,
        write=1e15,
        read=1e15,
        host_network=network / HOSTS,
        hosts=HOSTS,
    )
    assert found.persist == pytest.approx(SIZE / (network / 2))
    assert cost.of_the_nics(SIZE, found.persist, network) == 0.5


def test_a_blocking_save_has_the_nics_to_itself():
    assert wall(measured("shared", mode="blocking")) == wall(measured("separate", mode="blocking"))


def test_tiers_of_one_host_share_no_fabric():
    alone = {"cluster": MEASURED["cluster"] | {"hosts": "1"}}
    one, other = (from_dict(MEASURED | alone | {"checkpoint": saved(fabric)}) for fabric in ("shared", "separate"))
    assert wall(one) == wall(other)


def test_a_simulated_step_slows_down_by_what_the_network_it_is_left_with_makes_of_it():
    whole = {
        "model": "llama-3.1-8b",
        "stack": "torchtitan-2024",
        "cluster": MEASURED["cluster"],
        "parallelism": {"shard": "parameters"},
        "training": {"steps": "1000", "sequence_length": "1024", "global_batch": "128"},
        "runs": "1",
    }
    shared, separate = (from_dict(whole | {"checkpoint": saved(fabric)}) for fabric in ("shared", "separate"))
    share = SIZE / (WRITE * 4.0) * WRITE / (HOSTS * NICS * RATE)  # 4 s at the rate of storage
    left = f"{100 * (1 - share):.10f}%"
    sick = from_dict(whole | {"cluster": whole["cluster"] | {"faults": [{"host": "0", "bandwidth": left}]}})
    slower = 1 - predict(separate).step_time_s / predict(sick).step_time_s
    one, other = simulate(shared).run, simulate(separate).run
    assert 0.01 < slower < share
    assert one.checkpoint["stall_s"] - other.checkpoint["stall_s"] == pytest.approx(4.0 * slower)
