"""Units too small to fill the GPU take as long as the host needs for their calls."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.engine.prices.assembly import assembly
from simulator.engine.prices.constants import Shared
from simulator.engine.prices.stage_units import Units
from simulator.engine.step.local_clock import alone
from simulator.engine.step.work import Unit
from simulator.scenario import from_dict
from simulator.workload.layers import blocks_of


def units(tensor: int = 1, **stack: object) -> Units:
    read = from_dict(
        {
            "version": 1,
            "model": {"layers": 2, "hidden": 256, "heads": 8, "vocabulary": 1024, "gated": False},
            "cluster": {"host": "dgx-h100", "hosts": 1},
            "parallelism": {"tensor": tensor},
            "training": {"tokens": "1M", "sequence_length": 128, "global_batch": 8, "microbatch": 1},
        }
    )
    software = replace(read.stack, cpu_layer=2.2e-3, cpu_layer_tensor=2.2e-3, **stack)
    return assembly(replace(read, stack=software), Shared()).units


def seconds(unit: Unit, phase: str) -> float:
    return alone(unit.phases[phase]).seconds


def layer(held: Units) -> tuple[float, float]:
    unit = held.layer(blocks_of(held.rank.model, 0))
    return seconds(unit, "F"), seconds(unit, "B")


def test_a_layer_takes_its_calls_and_a_backward_1_6_times_as_many():
    assert layer(units()) == pytest.approx((2.2e-3, 1.6 * 2.2e-3))


def test_embedding_and_head_take_their_share_of_the_calls_of_a_layer():
    held = units()
    embedding, head = held.embedding, held.head(beside_embedding=False)
    assert seconds(embedding, "F") == pytest.approx(6 * 0.1e-3)
    assert seconds(head, "F") == pytest.approx(16 * 0.1e-3)
    assert seconds(head, "B") == pytest.approx(1.6 * 16 * 0.1e-3)


def test_a_softmax_that_no_fused_kernel_takes_is_seven_calls_more():
    assert layer(units(tensor=2, attention="unfused"))[0] == pytest.approx(22 * 0.1e-3)
    assert layer(units(tensor=4, attention="unfused"))[0] == pytest.approx(29 * 0.1e-3)
    assert layer(units(tensor=4, attention="unfused", softmax="eager"))[0] == pytest.approx(22 * 0.1e-3)


def test_graphs_take_the_host_no_time():
    assert seconds(units(cuda_graphs=True).head(beside_embedding=False), "F") < 0.2e-3
    assert layer(units(cuda_graphs=True))[0] < 0.2e-3
