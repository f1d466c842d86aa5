"""What a report says of deadlines and budgets: the whole chance, and what is left of it if the step is sure."""

from __future__ import annotations

from dataclasses import replace

import pytest
from typer.testing import CliRunner

from simulator.cli import app
from simulator.outcome.results import Result
from simulator.plots import colours
from simulator.report import html, targets, text


def _notes(result: Result, late: float, by_failures: float) -> tuple[str, str]:
    given = {"deadline_s": 80 * 86400.0, "p_late": late, "p_late_by_failures": by_failures, "budget_dollars": None}
    section = targets.section(replace(result, targets=given))
    assert section is not None
    (fact,) = section.facts
    assert fact.value == "80.0 days"
    return fact.note, section.notes[0]


def test_both_parts_of_a_chance_are_said(result: Result) -> None:
    note, luck = _notes(result, 0.34, 0.02)
    assert note == "missed with a chance of 34%; 2% by failures alone"
    assert "failures and the error of the step" in luck


def test_a_step_that_is_given_leaves_the_luck_of_failures(result: Result) -> None:
    sure = replace(result, step=replace(result.step, time_low_s=result.step.time_s, time_high_s=result.step.time_s))
    note, luck = _notes(sure, 0.02, 0.02)
    assert note == "missed with a chance of 2%"
    assert "error of the step" not in luck


def test_without_targets_there_is_nothing_to_say(result: Result) -> None:
    assert targets.section(result) is None


def _missing(result: Result, *names: str, progress: bool = True) -> Result:
    given = {"deadline_s": 80 * 86400.0, "p_late": 0.97, "p_late_by_failures": 0.9, "risk": 0.1, "missed": list(names)}
    given |= {"budget_dollars": 1e8, "p_over_budget": 0.4, "p_over_budget_by_failures": 0.0}
    return replace(result, targets=given, run=replace(result.run, progress=progress))


def test_a_missed_target_is_the_first_line_and_no_report_is_green(result: Result) -> None:
    both = _missing(result, "deadline", "budget")
    first, second = text.write(both).splitlines()[:2]
    assert first == "MISSES  the deadline of 80.0 days with 97%, the budget of $100M with 40%"
    assert second.startswith("FITS")
    page = html.write(both)
    assert page.index("Misses</b>") < page.index("Fits</b>")
    assert page.index(colours.VERMILLION) < page.index("Misses</b>")


def test_a_target_that_is_kept_leaves_the_first_line_to_the_memory(result: Result) -> None:
    assert text.write(_missing(result)).startswith("FITS")


def test_a_run_that_never_ends_says_that_alone(result: Result) -> None:
    first = text.write(_missing(result, "deadline", progress=False)).splitlines()[0]
    assert first.startswith("NO PROGRESS")


@pytest.mark.parametrize(
    ("changes", "code", "first"),
    [
        (["targets.deadline=88d"], 0, "FITS"),
        (["targets.deadline=60d"], 1, "MISSES  the deadline of 60.0 days with"),
        (["targets.budget=$1M"], 1, "MISSES  the budget of $1.00M with"),
        (["targets.deadline=60d", "targets.risk=100%"], 0, "FITS"),
        (["targets.deadline=70d", "targets.risk=0"], 1, "MISSES  the deadline of 70.0 days with"),
    ],
)
def test_a_target_missed_with_more_than_its_risk_is_an_answer_of_no(changes: list[str], code: int, first: str) -> None:
    arguments = [word for change in changes for word in ("--set", change)]
    done = CliRunner().invoke(app, ["run", "tutorial/3-failures", "--runs", "10", *arguments])
    assert done.exit_code == code
    assert done.stdout.startswith(first)


def test_a_risk_beyond_all_is_refused() -> None:
    done = CliRunner().invoke(app, ["run", "tutorial/3-failures", "--set", "targets.risk=110%"])
    assert done.exit_code == 2
    assert "targets.risk" in done.stderr
