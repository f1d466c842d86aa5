"""What must hold between two scenarios, whatever the first is: faster parts, other words or units, more hosts."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest
from any_scenario import SOME, Document, scenarios
from hypothesis import assume, given
from hypothesis import strategies as st

from simulator import units
from simulator.errors import ForetrainError
from simulator.outcome.results import Result
from simulator.scenario import Scenario, from_dict
from simulator.simulation import predict, simulate

CHOICE = 1.02
"""NCCL picks the algorithm and protocol that its own model expects to be fastest, and that errs: a faster link may
make it pick a slower way, which was seen to cost a step up to 0.9%."""


def read(document: Document, *overrides: str) -> Scenario:
    """Return the scenario; one that contradicts itself is no example."""
    try:
        return from_dict(document, overrides=overrides)
    except ForetrainError:
        assume(False)
        raise


def simulated(document: Document) -> Result:
    """Return the result; a run that is refused is no example."""
    try:
        return simulate(read(document))
    except ForetrainError:
        assume(False)
        raise


def seconds(scenario: Scenario, **named: Any) -> float:
    return predict(scenario, **named).step_time_s


def improvements(before: Scenario) -> dict[str, list[str]]:
    """Return what makes a machine or its software better, one thing at a time."""
    host, stack = before.cluster.host, before.stack
    gpu = "cluster.host.gpu"
    better = {
        "network": [f"cluster.host.nic_bandwidth={2 * host.nic_bandwidth}B/s"],
        "latency": [f"cluster.host.nic_latency={host.nic_latency / 2}s"],
        "scale-up": [
            f"{gpu}.scale_up={2 * host.gpu.scale_up}B/s",
            f"cluster.host.scale_up.bandwidth={2 * host.scale_up.bandwidth}B/s",
        ],
        "memory": [f"{gpu}.memory_bandwidth={2 * host.gpu.memory_bandwidth}B/s"],
        "arithmetic": [f"{gpu}.peak.{kind}={2 * peak}FLOPS" for kind, peak in host.gpu.peak.items()],
        "host link": [f"cluster.host.host_link={2 * (host.host_link or host.gpu.host_link)}B/s"],
        "launches": [f"stack.{key}={getattr(stack, key) / 2}s" for key in LAUNCHES],
        "SMs of transfers": [f"stack.communication_sms={stack.communication_sms / 2}"],
        "jitter": ["jitter.gpu=0", "jitter.step=0", "jitter.slow_hosts=0"],
        "data": ["training.data_stall=0s"],
    }
    assert len(better) == 10
    return better


LAUNCHES = ("cpu_layer", "cpu_layer_tensor", "cpu_layer_expert", "cpu_step", "cpu_microbatch")


@SOME
@given(scenarios(simple=True))
def test_what_is_better_is_never_slower(document):
    before = read(document)
    for what, overrides in improvements(before).items():
        allowed = seconds(before) * (CHOICE if what in ("network", "latency", "scale-up") else 1 + 1e-9)
        assert seconds(read(document, *overrides)) <= allowed, what


@SOME
@given(scenarios(simple=True))
def test_twice_the_hosts_at_the_same_work_cost_time_on_the_data_axis_only(document):
    before = read(document)
    assume(before.microbatches % 2 == 0)
    more = read(document, f"cluster.hosts={2 * before.cluster.hosts}")
    assert seconds(more, without=("data",)) <= seconds(before, without=("data",)) * CHOICE


def test_twice_the_hosts_can_take_longer_where_weights_are_gathered_across_them():
    # Eight GPUs gather over NVLink; sixteen gather the same weights through their NICs, each for half of the tokens.
    document = {
        "model": "llama-3.1-8b",
        "cluster": {"host": {"base": "hgx-h100", "nics": 1}, "hosts": 1},
        "training": {"steps": 1000, "sequence_length": 1024, "global_batch": 16},
        "parallelism": {"shard": "parameters"},
    }
    assert seconds(from_dict(document, overrides=["cluster.hosts=2"])) > seconds(from_dict(document))


@SOME
@given(scenarios(simple=True))
def test_half_as_fast_nics_in_twice_the_number_are_the_same_network(document):
    # Not where the fabric's links are the NICs' (torus, dragonfly), nor where flows are hashed onto thinner links.
    hosts = document["cluster"]["hosts"]
    document["cluster"]["topology"] = {"kind": "fat-tree", "levels": 2, "hosts_per_leaf": 2, "radix": 64}
    assume(hosts > 1)
    before = read(document)
    nics, rate = before.cluster.host.nics, before.cluster.host.nic_bandwidth
    split = read(document, f"cluster.host.nics={2 * nics}", f"cluster.host.nic_bandwidth={rate / 2}B/s")
    assert seconds(split) == pytest.approx(seconds(before), rel=1e-9)


def shuffled(data: Any, dice: random.Random) -> Any:
    if isinstance(data, dict):
        keys = list(data)
        dice.shuffle(keys)
        return {key: shuffled(data[key], dice) for key in keys}
    return [shuffled(item, dice) for item in data] if isinstance(data, list) else data


@SOME
@given(scenarios(), st.randoms(use_true_random=False))
def test_the_order_of_keys_means_nothing(document, dice):
    before = read(document)
    assert from_dict(shuffled(document, dice)).resolved == before.resolved


SAID = {"1h": ("60min", "3600s"), "5min": ("300s", "0.083333333333333333h"), "1TB/s": ("8Tbps", "1000GB/s")}
WRITTEN = {
    **SAID,
    "24h": ("1d", "86400s"),
    "5%": ("0.05", "5 %"),
    "10k": ("10000", "1e4"),
    "1G": ("1000M", "1_000_000k"),
}


def rewritten(data: Any, dice: random.Random) -> Any:
    if isinstance(data, dict):
        return {key: rewritten(value, dice) for key, value in data.items()}
    if isinstance(data, list):
        return [rewritten(item, dice) for item in data]
    return dice.choice(WRITTEN[data]) if isinstance(data, str) and data in WRITTEN else data


@SOME
@given(scenarios(), st.randoms(use_true_random=False))
def test_other_units_mean_the_same(document, dice):
    before = read(document)
    assert from_dict(rewritten(document, dice)) == before


@pytest.mark.parametrize(("text", "others"), WRITTEN.items())
def test_what_was_rewritten_is_the_same_number(text, others):
    unit = next(unit for unit in ("s", "B/s", "share", "count") if _reads(text, unit))
    assert {units.parse(other, unit) for other in others} == {units.parse(text, unit)}


def _reads(text: str, unit: str) -> bool:
    try:
        units.parse(text, unit)
    except ValueError:
        return False
    return True


@SOME
@given(scenarios(runs=1), st.text(min_size=1, max_size=20))
def test_a_name_changes_nothing_but_itself(document, name):
    before = simulated(document).as_dict()
    named = simulated({**copy.deepcopy(document), "name": name}).as_dict()
    assert named["scenario"].pop("name") == name
    before["scenario"].pop("name")
    assert named == before


@SOME
@given(scenarios())
def test_failures_scaled_to_zero_without_saves_and_stops_give_the_ideal(document):
    document["checkpoint"] = {"kind": "none"}
    document["failures"] |= {"scale": 0, "planned": []}
    document["training"].pop("evaluation", None)
    run = simulated(document).run
    assert run.wall_clock_s.mean == pytest.approx(run.ideal_s, rel=1e-9)
    assert run.interruptions["mean"] == run.interruptions["planned"] == 0
