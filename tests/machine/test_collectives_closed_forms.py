"""Bytes, steps and choices of collectives against the literature."""

from dataclasses import replace
from itertools import pairwise
from math import log2

import pytest

from simulator.errors import ScenarioError
from simulator.machine import collectives
from simulator.machine.channel import Channel
from simulator.machine.collectives.base import OPERATIONS
from simulator.machine.collectives.links import fabric, network_of, shared
from simulator.machine.hardware import host
from simulator.machine.network import Network
from simulator.machine.torus import Side
from topologies.fat_tree import FatTree

MIB = float(1 << 20)
LARGE = float(1 << 34)
WAYS = collectives.algorithms()


def inside(ranks, bandwidth=450e9, fabric="nvlink4"):
    return Channel(ranks=ranks, ranks_per_host=ranks, scale_up_bandwidth=bandwidth, fabric=fabric)


def across(hosts, per_host=8, nic=50e9):
    return Channel(
        ranks=hosts * per_host,
        ranks_per_host=per_host,
        hosts=hosts,
        scale_up_bandwidth=450e9,
        scale_out_bandwidth=per_host * nic,
        exchange_bandwidth=per_host * nic,
        latency=1.6e-6,
    )


@pytest.mark.parametrize("n", [2, 4, 8, 64])
def test_ring_all_reduce_sends_twice_n_minus_one_over_n_in_as_many_steps(n):
    ring = WAYS["ring"]
    assert ring.up_bytes("all_reduce", 1.0, inside(n)) == pytest.approx(2 * (n - 1) / n)
    assert ring.steps("all_reduce", inside(n)) == 2 * (n - 1)
    assert ring.up_bytes("all_gather", 1.0, inside(n)) == pytest.approx((n - 1) / n)
    assert ring.steps("reduce_scatter", inside(n)) == n - 1


@pytest.mark.parametrize("hosts", [2, 4, 16])
def test_two_levels_are_scatter_reduce_and_gather(hosts):
    # NVLink 2(g-1)/g S, each NIC 2(k-1)/k S/g; the share that leaves is (k-1)/(n-1) of a flat exchange.
    way, channel = WAYS["hierarchical"], across(hosts)
    assert way.up_bytes("all_reduce", 1.0, channel) == pytest.approx(2 * 7 / 8)
    assert way.out_bytes("all_reduce", 1.0, channel) / 8 == pytest.approx(2 * (hosts - 1) / hosts / 8)
    ring, rail = WAYS["ring"], replace(channel, ranks=hosts, ranks_per_host=1, scale_out_bandwidth=50e9)
    parts = [
        ring.plans("reduce_scatter", replace(channel, ranks=8, hosts=1))[-1].time(LARGE),
        ring.plans("all_reduce", rail)[-1].time(LARGE / 8),
        ring.plans("all_gather", replace(channel, ranks=8, hosts=1))[-1].time(LARGE),
    ]
    assert way.plans("all_reduce", channel)[0].time(LARGE) == pytest.approx(sum(parts))


@pytest.mark.parametrize("n", [2, 8, 64])
def test_halving_and_doubling_takes_twice_log2_n_steps_and_the_bytes_of_a_ring(n):
    way = WAYS["halving-doubling"]
    assert way.steps("all_reduce", inside(n)) == 2 * log2(n)
    assert way.up_bytes("all_reduce", 1.0, inside(n)) == pytest.approx(2 * (n - 1) / n)
    assert way.out_bytes("all_reduce", 1.0, across(4)) == pytest.approx(2 * 3 / 4)


def test_halving_and_doubling_needs_a_power_of_two():
    assert not WAYS["halving-doubling"].supports("all_reduce", inside(6))


@pytest.mark.parametrize("hosts, sent", [(2, 1.0), (3, 1.5), (4, 2.0), (64, 2.0)])
def test_double_binary_tree_sends_twice_the_buffer_from_four_hosts_on(hosts, sent):
    assert WAYS["tree"].out_bytes("all_reduce", 1.0, across(hosts)) == sent


def test_tree_latency_grows_with_the_logarithm_of_hosts_and_ring_latency_with_hosts():
    def latency(kind, hosts):
        return WAYS[kind].plans("all_reduce", across(hosts))[-1].latency

    tree = [latency("tree", hosts) for hosts in (16, 32, 64)]
    ring = [latency("ring", hosts) for hosts in (16, 32, 48)]
    assert tree[1] - tree[0] == pytest.approx(tree[2] - tree[1])
    assert ring[1] - ring[0] == pytest.approx(ring[2] - ring[1])


def test_a_ring_costs_38_microseconds_a_host():
    # NCCL: seven steps of 3.4 us inside a host and one of 14 us between hosts.
    plans = [WAYS["ring"].plans("all_gather", across(hosts))[-1] for hosts in (8, 9)]
    assert plans[1].latency - plans[0].latency == pytest.approx(7 * 3.4e-6 + 14e-6)


def test_nvls_tree_costs_as_much_for_each_doubling_of_hosts():
    times = [WAYS["nvls-tree"].plans("all_reduce", across(hosts))[0].time(LARGE) for hosts in (4, 8, 16, 32)]
    more = [slower - faster for faster, slower in pairwise(times)]
    assert more[0] > 0
    assert more == pytest.approx([more[0]] * 3, rel=0.01)


def test_bus_bandwidth_of_a_ring_is_the_lesser_of_nvlink_and_the_nics_of_a_host():
    nvlink = fabric("nvlink4").ring * 450e9
    nics = network_of("infiniband").efficiency * 8 * 25e9
    assert nics < nvlink < 4 * nics
    assert collectives.bus_bandwidth("all_reduce", LARGE, inside(8), "ring") == pytest.approx(nvlink, rel=0.02)
    assert collectives.bus_bandwidth("all_gather", LARGE, across(4, nic=25e9)) == pytest.approx(nics, rel=0.02)
    assert collectives.bus_bandwidth("all_gather", LARGE, across(4, nic=100e9)) == pytest.approx(nvlink, rel=0.02)


@pytest.mark.parametrize("ranks, bus", [(5, 414.2e9), (6, 435.6e9), (7, 460e9), (8, 480e9)])
def test_nvls_moves_n_plus_one_over_n_and_gains_with_ranks(ranks, bus):
    # H200 at 8 GiB, github:stas00/ml-engineering network/README.md.
    assert WAYS["nvls"].up_bytes("all_reduce", 1.0, inside(ranks)) == pytest.approx((ranks + 1) / ranks)
    assert collectives.bus_bandwidth("all_reduce", LARGE, inside(ranks)) == pytest.approx(bus, rel=0.02)


@pytest.mark.parametrize("fabric, bandwidth, first", [("nvlink4", 450e9, 5), ("nvlink5", 900e9, 6)])
def test_nvls_is_taken_from_five_hopper_and_six_blackwell_gpus_on(fabric, bandwidth, first):
    kinds = [collectives.choose("all_reduce", LARGE, inside(n, bandwidth, fabric)).way.kind for n in range(3, 9)]
    assert kinds == ["ring"] * (first - 3) + ["nvls"] * (9 - first)


def test_small_messages_take_ll_and_large_ones_simple():
    sizes = [1024.0, 4 * MIB, LARGE]
    protocols = [collectives.choose("all_gather", size, inside(8, 300e9, "nvlink3")).plan.protocol for size in sizes]
    assert protocols == ["LL", "LL128", "Simple"]


def test_all_to_all_leaves_the_host_with_n_minus_g_over_n_of_each_buffer():
    way = WAYS["all-to-all"]
    assert way.up_bytes("all_to_all", 1.0, across(4)) == pytest.approx(7 / 32)
    assert way.out_bytes("all_to_all", 1.0, across(4)) == pytest.approx(8 * 24 / 32)
    assert collectives.wire_bytes("all_to_all", 1.0, across(4)) == pytest.approx(24 / 32)


def test_sharp_halves_the_bytes_on_the_nics_and_only_runs_when_pinned():
    ring, sharp = (WAYS[kind].out_bytes("all_reduce", 1.0, across(64)) for kind in ("ring", "in-network"))
    assert sharp / ring == pytest.approx(0.5, rel=0.01)
    assert collectives.choose("all_reduce", LARGE, across(4)).way.kind != "in-network"
    assert collectives.choose("all_reduce", LARGE, across(4), "in-network").way.kind == "in-network"


def slice_of(chips: int, generation: str = "v5e") -> Network:
    """Return the slice of a TPU, alone."""
    tpu = host(f"tpu-{generation}-host")
    whole = replace(tpu, scale_up=replace(tpu.scale_up, domain=chips))
    return Network(whole, chips // tpu.gpus, FatTree())


def test_torus_uses_all_links_of_a_chip():
    pod = slice_of(256).channel(256, 1)
    assert [side.length for side in pod.sides] == [16, 16]
    assert WAYS["torus-ring"].steps("all_reduce", pod) == 2 * (8 + 8)
    four_links = 4 * 50e9
    assert collectives.bus_bandwidth("all_reduce", LARGE, pod) == pytest.approx(
        fabric("ici-2d").ring * four_links, rel=0.01
    )


@pytest.mark.parametrize(
    ("chips", "generation", "size", "stride", "links"),
    [
        (256, "v5e", 16, 1, 2),  # one side of 16 x 16, which closes
        (256, "v5e", 16, 16, 2),  # the other
        (64, "v5e", 64, 1, 2),  # 8 x 8 closes nowhere: one link of a line along each side
        (128, "v5e", 128, 1, 1 + 2),  # 8 x 16 closes along the side of 16
        (256, "v5e", 4, 1, 1),  # part of a side is a line
        (64, "v5p", 64, 1, 6),  # one cube of 4 x 4 x 4
        (64, "v5p", 4, 1, 2),
        (64, "v5p", 16, 4, 4),  # what a tensor axis of 4 leaves: 4 x 4
        (1024, "v5p", 16, 1, 2),  # of 8 x 8 x 16
        (1024, "v5p", 64, 16, 4),
        (16, "v5p", 16, 1, 3),  # 2 x 2 x 4 is less than a cube, so that no side closes
    ],
)
def test_links_that_a_group_of_a_slice_keeps_busy(chips: int, generation: str, size: int, stride: int, links: int):
    network = slice_of(chips, generation)
    pair = network.host.gpu.scale_up_pair
    assert pair is not None
    reached = collectives.bus_bandwidth("all_gather", LARGE, network.channel(size, stride))
    assert reached == pytest.approx(0.9 * links * pair, rel=0.01)


def test_a_line_takes_twice_as_long_as_a_ring():
    ring, line = (
        Channel(ranks=16, ranks_per_host=16, scale_up_bandwidth=200e9, scale_up_pair=50e9, fabric="ici-2d", sides=sides)
        for sides in ((Side(16, True),), (Side(16, False),))
    )
    for operation in OPERATIONS[1:4]:
        slow, fast = (collectives.time(operation, LARGE, channel) for channel in (line, ring))
        assert slow / fast == pytest.approx(2, rel=0.01)


@pytest.mark.parametrize(("length", "closes", "factor"), [(16, True, 2), (8, False, 2), (4, True, 0.5)])
def test_all_to_all_of_a_torus_crosses_the_middle(length: int, closes: bool, factor: float):
    # Half of n chips send half of their buffers across two cables of a ring, one of a line: n / 8 or n / 4 a cable.
    channel = Channel(
        ranks=length,
        ranks_per_host=length,
        scale_up_bandwidth=200e9,
        scale_up_pair=50e9,
        fabric="ici-2d",
        sides=(Side(length, closes),),
    )
    seconds = collectives.time("all_to_all", LARGE, channel)
    assert seconds == pytest.approx(factor * LARGE / 45e9, rel=0.01)


def test_a_pod_needs_no_nics():
    tpu = replace(host("tpu-v5p-host"), nics=0, nic_bandwidth=0.0)
    pod = replace(tpu, scale_up=replace(tpu.scale_up, domain=128))
    with_nics = slice_of(128, "v5p").channel(128, 1)
    assert Network(pod, 32, FatTree()).channel(128, 1) == with_nics
    with pytest.raises(ScenarioError, match="no NIC"):
        Network(pod, 64, FatTree())


def test_a_mesh_has_only_the_links_to_the_ranks_of_the_group():
    mi300x = Network(host("azure-nd-mi300x-v5"), 1, FatTree())
    two, eight = (collectives.bus_bandwidth("all_gather", LARGE, mi300x.channel(n, 1)) for n in (2, 8))
    assert eight / two == pytest.approx(7, rel=0.01)


def test_a_send_between_hosts_has_its_ranks_own_nic_share():
    whole, pairs = across(2), across(2, per_host=1)
    assert collectives.time("send", LARGE, whole) == pytest.approx(collectives.time("send", LARGE, pairs))
    nic = network_of("infiniband").efficiency * 50e9
    assert LARGE / collectives.time("send", LARGE, pairs) == pytest.approx(shared().send * nic, rel=0.01)


@pytest.mark.parametrize("name", ["efa", "efa-v2", "efa-v3"])
def test_efa_costs_more_for_each_hop(name):
    efa = replace(across(2), network=name)
    extra = collectives.time("all_reduce", 8.0, efa) - collectives.time("all_reduce", 8.0, across(2))
    assert extra == pytest.approx(2 * (network_of(name).latency - network_of("infiniband").latency))


@pytest.mark.parametrize(
    ("machine", "generation"),
    [("aws-p4de", "efa"), ("aws-p5", "efa-v2"), ("aws-p5en", "efa-v3"), ("aws-p6-b200", "efa-v3")],
)
def test_each_host_has_the_latency_of_its_own_generation_of_efa(machine, generation):
    channel = Network(host(machine), 2, FatTree()).channel(16, 1)
    assert channel.network == generation
    assert network_of("efa-v3").latency < network_of("efa-v2").latency < network_of("efa").latency


@pytest.mark.parametrize("n", [4, 8])
def test_a_ring_of_a100_turns_one_part_beside_no_send(n):
    turning, sent = WAYS["ring"].plans("all_reduce", inside(n, 300e9, "nvlink3"))[-1], 2 * (n - 1) / n
    a100, h100 = fabric("nvlink3"), fabric("nvlink4")
    assert turning.per_byte == pytest.approx(sent / (a100.ring * 300e9) + 1 / (n * a100.turn))
    assert a100.inside.of("turn", "all_reduce") == a100.turn
    assert h100.turn is None
    assert WAYS["ring"].plans("all_reduce", inside(n))[-1].per_byte == pytest.approx(sent / (h100.ring * 450e9))
