"""Exchanges that kernels send while they multiply (`async_tensor: ring`) need GPUs that map each other's memory."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.engine.prices.assembly import assembly
from simulator.engine.prices.constants import Shared
from simulator.engine.step import stage_clocks
from simulator.scenario import from_dict


def scenario(kind, tensor, host="hgx-h100", hosts=2):
    read = from_dict(
        {
            "version": 1,
            "model": "llama-3.1-70b",
            "cluster": {"host": host, "hosts": hosts},
            "stack": {"base": "megatron-bridge-2025", "async_tensor": kind},
            "parallelism": {"tensor": tensor},
            "training": {"steps": 10, "sequence_length": 4096, "global_batch": 16, "microbatch": 1},
        }
    )
    return replace(read, stack=replace(read.stack, cpu_layer_tensor=0.0))


def seconds(case):
    return stage_clocks.time(assembly(case, Shared()).step()).seconds


def warned(case):
    return [one for one in case.warnings if one.startswith("stack.async_tensor")]


CARDS = {"gpu": "a40", "gpus": 8, "scale_up": {"domain": 8}, "nics": 1, "nic_bandwidth": "100Gbps"}


@pytest.mark.parametrize(("tensor", "host", "hosts"), [(16, "hgx-h100", 2), (8, CARDS, 2)])
def test_over_nics_and_pcie_a_ring_is_as_slow_as_bulk_and_says_so(tensor, host, hosts):
    ring, bulk = (scenario(kind, tensor, host, hosts) for kind in ("ring", "bulk"))
    assert seconds(ring) == seconds(bulk)
    (warning,) = warned(ring)
    assert "`bulk` is simulated" in warning
    assert f"tensor {tensor}" in warning
    assert not warned(bulk)


@pytest.mark.parametrize(("tensor", "host", "hosts"), [(8, "hgx-h100", 2), (16, "gb200-nvl72", 8)])
def test_inside_a_domain_a_ring_hides_more_than_bulk_multi_node_nvlink_included(tensor, host, hosts):
    ring, bulk = (scenario(kind, tensor, host, hosts) for kind in ("ring", "bulk"))
    assert seconds(ring) < 0.99 * seconds(bulk)
    assert not warned(ring)


def test_what_a_rank_does_is_what_the_machine_can():
    cut = scenario("ring", 16)
    assert cut.rank.stack.async_tensor == "bulk"
    assert cut.stack.async_tensor == "ring"
    assert scenario("ring", 8).rank.stack.async_tensor == "ring"
