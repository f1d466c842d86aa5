"""Where flows are hashed, the step is a distribution."""

from __future__ import annotations

import pytest

from simulator.engine.prices.assembly import assembly
from simulator.engine.prices.collisions import collisions
from simulator.machine import hashing
from simulator.scenario import from_dict
from simulator.simulation import simulate
from simulator.studies.transfers import hashed

START = {
    "version": 1,
    "model": "llama-3.1-8b",
    "cluster": {
        "host": "hgx-h100",
        "hosts": 16,
        "topology": {"kind": "fat-tree", "levels": 2, "hosts_per_leaf": 4, "routing": "static", "queue_pairs": 1},
        "placement": "scattered",
    },
    "parallelism": {"shard": "parameters"},
    "training": {"steps": 1, "sequence_length": 2048, "global_batch": 128, "microbatch": 1},
    "runs": 1,
}


def factor(luck: float, **topology: object) -> float:
    cluster = {**START["cluster"], "topology": {**START["cluster"]["topology"], **topology}}
    scenario = from_dict({**START, "cluster": cluster})
    return collisions(scenario, assembly(scenario), luck)


def test_one_flow_of_two_on_two_links_meets_the_other_with_the_chance_of_the_distribution():
    """Shares are 1 or less; luck below the chance of a collision gets the share of a collision."""
    ordered = sorted(hashing.distribution(2, 2))
    assert hashing.quantile(2, 2, 1, 1.0) == ordered[-1][0]
    assert hashing.quantile(2, 2, 1, ordered[0][1] / 2) == ordered[0][0]


@pytest.mark.parametrize("pairs", [1, 4, 32])
def test_the_mean_lies_between_bad_and_good_luck(pairs):
    bad, good = (hashing.efficiency(32, 32, pairs, luck) for luck in (0.05, 0.95))
    assert bad < hashing.efficiency(32, 32, pairs) < good


def test_less_luck_is_a_longer_step():
    assert factor(0.1) > factor(0.5) >= factor(0.9)
    assert factor(0.1) > 1


def test_more_queue_pairs_leave_less_to_luck():
    assert factor(0.1, queue_pairs=64) / factor(0.9, queue_pairs=64) < factor(0.1) / factor(0.9)


def test_adaptive_routing_leaves_nothing_to_luck():
    assert factor(0.1, routing="adaptive") == 1.0


def test_a_result_has_the_step_at_three_quantiles():
    scenario = from_dict(START)
    found = hashed(scenario, simulate(scenario))
    assert found["p10_s"] <= found["p50_s"] < found["p90_s"]
