"""Domains smaller than a host, domains larger, and cards that meet over PCIe: levels of one fabric."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.machine import collectives
from simulator.machine.domains import MOST_SPREAD, PCIE, hosts_per_domain, mapped, scale_up
from simulator.machine.hardware import ScaleUp, gpu, host
from simulator.machine.network import Network
from topologies.fat_tree import FatTree
from topologies.nvlink_domain import NvlinkDomain

H100, RACK = host("hgx-h100"), host("gb200-nvl72")
SIZE = float(1 << 30)


def cards(name, gpus=8, domain=8, **more):
    host_keys = {key: more.pop(key) for key in ("memory_bandwidth", "host_link") if key in more}
    return replace(H100, gpu=replace(gpu(name), **more), gpus=gpus, scale_up=ScaleUp(domain=domain), **host_keys)


def rate(channel, operation="all_gather"):
    return collectives.bus_bandwidth(operation, SIZE, channel)


@pytest.mark.parametrize(("hosts", "each"), [(18, 18), (36, 18), (72, 18), (32, 16), (64, 16), (256, 16), (20, 10)])
def test_whole_racks_are_taken_whole_and_others_evenly(hosts, each):
    assert hosts_per_domain(RACK, hosts) == each


@given(st.integers(2, 144), st.integers(1, 3000))
def test_a_job_takes_no_more_racks_than_an_even_share_needs(domain, hosts):
    machine = replace(RACK, gpus=1, scale_up=replace(RACK.scale_up, domain=domain))
    each = hosts_per_domain(machine, hosts)
    fewest, taken = -(-hosts // domain), -(-hosts // each)
    assert each <= domain
    assert fewest <= taken <= max(1, MOST_SPREAD * fewest)


@pytest.mark.parametrize("trays", range(2, 19))
def test_two_racks_give_a_ring_all_their_nics_whatever_their_trays(trays):
    """No cliff between 16 trays, a power of two, and 18: what leaves a rack grows with its trays."""
    machine = replace(RACK, scale_up=replace(RACK.scale_up, domain=4 * trays))
    both = Network(machine, 2 * trays, FatTree()).channel(8 * trays, 1)
    assert (both.hosts, both.ranks_per_host) == (2, 4 * trays)
    assert both.scale_out_bandwidth == pytest.approx(4 * trays * 50e9)


def test_two_whole_racks_are_as_fast_as_four_of_as_many_trays_each():
    """DeepSeek-V3's data axis on 36 trays took 2.8 times as long as on 72, which it was laid out beside."""
    two, four = (Network(RACK, hosts, FatTree()).channel(hosts // 2, 8) for hosts in (36, 72))
    assert two.ranks_per_host == four.ranks_per_host == 9
    assert two.scale_out_bandwidth == pytest.approx(four.scale_out_bandwidth)


@pytest.mark.parametrize("operation", ["all_reduce", "all_gather", "reduce_scatter", "all_to_all"])
def test_smaller_domains_are_never_faster_and_each_level_is_its_links(operation):
    rates = []
    for domain in (8, 4, 2, 1):
        machine = replace(H100, scale_up=replace(H100.scale_up, domain=domain))
        rates.append(rate(Network(machine, 1, FatTree()).channel(8, 1), operation))
    assert rates == sorted(rates, reverse=True)


@pytest.mark.parametrize("domain", [2, 4])
def test_a_ring_crosses_between_domains_over_the_host_links_of_all_its_ranks_there(domain):
    machine = replace(H100, scale_up=replace(H100.scale_up, domain=domain))
    channel = Network(machine, 1, FatTree()).channel(8, 1)
    assert channel.islands
    assert collectives.choose("all_reduce", SIZE, channel).way.kind != "nvls"
    alone = Network(replace(H100, scale_up=replace(H100.scale_up, domain=1)), 1, FatTree()).channel(8, 1)
    assert rate(channel) / rate(alone) == pytest.approx(domain, rel=0.05)


@given(st.integers(1, 40))
def test_links_between_domains_matter_smoothly_until_nvlink_is_the_limit(step):
    """A host link 2% faster makes a group across domains at most 2% faster, and never slower."""
    slow, fast = (
        replace(H100, scale_up=replace(H100.scale_up, domain=4), host_link=20e9 * 1.02 ** (5 * step + more))
        for more in (0, 1)
    )
    before, after = (rate(Network(one, 1, FatTree()).channel(8, 1)) for one in (slow, fast))
    assert before * (1 - 1e-9) <= after <= 1.02 * before * (1 + 1e-9)


def test_groups_inside_a_domain_do_not_notice_that_it_is_smaller_than_the_host():
    machine = replace(H100, scale_up=replace(H100.scale_up, domain=4))
    assert Network(machine, 1, FatTree()).channel(4, 1) == Network(H100, 1, FatTree()).channel(4, 1)


def test_a_bridge_joins_two_cards_and_more_meet_over_pcie():
    pairs = cards("a100-pcie-80gb", domain=2)
    assert (scale_up(pairs).kind, scale_up(pairs).bandwidth) == ("nvlink3", 300e9)
    assert (scale_up(cards("a100-pcie-80gb")).kind, scale_up(cards("a100-pcie-80gb")).bandwidth) == (PCIE, 31e9)
    network = Network(pairs, 1, FatTree())
    assert rate(network.channel(2, 1)) > 3 * rate(network.channel(4, 1))
    assert rate(network.channel(4, 1)) == pytest.approx(2 * 31e9 * 0.77, rel=0.1)
    assert rate(network.channel(4, 2)) == pytest.approx(31e9 * 0.77, rel=0.05)


def test_a_bandwidth_that_is_said_wins_over_the_host_link_and_no_group_has_more():
    for domain in (8, 4):
        machine = replace(cards("a40"), scale_up=ScaleUp(domain=domain, bandwidth=5e9))
        network = Network(machine, 1, FatTree())
        assert network.scale_up_bandwidth == 5e9
        assert network.channel(8, 1).scale_up_bandwidth == 5e9


def test_without_peer_access_all_gpus_share_the_memory_of_their_host():
    """Each byte is written to the host's memory and read from it: eight rings of 0.73 x 160 / 16 GB/s."""
    plenty, scarce = (cards("rtx-4090", memory_bandwidth=rate) for rate in (2e12, 160e9))
    assert not plenty.gpu.peer_access
    direct = cards("rtx-4090", peer_access=True, memory_bandwidth=160e9)
    rings = [Network(one, 1, FatTree()).channel(8, 1) for one in (plenty, scarce, direct)]
    assert rate(rings[0]) == pytest.approx(rate(rings[2]))
    assert rate(rings[1]) == pytest.approx(0.73 * 160e9 / 16, rel=0.02)


def test_what_can_map_each_others_memory():
    assert mapped(H100, FatTree(), 64) == 8
    assert mapped(RACK, FatTree(), 144) == 72
    assert mapped(cards("a40"), FatTree(), 8) == 1
    assert mapped(H100, NvlinkDomain(), 32) == 32


@pytest.mark.parametrize("operation", ["all_gather", "reduce_scatter"])
def test_libraries_take_pat_from_the_year_that_it_is_in_and_with_one_rank_a_host(operation):
    many = Network(H100, 1024, FatTree())
    alone, together = many.channel(1024, 8), many.channel(8192, 1)
    taken = {year: collectives.choose(operation, 1e6, replace(alone, year=year)).way.kind for year in (2024, 2025)}
    assert taken == {2024: "ring", 2025: "pat"}
    assert collectives.choose(operation, 1e6, replace(together, year=2025)).way.kind == "ring"


def test_switches_add_from_the_year_that_libraries_ask_them_to():
    channel = Network(H100, 1, FatTree()).channel(8, 1)
    before, after = (collectives.choose("all_reduce", SIZE, replace(channel, year=year)) for year in (2022, 2023))
    assert (before.way.kind, after.way.kind) == ("ring", "nvls")
