"""Every number of a scenario at the least and the most that is allowed, alone and in pairs: an answer or a refusal.

Each scenario is checked and run in a process that may ask for 3 GB and take 20 s; none may end otherwise than with an
answer or a sentence, nor hold more than 1 GB.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from numbers_of_scenarios import SIZES, Document, Spot, scenario, spots

from simulator.scenario import from_dict
from simulator.scenario.limits import HUGE, limits

SPOTS = spots()
DURATIONS = ("detect", "diagnose", "in_place", "lasts", "rejoin", "repair", "replace", "restart", "stall", "standby")
EXAMPLES = int(os.environ.get("EXAMPLES", "300"))
MEGABYTES = 1000
BY_HAND = pytest.mark.skipif("LIMITS" not in os.environ, reason="takes half an hour: LIMITS=1 pytest -m slow")

LONG: dict[str, Document] = {
    "placement": {
        "cluster": {"hosts": 40_000, "placement": {"hosts": [(7 * n) % 40_000 for n in range(40_000)]}},
        "training": {"global_batch": 80_000},
    },
    "faults": {"cluster": {"faults": [{"host": 1, "bandwidth": "90%"}] * 9_000}},
    "phases": {
        "training": {"phases": [{"tokens": 1_000_000, "global_batch": 8 * n} for n in range(1, 201)], "microbatch": 1}
    },
    "causes": {"failures": {"preset": None, "causes": [{"mtbf": f"{n}y"} for n in range(1, 1001)]}},
    "at": {"failures": {"preset": None, "causes": [{"kind": "scripted", "at": [f"{n}s" for n in range(1, 40_000)]}]}},
    "planned": {"failures": {"planned": [{"at": f"{n}s", "time": "1s"} for n in range(1, 9_000)]}},
    "tiers": {
        "checkpoint": {"kind": "fixed", "interval": "1h", "tiers": [{"interval": f"{n}min"} for n in range(1, 1001)]}
    },
    "recovery phases": {"recovery": {"phases": [{"time": "1s", "size": 1}] * 1000}},
    "mixture": {"recovery": {"repair": {"kind": "mixture", "parts": [{"share": "0.1%", "mean": "1h"}] * 1000}}},
    "expect": {"expect": {f"step.{n}": {"at_most": 1} for n in range(1000)}, "source": "nobody"},
}
"""Lists as long as they may be, or as a file may hold."""


def ends(spot: Spot) -> tuple[float, float]:
    """Return the least and the most of a number; shares end with the whole."""
    least, most = limits(spot.keys)
    return least, min(most, 1.0) if spot.unit == "share" else min(most, HUGE)


def at_random(count: int, seed: int) -> dict[str, Document]:
    """Return scenarios with one number at a limit, and with two."""
    draws, found = random.Random(seed), {}
    rare = [spot for spot in SPOTS if not set(DURATIONS) & set(spot.keys)]
    for _ in range(count):
        chosen = draws.sample(rare if draws.random() < 0.9 else SPOTS, draws.choice((1, 2, 2, 3)))
        numbers = [draws.choice((*ends(spot), ends(spot)[1])) for spot in chosen]
        size = draws.choice(("small", *SIZES))
        name = ", ".join([size, *(f"{spot.name} = {n:g}" for spot, n in zip(chosen, numbers, strict=True))])
        found[name] = scenario(
            SIZES[size], *(spot.written(number) for spot, number in zip(chosen, numbers, strict=True))
        )
    return found


def wrong(scenarios: dict[str, Document]) -> list[str]:
    """Return what ended otherwise than with an answer or a refusal within time and memory."""
    command = [sys.executable, str(Path(__file__).with_name("limited.py"))]
    given = "".join(json.dumps(document) + "\n" for document in scenarios.values())
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    found = []
    for name, line in zip(scenarios, done.stdout.splitlines(), strict=True):
        one = json.loads(line)
        silent = one["code"] == 2 and not one["said"].strip()
        if one["code"] not in (0, 1, 2) or silent or one["megabytes"] > MEGABYTES:
            found.append(f"{name}: {one['code']}, {one['seconds']:.1f} s, {one['megabytes']:.0f} MB: {one['said']}")
    return found


def test_every_kind_of_number_is_tried():
    tried = {spot.name for spot in SPOTS}
    assert {"cluster.hosts", "cluster.placement.hosts.0", "cluster.topology.radix rail-only"} <= tried
    assert {
        "failures.causes.0.mtbf weibull",
        "search.tensor.0",
        "parallelism.schedule.chunks interleaved-1f1b",
    } <= tried


def test_the_scenarios_that_they_are_put_in_are_answered():
    assert wrong({name: scenario(size) for name, size in SIZES.items()}) == []
    for size in SIZES.values():
        from_dict(scenario(size))


def test_a_few_numbers_at_their_limits():
    assert wrong(at_random(12, seed=1)) == []


@pytest.mark.slow
@BY_HAND
def test_numbers_at_their_limits():
    assert wrong(at_random(EXAMPLES, seed=0)) == []


@pytest.mark.slow
@BY_HAND
@pytest.mark.parametrize("key", ["cluster", "model", "training", "parallelism", "search"])
def test_every_size_at_its_most(key):
    sizes = [spot for spot in SPOTS if spot.unit == "count" and spot.keys[0] == key]
    assert wrong({spot.name: scenario(spot.written(ends(spot)[1])) for spot in sizes}) == []


@pytest.mark.slow
@BY_HAND
@pytest.mark.parametrize("name", LONG)
def test_lists_at_their_longest(name):
    assert wrong({name: scenario(LONG[name])}) == []


@pytest.mark.slow
@BY_HAND
@pytest.mark.parametrize(
    "topology",
    [
        {"kind": "fat-tree"},
        {"kind": "rail-optimized"},
        {"kind": "rail-only"},
        {"kind": "single-switch"},
        {"kind": "nvlink-domain"},
        {"kind": "dragonfly", "hosts_per_router": 8, "routers_per_group": 64, "global_links": 64},
        {"kind": "dragonfly", "routers_per_group": 1_000_000},
        {"kind": "torus"},
        {"kind": "torus", "dimensions": [1_000_000]},
    ],
    ids=str,
)
@pytest.mark.parametrize("hosts", [4096, 100_000, 1_000_000])
def test_every_topology_at_its_largest(topology, hosts):
    fitting = topology if topology.get("dimensions") in (None, [hosts]) else {**topology, "dimensions": [hosts]}
    cluster = {"hosts": hosts, "topology": fitting}
    assert wrong({"one": scenario({"cluster": cluster, "training": {"global_batch": 2 * hosts}})}) == []


@pytest.mark.slow
@BY_HAND
@pytest.mark.parametrize("hosts", [200, 2000, 20_000])
def test_an_edge_list_of_many_hosts(tmp_path, hosts):
    rows = "".join(f"nic/{host}/0,leaf/{host // 32},50e9,1e-6,1\n" for host in range(hosts))
    rows += "".join(f"leaf/{leaf},spine/{spine},50e9,1e-6,4\n" for leaf in range(hosts // 32 + 1) for spine in range(8))
    (tmp_path / "links.csv").write_text("source,target,bandwidth,latency,count\n" + rows)
    fabric = {"topology": {"kind": "edge-list", "file": str(tmp_path / "links.csv")}, "hosts": hosts}
    assert wrong({"one": scenario({"cluster": fabric, "training": {"global_batch": 2 * hosts}})}) == []
