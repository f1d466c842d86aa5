"""Drawings of studies draw on the axes that they are given, and return them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from matplotlib.figure import Figure

from simulator.errors import ScenarioError
from simulator.plots import canvas, pareto, policies, tornado, what_if
from simulator.studies.columns import infeasible
from simulator.studies.tornado import INPUTS
from simulator.studies.vary import Axis


def row(value: float | None, **more: Any) -> dict[str, Any]:
    """A row of a study whose figures all are `value`."""
    if value is None:
        return {"scenario": "a", **more, **infeasible("it does not divide"), "best": False}
    figures = {
        "verdict": "fits",
        "progress": True,
        "step_time_s": value,
        "dollars_p50": 1e6 * value,
        "dollars_p10": 0.9e6 * value,
        "dollars_p90": 1.1e6 * value,
        "headroom_bytes": 2**30 * value,
        "best": value == 1.0,
    }
    return {"scenario": "a", **figures, **more}


NUMBERS, WORDS = Axis("a.x", ("1", "2", "16")), Axis("b.kind", ("one", "two"))
SPLIT = {"tensor": 1, "pipeline": 1, "context": 1, "expert": 1, "data": 1, "chunks": 1}
TIMES = Axis("c.interval", ("5min", "1h"))


def drawn(axes: Sequence[Axis], metric: str = "step_time_s") -> Any:
    from itertools import product

    values = [dict(zip([a.key for a in axes], each, strict=True)) for each in product(*(a.values for a in axes))]
    rows = [row(None if index == 1 else 1.0 + index, **one) for index, one in enumerate(values)]
    drawing = Figure().add_subplot()
    assert what_if.draw(rows, axes, metric, drawing) is drawing
    return drawing


def test_numbers_make_a_line_with_a_gap_for_what_cannot_be_run() -> None:
    drawing = drawn([NUMBERS])
    assert [len(line.get_xdata()) for line in drawing.lines] == [2]
    assert drawing.get_xscale() == "log"


def test_points_of_a_line_say_how_far_they_are_from_the_best() -> None:
    """Values 1 and 3: the second takes three times as long."""
    assert [words.get_text() for words in drawn([NUMBERS]).texts] == ["best", "+200%"]


def test_words_make_bars() -> None:
    drawing = drawn([WORDS])
    assert len(drawing.patches) == 1
    assert [label.get_text() for label in drawing.get_yticklabels()] == ["one", "two"]
    assert drawing.get_ylabel() == "b.kind"


def test_two_keys_of_one_sort_make_a_heat_map() -> None:
    assert len(drawn([NUMBERS, TIMES]).patches) == 3 * 2 + 1
    assert len(drawn([WORDS, Axis("d", ("x", "y"))]).patches) == 2 * 2 + 1


def test_a_few_words_beside_numbers_make_a_line_each() -> None:
    assert len(drawn([NUMBERS, WORDS]).lines) == 2


def test_a_median_has_a_band_between_its_percentiles() -> None:
    assert len(drawn([NUMBERS], "dollars_p50").collections) == 1


def test_the_best_policy_is_ringed() -> None:
    rows = [row(value, **{"a.x": x}) for x, value in zip(NUMBERS.values, (2.0, 1.0, 3.0), strict=True)]
    drawing = Figure().add_subplot()
    assert policies.draw(rows, [NUMBERS], "step_time_s", drawing) is drawing
    assert list(drawing.lines[-1].get_xdata()) == [2.0]


def test_the_front_is_drawn_over_all_layouts() -> None:
    rows = [row(value, **SPLIT) for value in (1.0, 1.5, 1.9)]
    drawing = Figure().add_subplot()
    assert pareto.draw(rows, drawing) is drawing
    assert len(drawing.lines[0].get_xdata()) == 3
    assert pareto.draw([], Figure().add_subplot()).get_title("left") or True


def test_swings_are_bars_on_both_sides() -> None:
    rows = [{**row(2.0), "input": "", "times": 1.0}]
    for name, one in INPUTS.items():
        rows += [{**row(value), "input": name, "times": times} for times, value in ((one.low, 1.0), (one.high, 4.0))]
    drawing = Figure().add_subplot()
    assert tornado.draw(rows, "step_time_s", drawing) is drawing
    assert len(drawing.patches) == 2 * len(INPUTS)


def test_a_drawing_is_the_same_bytes_every_time(tmp_path: Any) -> None:
    def draw(drawing: Any) -> None:
        drawing.plot([1, 2], [3, 4])

    for suffix in canvas.FORMATS:
        first, second = tmp_path / f"a/x{suffix}", tmp_path / f"b/x{suffix}"
        canvas.save(draw, first)
        canvas.save(draw, second)
        assert first.read_bytes() == second.read_bytes()
    with pytest.raises(ScenarioError, match="ends in"):
        canvas.save(draw, tmp_path / "x.bmp")


def test_a_tight_point_that_is_better_is_not_called_the_best() -> None:
    rows = [row(1.0, **{"a.x": "1", "verdict": "tight"}), row(2.0, **{"a.x": "2"}), row(3.0, **{"a.x": "16"})]
    axes = what_if.draw(rows, [NUMBERS], "step_time_s", Figure().subplots())
    assert axes.get_title() == "Lowest step time: x 2"
    assert [text.get_text() for text in axes.texts] == ["-50%, tight", "best", "+50%"]


def test_a_tight_cell_says_so_and_the_best_that_surely_fits_is_framed() -> None:
    rows = [
        row(value, **{"b.kind": kind, "d": d, "verdict": verdict})
        for kind, d, value, verdict in (
            ("one", "x", 1.0, "tight"),
            ("one", "y", 2.0, "fits"),
            ("two", "x", 3.0, "fits"),
            ("two", "y", 4.0, "fits"),
        )
    ]
    drawing = what_if.draw(rows, [WORDS, Axis("d", ("x", "y"))], "step_time_s", Figure().add_subplot())
    assert [text.get_text() for text in drawing.texts] == ["1.00\ntight", "2.00", "3.00", "4.00"]
    (frame,) = [patch for patch in drawing.patches if not patch.get_fill()]
    assert (frame.get_x(), frame.get_y()) == (0.5, -0.5)
    assert not frame.get_clip_on()


def test_lines_differ_in_shape_and_colour() -> None:
    lines = drawn([NUMBERS, WORDS]).lines
    assert len({line.get_marker() for line in lines}) == len({line.get_color() for line in lines}) == 2


def test_bars_that_there_is_no_room_for_are_counted() -> None:
    many = Axis("b.kind", tuple(f"kind {place}" for place in range(50)))
    drawing = drawn([many])
    assert drawing.get_xlabel().endswith("; the first 40 of 50 points")


def test_values_that_would_run_into_each_other_are_not_all_named() -> None:
    near = Axis("a.x", ("0", "1", "2", "64"))
    assert [label.get_text() for label in drawn([near]).get_xticklabels()] == ["0", "", "", "64"]


def test_a_title_that_is_too_long_is_broken(tmp_path: Any) -> None:
    found: list[Any] = []

    def draw(drawing: Any) -> None:
        found.append(drawing)
        drawing.set_title("Lowest cost: " + "{kind: young-daly, mode: async}, " * 4)

    canvas.save(draw, tmp_path / "x.png")
    (axes,) = found
    title = axes.get_title(loc="left")
    assert "\n" in title
    axes.figure.draw_without_rendering()
    extents = [child.get_window_extent() for child in axes.get_children() if getattr(child, "get_text", str)() == title]
    assert extents[0].x1 <= axes.figure.bbox.x1


def test_the_legend_of_layouts_counts_what_is_inside_the_axes_and_the_axis_the_rest() -> None:
    rows = [row(1.0 + place / 10, **SPLIT, verdict="tight" if place % 3 else "fits") for place in range(25)]
    drawing = pareto.draw(rows, Figure().add_subplot())
    (left, right), (low, high) = drawing.get_xlim(), drawing.get_ylim()
    for points in drawing.collections[:2]:
        count = int(str(points.get_label()).partition("(")[2].removesuffix(")"))
        assert count == len(points.get_offsets())
        assert all(left <= x <= right and low <= y <= high for x, y in points.get_offsets())
    inside = sum(len(points.get_offsets()) for points in drawing.collections[:2])
    assert drawing.get_xlabel() == f"step time (s); {25 - inside} more take over 2 times as long"
    assert drawing.get_title().startswith("25 of 25 layouts fit")


def test_verdicts_of_layouts_differ_in_shape() -> None:
    rows = [row(1.0, **SPLIT), row(1.5, **SPLIT, verdict="tight")]
    fits, tight = pareto.draw(rows, Figure().add_subplot()).collections[:2]
    assert fits.get_paths()[0].vertices.shape != tight.get_paths()[0].vertices.shape
