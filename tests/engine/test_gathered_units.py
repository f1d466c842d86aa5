"""Weights gathered unit by unit (FSDP, ZeRO-3): what is on the wire, and what is copied beside it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.engine.prices.assembly import assembly
from simulator.engine.prices.constants import Shared
from simulator.engine.step.local_clock import alone
from simulator.engine.step.pieces import COMPUTE
from simulator.engine.step.work import Chunk, Unit
from simulator.machine.kernels import elementwise
from simulator.scenario import from_dict
from simulator.workload import layer
from simulator.workload.layers import blocks_of
from simulator.workload.operations import Exchange
from simulator.workload.rank import Rank


def scenario(shard="parameters", **stack):
    read = from_dict(
        {
            "version": 1,
            "model": "llama-3-8b",
            "cluster": {"host": "dgx-h100", "hosts": 1},
            "stack": "fsdp-2023",
            "parallelism": {"shard": shard},
            "training": {"tokens": "1B", "sequence_length": 8192, "global_batch": 8, "microbatch": 1},
        }
    )
    return replace(read, stack=replace(read.stack, **stack))


def seconds(unit: Unit, phase: str) -> float:
    return alone(unit.phases[phase]).seconds


def pieces(case):
    parts = assembly(case, Shared())
    return parts.data, parts.units.layer(blocks_of(case.model, 0))


def test_layers_are_gathered_in_the_format_they_compute_in_though_kept_in_fp32():
    case = scenario()
    assert case.training.states.weights == "fp32"
    assert pieces(case)[0].weight == 2


def test_a_layer_takes_as_much_longer_as_its_copies_read_and_write():
    plain = scenario(gather_copies=0.0, scatter_copies=0.0)
    copied = replace(plain, stack=replace(plain.stack, gather_copies=2.0, scatter_copies=4.0))
    axis, unit = pieces(copied)
    one = axis.gathered(unit)
    nbytes = 2 * (unit.dense + unit.experts)
    gpu = plain.cluster.host.gpu
    gather, scatter = elementwise.time(gpu, 2 * nbytes), elementwise.time(gpu, 4 * nbytes)
    assert seconds(one, "F") - seconds(unit, "F") == pytest.approx(gather)
    assert seconds(one, "B") - seconds(unit, "B") == pytest.approx(gather + scatter)
    assert alone(one.phases["F"]).parts["data"] == pytest.approx(gather)


def test_weights_that_stay_gathered_for_the_backward_are_copied_once():
    axis, unit = pieces(scenario("gradients", gather_copies=2.0, scatter_copies=0.0))
    assert axis.sharded
    assert seconds(axis.gathered(unit), "B") == seconds(unit, "B")


def test_with_a_pipeline_weights_may_stay_gathered_for_the_whole_step():
    """torchtitan's `reshard_after_forward=False`: one gather before the first forward, one reduction after the last."""
    alone = scenario(keep_unsharded=True)
    piped = replace(alone, parallelism=replace(alone.parallelism, pipeline=2))
    assert pieces(alone)[0].sharded
    assert not pieces(piped)[0].sharded
    chunk = assembly(piped, Shared()).chunk(assembly(piped, Shared()).chunks[0])
    assert all(one.seconds > 0 for one in (*chunk.reduce, *chunk.gather))
    assert len(chunk.reduce) == len(chunk.gather) == len(chunk.layers)


def test_gradients_that_are_reduced_every_microbatch_are_not_summed_whole():
    """DDP and FSDP behind a pipeline that keeps them whole add them up in a buffer; FSDP adds up its shards."""
    plain = scenario(gradient_accumulation_fusion=False, keep_unsharded=True)
    piped = replace(plain, parallelism=replace(plain.parallelism, pipeline=2))

    def sums(case):
        rank = Rank.of(case.model, case.stack, case.parallelism, case.training)
        program = layer.backward(rank, blocks_of(case.model, 0))
        return [one.name for one in program if one.name.endswith("accumulate")]

    assert not sums(plain)
    assert len(sums(piped)) == 4


def test_compute_beside_a_gather_loses_sms_where_it_computes_and_three_passes_where_it_moves_bytes():
    case = scenario(communication_sms=0.1, gather_copies=0.0, scatter_copies=0.0)
    axis, unit = pieces(case)
    gather = Exchange("shard", "all_gather", unit.dense * 2)
    gathering = axis.durations.seconds(gather)
    memory = 3 * gather.nbytes * 7 / 8 / gathering / case.cluster.host.gpu.memory_bandwidth
    assert axis.durations.taken(gather) == pytest.approx((0.1, memory))
    forward = alone(Chunk(units=(replace(axis.gathered(unit), count=2),), prefetch=1).phases["F"])
    (piece,) = unit.pieces["F"]
    (mix,) = {item.memory for item in piece.items if item.stream == COMPUTE}
    left = 1 / ((1 - mix) / 0.9 + mix / (1 - memory))
    assert 0.05 < mix < 0.4
    assert seconds(unit, "F") > 2 * gathering
    assert forward.seconds == pytest.approx(2 * gathering + 2 * seconds(unit, "F") - left * gathering)
