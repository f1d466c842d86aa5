"""Layouts that one paper measured are ranked by ``layouts`` as ``validate`` predicts them: one physics, one order."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from simulator.scenario import Scenario, from_dict
from simulator.simulation import fits, predict
from simulator.studies import layouts
from simulator.studies.layouts import Layout, exactly
from simulator.studies.point import Base
from simulator.studies.space import Space
from simulator.validation import files
from simulator.validation.expression import InexpressibleError
from simulator.validation.rows import expression

CLOSE = 0.005
"""How near the extrapolated bound of a ranking is to the one worked out task by task."""
AXES = ("tensor", "pipeline", "context", "expert")


def layout(scenario: Scenario) -> Layout:
    assert scenario.parallelism is not None
    return Layout(scenario.parallelism, scenario.training)


def rows(group: str) -> list[dict[str, Any]]:
    """Return the rows of a group as scenarios in plain data."""
    (runs,) = (path for path in files.shipped() if path.stem == "runs")
    found = []
    for row in files.read(runs).rows:
        if row.text("group") != group:
            continue
        try:
            (plain,) = expression(row).scenarios
        except InexpressibleError:
            continue
        found.append(plain)
    return found


def restricted(group: str) -> tuple[Base, list[Scenario]]:
    """Return the first row as a start whose search has the values of all rows, and the scenario of each row."""
    plain = rows(group)
    scenarios = [from_dict(one) for one in plain]
    search: dict[str, list[Any]] = {}
    for one in scenarios:
        for axis, value in layout(one).columns.items():
            search.setdefault(axis, []).append(value)
    axes = {axis: list(dict.fromkeys(values)) for axis, values in search.items() if axis != "data"}
    return Base(group, yaml.safe_dump({**plain[0], "search": axes}, sort_keys=False)), scenarios


@pytest.mark.parametrize("group", ["VT:3.559B", "VT:18.444B"])
def test_a_published_group_is_ranked_as_it_is_validated(group: str) -> None:
    base, scenarios = restricted(group)
    start = base.read()
    assert len(scenarios) > 10
    of_rows = [layout(one) for one in scenarios]

    offered = {repr(layout(one)) for one in Space(start).layouts()}
    assert {repr(one) for one in of_rows} <= offered

    able = [one for one in scenarios if fits(one).verdict != "oom"]
    predicted = [predict(one).step_time_s for one in able]
    exact = [row["step_time_s"] for row in exactly([layout(one).of(start) for one in able])]
    assert exact == pytest.approx(predicted, rel=1e-9)

    ranked: dict[str, Any] = {}
    for group_ in layouts.groups(base, [one.of(start) for one in of_rows]):
        found = zip(group_.layouts, layouts.evaluate(group_)["layouts"], strict=True)
        ranked |= {repr(one): row for one, row in found}
    quick = [ranked[repr(layout(one))]["step_time_s"] for one in able]
    assert quick == pytest.approx(predicted, rel=CLOSE)
