"""The report for a terminal: the verdict first, 80 columns, readable without colour."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.console import Console

from simulator.io.terminal import page, table
from simulator.outcome.results import Result
from simulator.report import text


def test_text_fits_80_columns(any_result: Result) -> None:
    assert max(map(len, text.write(any_result).splitlines())) <= 80


def test_text_has_no_colour_without_a_terminal(any_result: Result) -> None:
    assert "\x1b" not in text.write(any_result)


def test_text_has_colour_on_a_terminal_that_wants_it(result: Result) -> None:
    assert "\x1b[" in text.write(result, Console(force_terminal=True, color_system="truecolor"))


@pytest.mark.parametrize(
    ("scenario", "first"),
    [("llama", "FITS"), ("out_of_memory", "DOES NOT FIT"), ("measured_step", "NOT CHECKED")],
)
def test_the_verdict_comes_first(scenario: str, first: str) -> None:
    import example_result

    assert text.write(getattr(example_result, scenario)()).startswith(first)


def test_the_verdict_takes_one_line(any_result: Result) -> None:
    assert text.write(any_result).splitlines()[1].startswith("step 6.48 s")


def test_text_tells_everything_that_decides(result: Result) -> None:
    told = text.write(result)
    for words in (
        "52.1 of 79.1 GiB",
        "P(fits) 93%",
        "MFU 40.4%",
        "6N + causal attention",
        "P10 75.8 days, P90 78.2 days",
        "goodput 90.4%",
        "faulty GPU",
        "checkpoint every",
        "GPU-hours",
        "29.7 GWh",
        "recovery.repair",
        "arXiv 2410.21680",
        "traffic of other jobs",
    ):
        assert words in told


def test_names_are_neither_markup_nor_control_characters(result: Result) -> None:
    hostile = replace(result, scenario=result.scenario | {"name": "[red]x[/red]\x1b[2J\x07 :smile:"})
    told = text.write(hostile)
    assert r"[red]x[/red]\x1b[2J\x07 :smile:" in told
    assert "\x1b" not in told


def test_long_names_wrap(result: Result) -> None:
    long = replace(result, scenario=result.scenario | {"name": "a" * 300})
    assert max(map(len, text.write(long).splitlines())) <= 80


def test_table_puts_numbers_to_the_right_and_wraps_the_last_column() -> None:
    rows = [("a", "1", "words " * 30), ("b", "1,000", "")]
    lines = page([table(("name", "count", "says"), rows)]).splitlines()
    assert lines[0].startswith("name  count  says")
    assert lines[1].startswith("a         1  words")
    assert max(map(len, lines)) <= 80


def _saving(result: Result, **checkpoint: float) -> str:
    told = text.write(replace(result, run=replace(result.run, checkpoint=result.run.checkpoint | checkpoint)))
    return " ".join(told.split())


def test_a_run_that_saves_once_saves_at_the_end(result: Result) -> None:
    assert "checkpoint only at the end" in _saving(result, interval_s=float("inf"))


def test_a_run_without_time_for_saves_never_saves(result: Result) -> None:
    parts = result.run.parts_s | {"checkpoint": 0.0}
    unsaved = replace(result, run=replace(result.run, parts_s=parts))
    assert "checkpoint never" in _saving(unsaved, interval_s=float("inf"))


def test_a_save_that_blocks_is_on_storage_when_it_is_over(result: Result) -> None:
    assert "on storage after 38.0 s" in _saving(result)
    assert "on storage after" not in _saving(result, persist_s=0.0)


def test_costs_say_whether_they_are_the_median_or_the_mean(result: Result) -> None:
    told = " ".join(text.write(result).split())
    assert "COST P50 $" in told
    assert "the mean; P10/P50/P90" in told
    assert "the mean; $" in told
