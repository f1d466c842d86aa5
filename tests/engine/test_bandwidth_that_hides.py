"""The bandwidth from which a faster network no longer helps."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.engine.prices.assembly import Assembly, assembly
from simulator.engine.prices.hiding import ENDLESS, MOST, PRECISION, TOLERANCE, Hiding, faster, hiding
from simulator.engine.prices.link_traffic import carried
from simulator.engine.step import stage_clocks
from simulator.scenario import from_dict

START = {
    "version": 1,
    "model": "llama-3.1-8b",
    "cluster": {"host": {"base": "hgx-h100", "nics": 2}, "hosts": 4},
    "parallelism": {"shard": "parameters"},
    "training": {"steps": 1, "sequence_length": 4096, "global_batch": 32, "microbatch": 1},
}


def built(**changes: object) -> Assembly:
    return assembly(from_dict({**START, **changes}))


def by_part(found: Assembly) -> dict[str, Hiding]:
    return {one.part: one for one in hiding(found)}


def seconds(nic_bandwidth: float) -> float:
    host = {**START["cluster"]["host"], "nic_bandwidth": f"{nic_bandwidth * 4:.0f}B/s"}
    return stage_clocks.time(built(cluster={**START["cluster"], "host": host}).step()).seconds


def test_with_the_bandwidth_that_hides_a_transfer_endless_bandwidth_saves_nothing():
    """Two NICs serve eight GPUs: the share of a GPU is a quarter of one."""
    data = by_part(built())["data"]
    assert data.hidden_at is not None
    assert data.hidden_at > data.bandwidth
    enough = (1 + TOLERANCE) * seconds(ENDLESS * data.bandwidth)
    assert seconds(data.hidden_at) <= enough * (1 + 1e-9)
    assert seconds(data.hidden_at / PRECISION / 1.01) > enough


def test_the_same_bandwidth_hides_whatever_there_is_now():
    more = by_part(built(cluster={"host": {"base": "hgx-h100", "nics": 8}, "hosts": 4}))["data"]
    less = by_part(built())["data"]
    assert more.bandwidth == pytest.approx(4 * less.bandwidth)
    assert more.hidden_at == pytest.approx(less.hidden_at, rel=2 * (PRECISION - 1))


def test_what_is_sent_is_what_links_carry():
    found = built(parallelism={"tensor": 8, "pipeline": 4})
    sent = carried(found)
    assert {name: one.nbytes for name, one in by_part(found).items()} == {
        name: sent[name].nbytes for name in ("tensor", "pipeline")
    }


def test_a_transfer_with_nothing_beside_it_needs_far_more():
    """Tensor parallel exchanges that nothing overlaps with hide only where they vanish."""
    tensor = by_part(built(parallelism={"tensor": 8, "pipeline": 4}))["tensor"]
    assert tensor.links == "scale-up"
    assert tensor.hidden_at is None or tensor.hidden_at > 5 * tensor.bandwidth


def test_little_bandwidth_hides_what_is_small():
    cluster, training = {"host": "hgx-h100", "hosts": 4}, {**START["training"], "global_batch": 256}
    found = built(cluster=cluster, training=training, parallelism={"tensor": 8, "pipeline": 4})
    pipeline_part = by_part(found)["pipeline"]
    assert pipeline_part.hidden_at is not None
    assert pipeline_part.bandwidth / MOST <= pipeline_part.hidden_at < pipeline_part.bandwidth


def test_one_gpu_sends_nothing():
    alone = {"host": {"base": "hgx-h100", "gpus": 1}, "hosts": 1}
    assert hiding(built(cluster=alone, parallelism={"tensor": 1})) == ()


def test_only_the_links_that_limit_a_channel_are_made_faster():
    channel = replace(built().durations.channels["shard"])
    twice = faster(channel, 2.0)
    assert twice.scale_out_bandwidth == 2 * channel.scale_out_bandwidth
    assert twice.scale_up_bandwidth == channel.scale_up_bandwidth
    inside = built(parallelism={"tensor": 8}).durations.channels["tensor"]
    assert faster(inside, 2.0).scale_up_bandwidth == 2 * inside.scale_up_bandwidth
