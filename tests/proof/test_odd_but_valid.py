"""Scenarios that are odd and valid: each finishes, and its numbers add up."""

from __future__ import annotations

import copy

import pytest

from simulator.scenario import from_dict
from simulator.simulation import simulate

MODEL = {"layers": 2, "heads": 4, "kv_heads": 4, "head_size": 32, "hidden": 256, "vocabulary": 1000}
START = {
    "model": MODEL,
    "cluster": {"host": "hgx-h100", "hosts": 1},
    "training": {"duration": "9d", "sequence_length": 128, "global_batch": 48},
    "prices": {"gpu_hour": "$2"},
    "runs": 2,
}


def result(**changes):
    document = copy.deepcopy(START)
    for key, value in changes.items():
        document[key] = {**document[key], **value} if isinstance(document.get(key), dict) else value
    return simulate(from_dict(document))


def test_experts_that_are_split_over_ranks_are_in_the_account_of_the_step():
    experts = {**MODEL, "experts": {"count": 2, "active": 1, "ffn": 128}}
    step = result(model=experts, parallelism={"expert_tensor": 2}).step
    assert step.parts_s["expert"] > 0
    assert sum(step.parts_s.values()) == pytest.approx(step.time_s, rel=1e-9)


def test_ranks_that_sit_alone_on_hosts_of_a_mesh_exchange_over_the_network_only():
    cluster = {"host": "azure-nd-mi300x-v5", "hosts": 3}
    layout = {"tensor": 8, "context": {"size": 3, "kind": "ulysses"}}
    wide = {**MODEL, "heads": 24, "kv_heads": 24}
    training = {"sequence_length": 24 * 8, "global_batch": 8}
    step = result(model=wide, cluster=cluster, parallelism=layout, training=training).step
    assert step.parts_s["context"] > 0


def test_experts_of_which_some_groups_fit_on_one_host_and_some_do_not():
    routed = {**MODEL, "experts": {"count": 3, "active": 1, "ffn": 128}}
    cluster = {"host": "hgx-h100", "hosts": 3}
    step = result(model=routed, cluster=cluster, parallelism={"expert": 3}).step
    assert step.parts_s["expert"] > 0
    assert all(link["busy_share"] <= 1 for link in step.links)


@pytest.mark.parametrize("kind", ["young", "young-daly", "optimal", "availability", "adaptive"])
def test_saves_that_cost_nothing_and_failures_that_never_come(kind):
    run = result(checkpoint={"kind": kind, "stall": "0s"}).run
    assert run.wall_clock_s.mean == run.ideal_s
    assert run.checkpoint["interval_s"] == float("inf")


@pytest.mark.parametrize("kind", ["exponential", "weibull", "lognormal", "eviction", "scripted"])
def test_failures_scaled_to_zero_never_come(kind):
    cause = {"kind": kind, "unit": "host", **({"at": ["1h", "2h"]} if kind == "scripted" else {"mtbf": "1h"})}
    run = result(failures={"causes": [cause], "scale": 0}, checkpoint={"kind": "none"}).run
    assert run.wall_clock_s.mean == run.ideal_s
    assert run.interruptions["mean"] == 0


def test_hundreds_of_links_that_are_degraded_at_once_slow_a_step_as_much_as_one():
    def degraded(hosts_down):
        cause = {"kind": "scripted", "unit": "nic", "effect": "degrade", "at": ["0s"] * hosts_down, "lasts": "90d"}
        found = result(
            cluster={"host": "hgx-h100", "hosts": 2},
            parallelism={"tensor": 4},
            failures={"causes": [cause]},
            checkpoint={"kind": "none"},
            runs=1,
        )
        return found.run.wall_clock_s.mean

    assert degraded(1) > 9 * 86_400
    assert degraded(200) == pytest.approx(degraded(1))
