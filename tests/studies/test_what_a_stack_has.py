"""What a framework lacks is refused with what it has instead, and neither searched nor advised."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from simulator import catalog
from simulator.errors import ScenarioError
from simulator.kinds import members
from simulator.scenario import Scenario, from_dict
from simulator.studies.advice import advise
from simulator.studies.changes import possible
from simulator.studies.remedies import REMEDIES
from simulator.studies.space import Space, contradiction
from simulator.workload.schedules import Schedule
from simulator.workload.stack import AXES, LEVELS, Stack

NAMES = catalog.names("stack")
EXPERTS = {"count": 8, "active": 2, "ffn": 512}


def scenario(stack: str | dict[str, Any], *, experts: bool = False, **layout: Any) -> Scenario:
    model = {"layers": 8, "hidden": 1024, "heads": 8, "vocabulary": 1024} | ({"experts": EXPERTS} if experts else {})
    return from_dict(
        {
            "version": 1,
            "model": model,
            "cluster": {"host": "dgx-h100", "hosts": 2},
            "stack": stack,
            "parallelism": layout,
            "training": {"steps": 10, "sequence_length": 4096, "global_batch": 64, "microbatch": 1},
            "search": {"microbatch": [1], "recompute": ["none"]},
        }
    )


@pytest.mark.parametrize("axis", AXES)
def test_an_axis_that_is_not_there_is_refused(axis: str) -> None:
    others = [one for one in AXES if one != axis]
    layout: dict[str, Any] = {axis: 2}
    scenario("generic", experts=True, **layout)
    scenario({"base": "generic", "axes": [axis]}, experts=True, **layout)
    has = f"{', '.join(others)} and data"
    says = f"parallelism.{axis}: generic 2024 has no {axis} parallelism; stack.axes says that it has {has}"
    with pytest.raises(ScenarioError, match=says):
        scenario({"base": "generic", "axes": others}, experts=True, **layout)


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_of_sharding_that_is_not_there_is_refused(level: str) -> None:
    others = [one for one in LEVELS if one != level]
    scenario({"base": "generic", "shards": [level]}, shard=level)
    scenario({"base": "generic", "shards": others}, shard=level, tensor=8, pipeline=2)
    with pytest.raises(ScenarioError, match=r"parallelism.shard: generic 2024 .*; stack.shards says that it has"):
        scenario({"base": "generic", "shards": others}, shard=level)


@pytest.mark.parametrize("kind", members(Schedule))
def test_a_schedule_that_is_not_there_is_refused(kind: str) -> None:
    others = [one for one in members(Schedule) if one != kind]
    scenario({"base": "generic", "schedules": [kind]}, pipeline=2, schedule=kind)
    says = f"parallelism.schedule: generic 2024 has no schedule {kind}; stack.schedules says that it has"
    with pytest.raises(ScenarioError, match=says):
        scenario({"base": "generic", "schedules": others}, pipeline=2, schedule=kind)
    with pytest.raises(ScenarioError, match=r"schedules.*unknown value `1f1B`"):
        scenario({"base": "generic", "schedules": ["1f1B"]})


@pytest.mark.parametrize("name", NAMES)
def test_no_search_finds_what_a_stack_does_not_have(name: str) -> None:
    start = scenario(name, experts=True)
    found = Space(start).layouts()
    assert found
    for one in found:
        layout, stack = one.parallelism, one.stack
        assert layout is not None
        sizes = {"tensor": layout.tensor, "pipeline": layout.pipeline, "context": layout.context.size}
        sizes["expert"] = layout.expert
        assert {axis for axis, size in sizes.items() if size > 1} <= set(stack.axes)
        assert one.data == 1 or layout.shard.level in stack.shards
        assert layout.pipeline == 1 or stack.schedules is None or layout.schedule.kind in stack.schedules
        assert possible(one)


def test_the_generic_stack_has_everything() -> None:
    stack = scenario("generic").stack
    assert (stack.axes, stack.shards, stack.schedules) == (AXES, LEVELS, None)
    sizes = {one.parallelism.pipeline for one in Space(scenario("generic")).layouts() if one.parallelism}
    assert sizes == {1, 2, 4, 8}


def test_values_of_a_search_that_a_stack_does_not_have_are_left_out_with_the_reason() -> None:
    start = replace(scenario("torchtune-2025"), search={"tensor": (1,), "pipeline": (1, 2), "context": (1,)})
    space = Space(start)
    assert {one.parallelism.pipeline for one in space.layouts() if one.parallelism} == {1}
    assert "torchtune 2025 does not have such an axis or schedule" in space.without


def advised(stack: str) -> tuple[set[str], set[str]]:
    """Return the settings that advice names, and those of all changes that the sections of a scenario allow."""
    case = from_dict(
        {
            "version": 1,
            "model": "llama-3.1-70b",
            "cluster": {"host": "dgx-h100", "hosts": 2},
            "stack": stack,
            "parallelism": {"tensor": 1, "shard": "parameters"},
            "training": {"steps": 10, "sequence_length": 8192, "global_batch": 64, "microbatch": 4},
        }
    )
    allowed = [change for remedy in REMEDIES for change in remedy(case) if possible(change.scenario)]
    named = {setting for one in advise(case) for setting in one.settings}
    return named, {setting for change in allowed for setting in change.settings}


def test_advice_names_nothing_that_a_stack_does_not_have() -> None:
    for settings in advised("torchtune-2025"):
        assert not [one for one in settings if one.startswith(("parallelism.pipeline", "parallelism.schedule"))]
    assert [one for one in advised("generic")[1] if one.startswith("parallelism.pipeline")]


def test_a_plan_keeps_no_layout_that_a_stack_does_not_have() -> None:
    fine = scenario("generic", pipeline=2)
    assert contradiction(fine) is None
    lacking: Stack = replace(fine.stack, axes=("tensor",))
    assert contradiction(replace(fine, stack=lacking)) == "generic 2024 does not have such an axis or schedule"
