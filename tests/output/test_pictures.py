"""Every picture draws on axes that are given, returns them, and shows what the result says."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from simulator.outcome.results import Distribution, Result, Span
from simulator.plots import gallery

NAMES = sorted(gallery.pictures())


def test_there_is_a_picture_for_each_question() -> None:
    asked = {"waterfall", "pipeline", "memory_by_stage", "wall_clock", "finish_dates", "network"}
    assert asked <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_picture_draws_on_empty_axes_and_returns_them(name: str, result: Result) -> None:
    module = gallery.pictures()[name]
    axes = Figure().add_subplot()
    assert module.applies(result)
    assert module.draw(result, axes) is axes
    assert axes.has_data() or axes.patches
    assert axes.get_title(loc="left") or axes.get_title()


def test_pictures_that_apply_can_be_drawn(any_result: Result) -> None:
    with gallery.style():
        for name, module in gallery.pictures().items():
            if module.applies(any_result):
                gallery.figure(name, any_result).draw_without_rendering()


def test_pictures_without_data_do_not_apply(result: Result) -> None:
    empty = replace(
        result,
        memory=None,
        spans=(),
        step=replace(result.step, waterfall=(), links=()),
        run=replace(result.run, samples=(), parts_s={"train": 1.0}),
    )
    assert not any(module.applies(empty) for module in gallery.pictures().values())


def test_memory_has_a_bar_for_each_part_of_each_stage(result: Result) -> None:
    axes = gallery.pictures()["memory_by_stage"].draw(result, Figure().add_subplot())
    assert result.memory is not None
    assert sum(patch.get_height() for patch in axes.patches) == pytest.approx(
        sum(stage["peak_bytes"] for stage in result.memory.stages) / 2**30
    )


def test_waterfall_falls_from_the_peak_to_what_is_delivered(result: Result) -> None:
    axes = gallery.pictures()["waterfall"].draw(result, Figure().add_subplot())
    peak, *causes, delivered = (patch.get_width() for patch in axes.patches)
    assert peak - sum(causes) == pytest.approx(delivered)
    assert axes.patches[-2].get_x() == pytest.approx(delivered)


def test_pipeline_draws_what_a_stage_computes_and_leaves_the_bubble_blank(result: Result) -> None:
    spans = (
        Span(track="stage 0 compute", name="F0", start=0.0, duration=1.0, kind="F"),
        Span(track="stage 1 compute", name="F0", start=1.0, duration=1.0, kind="F"),
        Span(track="stage 0 pipeline", name="send", start=1.0, duration=0.1, kind="pipeline"),
        Span(track="stage 1 compute", name="B0", start=2.0, duration=2.0, kind="B"),
        Span(track="stage 0 compute", name="B0", start=4.0, duration=2.0, kind="B"),
    )
    axes = gallery.pictures()["pipeline"].draw(replace(result, spans=spans), Figure().add_subplot())
    boxes = {drawn.get_label(): len(drawn.get_paths()) for drawn in axes.collections}
    assert boxes == {"forward": 2, "backward": 2}
    assert [text.get_text() for text in axes.texts] == ["0"] * 4


@pytest.mark.parametrize("name", NAMES)
def test_svg_is_well_formed_and_the_same_every_time(name: str, result: Result) -> None:
    drawn = gallery.svg(name, result)
    assert ElementTree.fromstring(drawn).tag.endswith("svg")
    assert drawn == gallery.svg(name, result)


def test_every_picture_is_a_png_and_an_svg(result: Result) -> None:
    made = dict(gallery.files(result))
    assert set(made) == {f"{name}.{suffix}" for name in NAMES for suffix in ("png", "svg")}
    assert all(len(content) > 1000 for content in made.values())


def test_drawing_leaves_the_settings_of_the_caller_alone(result: Result) -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    gallery.svg("waterfall", result)
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize("name", NAMES)
def test_words_stay_in_their_picture(name: str, result: Result) -> None:
    with gallery.style():
        figure = gallery.figure(name, result)
        figure.draw_without_rendering()
        (axes,) = figure.axes
        named = [
            label
            for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim()))
            for place, label in zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)
            if min(limits) <= place <= max(limits) and axes.axison
        ]
        ticks = {id(label) for axis in (axes.xaxis, axes.yaxis) for label in axis.findobj(Text)}
        labels = (axes.xaxis.label, axes.yaxis.label) if axes.axison else ()
        words = [*named, *labels, *(text for text in figure.findobj(Text) if id(text) not in ticks)]
        for text in words:
            if text.get_visible() and text.get_text():
                extent = text.get_window_extent()
                assert figure.bbox.x0 - 1 <= extent.x0 <= extent.x1 <= figure.bbox.x1 + 1, text
                assert figure.bbox.y0 - 1 <= extent.y0 <= extent.y1 <= figure.bbox.y1 + 1, text


def test_the_legend_of_the_pipeline_leaves_the_title_alone(result: Result) -> None:
    spans = tuple(
        Span(track="stage 0 compute", name=f"{kind}{place}", start=float(place), duration=1.0, kind=kind)
        for place, kind in enumerate(("forward", "recompute", "input-gradient", "weight-gradient", "data", "optimizer"))
    )
    with gallery.style():
        figure = gallery.figure("pipeline", replace(result, spans=spans))
        figure.draw_without_rendering()
        (axes,) = figure.axes
        (title,) = [text for text in axes.findobj(Text) if text.get_text() == axes.get_title(loc="left")]
        legend = axes.get_legend()
        assert legend is not None
        assert not legend.get_window_extent().overlaps(title.get_window_extent())


def test_runs_that_end_alike_have_one_mark(result: Result) -> None:
    alike = Distribution(mean=8e5, p10=8e5, p50=8e5, p90=8e5)
    run = replace(result.run, samples=(8e5,) * 5, wall_clock_s=alike)
    axes = gallery.pictures()["finish_dates"].draw(replace(result, run=run), Figure().add_subplot())
    assert [text.get_text() for text in axes.texts] == ["P10 to P90  9.26"]
    assert axes.get_title() == "Every run ends after 9.26 days"


def test_finish_dates_say_that_they_take_the_step_as_predicted(result: Result) -> None:
    axes = gallery.pictures()["finish_dates"].draw(result, Figure().add_subplot())
    assert axes.get_xlabel().endswith("the step as predicted")


@pytest.mark.parametrize(("seconds", "unit"), [(20.0, "seconds"), (96.0, "minutes"), (3e4, "hours"), (3e5, "days")])
def test_what_is_not_training_is_told_in_the_unit_of_its_axis(seconds: float, unit: str, result: Result) -> None:
    run = replace(result.run, parts_s={"train": 1e6, "checkpoint": seconds})
    axes = gallery.pictures()["wall_clock"].draw(replace(result, run=run), Figure().add_subplot())
    assert axes.get_xlabel().startswith(unit)
    assert unit in axes.texts[0].get_text()
