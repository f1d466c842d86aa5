"""Causes on links and switches count the cables and switches of the fabric, so their rate follows the topology."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.engine.run import RunInput, mtbf, simulate
from simulator.outcome.campaign import run_input
from simulator.reliability import spares
from simulator.scenario import from_dict

HOUR = 3600.0


def run_of(cause: dict[str, str], hosts: int = 64, host: str = "hgx-h100", **topology: Any) -> RunInput:
    cluster: dict[str, Any] = {"host": host, "hosts": str(hosts)} | ({"topology": topology} if topology else {})
    scenario = from_dict(
        {
            "version": "1",
            "name": "parts",
            "cluster": cluster,
            "training": {"duration": "100h", "step_time": "1s"},
            "failures": {"causes": [cause]},
            "checkpoint": {"kind": "fixed", "interval": "1min", "stall": "0s", "persist": "0s", "load": "0s"},
            "recovery": {"repair": "10h"},
        }
    )
    return run_input(scenario, 100 * HOUR, 1.0)


LINK, SWITCH = ({"unit": unit, "mtbf": "10000h"} for unit in ("link", "switch"))


@pytest.mark.parametrize(
    ("topology", "cables"),
    [
        ({"kind": "single-switch"}, 512),  # one for each NIC
        ({"kind": "rail-only"}, 512),
        ({"kind": "fat-tree", "levels": 2}, 2 * 512),  # as many up as down
        ({"kind": "fat-tree", "levels": 3, "hosts_per_leaf": 4, "hosts_per_pod": 16}, 3 * 512),
        ({"kind": "torus", "dimensions": ["4", "4", "4"]}, 512 + 3 * 64 * 2),  # 8 NICs over six directions: 2 each
    ],
)
def test_a_cause_on_links_strikes_at_the_rate_of_all_cables(topology: dict[str, Any], cables: int):
    run = run_of(LINK, **topology)
    assert run.units["link"] == cables
    assert mtbf(run) == pytest.approx(10_000 * HOUR / cables)


def test_expected_failures_are_rate_times_time():
    run = run_of(LINK, kind="fat-tree", levels=2)
    found = [outcome.unexpected for outcome in simulate(run, 1, 100)]
    assert sum(found) / len(found) == pytest.approx(1024 * 100 / 10_000, rel=0.1)


def test_a_cause_on_switches_counts_leaves_and_spines_and_only_leaves_take_hosts():
    run = run_of(SWITCH, kind="fat-tree", levels=2)
    leaves, spines = 16, 8
    assert run.units["switch"] == leaves + spines
    away = spares.load(run.failures, run.recovery, {**run.units, "job": 1}, run.hosts_of)
    assert away == pytest.approx(leaves * 4 * 10 / 10_000)


@pytest.mark.parametrize(
    ("topology", "hosts"),
    [({"kind": "rail-optimized"}, 32), ({"kind": "single-switch"}, 64), ({"kind": "torus"}, 1)],
)
def test_a_switch_takes_the_hosts_that_hang_on_it(topology: dict[str, Any], hosts: int):
    assert run_of(SWITCH, **topology).hosts_of["switch"] == hosts


@settings(max_examples=20)
@given(hosts=st.integers(2, 40), less=st.integers(1, 8), more=st.integers(0, 8))
def test_more_cables_never_mean_fewer_link_failures(hosts: int, less: int, more: int):
    """Of two fat-trees the less oversubscribed has at least as many cables, and at least as many failures."""
    full, thin = (
        run_of(LINK, hosts, kind="fat-tree", levels=2, hosts_per_leaf=4, oversubscription=f"1:{over}")
        for over in (less, less + more)
    )
    assert full.units["link"] >= thin.units["link"] >= full.units["nic"]
    assert mtbf(full) <= mtbf(thin)


def test_network_rows_of_a_preset_are_counted_per_nic():
    scenario = {"version": "1", "name": "nics", "training": {"duration": "1h", "step_time": "1s"}, "failures": "llama3"}
    rates = []
    for kind in ("single-switch", "fat-tree"):
        cluster = {"host": "hgx-h100", "hosts": "64", "topology": kind}
        rates.append(mtbf(run_input(from_dict(scenario | {"cluster": cluster}), HOUR, 1.0)))
    assert rates[0] == rates[1]
