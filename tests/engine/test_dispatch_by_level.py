"""What dispatch and combine send over each level of links, and how long it takes beside what DeepEP measures."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import simulator
from simulator.engine.prices import dispatch
from simulator.engine.prices.assembly import assembly
from simulator.engine.prices.durations import Durations
from simulator.engine.prices.link_traffic import carried
from simulator.machine.channel import Channel
from simulator.machine.collectives.all_to_all import to_everyone
from simulator.scenario import from_dict
from simulator.workload.operations import Exchange
from simulator.workload.routing import Routing

TABLE = Path(simulator.__file__).parent / "validation" / "data" / "collectives.csv"
TOKENS, HIDDEN, ACTIVE = 4096, 7168, 8
"""The setting of DeepEP's table."""
H800 = {"base": "hgx-h100", "gpu": "h800-sxm-80gb", "scale_up": {"domain": "8", "bandwidth": "200GB/s"}}


def built(expert: int, hosts: int, stack: object = "megatron-core-2025", **changes: object):
    return assembly(
        from_dict(
            {
                "version": "1",
                "model": "deepseek-v3",
                "cluster": {"host": H800, "hosts": str(hosts)},
                "stack": stack,
                "parallelism": {"expert": str(expert)},
                "training": {"steps": "1", "sequence_length": "4096", "global_batch": str(8 * hosts)},
                **changes,
            }
        )
    )


@given(
    width=st.sampled_from((1, 2, 4, 8)),
    hosts=st.integers(1, 8),
    each=st.integers(1, 4),
    active=st.integers(1, 8),
    limit=st.integers(1, 8),
)
def test_a_level_carries_no_more_than_it_would_without_forwarding(
    width: int, hosts: int, each: int, active: int, limit: int
) -> None:
    """Over NICs never more than a row for each expert; inside one host neither; what is forwarded reaches each rank."""
    ranks = width * hosts
    limit = min(limit, hosts)
    routing = Routing(ranks * each, min(active, limit * width * each), hosts, limit)
    channel = Channel(ranks=ranks, ranks_per_host=width, hosts=hosts)
    sent, flat = dispatch.forwarded(routing, channel), to_everyone(channel)
    assert sent.out <= flat.out + 1e-9
    assert sent.peers <= flat.peers
    if hosts == 1:
        assert sent.up <= flat.up + 1e-9
    copies = routing.places(each) / routing.active
    assert sent.up == pytest.approx(copies * (width - 1) / width)
    reached = sent.out / width + (routing.places(width * each) / routing.active) / hosts
    assert reached == pytest.approx(routing.places(width * each) / routing.active)


@pytest.mark.parametrize("dispatcher", ["alltoall", "fused"])
def test_the_fullest_rank_takes_in_its_imbalance_on_every_level(dispatcher: str) -> None:
    stack = {"base": "megatron-core-2025", "moe_dispatcher": dispatcher}
    even, crowded = (carried(built(32, 4, stack, moe={"imbalance": text}))["expert"] for text in ("1", "2.5"))
    assert crowded.nbytes == pytest.approx(2.5 * even.nbytes)
    assert crowded.scale_up_bytes == pytest.approx(2.5 * even.scale_up_bytes)


def test_groups_of_experts_bound_the_hosts_of_a_token() -> None:
    """With at most 4 of 8 hosts a token is copied 3.63 times instead of 5.30; an eighth of both stays at home."""
    model = {"base": "deepseek-v3", "experts": {"groups": "1", "active_groups": "1"}}
    limited, free = built(64, 8), built(64, 8, model=model)
    assert carried(limited)["expert"].nbytes / carried(free)["expert"].nbytes == pytest.approx(3.63 / 5.30, rel=0.01)


def test_eight_bits_halve_what_goes_to_experts_and_nothing_of_what_comes_back() -> None:
    precision = {"training": {"steps": "1", "sequence_length": "4096", "global_batch": "64", "precision": "fp8"}}
    base = {"base": "megatron-core-2025"}
    wide, there, both = (
        carried(built(64, 8, base | keys, **precision))["expert"].nbytes
        for keys in ({}, {"quantized_dispatch": "true"}, {"quantized_dispatch": "true", "quantized_combine": "true"})
    )
    eight = (1 + 4 / 128) / 2
    assert there / wide == pytest.approx((1 + eight) / 2)
    assert both / wide == pytest.approx(eight)
    plain = {"steps": "1", "sequence_length": "4096", "global_batch": "64"}
    bf16 = carried(built(64, 8, base | {"quantized_dispatch": "true"}, training=plain))["expert"].nbytes
    assert bf16 == pytest.approx(wide), "nothing is quantised where nothing is computed in eight bits"


def measured() -> list[tuple[str, int, float]]:
    with TABLE.open() as lines:
        rows = [row for row in csv.DictReader(lines) if row["collective"].startswith("ep_") and "V1" in row["library"]]
    return [(row["collective"], int(row["gpus"]), float(row["busbw_gbs"])) for row in rows]


@pytest.mark.parametrize(("collective", "ranks", "bandwidth"), measured())
def test_dispatch_and_combine_take_as_long_as_deepep_measures(collective: str, ranks: int, bandwidth: float) -> None:
    """DeepEP counts every copy, those to the sender's own host or rank among them; at most 4 hosts a token."""
    hosts = ranks // 8
    routing = Routing(256, ACTIVE, hosts, min(hosts, 4))
    width = 1 + 4 / 128 if collective == "ep_dispatch" else 2.0
    found = built(ranks, hosts).durations
    alone = Durations(found.gpu, found.stack, found.channels)  # without constants that were fitted on runs
    seconds = alone.seconds(Exchange("expert", "all_to_all", TOKENS * ACTIVE * HIDDEN * width, routing))
    copies = routing.places(256 // (hosts if hosts > 1 else ranks))
    assert TOKENS * copies * HIDDEN * width / seconds / 1e9 == pytest.approx(bandwidth, rel=0.20)


def test_the_table_of_deepep_has_both_ways_at_every_size() -> None:
    assert len(measured()) == 8
