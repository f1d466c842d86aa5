"""Layouts: none is missing, each is what `predict` says of it, and what does not fit says by how much."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import pytest

from simulator.errors import ScenarioError
from simulator.scenario import Scenario, read
from simulator.simulation import predict
from simulator.studies import best, ranking
from simulator.studies import layouts as study
from simulator.studies.point import Base
from simulator.studies.space import Space, divisors

SMALL = """\
version: 1
model: {base: llama-3.1-8b, layers: 16}
cluster: {host: hgx-h100, hosts: 4}
stack: megatron-core-2024
parallelism: {tensor: 2}
training: {tokens: 1T, sequence_length: 2048, global_batch: 64, microbatch: 1}
search: {context: [1], recompute: [none], shard: [optimizer]}
runs: 1
"""
EXPERTS = SMALL.replace("{base: llama-3.1-8b, layers: 16}", "{base: mixtral-8x7b, layers: 8}")


def all_of(text: str) -> tuple[Scenario, list[Scenario]]:
    scenario = read(text)
    return scenario, Space(scenario).layouts()


def rows_of(text: str) -> list[tuple[dict[str, Any], Scenario]]:
    base = Base("small", text)
    scenario, found = all_of(text)
    groups = study.groups(base, found)
    rows = [row for group in groups for row in study.evaluate(group)["layouts"]]
    layouts = [layout.of(scenario) for group in groups for layout in group.layouts]
    return list(zip(rows, layouts, strict=True))


def test_every_valid_layout_is_there_once() -> None:
    gpus, batch, layers, heads = 32, 64, 16, 32
    expected = set()
    for tensor, pipeline, microbatch in product(divisors(8), range(1, layers + 1), (1, 2, 4, 8)):
        if heads % tensor or gpus % (tensor * pipeline) or batch % (gpus // tensor // pipeline * microbatch):
            continue
        chunks = [n for n in range(1, layers // pipeline + 1) if layers % (n * pipeline) == 0] if pipeline > 1 else [1]
        expected |= {(tensor, pipeline, each, microbatch) for each in chunks}
    found = [
        (p.tensor, p.pipeline, p.schedule.chunks_per_stage, one.training.microbatch)
        for one in all_of(SMALL)[1]
        if (p := one.parallelism)
    ]
    assert len(found) == len(set(found))
    assert set(found) == expected


def test_axes_that_are_left_out_multiply() -> None:
    without = len(all_of(SMALL)[1])
    some = SMALL.replace("recompute: [none], shard: [optimizer]", "recompute: [none, full]")
    assert len(all_of(some)[1]) == without * 2 * 4


def test_experts_are_divided_by_every_divisor_of_their_count() -> None:
    found = {one.parallelism.expert for one in all_of(EXPERTS)[1] if one.parallelism}
    assert found == {1, 2, 4, 8}


@pytest.mark.parametrize("text", [SMALL, EXPERTS, SMALL.replace("[optimizer]", "[parameters, gradients]")])
def test_a_layout_is_what_predict_says_of_it(text: str) -> None:
    found = random.Random(1).sample(rows_of(text), 25)
    for row, scenario in found:
        predicted = predict(scenario)
        assert row["peak_bytes"] == predicted.memory.peak_bytes
        assert row["verdict"] == predicted.memory.verdict
        if row["verdict"] == "oom":
            assert row["reason"].startswith(f"stage {predicted.memory.worst_stage} needs")
            assert "step_time_s" not in row
        else:
            assert row["step_time_s"] <= predicted.step_time_s * 1.005
            assert row["step_time_s"] == pytest.approx(predicted.step_time_s, rel=0.12)


def test_no_bound_is_above_the_simulated_step() -> None:
    found = [scenario for row, scenario in rows_of(SMALL) if row["verdict"] == "fits"][:20]
    for row, scenario in zip(study.exactly(found), found, strict=True):
        assert row["step_time_s"] <= predict(scenario).step_time_s * (1 + 1e-9)


def speed(row: dict[str, Any]) -> float | None:
    return row.get("step_time_s")


def test_the_first_is_proven() -> None:
    """All layouts simulated: none is faster than the first, and those that are said to be simulated are."""
    base, (start, found) = Base("small", SMALL), all_of(SMALL)
    groups = study.groups(base, found)
    rows = [row for group in groups for row in study.evaluate(group)["layouts"]]
    layouts = [layout for group in groups for layout in group.layouts]
    best.time_exactly(start, rows, layouts)
    both = [(row, predict(one.of(start)).step_time_s) for row, one in zip(rows, layouts, strict=True) if speed(row)]
    first = ranking.ordered(rows)[0]
    able = [seconds for row, seconds in both if row["p_fits"] >= ranking.LIKELY]
    assert first["simulated"]
    assert first["step_time_s"] == pytest.approx(min(able), rel=1e-9)
    assert all(row["step_time_s"] == pytest.approx(seconds) for row, seconds in both if row["simulated"])


def test_rows_do_not_depend_on_who_is_beside_them() -> None:
    base, (_, found) = Base("small", SMALL), all_of(SMALL)
    together = [row for group in study.groups(base, found) for row in study.evaluate(group)["layouts"]]
    alone = [
        row
        for group in study.groups(base, found)
        for layout in group.layouts
        for row in study.evaluate(study.Group(base, (layout,)))["layouts"]
    ]
    assert together == alone


def test_a_measured_step_has_no_layouts(measured: str) -> None:
    with pytest.raises(ScenarioError, match="no model"):
        Space(read(measured))
