"""What the axes of a layout get of hosts, NICs, leaves and pods."""

import time
from dataclasses import replace

import pytest

from simulator.errors import ScenarioError
from simulator.machine import collectives
from simulator.machine.collectives.links import fabric, network_of
from simulator.machine.hardware import ScaleUp, gpu, host
from simulator.machine.network import Carried, Network, NetworkCalibration
from simulator.machine.placement import Placement
from topologies.edge_list import EdgeList
from topologies.fat_tree import FatTree
from topologies.nvlink_domain import NvlinkDomain
from topologies.rail_optimized import RailOptimized
from topologies.single_switch import SingleSwitch

H100 = host("dgx-h100")
NIC = 50e9
META = FatTree(levels=3, hosts_per_leaf=2, hosts_per_pod=384, oversubscription=(1, 7))


def test_a_group_inside_a_host_has_no_scale_out():
    channel = Network(H100, 4, SingleSwitch()).channel(8, 1)
    assert (channel.hosts, channel.ranks_per_host, channel.bottleneck) == (1, 8, "scale-up")
    assert channel.scale_up_bandwidth == 450e9


def test_one_ring_through_hosts_of_eight_gpus_uses_all_their_nics():
    channel = Network(H100, 4, SingleSwitch()).channel(32, 1)
    assert (channel.hosts, channel.ranks_per_host) == (4, 8)
    assert channel.scale_out_bandwidth == 8 * NIC


@pytest.mark.parametrize("stride, rings", [(2, 2), (4, 4), (8, 8)])
def test_rings_that_run_at_once_share_the_nics(stride, rings):
    channel = Network(H100, 8, SingleSwitch()).channel(64 // stride, stride)
    assert channel.scale_out_bandwidth == pytest.approx(8 * NIC / rings)


def test_each_gpus_ring_has_its_own_nic_when_tensor_fills_the_host():
    assert Network(H100, 16, RailOptimized()).channel(16, 8).scale_out_bandwidth == NIC


def test_half_the_nics_are_half_the_bandwidth():
    four = Network(host("aws-p4de"), 4, SingleSwitch()).channel(4, 8)
    assert four.scale_out_bandwidth == pytest.approx(4 * 12.5e9 / 8)


def test_a_ring_of_neighbours_crosses_pods_once_and_does_not_feel_the_top():
    assert Network(H100, 2048, META).channel(2048, 8).scale_out_bandwidth == NIC


def test_all_hosts_of_a_pod_feel_the_top_when_stages_are_a_pod_apart():
    channel = Network(H100, 1536, META).channel(4, 3072)
    assert channel.scale_out_bandwidth == pytest.approx(NIC / 7)
    assert channel.bottleneck == "spine"


def test_only_the_last_third_of_a_pod_crosses_when_stages_are_a_third_of_it_apart():
    # 128 of 384 hosts send across the top, whose bandwidth is a seventh of 384 hosts'.
    channel = Network(H100, 1536, META).channel(12, 1024)
    assert channel.scale_out_bandwidth == pytest.approx(NIC * 384 / 7 / 128)


def test_exchange_between_pods_feels_the_top_and_inside_a_leaf_does_not():
    network = Network(H100, 1536, META)
    assert network.channel(1536, 8).exchange_bandwidth < NIC
    assert network.channel(16, 1).exchange_bandwidth == pytest.approx(8 * NIC)


def test_scattered_hosts_feel_every_tier():
    near, far = (Network(H100, 1536, META, Placement(kind=kind)).channel(16, 8) for kind in ("contiguous", "scattered"))
    assert far.scale_out_bandwidth < near.scale_out_bandwidth / 5
    assert far.latency > near.latency


def test_a_fragmented_allocation_crosses_leaves_that_a_compact_one_does_not():
    fabric = FatTree(levels=2, hosts_per_leaf=4, oversubscription=4)
    compact = Network(H100, 4, fabric, Placement(hosts=(0, 1, 2, 3))).channel(4, 8)
    torn = Network(H100, 4, fabric, Placement(hosts=(0, 4, 1, 5))).channel(4, 8)
    assert compact.scale_out_bandwidth == NIC
    assert torn.scale_out_bandwidth == pytest.approx(NIC / 2)


def test_latency_counts_the_switches_between_neighbours():
    network = Network(H100, 1536, META)
    leaf, pod, top = (network.channel(2, stride).latency for stride in (8, 1536, 3072))
    nics, switch = 2 * H100.nic_latency, network_of("infiniband").switch_latency
    assert leaf == pytest.approx(nics + switch)
    assert pod == pytest.approx(nics + 3 * switch)
    assert top == pytest.approx(nics + 5 * switch)


def test_ranks_per_host_counts_the_scale_up_domain_of_a_rack():
    rack = Network(host("gb200-nvl72"), 18, FatTree())
    assert rack.channel(72, 1).inside_host


def test_a_job_on_several_racks_gets_64_gpus_of_each():
    network = Network(host("gb200-nvl72"), 32, FatTree())
    assert network.channel(64, 1).inside_host
    both = network.channel(128, 1)
    assert (both.hosts, both.ranks_per_host) == (2, 64)
    assert both.scale_out_bandwidth == pytest.approx(64 * NIC)
    assert network.channel(2, 64).scale_out_bandwidth == pytest.approx(NIC)


def test_an_nvlink_domain_is_one_host():
    assert Network(H100, 4, NvlinkDomain()).channel(32, 1).inside_host


def test_the_links_of_an_nvlink_domain_are_as_fast_as_it_says():
    assert Network(H100, 4, NvlinkDomain()).channel(32, 1).scale_up_bandwidth == 450e9
    assert Network(H100, 4, NvlinkDomain(link_bandwidth=90e9)).channel(32, 1).scale_up_bandwidth == 90e9


def test_flows_are_hashed_over_the_switches_of_an_edge_list_as_over_those_of_a_fat_tree():
    """Two hosts a leaf and two spines, cable by cable and as a fat-tree."""
    cables = [f"nic/{host}/{nic},leaf/{host // 2}" for host in range(4) for nic in range(8)]
    cables += [f"leaf/{leaf},spine/{spine},,,8" for leaf in range(2) for spine in range(2)]
    listed = "source,target,bandwidth,latency,count\n" + "".join(
        f"{one}{',' * (4 - one.count(','))}\n" for one in cables
    )

    def rate(topology):
        return Network(H100, 4, topology).channel(2, 16).scale_out_bandwidth

    hashed = rate(EdgeList(edges=listed, routing="static", queue_pairs=1))
    assert hashed == rate(FatTree(levels=2, hosts_per_leaf=2, spines=2, routing="static", queue_pairs=1))
    assert hashed < rate(EdgeList(edges=listed)) == NIC


def test_static_hashing_costs_bandwidth_that_queue_pairs_give_back():
    def rate(**routing):
        fabric = FatTree(levels=2, hosts_per_leaf=4, **routing)
        return Network(H100, 32, fabric).channel(8, 32).scale_out_bandwidth

    assert rate(routing="static", queue_pairs=1) < rate(routing="static", queue_pairs=16) < rate() == NIC


def test_an_axis_of_odd_size_is_walked_rank_by_rank():
    channel = Network(H100, 3, SingleSwitch()).channel(12, 2)
    assert (channel.hosts, channel.ranks_per_host, channel.ranks) == (3, 4, 12)
    assert Network(H100, 3, SingleSwitch()).channel(6, 1).hosts == 2


def test_an_axis_that_does_not_fit_is_refused():
    with pytest.raises(ScenarioError, match="more than 32 GPUs"):
        Network(H100, 4, SingleSwitch()).channel(8, 8)


def test_calibration_goes_with_every_channel():
    channel = Network(H100, 4, SingleSwitch(), calibration=NetworkCalibration(latency=2.0)).channel(32, 1)
    assert channel.latency_factor == 2.0


def test_loads_add_up_and_name_the_busiest_class():
    network = Network(H100, 1536, META)
    up, across = network.channel(8, 1), network.channel(4, 3072)
    loads = {load.name: load for load in network.loads([Carried(up, 4e9), Carried(across, 1e9)])}
    assert list(loads) == ["scale-up", "nic", "leaf", "spine"]
    assert loads["scale-up"].mean_bytes == 4e9
    assert loads["nic"].mean_bytes == loads["nic"].peak_bytes == pytest.approx(1e9)
    assert loads["spine"].peak_bytes == pytest.approx(7e9, rel=0.01)
    assert loads["spine"].busy(1.0) == pytest.approx(7e9 / NIC, rel=0.01)


def test_a_group_of_four_on_a_mesh_of_eight_crowds_the_three_links_between_them():
    network = Network(host("azure-nd-mi300x-v5"), 2, SingleSwitch())
    (load, *_) = network.loads([Carried(network.channel(4, 1), 3e9)])
    assert load.mean_bytes == 3e9
    assert load.peak_bytes == pytest.approx(7 / 3 * 3e9)


def test_where_the_fabric_is_the_scale_up_domain_there_are_no_other_links():
    network = Network(H100, 4, NvlinkDomain())
    (load,) = network.loads([Carried(network.channel(32, 1), 3e9)])
    assert (load.name, load.peak_bytes) == ("scale-up", 3e9)


def test_an_exchange_loads_nics_with_what_leaves_the_host():
    network = Network(H100, 4, FatTree(levels=2, hosts_per_leaf=2))
    channel = network.channel(32, 1)
    nic = network.loads([Carried(channel, 3e9, "exchange")])[1]
    assert nic.peak_bytes == pytest.approx(3e9)


@pytest.mark.parametrize("fabric", [META, RailOptimized()])
def test_16384_gpus_take_less_than_two_seconds(fabric):
    start = time.process_time()
    network = Network(H100, 2048, fabric)
    for axis in ((8, 1), (16, 8), (128, 8), (16, 1024), (2048, 8), (64, 1)):
        network.channel(*axis)
    assert time.process_time() - start < 2


def test_131072_gpus_take_less_than_ten_seconds():
    start = time.process_time()
    network = Network(H100, 16384, META)
    for axis in ((8, 1), (1024, 8), (16, 8192), (16384, 8), (64, 1)):
        network.channel(*axis)
    assert time.process_time() - start < 10


def test_a_gpu_of_unknown_make_has_the_links_that_are_given():
    def inside(scale_up):
        gpu = replace(H100.gpu, architecture="unknown", scale_up_kind="")
        made = replace(H100, gpu=gpu, scale_up=replace(H100.scale_up, bandwidth=scale_up))
        return Network(made, 1, SingleSwitch()).channel(8, 1)

    assert (inside(900e9).fabric, inside(900e9).scale_up_bandwidth) == ("generic", 900e9)
    assert (inside(32e9).fabric, inside(32e9).scale_up_bandwidth) == ("pcie", 32e9)


@pytest.mark.parametrize("name", ["l40s", "rtx-3090", "rtx-4090", "a40", "h100-sxm-80gb", "mi300x", "gaudi-3"])
@pytest.mark.parametrize("domain", [2, 8])
def test_scale_up_bandwidth_that_is_given_is_what_a_domain_has(name, domain):
    """Also where cards meet over PCIe and bridges join pairs; wider groups meet over host links."""
    card = gpu(name)

    def network(bandwidth):
        host = replace(H100, gpu=card, host_link=31e9, scale_up=ScaleUp(domain=domain, bandwidth=bandwidth))
        return Network(host, 1, SingleSwitch())

    slow, fast = (network(bandwidth).channel(domain, 1) for bandwidth in (20e9, 50e9))
    assert (slow.scale_up_bandwidth, fast.scale_up_bandwidth) == (20e9, 50e9)
    assert collectives.time("all_reduce", 1e9, slow) > 1.5 * collectives.time("all_reduce", 1e9, fast)
    if domain < 8:
        wide = network(50e9).channel(8, 1)
        assert wide.islands == (wide.fabric != "pcie")
        crossing = 2 * 31e9 * fabric("pcie").ring / fabric(str(wide.fabric)).ring
        assert wide.scale_up_bandwidth == (min(50e9, crossing) if wide.islands else 31e9)


@pytest.mark.parametrize(("name", "bandwidth"), [("l40s", 31e9), ("rtx-3090", 31e9), ("h100-sxm-80gb", 450e9)])
def test_without_a_given_bandwidth_cards_meet_over_pcie_and_others_over_their_own_links(name, bandwidth):
    made = Network(replace(H100, gpu=gpu(name), scale_up=ScaleUp(domain=8)), 1, SingleSwitch())
    assert made.channel(8, 1).scale_up_bandwidth == made.loads(())[0].bandwidth == bandwidth


def test_ranks_beyond_a_bridged_pair_meet_over_the_host_links_of_both():
    bridged = Network(replace(H100, scale_up=replace(H100.scale_up, domain=2)), 1, SingleSwitch())
    assert bridged.channel(2, 1).fabric == "nvlink4"
    assert not bridged.channel(2, 1).islands
    assert bridged.channel(4, 1).scale_up_bandwidth == pytest.approx(2 * 63e9 * 0.77 / 0.815)
    assert bridged.channel(4, 2).fabric == "pcie"
    assert bridged.channel(4, 2).scale_up_bandwidth == 63e9


@pytest.mark.parametrize("fabric", [META, RailOptimized(), FatTree(levels=2, hosts_per_leaf=2, oversubscription=4.0)])
@pytest.mark.parametrize("axis", [(128, 8), (64, 1), (2, 512), (1024, 1)])
def test_more_bandwidth_never_narrows_a_channel(fabric, axis):
    slow, fast = (
        Network(replace(H100, nic_bandwidth=factor * NIC), 128, fabric).channel(*axis) for factor in (1.0, 1.7)
    )
    assert fast.scale_out_bandwidth == pytest.approx(1.7 * slow.scale_out_bandwidth)
    assert fast.exchange_bandwidth == pytest.approx(1.7 * slow.exchange_bandwidth)


def test_hosts_behind_a_tier_are_those_that_only_it_joins_to_others():
    assert [Network(H100, 1536, META).hosts_behind(tier) for tier in ("leaf", "spine", "global")] == [2, 384, None]
    assert Network(H100, 40, RailOptimized()).hosts_behind("leaf") == 32
    assert Network(H100, 1, META).hosts_behind("leaf") is None


def test_the_switch_of_a_host_has_a_name():
    assert Network(H100, 8, FatTree(levels=2, hosts_per_leaf=2)).switch_of(5) == "leaf/2"
    assert Network(H100, 64, RailOptimized()).switch_of(40) == "leaf/8"


def test_a_way_takes_the_latency_of_each_cable_but_the_last():
    rows = "source,target,latency\nnic/0/0,leaf/0,1e-6\nleaf/0,leaf/1,4e-6\nnic/1/0,leaf/1,2e-6"
    channel = Network(H100, 2, EdgeList(edges=rows)).channel(2, 8)
    assert channel.latency == pytest.approx(2 * H100.nic_latency + 2e-6 + 4e-6)
