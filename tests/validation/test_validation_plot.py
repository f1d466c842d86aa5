"""Predicted against measured, as points of one colour a family."""

from __future__ import annotations

from dataclasses import replace

import matplotlib.figure
import pytest
from matplotlib.axes import Axes

from simulator.plots import validation
from simulator.validation.lines import Line

ONE = Line(suite="runs", id="a", family="A", quantity="step_time_s", unit="s", measured=10.0, predicted=11.0)


@pytest.fixture
def axes() -> Axes:
    return matplotlib.figure.Figure().add_subplot()


def test_each_family_is_one_set_of_points(axes: Axes) -> None:
    rows = [ONE, replace(ONE, id="b", measured=20.0), replace(ONE, id="c", family="B")]
    assert validation.draw(rows, axes) is axes
    points = [line for line in axes.lines if line.get_linestyle() == "None"]
    assert [len(line.get_xdata()) for line in points] == [2, 1]  # type: ignore[arg-type]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")


def test_nothing_to_compare_is_an_empty_picture(axes: Axes) -> None:
    validation.draw([replace(ONE, predicted=None)], axes)
    assert not axes.lines


def test_the_quantity_of_the_picture_is_the_step_time_where_there_is_one() -> None:
    memory = replace(ONE, quantity="mem_gb", unit="GB")
    kernel = replace(ONE, suite="gemm", quantity="time_us", unit="us")
    assert validation.main_quantity([kernel, memory, ONE]) == [ONE]
    assert validation.main_quantity([kernel, memory]) == [memory]
    assert validation.main_quantity([kernel]) == [kernel]
