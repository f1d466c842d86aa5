"""Weights gathered unit by unit (FSDP, ZeRO-3): what is on the wire, and what is copied beside it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.engine.assembly import assembly
from simulator.engine.contents import kinds_of
from simulator.engine.inputs import Shared
from simulator.engine.work import Piece
from simulator.machine.kernels import elementwise
from simulator.scenario import from_dict
from simulator.workload import layer
from simulator.workload.operations import Exchange
from simulator.workload.parameters import layer_on_rank
from simulator.workload.shape import Shape


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


def pieces(case):
    parts = assembly(case, Shared())
    return parts.data, parts.units.layer(kinds_of(case.model)[0])


def test_layers_are_gathered_in_the_format_they_compute_in_though_kept_in_fp32():
    case = scenario()
    assert case.training.states.weights == "fp32"
    assert pieces(case)[0].weight == 2


def test_a_layer_takes_as_much_longer_as_its_copies_read_and_write():
    plain = scenario(gather_copies=0.0, scatter_copies=0.0)
    copied = replace(plain, stack=replace(plain.stack, gather_copies=2.0, scatter_copies=4.0))
    axis, unit = pieces(copied)
    one = axis.with_copies(unit)
    nbytes = layer_on_rank(plain.model, 0, tensor=1, expert=1, expert_tensor=1)["dense"] * 2
    gpu = plain.cluster.host.gpu
    gather, scatter = elementwise.time(gpu, 2 * nbytes), elementwise.time(gpu, 4 * nbytes)
    assert one.forward.seconds - unit.forward.seconds == pytest.approx(gather)
    assert one.backward.seconds - unit.backward.seconds == pytest.approx(gather + scatter)
    assert one.forward.parts["data"] == pytest.approx(gather)


def test_weights_that_stay_gathered_for_the_backward_are_copied_once():
    axis, unit = pieces(scenario("gradients", gather_copies=2.0, scatter_copies=0.0))
    assert axis.sharded
    assert axis.with_copies(unit).backward.seconds == unit.backward.seconds


def test_with_a_pipeline_weights_may_stay_gathered_for_the_whole_step():
    """torchtitan's `reshard_after_forward=False`: one gather before the first forward, one reduction after the last."""
    alone = scenario(keep_unsharded=True)
    piped = replace(alone, parallelism=replace(alone.parallelism, pipeline=2))
    assert pieces(alone)[0].sharded
    assert not pieces(piped)[0].sharded
    chunk = assembly(piped, Shared()).chunk(assembly(piped, Shared()).chunks[0])
    assert chunk.reduce.seconds > 0
    assert chunk.gather.seconds > 0


def test_gradients_that_are_reduced_every_microbatch_are_not_summed_whole():
    """DDP and FSDP behind a pipeline that keeps them whole add them up in a buffer; FSDP adds up its shards."""
    plain = scenario(gradient_accumulation_fusion=False, keep_unsharded=True)
    piped = replace(plain, parallelism=replace(plain.parallelism, pipeline=2))

    def sums(case):
        shape = Shape.of(case.model, case.stack, case.parallelism, case.training, "flash-2")
        return [one.name for one in layer.backward(shape) if one.name.endswith("accumulate")]

    assert not sums(plain)
    assert len(sums(piped)) == 4


def test_compute_beside_a_gather_loses_sms_and_three_passes_of_memory():
    case = scenario(communication_sms=0.1, gather_copies=0.0, scatter_copies=0.0)
    axis, unit = pieces(case)
    gather = Exchange("shard", "all_gather", unit.dense * 2)
    seconds = axis.durations.seconds(gather)
    memory = 3 * gather.nbytes / case.cluster.host.gpu.memory_bandwidth
    single = replace(unit, count=2, backward=Piece(), input_gradient=Piece(), weight_gradient=Piece())
    forward = axis.gathered([single])["forward"]
    assert unit.forward.seconds > 2 * seconds
    assert forward.seconds == pytest.approx(seconds + 2 * unit.forward.seconds + 0.1 * seconds + memory)
