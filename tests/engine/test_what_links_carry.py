"""What each axis sends over the links in a step, by hand."""

from __future__ import annotations

import pytest

from simulator.engine.prices.assembly import assembly, network_of
from simulator.engine.prices.link_traffic import carried
from simulator.scenario import from_dict
from simulator.workload.parameters import total_parameters

START = {
    "version": 1,
    "model": "llama-3.1-8b",
    "cluster": {"host": "hgx-h100", "hosts": 4},
    "training": {"steps": 1, "sequence_length": 4096, "global_batch": 64, "microbatch": 1},
}


def built(parallelism: dict[str, object], **changes: object):
    return assembly(from_dict({**START, "parallelism": parallelism, **changes}))


def test_data_parallel_gradients_are_the_model_twice_around_the_ring():
    """A ring all-reduce moves 2 (n-1)/n of the gradients out of each of its hosts, over eight GPUs."""
    cluster = {**START["cluster"], "collectives": "ring"}
    found = built({"tensor": 1}, cluster=cluster, stack={"base": "generic", "gradient_reduce": "fp32"})
    sent = carried(found)["shard"]
    model = found.rank.model
    assert sent.channel.ranks == 32
    assert sent.nbytes == pytest.approx(4 * total_parameters(model) * 2 * (31 / 32) / 8)


def test_a_ring_through_hosts_loads_scale_up_links_with_the_whole_ring():
    """Each GPU hands on 2 (n-1)/n of the buffer inside its host; through its NIC share an eighth of it."""
    sent = carried(built({"tensor": 1, "shard": "parameters"}))["shard"]
    assert sent.scale_up_bytes == pytest.approx(8 * sent.nbytes)


def test_stages_hand_on_activations_forward_and_back():
    """Four stages have three boundaries, crossed twice a microbatch by 4096 x 4096 numbers of two bytes."""
    found = built({"pipeline": 4})
    microbatches = found.replica.microbatches
    expected = 2 * 3 * microbatches * 4096 * 4096 * 2 / 4
    assert carried(found)["pipeline"].nbytes == pytest.approx(expected)


def test_an_axis_that_sends_nothing_is_left_out():
    assert set(carried(built({"tensor": 8, "pipeline": 4}))) == {"tensor", "pipeline"}


def test_scale_up_links_of_a_group_on_several_hosts_are_loaded():
    found = built({"tensor": 1, "shard": "parameters"})
    network = network_of(from_dict({**START}).cluster)
    loads = {load.name: load for load in network.loads(tuple(carried(found).values()))}
    assert loads["scale-up"].peak_bytes == pytest.approx(carried(found)["shard"].scale_up_bytes)
    assert loads["nic"].peak_bytes == pytest.approx(carried(found)["shard"].nbytes)
