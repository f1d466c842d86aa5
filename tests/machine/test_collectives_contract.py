"""What holds for every algorithm and operation, by being there."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.errors import ScenarioError
from simulator.machine import collectives
from simulator.machine.channel import Channel
from simulator.machine.collectives.base import OPERATIONS
from simulator.machine.collectives.links import fabric, network_of
from simulator.machine.hardware import host
from simulator.machine.network import Network
from topologies.fat_tree import FatTree

MIB = float(1 << 20)
SIZES = [8.0, 1024.0, MIB, 64 * MIB, 4096 * MIB]
H100 = Network(host("dgx-h100"), 16, FatTree())
CHANNELS = {
    "one host": H100.channel(8, 1),
    "two ranks": H100.channel(2, 1),
    "sixteen hosts": H100.channel(128, 1),
    "one rail": H100.channel(16, 8),
    "pcie shared": Channel(ranks=8, ranks_per_host=8, scale_up_bandwidth=31e9, fabric="pcie-shared"),
    "half hosts": H100.channel(32, 4),
    "v100": Network(host("dgx-1-v100"), 4, FatTree()).channel(32, 1),
    "mi300x": Network(host("azure-nd-mi300x-v5"), 1, FatTree()).channel(8, 1),
    "tpu": Network(host("tpu-v5e-host"), 32, FatTree()).channel(256, 1),
    "nvl72": Network(host("gb200-nvl72"), 36, FatTree()).channel(144, 1),
    "efa": Network(host("aws-p4de"), 2, FatTree()).channel(16, 1),
}
WAYS = [
    pytest.param(way, operation, channel, id=f"{way.kind}, {operation}, {name}")
    for way in collectives.algorithms().values()
    for operation in OPERATIONS
    for name, channel in CHANNELS.items()
    if way.supports(operation, channel)
]
wherever = pytest.mark.parametrize("channel", CHANNELS.values(), ids=CHANNELS)
whatever = pytest.mark.parametrize("operation", OPERATIONS)


@wherever
@whatever
def test_every_operation_can_run_everywhere(channel, operation):
    for size in SIZES:
        assert 0 < collectives.time(operation, size, channel) < 1e3


@pytest.mark.parametrize("way, operation, channel", WAYS)
def test_time_grows_with_size(way, operation, channel):
    for plan in way.plans(operation, channel):
        times = [plan.time(size) for size in SIZES]
        assert times == sorted(times)
        assert times[0] > 0


@pytest.mark.parametrize("way, operation, channel", WAYS)
def test_no_link_carries_more_than_its_rate(way, operation, channel):
    for plan in way.plans(operation, channel):
        time = plan.time(4096 * MIB)
        assert way.up_bytes(operation, 4096 * MIB, channel) <= channel.scale_up_bandwidth * time
        out = way.out_bytes(operation, 4096 * MIB, channel)
        line = channel.exchange_bandwidth if operation == "all_to_all" else channel.scale_out_bandwidth
        assert channel.inside_host or out <= line * time


@pytest.mark.parametrize("way, operation, channel", WAYS)
def test_more_bandwidth_never_slows(way, operation, channel):
    faster = replace(
        channel,
        scale_up_bandwidth=2 * channel.scale_up_bandwidth,
        scale_out_bandwidth=2 * channel.scale_out_bandwidth,
        exchange_bandwidth=2 * channel.exchange_bandwidth,
    )
    for before, after in zip(way.plans(operation, channel), way.plans(operation, faster), strict=True):
        assert all(after.time(size) <= before.time(size) for size in SIZES)


@pytest.mark.parametrize("way, operation, channel", WAYS)
def test_steps_and_bytes_are_positive(way, operation, channel):
    assert way.steps(operation, channel) >= 1
    sent = way.up_bytes(operation, MIB, channel) + way.out_bytes(operation, MIB, channel)
    assert sent > 0


@wherever
@whatever
def test_a_latency_factor_of_a_calibration_slows_small_messages(channel, operation):
    slow = replace(channel, latency_factor=2.0)
    assert collectives.time(operation, 8.0, slow) == pytest.approx(2 * collectives.time(operation, 8.0, channel), 1e-3)


@whatever
def test_a_group_of_one_communicates_nothing(operation):
    alone = Channel(ranks=1)
    assert collectives.time(operation, 1e9, alone) == 0
    assert collectives.wire_bytes(operation, 1e9, alone) == 0


@whatever
def test_nothing_to_send_takes_no_time(operation):
    assert collectives.time(operation, 0, CHANNELS["one host"]) == 0


@given(st.floats(1.0, 1e11), st.sampled_from(sorted(CHANNELS)))
def test_wire_bytes_never_pass_the_nic_faster_than_its_line_rate(size, name):
    channel = CHANNELS[name]
    line = channel.scale_up_bandwidth if channel.inside_host else channel.scale_out_bandwidth / channel.ranks_per_host
    seconds = collectives.time("all_reduce", size, channel)
    assert collectives.wire_bytes("all_reduce", size, channel) / seconds <= line * (1 + 1e-9)


def test_a_pinned_algorithm_is_used_where_it_can_run():
    channel = CHANNELS["sixteen hosts"]
    ring, tree = (collectives.time("all_reduce", MIB, channel, way) for way in ("ring", "tree"))
    assert ring != tree
    assert collectives.choose("all_reduce", MIB, channel, "tree").way.kind == "tree"
    assert collectives.choose("all_gather", MIB, channel, "tree").way.kind == "ring"


def test_an_unknown_algorithm_is_named_with_those_that_exist():
    with pytest.raises(ScenarioError, match="ring"):
        collectives.time("all_reduce", MIB, CHANNELS["one host"], "magic")


@pytest.mark.parametrize("name", ["nvlink2", "nvlink3", "nvlink4", "nvlink5", "xgmi", "pcie", "ici-2d"])
def test_shares_of_links_are_shares(name):
    links = fabric(name)
    assert all(0 < share <= 1 for share in (links.ring, links.peer, links.all_to_all))


def test_a_network_nobody_knows_is_taken_for_infiniband():
    assert network_of("carrier-pigeon") == network_of("infiniband")
