"""A failure may leave part of the fabric: the run goes on at the pace that the network then allows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.engine.prices.assembly import assembly
from simulator.engine.step.simulated import time
from simulator.errors import ScenarioError
from simulator.machine.placement import Placement
from simulator.scenario import from_dict
from simulator.simulation import simulate, step_factor

START = {
    "version": 1,
    "model": "llama-3.1-8b",
    "cluster": {"host": "hgx-h100", "hosts": 8, "topology": {"kind": "fat-tree", "levels": 2, "hosts_per_leaf": 2}},
    "parallelism": {"shard": "parameters"},
    "training": {"steps": 2000, "sequence_length": 2048, "global_batch": 64, "microbatch": 1},
    "runs": 1,
}


def degrading(unit: str, bandwidth: str, **topology: object):
    cluster = {**START["cluster"], "topology": {**START["cluster"]["topology"], **topology}}
    cause = {"kind": "scripted", "at": ["60s"], "unit": unit, "effect": "degrade", "bandwidth": bandwidth}
    return from_dict({**START, "cluster": cluster, "failures": [{**cause, "name": "sick", "lasts": "300s"}]})


@pytest.mark.parametrize(
    ("unit", "fault"),
    [("nic", {"nic": "0/0"}), ("link", {"nic": "0/0"}), ("gpu", {"nic": "0/0"}), ("switch", {"leaf": 0})],
)
def test_a_degraded_unit_is_a_fault_of_the_fabric(unit, fault):
    scenario = degrading(unit, "50%")
    factor = step_factor(scenario)
    assert factor is not None
    sick = {**START, "cluster": {**START["cluster"], "faults": [{**fault, "bandwidth": "50%"}]}}
    healthy, slowed = (time(assembly(from_dict(one)).step()).seconds for one in (START, sick))
    assert factor(((unit, 0.5),)) == pytest.approx(slowed / healthy)
    assert slowed > healthy


@pytest.mark.parametrize("unit", ["rack", "pod", "power", "host"])
def test_hosts_that_are_degraded_set_the_pace_however_many(unit):
    factor = step_factor(degrading(unit, "50%"))
    assert factor is not None
    assert factor(((unit, 0.5),)) == pytest.approx(factor((("host", 0.5),)))


@pytest.mark.parametrize("unit", ["nic", "switch", "host"])
def test_what_degrades_is_among_the_hosts_of_the_job(unit):
    """On hosts 8 to 15 of a larger fabric a failure costs what it costs on hosts 0 to 7."""
    near = degrading(unit, "50%")
    far = replace(near, cluster=replace(near.cluster, placement=Placement(hosts=tuple(range(8, 16)))))
    there, here = step_factor(far), step_factor(near)
    assert there is not None
    assert here is not None
    assert there(((unit, 0.5),)) == pytest.approx(here(((unit, 0.5),)))
    assert there(((unit, 0.5),)) > 1


def test_a_run_goes_on_at_the_slower_pace():
    """For 300 s a second of work takes `factor` seconds: 300 (1 - 1/factor) s are lost."""
    scenario = degrading("nic", "25%")
    found = simulate(scenario).run
    factor = step_factor(scenario)
    assert factor is not None
    assert found.interruptions["mean"] == 0
    assert found.parts_s["degraded"] == pytest.approx(300 * (1 - 1 / factor((("nic", 0.25),))), rel=1e-6)


def test_a_dead_nic_is_routed_around_and_a_dead_leaf_is_not():
    factor = step_factor(degrading("nic", "0%"))
    assert factor is not None
    assert factor((("nic", 0.0),)) < 1.5
    with pytest.raises(
        ScenarioError, match="sick cannot degrade the job, only crash it: fault switch leaf/0 cuts hosts off"
    ):
        step_factor(degrading("switch", "0%"))


def test_hosts_on_two_leaves_outlive_one():
    factor = step_factor(degrading("switch", "0%", planes=2))
    assert factor is not None
    assert factor((("switch", 0.0),)) > 1
